package accounts

import (
	"net/http"
	"time"

	"parley/channels"
	"parley/gateway/api"
)

// endTimeout is how long an adapter may take to end: all changes of accounts wait for it.
const endTimeout = 10 * time.Second

// stop ends an account's adapter, and who links it, and waits for their end, but not for ever. When they do not end, the account stays
// marked and must not be started. changing is held.
func (a *Account) stop() error {
	a.end()
	return a.wait(time.After(endTimeout))
}

// halt takes an account from the gate and stops it. changing is held.
func (s *Supervisor) halt(a *Account) error {
	s.Router.Attach(a.ref, nil)
	return a.stop()
}

// end tells the adapter, and who links it, to end. changing is held.
func (a *Account) end() {
	if a.cancel != nil {
		a.cancel()
	}
	a.mu.Lock()
	l := a.linking
	a.mu.Unlock()
	if l != nil {
		l.cancel(errChangedMeanwhile)
	}
}

// wait waits until what was told to end has ended. What was stuck before is not waited for again. changing is held.
func (a *Account) wait(limit <-chan time.Time) error {
	a.mu.Lock()
	l, stuck := a.linking, a.stuck
	a.mu.Unlock()
	calls := []<-chan struct{}{a.ended}
	if l != nil {
		calls = append(calls, l.ended)
	}
	for _, ended := range calls {
		if ended == nil || isClosed(ended) {
			continue
		}
		if stuck == ended {
			return a.isStuck()
		}
		select {
		case <-ended:
		case <-limit:
			a.mu.Lock()
			a.state, a.detail, a.next, a.stuck = channels.Stopped, "", time.Time{}, ended
			a.mu.Unlock()
			return a.isStuck()
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.stuck = nil
	return nil
}

func (a *Account) isStuck() error {
	return api.Refuse(http.StatusServiceUnavailable, "%s has not stopped within %s: try again later; if it still does not stop, restart parley", a, endTimeout)
}

// markStale notes that an account has to be replaced once it has ended.
func (a *Account) markStale() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.old = true
}

// current reports whether an account is running and need not be replaced.
func (a *Account) current() bool {
	a.mu.Lock()
	old := a.old
	a.mu.Unlock()
	return !old && a.busy()
}

// stuckWords say what is wrong with an account that did not end, and what to do; a.mu is held, a.stuck set.
func (a *Account) stuckWords(s api.Account) (detail, todo string) {
	switch {
	case !isClosed(a.stuck):
		return "the host told the adapter to stop, but it still runs", "if this persists, restart parley"
	case a.old:
		return "the adapter stopped late, and the account's configuration has changed", "reload the configuration"
	}
	return "the adapter stopped late", "start it again: " + restartCommand(s)
}

func isClosed(ended <-chan struct{}) bool {
	select {
	case <-ended:
		return true
	default:
		return false
	}
}
