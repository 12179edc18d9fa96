package gateway

import (
	"context"
	"fmt"
	"strings"
	"time"

	"parley/channels"
)

// Status is how an account is, for people and for /readyz.
type Status struct {
	Channel  channels.Kind      `json:"channel"`
	Account  channels.AccountID `json:"account"`
	State    channels.State     `json:"state"`
	Live     bool               `json:"live"`
	Name     string             `json:"name,omitempty"`
	Detail   string             `json:"detail,omitempty"` // what is wrong
	Todo     string             `json:"todo,omitempty"`   // what a person can do about it
	LastSeen time.Time          `json:"lastSeen,omitzero"`
	Next     time.Time          `json:"next,omitzero"` // when it is tried again
	Restarts int                `json:"restarts"`
	Pairs    bool               `json:"pairs,omitempty"`   // it is linked by a person: parley login
	Linking  bool               `json:"linking,omitempty"` // somebody is linking it now
	Off      bool               `json:"off,omitempty"`     // enabled: false
}

// InWords is a state as people read it.
func InWords(s channels.State) string {
	if s == channels.LoggedOut {
		return "not linked"
	}
	return strings.ReplaceAll(string(s), "_", " ")
}

// Words is how an account is, in a word or two.
func (s Status) Words() string {
	switch {
	case s.Off:
		return "switched off"
	case s.Linking:
		return "being linked"
	case s.State == channels.Connected && !s.Live:
		return "connected, silent"
	}
	return InWords(s.State)
}

// Line is how an account is, why, and what to do, in one line for everybody: it does not say whose account it is.
func (s Status) Line() string {
	line := fmt.Sprintf("%s (%s): %s", s.Channel, s.Account, s.Words())
	for _, more := range []string{s.Detail, s.Todo} {
		if more != "" {
			line += "; " + more
		}
	}
	if !s.Next.IsZero() {
		line += "; it is tried again at " + s.Next.Local().Format(time.DateTime)
	}
	return line
}

// status joins what the adapter knows with what its supervisor saw.
func (a *account) status(now time.Time) Status {
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
	s := Status{Channel: a.ref.Channel, Account: a.ref.Account, State: a.state, Detail: a.detail, Next: a.next, Restarts: a.restarts, Linking: a.linking != nil}
	if a.ch == nil {
		s.Todo = "change the configuration (parley check), then reload it"
		return s
	}
	s.Pairs = caps.Pairer != nil
	if caps.Reporter != nil {
		a.report(&s, health, now)
	} else {
		s.Live = a.state == channels.Connected
	}
	switch {
	case a.stuck != nil:
		s.State, s.Live = channels.Stopped, false
		s.Detail, s.Todo = a.stuckWords(s)
	case !s.Linking:
		s.Todo = todo(s)
	}
	return s
}

// report fills in what the adapter says. Once its Run is over its word counts only for why, and while it runs a permanent state is
// that of the Run before: the adapter has not come to it yet. a.mu is held.
func (a *account) report(s *Status, h channels.Health, now time.Time) {
	s.Name, s.LastSeen = h.Name, h.LastSeen
	waiting, running := a.state == channels.Disconnected, a.state == channels.Connected
	switch {
	case running && (h.State.Permanent() || h.State == channels.Stopped):
		s.State = channels.Connecting
	case running:
		s.State, s.Detail, s.Live = h.State, h.Detail, h.Live(now)
	case waiting && (h.State == channels.Banned || h.State == channels.Conflict), !waiting && h.State.Permanent():
		s.State, s.Detail = h.State, firstOf(h.Detail, a.detail)
	}
}

// todo says what a person can do about an account, where that does not depend on its platform. The platform's part is in Detail.
func todo(s Status) string {
	login, restart := "parley login "+string(s.Channel), restartCommand(s)
	if s.Account != channels.DefaultAccount {
		login += " --account " + string(s.Account)
	}
	if strings.Contains(s.Detail, login) || strings.Contains(s.Detail, restart) {
		return "" // the adapter says it
	}
	switch s.State {
	case channels.LoggedOut:
		if s.Pairs {
			return "link it: " + login + ", or on the page under /channels"
		}
		return "when that is mended, reload the configuration or start it again: " + restart
	case channels.Revoked, channels.Refused: // perhaps by something in the configuration, which a restart does not read
		return "when that is mended, reload the configuration or start it again: " + restart
	case channels.Replaced, channels.Outdated:
		return "when that is mended, start it again: " + restart
	case channels.Connecting, channels.Connected, channels.Disconnected, channels.Conflict, channels.Banned, channels.Stopped:
	}
	return ""
}

func restartCommand(s Status) string {
	c := "parley channels restart " + string(s.Channel)
	if s.Account != channels.DefaultAccount {
		c += " " + string(s.Account)
	}
	return c
}

func (h *Host) statuses() []Status {
	now := time.Now()
	out := make([]Status, 0, 4)
	for _, a := range h.accounts.all() {
		out = append(out, a.status(now))
	}
	return out
}

// accountLines is router.Deps.Accounts.
func (h *Host) accountLines() (out []string) {
	for _, s := range h.statuses() {
		out = append(out, s.Line())
	}
	return out
}

// notReady says why people cannot reach the agents; empty when they can.
func (h *Host) notReady(ctx context.Context) string {
	select {
	case <-h.done:
		return "the host is stopping"
	default:
	}
	var why []string
	if t := h.storeTrouble(ctx); t != "" {
		why = append(why, t)
	}
	for _, s := range h.statuses() {
		if !s.Live {
			why = append(why, s.Line())
		}
	}
	return strings.Join(why, " · ")
}
