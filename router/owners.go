package router

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"parley/sessions"
)

// ownerLoads orders the loads of the store's owners: the one that began last counts.
type ownerLoads struct {
	begun  atomic.Int64
	mu     sync.Mutex // settings are replaced
	loaded int64
}

// ownersTimeout is how long the store may take to list the people who were let in.
const ownersTimeout = 5 * time.Second

// LoadOwners reads the owners that the store has, besides those of the configuration. After an error there are none of them: a person whose
// rights were taken back must not keep them. The next change of the store that works loads them again.
func (r *Router) LoadOwners(ctx context.Context) error {
	n := r.owners.begun.Add(1)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), ownersTimeout)
	defer cancel()
	people, err := r.store.Admitted(ctx)
	if err != nil {
		people = []sessions.Admitted{}
		r.Committer.Uncertain.Store(true) // the next write that works looks again
		err = fmt.Errorf("load stored owners: %w", err)
		if !r.Lanes.IsClosing() {
			r.log.Error("cannot load stored owners", keyErr, err, "hint", "they have no rights until the store answers; owners of commands.ownerAllowFrom keep theirs")
		}
	}
	r.owners.mu.Lock()
	defer r.owners.mu.Unlock()
	if n < r.owners.loaded {
		return err
	}
	r.owners.loaded = n
	r.settings.Store(r.settings.Load().WithGranted(people))
	return err
}
