package router

import (
	"context"
	"fmt"
	"sync"
	"time"

	"parley/channels"
	"parley/policy"
	"parley/sessions"
)

// Explanation is how the send policy comes to a verdict.
type Explanation struct {
	Session sessions.Key // that decides; "" = none is known
	To      channels.Address
	Verdict policy.Verdict
	Steps   []policy.Step
}

// deciding gives the session whose policy decides, and the one that is meant.
func (r *Router) deciding(ctx context.Context, key sessions.Key, to channels.Address) (s sessions.Session, meant sessions.Key, _ channels.Address, err error) {
	if key == "" {
		known, err := r.store.Known(ctx, to)
		if err != nil || len(known) == 0 {
			return s, "", to, err
		}
		key = known[0]
	}
	if s, err = r.store.Get(ctx, key); err != nil {
		return s, key, to, err
	}
	if to.IsZero() {
		return s, key, s.Last, nil
	}
	s, err = r.Advancer.Strictest(ctx, s, to)
	return s, key, to, err
}

// The bounds of the lines about messages that are not answered.
const (
	unansweredEvery = time.Hour // between two lines about a chat for the same reason
	unansweredMost  = 200       // lines in that time
)

// ignored notes in the log, once in a while, that messages of a group are not answered. The zero value is ready.
type ignored struct {
	mu   sync.Mutex
	told map[string]time.Time // by chat and reason
}

// first reports whether a line is due.
func (u *ignored) first(at channels.Address, why string, now time.Time) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	for k, t := range u.told {
		if now.Sub(t) >= unansweredEvery {
			delete(u.told, k)
		}
	}
	k := fmt.Sprintf("%s %s", at, why)
	if _, known := u.told[k]; known || len(u.told) >= unansweredMost {
		return false
	}
	if u.told == nil {
		u.told = map[string]time.Time{}
	}
	u.told[k] = now
	return true
}

// noteUnanswered tells in the log of a group whose messages the access rules of its account drop: whoever waits for an answer there looks for
// a reason. No text and no name is in it.
func (r *Router) noteUnanswered(in channels.Inbound, a policy.Admission) {
	at := in.Address
	at.Thread = ""
	if !at.Type.Several() || in.SentByThisLogin || in.Sender.Bot || !r.ignored.first(at, a.Reason, time.Now()) {
		return
	}
	r.log.Info("a message in a group is not answered", keyAddress, at.String(), keyMessage, in.ID, keyReason, a.Reason)
}
