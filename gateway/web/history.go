package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"parley/agent/control"
	"parley/channels"
	"parley/sessions"
)

const (
	pageLines = 40
	firstTail = 64    // messages read for the newest page; four times as many each time that they do not reach
	maxTail   = 16384 // messages that can be scrolled back to
	announced = 256   // newest deliveries of the whole host that are searched for announces
)

// Store is what StoreHistory reads from: sessions.Store has it.
type Store interface {
	Get(ctx context.Context, key sessions.Key) (sessions.Session, error)
	Tail(ctx context.Context, id sessions.ID, q sessions.TailQuery) ([]sessions.Message, error)
	ListRuns(ctx context.Context, q sessions.RunQuery) ([]sessions.Run, error)
	ListDeliveries(ctx context.Context, q sessions.DeliveryQuery) ([]sessions.Delivery, error)
}

// StoreHistory makes Deps.History from the store: the transcript of the session behind a chat, what waits to become part of it,
// and what came into the chat without being part of it (answers to commands, announces of other sessions). address and key say
// where a chat is and which session is behind it.
func StoreHistory(store Store, address func(channels.ChatID) channels.Address, key func(channels.ChatID) sessions.Key) func(context.Context, channels.ChatID, string) ([]Line, error) {
	return func(ctx context.Context, chat channels.ChatID, before string) ([]Line, error) {
		h := history{store: store, to: address(chat), key: key(chat)}
		s, err := store.Get(ctx, h.key)
		if errors.Is(err, sessions.ErrNotFound) {
			return nil, nil
		}
		if err != nil {
			return nil, fmt.Errorf("session %s: %w", h.key, err)
		}
		for n := firstTail; ; n *= 4 {
			lines, all, err := h.read(ctx, s.ID, n)
			if err != nil {
				return nil, fmt.Errorf("history of %s: %w", h.key, err)
			}
			end := len(lines)
			if before != "" {
				end = slices.IndexFunc(lines, func(l Line) bool { return l.ID == before })
			}
			if end >= pageLines {
				return lines[end-pageLines : end], nil
			}
			if all || n >= maxTail {
				return lines[:max(end, 0)], nil
			}
		}
	}
}

type history struct {
	store Store
	to    channels.Address
	key   sessions.Key
}

// read gives the lines of the newest n messages, and whether there are no older ones.
func (h history) read(ctx context.Context, id sessions.ID, n int) (lines []Line, all bool, err error) {
	msgs, err := h.store.Tail(ctx, id, sessions.TailQuery{Limit: n})
	if err != nil {
		return nil, false, err
	}
	all = len(msgs) < n
	queued, err := h.store.ListRuns(ctx, sessions.RunQuery{Key: h.key, Status: sessions.Queued, Limit: n})
	if err != nil {
		return nil, false, err
	}
	here := map[string]bool{}
	for _, m := range msgs {
		here[m.ID] = true
	}
	for _, r := range slices.Backward(queued) { // newest first; a message joins the transcript when its run begins
		if !here[r.Input.ID] && r.Session == id {
			msgs = append(msgs, r.Input)
			here[r.Input.ID] = true
		}
	}
	if msgs, err = h.unread(ctx, msgs, here, all, id, n); err != nil {
		return nil, false, err
	}
	if !all { // nobody can tell yet whom the first of these answer
		first := slices.IndexFunc(msgs, func(m sessions.Message) bool { return m.Role == sessions.User })
		if first < 0 {
			return nil, false, nil
		}
		msgs = msgs[first:]
	}
	others, err := h.others(ctx, msgs, here, n)
	if err != nil {
		return nil, false, err
	}
	var asked *sessions.Provenance // of what the message answers: the runs of a session take turns
	for _, m := range msgs {
		for len(others) > 0 && others[0].Created.Before(m.Time) {
			lines, others = append(lines, deliveryLine(others[0])), others[1:]
		}
		if m.Role == sessions.User && (m.Provenance == nil || m.Provenance.Tool != sessions.StopNote) {
			asked = m.Provenance
		}
		if l, ok := h.line(m, asked); ok {
			lines = append(lines, l)
		}
	}
	for _, d := range others {
		lines = append(lines, deliveryLine(d))
	}
	return lines, all, nil
}

// unread adds what was written here and ended before its turn, by a stop or in a full queue: no transcript has it, and who wrote it waits.
func (h history) unread(ctx context.Context, msgs []sessions.Message, here map[string]bool, all bool, id sessions.ID, n int) ([]sessions.Message, error) {
	ended, err := h.store.ListRuns(ctx, sessions.RunQuery{Key: h.key, Status: sessions.Stopped, Limit: n})
	if err != nil {
		return nil, err
	}
	for _, r := range ended {
		m := r.Input
		if p := m.Provenance; here[m.ID] || r.Session != id || r.MergedInto != "" || p == nil || p.Address != h.to || !all && m.Time.Before(msgs[0].Time) {
			continue
		}
		i := slices.IndexFunc(msgs, func(o sessions.Message) bool { return o.Time.After(m.Time) })
		if i < 0 {
			i = len(msgs)
		}
		msgs, here[m.ID] = slices.Insert(msgs, i, m), true
	}
	return msgs, nil
}

// others gives what came into the chat, or was to, since the first of these messages and is in none of them, oldest first.
func (h history) others(ctx context.Context, msgs []sessions.Message, here map[string]bool, n int) ([]sessions.Delivery, error) {
	list, err := h.store.ListDeliveries(ctx, sessions.DeliveryQuery{Session: h.key, Limit: n})
	if err != nil {
		return nil, err
	}
	any, err := h.store.ListDeliveries(ctx, sessions.DeliveryQuery{Limit: announced})
	if err != nil {
		return nil, err
	}
	seen := map[sessions.DeliveryID]bool{}
	list = slices.DeleteFunc(append(list, any...), func(d sessions.Delivery) bool {
		skip := seen[d.ID] || d.To != h.to || here[d.Message] || len(msgs) > 0 && d.Created.Before(msgs[0].Time) ||
			len(msgs) == 0 && d.Message != ""
		seen[d.ID] = true
		return skip
	})
	slices.SortFunc(list, func(a, b sessions.Delivery) int { return int(a.Seq - b.Seq) })
	if len(msgs) > 0 || len(list) < 2 {
		return list, nil
	}
	past, err := h.store.ListRuns(ctx, sessions.RunQuery{Key: h.key, Limit: 1})
	if len(past) > 0 {
		list = list[len(list)-1:] // the conversation was just reset: only the answer to that is part of the new one
	}
	return list, err
}

func deliveryLine(d sessions.Delivery) Line {
	l := Line{ID: string(d.ID), Role: Assistant, Text: d.Text, Time: d.Created, Deliveries: []string{string(d.ID)}, State: d.State, Reason: d.Error}
	if d.Kind == sessions.Notice {
		l.Role, l.Command, l.ReplyTo = Notice, d.Run == "", string(d.ReplyTo)
	}
	if d.Verdict != nil {
		l.Rule = d.Verdict.Rule
	}
	return l
}

// line gives a message as people read it; asked is the origin of what it answers. ok is false for what is no talk: prompts of
// the host and what it got for its own use, steps between tool calls, control words.
func (h history) line(m sessions.Message, asked *sessions.Provenance) (l Line, ok bool) {
	l = Line{ID: m.ID, Text: strings.TrimSpace(m.Said()), Time: m.Time}
	if m.Role == sessions.Assistant && len(m.ToolCalls()) == 0 {
		l.Text = control.Read(l.Text).Text
	}
	if l.Text == "" {
		return l, false
	}
	switch m.Role {
	case sessions.User:
		return h.spoken(l, m.Provenance, m.Run)
	case sessions.Assistant:
		l.Role = Assistant
		elsewhere := ""
		for _, mark := range m.Deliveries() {
			if mark.To == h.to.String() {
				l.Deliveries, l.State, l.Rule, l.Reason = append(l.Deliveries, string(mark.Delivery)), mark.State, mark.Rule, mark.Error
			} else if a, err := channels.ParseAddress(mark.To); err == nil {
				elsewhere = "to " + chatName(a)
			}
		}
		if len(l.Deliveries) == 0 {
			l.From = elsewhere
		}
		if len(m.Deliveries()) == 0 && asked != nil {
			switch asked.Kind {
			case sessions.InternalSystem:
				return l, false
			case sessions.InterSession:
				l.From = "to session " + string(asked.Source.Shown())
			}
		}
		return l, len(m.Deliveries()) > 0 || len(m.ToolCalls()) == 0
	}
	return l, false
}

func (h history) spoken(l Line, p *sessions.Provenance, run sessions.RunID) (Line, bool) {
	l.Role = User
	switch {
	case p == nil:
	case p.Kind == sessions.InternalSystem:
		l.Role = Notice
		return l, p.Tool == sessions.StopNote // else it is the host's own use
	case p.Kind == sessions.InterSession:
		l.From = "from session " + string(p.Source.Shown())
	case p.Address == h.to:
		l.Client, l.Run = p.Message, run
	case !p.Address.IsZero():
		l.From = "from " + chatName(p.Address)
		if p.Name != "" {
			l.From = p.Name + ", " + l.From
		}
	case p.Tool != "": // it came through no chat
		l.From = through(p.Tool)
		if name := cmp.Or(p.Name, p.User, p.Sender); name != "" {
			l.From = name + ", " + l.From
		}
	}
	return l, true
}

// through says in words how something came that no chat brought.
func through(way string) string {
	switch way {
	case "hook":
		return "from a hook"
	case "api":
		return "through the API"
	}
	return "through " + way
}

// chatName names a chat elsewhere for people.
func chatName(a channels.Address) string {
	if a.Account == channels.DefaultAccount {
		return string(a.Channel)
	}
	return string(a.Channel) + "/" + string(a.Account)
}
