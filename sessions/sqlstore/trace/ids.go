package trace

import (
	"context"
	"strings"

	"parley/sessions/sqlstore/engine"
)

// IDs names what has ids that people shorten.
type IDs string

// What has such ids.
const (
	RunIDs      IDs = "runs"
	DeliveryIDs IDs = "deliveries"
	SessionIDs  IDs = "sessions"
	JobIDs      IDs = "jobs"
)

// Beginning gives the first few ids, at most limit, that begin with the text, which must be a piece of a UUID as it is written here: there
// are none for any other.
func (s *Store) Beginning(ctx context.Context, of IDs, text string, limit int) ([]string, error) {
	if text == "" || strings.Trim(text, "0123456789abcdef-") != "" {
		return nil, nil
	}
	// The character after f ends the range in every store: ids are compared by their bytes.
	return engine.ReadList(ctx, s.db, "SELECT id FROM "+string(of)+" WHERE id >= ? AND id < ? ORDER BY id LIMIT ?", []any{text, text + "g", limit}, func(r engine.Row) (string, error) { return r.Str(0), nil })
}
