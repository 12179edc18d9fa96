package gatewaytest

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"parley/channels"
	"parley/gateway/accounts"
	"parley/gateway/config"
)

// Kind is the channel kind of Linked.
const Kind channels.Kind = "fake"

// Linked is one account. It runs while it is linked; the test plays the platform and the person with the phone.
type Linked struct {
	mu      sync.Mutex
	name    string // empty = not linked
	health  channels.Health
	end     chan error // ends the Run under way; nil without one
	pairing chan pairing
	started int
	in      channels.Inbox // of the last Run
	alone   bool           // Pair or Unpair is under way
	misused bool           // something was called besides
	sent    int
}

// pairing is what the platform does during a login.
type pairing struct {
	step channels.PairStep
	name string
	err  error
}

// NewLinked makes an account that is not linked.
func NewLinked() *Linked {
	return &Linked{health: channels.Health{State: channels.Stopped, Stale: time.Hour}, pairing: make(chan pairing)}
}

// Config is the account's section. It needs none.
type Config struct {
	Label string `yaml:"label" doc:"Something to change."`
}

// Row is the account as a row of the table of channel kinds.
func (l *Linked) Row() accounts.Adapter {
	return accounts.Adapter{Adapter: config.Adapter{Kind: Kind, Always: true, New: func() any { return &Config{} }}, Open: func(config.Account, accounts.Env) (channels.Channel, error) { return l, nil }}
}

// Show makes the login under way show a step.
func (l *Linked) Show(ctx context.Context, s channels.PairStep) error {
	return l.play(ctx, pairing{step: s})
}

// Confirm completes the login under way, as a person does on the phone.
func (l *Linked) Confirm(ctx context.Context, name string) error {
	return l.play(ctx, pairing{name: name})
}

// Fail ends the login under way.
func (l *Linked) Fail(ctx context.Context, err error) error { return l.play(ctx, pairing{err: err}) }

func (l *Linked) play(ctx context.Context, p pairing) error {
	select {
	case l.pairing <- p:
		return nil
	case <-ctx.Done():
		return errors.New("nobody is logging in")
	}
}

// End makes the Run under way return err, with the health that the platform left it in.
func (l *Linked) End(state channels.State, detail string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.health.State, l.health.Detail = state, detail
	if l.end != nil {
		l.end <- err
		l.end = nil
	}
}

// Runs gives how often Run was called.
func (l *Linked) Runs() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.started
}

// Say has somebody write to the account, in a chat with them alone.
func (l *Linked) Say(ctx context.Context, id channels.MessageID, text string) error {
	l.mu.Lock()
	in := l.in
	l.mu.Unlock()
	return in(ctx, channels.Inbound{Event: channels.Message, ID: id, Text: text, Time: time.Now(), Sender: channels.Sender{ID: "+4915"},
		Address: channels.Address{Channel: Kind, Account: channels.DefaultAccount, Type: channels.Direct, Chat: "+4915"}})
}

// Sent gives how often Send was called, and whether that was during a Pair, which is to have the account for itself.
func (l *Linked) Sent() (n int, misused bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.sent, l.misused
}

// Run implements channels.Channel.
func (l *Linked) Run(ctx context.Context, in channels.Inbox) error {
	l.mu.Lock()
	l.started++
	l.in = in
	if l.name == "" {
		l.health.State, l.health.Detail = channels.LoggedOut, "it is not linked"
		l.mu.Unlock()
		return &channels.Error{Class: channels.Unauthorized, Err: errors.New("not linked")}
	}
	end := make(chan error, 1)
	l.end = end
	l.health.State, l.health.Detail, l.health.Name, l.health.LastSeen = channels.Connected, "", l.name, time.Now()
	l.mu.Unlock()
	select {
	case err := <-end:
		return err
	case <-ctx.Done():
		l.mu.Lock()
		defer l.mu.Unlock()
		l.end, l.health.State = nil, channels.Stopped
		return nil
	}
}

// Send implements channels.Channel.
func (l *Linked) Send(context.Context, channels.Outbound) (channels.Receipt, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sent++
	l.misused = l.misused || l.alone
	return channels.Receipt{ID: "1", At: time.Now()}, nil
}

// Limits implements channels.Channel.
func (l *Linked) Limits(channels.Address) channels.Limits {
	return channels.Limits{Dialect: channels.PlainText, Unit: channels.Runes}
}

// Health implements channels.Reporter.
func (l *Linked) Health() channels.Health {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.health
}

// Pair implements channels.Pairer.
func (l *Linked) Pair(ctx context.Context, phone string, show func(channels.PairStep)) error {
	l.mu.Lock()
	running := l.end != nil
	l.alone = true
	l.mu.Unlock()
	defer func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.alone = false
	}()
	if running {
		return errors.New("Pair was called while Run is under way")
	}
	if phone != "" {
		show(channels.PairStep{Code: "CODE-" + phone[len(phone)-4:], Expires: time.Now().Add(time.Minute)})
	}
	for {
		select {
		case p := <-l.pairing:
			switch {
			case p.err != nil:
				return p.err
			case p.name == "":
				show(p.step)
			default:
				l.mu.Lock()
				l.name = p.name
				l.mu.Unlock()
				return nil
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Unpair implements channels.Pairer.
func (l *Linked) Unpair(context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.end != nil {
		return errors.New("Unpair was called while Run is under way")
	}
	l.name, l.health.Name = "", ""
	return nil
}

// Hook implements channels.Hooked: it answers with what it got. It cannot stand the word panic.
func (l *Linked) Hook() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, "too long", http.StatusRequestEntityTooLarge)
			return
		}
		if string(b) == "panic" {
			panic("as the hook was asked to")
		}
		_, _ = w.Write(append([]byte("got "), b...))
	})
}
