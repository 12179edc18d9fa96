package accounts

import (
	"cmp"
	"strings"
	"time"

	"parley/channels"
	"parley/gateway/api"
)

// Status joins what the adapter knows with what its supervisor saw.
func (a *Account) Status(now time.Time) api.Account {
	var caps channels.Caps
	var health channels.Health
	if a.ch != nil {
		caps = channels.Probe(a.ch)
	}
	if caps.Reporter != nil {
		health = caps.Reporter.Health() // not under the mutex: it is the adapter's code
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	s := api.Account{Channel: a.ref.Channel, Account: a.ref.Account, State: a.state, Detail: a.detail, Next: a.next, Restarts: a.restarts, Linking: a.linking != nil}
	if a.ch == nil {
		s.Todo = "change the configuration (parley check), then run parley reload"
		return s
	}
	s.CanLink = caps.Pairer != nil
	if caps.Reporter != nil {
		a.report(&s, health, now)
	} else {
		s.Live = a.state == channels.Connected
	}
	if s.State.Permanent() {
		s.Since = a.since
	}
	switch {
	case a.stuck != nil:
		s.State, s.Live = channels.Stopped, false
		s.Detail, s.Todo = a.stuckWords(s)
	case !s.Linking:
		s.Todo = adviceFor(s)
	}
	return s
}

// report fills in what the adapter says. Once its Run is over its word counts only for why, and while it runs a permanent state is
// that of the Run before: the adapter has not come to it yet. a.mu is held.
func (a *Account) report(s *api.Account, h channels.Health, now time.Time) {
	s.Name, s.LastSeen = h.Name, h.LastSeen
	waiting, running := a.state == channels.Disconnected, a.state == channels.Connected
	switch {
	case running && (h.State.Permanent() || h.State == channels.Stopped):
		s.State = channels.Connecting
	case running:
		s.State, s.Detail, s.Live = h.State, h.Detail, h.Live(now)
	case waiting && (h.State == channels.Banned || h.State == channels.Conflict), !waiting && h.State.Permanent():
		s.State, s.Detail = h.State, cmp.Or(h.Detail, a.detail)
	}
}

// adviceFor says what a person can do about an account, where that does not depend on its platform. The platform's part is in Detail.
func adviceFor(s api.Account) string {
	login, restart := "parley login "+string(s.Channel), restartCommand(s)
	if s.Account != channels.DefaultAccount {
		login += " --account " + string(s.Account)
	}
	if strings.Contains(s.Detail, login) || strings.Contains(s.Detail, restart) {
		return "" // the adapter says it
	}
	switch s.State {
	case channels.LoggedOut:
		if s.CanLink {
			return "link it: " + login + ", or on the page under /channels"
		}
		return "after the fix, run parley reload or restart the account: " + restart
	case channels.Revoked, channels.Refused: // perhaps by something in the configuration, which a restart does not read
		return "after the fix, run parley reload or restart the account: " + restart
	case channels.Replaced, channels.Outdated:
		return "after the fix, restart the account: " + restart
	case channels.Connecting, channels.Connected, channels.Disconnected, channels.Conflict, channels.Banned, channels.Stopped:
	}
	return ""
}

func restartCommand(s api.Account) string {
	c := "parley channels restart " + string(s.Channel)
	if s.Account != channels.DefaultAccount {
		c += " " + string(s.Account)
	}
	return c
}

// Statuses returns how the accounts are.
func (s *Supervisor) Statuses() []api.Account {
	now := time.Now()
	out := make([]api.Account, 0, 4)
	for _, a := range s.All() {
		out = append(out, a.Status(now))
	}
	return out
}

// Lines says how the accounts are, one line each.
func (s *Supervisor) Lines() (out []string) {
	for _, a := range s.Statuses() {
		out = append(out, a.Line())
	}
	return out
}
