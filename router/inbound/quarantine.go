package inbound

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"parley/channels"
	"parley/policy"
	"parley/sessions"
)

// An event that is refused for what is in it, or by a fault of this program, would be asked for again for ever, and all behind it in its account would
// wait. It is quarantined once that was so refusedTries times over refusedFor: a state that it only met, as a session that is deleted meanwhile, passes.
const (
	refusedTries        = 5
	RefusedFor          = 30 * time.Second
	maxRefused          = 1000      // events that are counted
	MaxQuarantined      = 100       // an hour: when there are more, not the events are at fault, and they stay with the platform
	maxQuarantinedBytes = 256 << 10 // bytes of its words: what is longer stays with the platform
)

// poisonTracker counts how often events were refused.
type poisonTracker struct {
	mu          sync.Mutex
	m           map[eventKey]refusedBefore
	since       time.Time // of the hour in which
	quarantined int       // were quarantined

	unread map[channels.Address]bool // chats whose session could not be read
}

type eventKey struct {
	at    channels.Address
	id    channels.MessageID
	event channels.Event
}

type refusedBefore struct {
	first time.Time
	times int
}

func eventOf(in channels.Inbound) eventKey { return eventKey{in.Address, in.ID, in.Event} }

// forget forgets an event.
func (e *poisonTracker) forget(in channels.Inbound) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.m, eventOf(in))
}

// recordFailure counts a refusal and gives how to take it back that the event is quarantined now: it had its tries, and there is room for it among those of
// the hour. nil = it is to come again. Where a chat's session cannot be read, and that was found out so once, others do not wait for what comes there.
func (e *poisonTracker) recordFailure(in channels.Inbound, why error) (undo func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	unread := errors.Is(why, sessions.ErrCorruptRow)
	if unread && e.unread[in.Address] {
		return func() {}
	}
	x, known := e.m[eventOf(in)]
	if !known {
		if e.m == nil || len(e.m) >= maxRefused {
			e.m = map[eventKey]refusedBefore{}
		}
		x.first = time.Now()
	}
	x.times++
	e.m[eventOf(in)] = x
	if time.Since(e.since) >= time.Hour {
		e.since, e.quarantined = time.Now(), 0
	}
	if x.times < refusedTries || time.Since(x.first) < RefusedFor || e.quarantined >= MaxQuarantined {
		return nil
	}
	e.quarantined++
	if unread {
		if e.unread == nil || len(e.unread) >= maxRefused {
			e.unread = map[channels.Address]bool{}
		}
		e.unread[in.Address] = true
	}
	return e.release
}

// release takes back that one was counted among those of the hour.
func (e *poisonTracker) release() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.quarantined = max(e.quarantined-1, 0)
}

// clear says that an event of a chat was taken.
func (e *poisonTracker) clear(at channels.Address) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.unread, at)
}

// causedByEvent reports whether an error says that the event is what cannot be taken. What may be the disk's, the connection's or the caller's is not.
func causedByEvent(err error) bool {
	return errors.Is(err, sessions.ErrInvalid) || errors.Is(err, sessions.ErrCorruptRow) || errors.Is(err, sessions.ErrConflict) || errors.Is(err, sessions.ErrNotFound) || errors.Is(err, channels.ErrPanic)
}

// quarantine keeps an event that is refused again and again for people to look at, with the words of it, and tells the chat where it would have begun a
// turn. It gives the error of the refusal while the event is still to come again. What a move to another chat says is not for people.
func (r *Receiver) quarantine(ctx context.Context, a sessions.Arrival, in channels.Inbound, why error) error {
	if ctx.Err() != nil || in.ID == "" || in.Event == channels.Moved || !causedByEvent(why) {
		return why
	}
	undo := r.refused.recordFailure(in, why)
	if undo == nil {
		return why
	}
	kept, fits := quarantined(in, r.forPeople(ctx, a, in))
	if !fits {
		undo()
		return why
	}
	in.Raw = kept
	aside := sessions.Arrival{In: in, Skip: &sessions.Skip{Listed: true, Notices: r.quarantineNotice(a, in),
		Reason: sessions.QuarantineReason + " after repeated failures: " + channels.CleanText(why.Error())}}
	acc, err := r.commit.Accept(ctx, aside)
	if err != nil && len(aside.Skip.Notices) > 0 && causedByEvent(err) { // the notice may be the invalid part
		aside.Skip.Notices = nil
		acc, err = r.commit.Accept(ctx, aside)
	}
	if err != nil || acc.Duplicate {
		undo()
	}
	if err != nil {
		r.commit.NoteUncertain(ctx, err)
		return errors.Join(why, fmt.Errorf("quarantine message: %w", err))
	}
	r.refused.forget(in)
	if acc.Duplicate { // a try was taken, and what came behind it failed
		return nil
	}
	r.metrics.accepted(in.Address.Channel, "refused")
	r.log.Error("message quarantined after repeated failures", "hint", "parley skipped --limit 1000 --json", keyMessage, in.ID, keyAddress, in.Address.String(), keyErr, why)
	r.commit.AfterCommit(ctx, acc)
	return nil
}

// quarantineNotice tells the chat that its message is quarantined. It goes by the rules of the session that the message was for.
func (r *Receiver) quarantineNotice(a sessions.Arrival, in channels.Inbound) []sessions.Delivery {
	if a.Change == nil || a.Change.Run == nil {
		return nil
	}
	d := sessions.NewNotice(a.Change.Run.Key, in, "⚙️ I could not process this message and have saved it for the administrator. You can keep writing.",
		time.Now().Add(r.settings().Delivery.TTL(sessions.Notice)))
	d.ID = sessions.DeliveryID(uuid.NewSHA1(uuid.NameSpaceOID, []byte("set aside "+string(in.ID)+" of "+in.Address.String())).String())
	return []sessions.Delivery{d}
}

// forPeople reports whether the words of an event may be kept: nobody was to read those of one that the policy drops, nor has the host kept them. Where
// the event failed before it was decided on, the policy is asked for it alone; what a group's own rule may drop is dropped where that cannot be read.
func (r *Receiver) forPeople(ctx context.Context, a sessions.Arrival, in channels.Inbound) bool {
	switch {
	case in.SentByThisLogin:
		return false
	case a.In.ID != "":
		_, heard := sessions.FindEvent[sessions.AppendContext](a.Skip)
		return a.Skip == nil || a.Skip.Listed || heard
	}
	var err error
	defer channels.RecoverPanic(r.log, "set aside", &err) // false, too
	set := r.settings()
	s, err := r.place(ctx, set, in)
	if err != nil { // it may be its session that cannot be read, and with it the rule of a group
		if in.Address.Type.Several() {
			return false
		}
		s.Key, s.Agent, _ = set.Routes.Key(in)
	}
	verdict, err := r.admission.Admit(ctx, set, in, s, set.Owners.Is(in.Address.Channel, in.Sender), false)
	return err == nil && (verdict.Outcome == policy.Admit || verdict.Outcome == policy.Remember)
}

// quarantined is what people need of an event that is quarantined, with its words or without. fits: it is not too long.
func quarantined(in channels.Inbound, words bool) (b json.RawMessage, fits bool) {
	if !words {
		in.Text, in.Emoji, in.Media = "", "", nil
	}
	x := struct {
		Event  channels.Event     `json:"event"`
		Sender channels.UserID    `json:"sender,omitempty"`
		Name   string             `json:"name,omitempty"`
		Time   string             `json:"time"`
		Text   string             `json:"text,omitempty"`
		Target channels.MessageID `json:"target,omitempty"`
		Emoji  string             `json:"emoji,omitempty"`
		Files  []string           `json:"files,omitempty"`
	}{in.Event, in.Sender.ID, in.Sender.Name, in.Time.UTC().Format(time.RFC3339), in.Text, in.Target, in.Emoji, nil}
	for _, m := range in.Media {
		x.Files = append(x.Files, string(m.Kind)+" "+m.Name)
	}
	var out strings.Builder
	w := json.NewEncoder(&out)
	w.SetEscapeHTML(false)
	if err := w.Encode(x); err != nil || out.Len() > maxQuarantinedBytes {
		return nil, false
	}
	return json.RawMessage(strings.TrimSpace(out.String())), true
}
