package row

import (
	"context"
	"errors"
	"fmt"

	"parley/channels"
	"parley/policy"
	"parley/sessions"
	"parley/sessions/sqlstore/column"
	"parley/sessions/sqlstore/engine"
)

// content is the content of a delivery: it never changes.
type content struct {
	Kind          sessions.DeliveryKind `json:"kind"`
	Run           sessions.RunID        `json:"run,omitempty"`
	Message       string                `json:"message,omitempty"`
	ReplyTo       channels.MessageID    `json:"replyTo,omitempty"`
	Text          string                `json:"text"`
	Files         []sessions.File       `json:"files,omitempty"`
	PreAuthorized *policy.Verdict       `json:"granted,omitempty"`
}

// result is what became of it so far.
type result struct {
	Verdict        *policy.Verdict    `json:"verdict,omitempty"`
	Receipts       []channels.Receipt `json:"receipts,omitempty"`
	Tries          []sessions.Try     `json:"tries,omitempty"`
	Error          string             `json:"error,omitempty"`
	Ambiguous      bool               `json:"unclear,omitempty"`
	AmbiguousTries int32              `json:"doubts,omitempty"`
}

// Delivery is a delivery with its body encoded.
type Delivery struct {
	sessions.Delivery
	Body                           string
	RunSeq, Transcript, MessageSeq int64 // 0 = to be looked up
}

// EncodeDelivery encodes the content of a delivery.
func EncodeDelivery(d sessions.Delivery) (*Delivery, error) {
	if d.ID == "" {
		return nil, errors.New("a delivery without an id")
	}
	body, err := column.JSON(content{Kind: d.Kind, Run: d.Run, Message: d.Message, ReplyTo: d.ReplyTo, Text: d.Text, Files: d.Files, PreAuthorized: d.PreAuthorized})
	if err != nil {
		return nil, fmt.Errorf("delivery %s: %w", d.ID, err)
	}
	return &Delivery{Delivery: d, Body: body}, nil
}

// EncodeResult encodes what became of a delivery so far.
func EncodeResult(d *sessions.Delivery) (string, error) {
	return column.JSON(result{Verdict: d.Verdict, Receipts: d.Receipts, Tries: d.Tries, Error: d.Error, Ambiguous: d.Ambiguous, AmbiguousTries: d.AmbiguousTries})
}

// Text returns the words in the body of a delivery.
func Text(body string) (string, error) {
	var c content
	err := column.Decode(body, &c)
	return c.Text, err
}

// DeliveryColumns are the columns that ScanDelivery reads, in this order.
var DeliveryColumns = column.Nameless("seq, id, session, address, state, part, attempt, again, not_before, expires, created, updated, body, result, transcript")

// ScanDelivery reads the row of a delivery.
func ScanDelivery(r engine.Row) (d sessions.Delivery, transcript int64, err error) {
	var c content
	if err = column.Decode(r.Str(12), &c); err != nil {
		return d, 0, fmt.Errorf("delivery %s: %w", r.Str(1), err)
	}
	var res result
	if err = column.Decode(r.Str(13), &res); err != nil {
		return d, 0, fmt.Errorf("delivery %s: %w", r.Str(1), err)
	}
	return sessions.Delivery{
		ID: sessions.DeliveryID(r.Str(1)), Seq: r.Int(0), Kind: c.Kind, Session: sessions.Key(r.Str(2)), Run: c.Run, Message: c.Message, To: column.Address(r.Str(3)),
		ReplyTo: c.ReplyTo, Text: c.Text, Files: c.Files, State: sessions.DeliveryState(r.Str(4)), Part: int(r.Int(5)), Attempt: int(r.Int(6)), Repeat: r.Bool(7),
		NotBefore: r.Time(8), Expires: r.Time(9), Created: r.Time(10), Updated: r.Time(11), PreAuthorized: c.PreAuthorized,
		Verdict: res.Verdict, Receipts: res.Receipts, Tries: res.Tries, Error: res.Error, Ambiguous: res.Ambiguous, AmbiguousTries: res.AmbiguousTries,
	}, r.Int(14), nil
}

// GetDelivery finds a delivery.
func GetDelivery(ctx context.Context, c *engine.Conn, id sessions.DeliveryID) (d sessions.Delivery, transcript int64, err error) {
	found, err := c.One(ctx, "SELECT "+DeliveryColumns+" FROM deliveries WHERE id = ?", []any{string(id)}, func(r engine.Row) (err error) {
		d, transcript, err = ScanDelivery(r)
		return err
	})
	if err == nil && !found {
		err = engine.NotFound("delivery", id)
	}
	return d, transcript, err
}

// ListDeliveries returns the deliveries that a condition selects.
func ListDeliveries(ctx context.Context, c *engine.Conn, where string, args ...any) ([]sessions.Delivery, error) {
	return engine.List(ctx, c, "SELECT "+DeliveryColumns+" FROM deliveries WHERE "+where, args, ScanOnlyDelivery)
}

// ScanOnlyDelivery reads a delivery.
func ScanOnlyDelivery(r engine.Row) (sessions.Delivery, error) {
	d, _, err := ScanDelivery(r)
	return d, err
}
