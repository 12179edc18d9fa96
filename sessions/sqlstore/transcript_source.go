package sqlstore

import (
	"context"

	"parley/sessions/sqlstore/engine"
	"parley/sessions/sqlstore/row"
	"parley/sessions/sqlstore/transcript"
	"parley/sessions/sqlstore/transcriptfile"
)

// transcriptSource reads what the files of transcripts are made of. It implements transcriptfile.Source.
type transcriptSource struct{ transcript.Source }

// Deliveries implements transcriptfile.Source.
func (x transcriptSource) Deliveries(ctx context.Context, transcript, lo, hi int64) ([]transcriptfile.Delivery, error) {
	return engine.ReadList(ctx, x.DB, "SELECT "+row.DeliveryColumns+", message_seq FROM deliveries WHERE message_seq BETWEEN ? AND ? AND message_seq > 0 AND transcript = ? ORDER BY message_seq, seq",
		[]any{lo, hi, transcript}, func(r engine.Row) (transcriptfile.Delivery, error) {
			d, _, err := row.ScanDelivery(r)
			return transcriptfile.Delivery{Delivery: d, MessageSeq: r.Int(15)}, err
		})
}
