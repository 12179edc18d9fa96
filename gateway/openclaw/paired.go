package openclaw

import (
	"context"

	"parley/sessions"
)

// PairedStore keeps people who were let in; sqlstore.Store is one.
type PairedStore interface {
	ImportPaired(ctx context.Context, list []sessions.Admitted) (added int, err error)
}

// KeepPaired writes the paired people into parley's own list, and returns how many are new.
func (r *Result) KeepPaired(ctx context.Context, to PairedStore) (added int, err error) {
	var all []sessions.Admitted
	for _, p := range r.Paired {
		all = append(all, sessions.Admitted{Channel: p.Channel, Account: p.Account, User: p.ID})
	}
	if len(all) == 0 {
		return 0, nil
	}
	return to.ImportPaired(ctx, all)
}
