package wizard

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"parley/channels"
	"parley/gateway/accounts"
	"parley/policy"
)

// The bounds of a code that finds the owner.
const (
	codeTTL        = 10 * time.Minute
	maxPersonTries = 5  // wrong codes of one person, whose messages are not looked at after that
	maxTries       = 50 // wrong codes of all; the code is no good after that
	maxRounds      = 3  // codes in one run, each after the person at the keyboard said that it was somebody else
	healthInterval = time.Second
)

// oneTime is a code that finds one person, once.
type oneTime struct {
	code string

	mu    sync.Mutex
	spent bool
	tries map[channels.UserID]int
	all   int
	seen  map[string]bool // messages that had a wrong code: the platform may send them again
}

func newCode() (*oneTime, error) {
	code, err := policy.NewCode(rand.Reader)
	return &oneTime{code: code, tries: map[channels.UserID]int{}, seen: map[string]bool{}}, err
}

// take reports whether a message has the code, which is used up then. Only what a person types in a direct chat counts.
func (o *oneTime) take(in channels.Inbound) bool {
	if in.Event != channels.Message || in.Address.Type != channels.Direct || in.Forwarded || in.SentByThisLogin || in.Sender.Bot {
		return false
	}
	if _, ok := policy.OwnerEntry(in.Address.Channel, in.Sender.ID); !ok {
		return false
	}
	text := strings.TrimSpace(cmp.Or(in.Addressed, in.Text))
	text = strings.ToUpper(strings.TrimSpace(strings.TrimPrefix(text, "/start")))
	if len(text) != policy.CodeLen || strings.ContainsAny(text, " \t\n") {
		return false
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	message := in.Address.String() + " " + string(in.ID)
	if o.spent || o.tries[in.Sender.ID] >= maxPersonTries || o.seen[message] {
		return false
	}
	if subtle.ConstantTimeCompare([]byte(text), []byte(o.code)) == 1 {
		o.spent = true
		return true
	}
	o.seen[message] = true
	o.tries[in.Sender.ID]++
	o.all++
	o.spent = o.all >= maxTries
	return false
}

// owners finds the owner on each channel.
func (d Dialog) owners(ctx context.Context, a *Answers) error {
	for _, c := range a.Channels {
		if slices.ContainsFunc(a.Owners, func(o string) bool { return strings.HasPrefix(o, string(c.Kind)+":") }) {
			continue
		}
		row := d.Adapters[slices.IndexFunc(d.Adapters, func(r accounts.Adapter) bool { return r.Kind == c.Kind })]
		var owner string
		var err error
		if c.Name != "" { // the platform knows the token
			owner, err = d.findOwner(ctx, c, row)
		} else {
			owner, err = d.askOwner(c, row)
		}
		if err != nil {
			return err
		}
		if owner != "" {
			a.Owners = append(a.Owners, owner)
		}
	}
	if len(a.Owners) == 0 && len(a.Channels) > 0 {
		d.say("  No owner yet. The first person whom you approve becomes the owner, if no person was let in before: parley pairing approve CHANNEL CODE\n")
	}
	return nil
}

// askOwner asks for the id of the owner until it is one. "" = not now.
func (d Dialog) askOwner(c Channel, row accounts.Adapter) (string, error) {
	for {
		id, err := d.Line(fmt.Sprintf("  Your own id on %s; press Enter to skip", row.Kind), "")
		if err != nil || id == "" {
			return "", err
		}
		if owner, ok := d.owner(c, row, id); ok {
			return owner, nil
		}
	}
}

// ownerOr returns the owner with an id, and asks again where it is none.
func (d Dialog) ownerOr(c Channel, row accounts.Adapter, id string) (string, error) {
	if owner, ok := d.owner(c, row, id); ok {
		return owner, nil
	}
	return d.askOwner(c, row)
}

// owner returns the owner with an id, and says what is wrong with an id that is none.
func (d Dialog) owner(c Channel, row accounts.Adapter, id string) (owner string, ok bool) {
	owner, err := d.Owner(c, row, id)
	if err != nil {
		d.say("  %q is not an id on %s: %v\n", id, row.Kind, err)
	}
	return owner, err == nil
}

// findOwner waits until a person has sent the bot a code that is shown here, and asks whether that is the owner. "" = not now.
func (d Dialog) findOwner(ctx context.Context, c Channel, row accounts.Adapter) (string, error) {
	for range maxRounds {
		code, err := newCode()
		if err != nil {
			return "", err
		}
		how := fmt.Sprintf("send %s to %s in a direct chat", code.code, c.Name)
		if row.StartLink != nil {
			how = fmt.Sprintf("open %s and press Start, or %s", row.StartLink(c.Name, code.code), how)
		}
		d.say("%s: to make yourself the owner, %s.\n  Waiting for %d minutes. Press Enter to skip, or type your id: ", row.Kind, how, int(codeTTL/time.Minute))
		who, err := d.listen(ctx, c, code)
		d.say("\n")
		switch {
		case err != nil && ctx.Err() != nil:
			return "", ctx.Err()
		case errors.Is(err, errAnswered): // a line was typed instead
			id, err := d.typed()
			if err != nil || id == "" {
				return "", err
			}
			return d.ownerOr(c, row, id)
		case errors.Is(err, errExpired):
			id, err := d.Line("  The code has expired. Press Enter for a new code, or type your id", "")
			if err != nil {
				return "", err
			}
			if id != "" {
				return d.ownerOr(c, row, id)
			}
			continue
		case err != nil:
			d.say("  %v\n", err)
			return d.askOwner(c, row)
		}
		yes, err := d.confirm(who)
		if err != nil {
			return "", err
		}
		if yes {
			return d.Owner(c, row, string(who.ID))
		}
	}
	return d.askOwner(c, row)
}

// confirm asks whether a person is the owner. An empty line is no answer: it may have been meant to skip the waiting.
func (d Dialog) confirm(who channels.Sender) (bool, error) {
	name := fmt.Sprintf("%q", cmp.Or(who.Name, string(who.ID))) // nothing in it moves the cursor
	if who.Username != "" {
		name += fmt.Sprintf(" (%q)", "@"+who.Username)
	}
	for {
		s, err := d.Line(fmt.Sprintf("  %s, id %s, sent the code. Make this person the owner? (y/n)", name, who.ID), "")
		if err != nil {
			return false, err
		}
		switch strings.ToLower(s) {
		case "y", "yes":
			return true, nil
		case "n", "no":
			return false, nil
		}
	}
}

var (
	errAnswered = errors.New("a line was typed")
	errExpired  = errors.New("the code has expired")
)

// listen connects the bot until somebody has sent the code. All other messages are left to the platform: they get no answer, and the host finds
// them at its start where the platform keeps them.
func (d Dialog) listen(ctx context.Context, c Channel, code *oneTime) (who channels.Sender, err error) {
	ch, err := d.open(c)
	if err != nil {
		return who, err
	}
	run, stop := context.WithTimeoutCause(ctx, codeTTL, errExpired)
	defer stop()
	var ran error // once ended is closed
	found, ended := make(chan channels.Sender, 1), make(chan struct{})
	go func() {
		defer close(ended)
		ran = ch.Run(run, func(_ context.Context, in channels.Inbound) error {
			if !code.take(in) {
				return channels.ErrLeave
			}
			found <- in.Sender
			return nil
		})
	}()
	look := time.NewTicker(healthInterval)
	defer look.Stop()
	health, told := channels.Probe(ch).Reporter, ""
	for {
		select {
		case who = <-found:
			stop()
			<-ended
			return who, nil
		case line := <-d.In.wait():
			d.In.unread(line)
			stop()
			<-ended
			return who, errAnswered
		case <-ended:
			if cause := context.Cause(run); errors.Is(cause, errExpired) {
				return who, errExpired
			} else if ran == nil {
				ran = cause
			}
			return who, fmt.Errorf("cannot receive messages for %s: %w", c.Name, ran)
		case <-look.C:
			if health == nil {
				continue
			}
			if h := health.Health(); h.State != channels.Connected && h.Detail != "" && h.Detail != told {
				told = h.Detail
				d.say("\n  Not connected: %s\n  Still waiting. Press Enter to skip, or type your id: ", told)
			}
		}
	}
}
