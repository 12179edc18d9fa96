package admission

import (
	"fmt"
	"sync"
	"time"

	"parley/channels"
	"parley/policy"
)

// The bounds of the lines about messages that are not answered.
const (
	unansweredInterval = time.Hour // between two lines about a chat for the same reason
	maxUnanswered      = 200       // lines in that time
)

// ignoredLog notes in the log, once in a while, that messages of a group are not answered. The zero value is ready.
type ignoredLog struct {
	mu   sync.Mutex
	told map[string]time.Time // by chat and reason
}

// first reports whether a line is due.
func (u *ignoredLog) first(at channels.Address, why string, now time.Time) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	for k, t := range u.told {
		if now.Sub(t) >= unansweredInterval {
			delete(u.told, k)
		}
	}
	k := fmt.Sprintf("%s %s", at, why)
	if _, known := u.told[k]; known || len(u.told) >= maxUnanswered {
		return false
	}
	if u.told == nil {
		u.told = map[string]time.Time{}
	}
	u.told[k] = now
	return true
}

// LogIgnored tells in the log of a group whose messages the access rules of its account drop: the person who waits for an answer there looks for
// a reason. No text and no name is in it.
func (c *Controller) LogIgnored(in channels.Inbound, a policy.Admission) {
	at := in.Address
	at.Thread = ""
	if !at.Type.Several() || in.SentByThisLogin || in.Sender.Bot || !c.ignored.first(at, a.Reason, time.Now()) {
		return
	}
	c.log.Info("ignored a message in a group", keyAddress, at.String(), keyMessage, in.ID, keyReason, a.Reason)
}
