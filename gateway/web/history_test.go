package web

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"parley/channels"
	"parley/policy"
	"parley/sessions"
)

// shelf is a store in memory, as far as StoreHistory reads.
type shelf struct {
	msgs       []sessions.Message
	runs       []sessions.Run // queued
	past       []sessions.Run
	deliveries []sessions.Delivery // oldest first
	reads      int
}

func (s *shelf) Get(_ context.Context, key sessions.Key) (sessions.Session, error) {
	if key != "agent:main:main" {
		return sessions.Session{}, fmt.Errorf("%s: %w", key, sessions.ErrNotFound)
	}
	return sessions.Session{Key: key, ID: "s1"}, nil
}

func (s *shelf) Tail(_ context.Context, _ sessions.ID, q sessions.TailQuery) ([]sessions.Message, error) {
	s.reads++
	return slices.Clone(s.msgs[max(0, len(s.msgs)-q.Limit):]), nil
}

func (s *shelf) ListRuns(_ context.Context, q sessions.RunQuery) ([]sessions.Run, error) {
	if q.Status == "" {
		return slices.Concat(s.runs, s.past), nil
	}
	return s.runs, nil
}

func (s *shelf) ListDeliveries(_ context.Context, q sessions.DeliveryQuery) ([]sessions.Delivery, error) {
	var out []sessions.Delivery
	for _, d := range slices.Backward(s.deliveries) {
		if (q.Session == "" || d.Session == q.Session) && len(out) < q.Limit {
			out = append(out, d)
		}
	}
	return out, nil
}

var (
	start    = time.Date(2026, 5, 4, 10, 0, 0, 0, time.UTC)
	chat     = channels.Address{Channel: "webchat", Account: "default", Chat: "main", Type: channels.Direct}
	telegram = channels.Address{Channel: "telegram", Account: "work", Chat: "1", Type: channels.Direct}
)

func at(minute int) time.Time { return start.Add(time.Duration(minute) * time.Minute) }

func (s *shelf) history() func(context.Context, channels.ChatID, string) ([]Line, error) {
	return StoreHistory(s, func(id channels.ChatID) channels.Address { a := chat; a.Chat = id; return a },
		func(id channels.ChatID) sessions.Key { return sessions.Key("agent:main:" + string(id)) })
}

func message(id string, role sessions.Role, minute int, text string) sessions.Message {
	return sessions.Message{ID: id, Role: role, Time: at(minute), Content: sessions.TextContent(text)}
}

func from(m sessions.Message, p sessions.Provenance) sessions.Message {
	m.Provenance = &p
	return m
}

func TestStoreHistory(t *testing.T) {
	t.Parallel()
	reply := message("m2", sessions.Assistant, 2, "**hi**")
	reply.SetDeliveries([]sessions.Mark{{Delivery: "d2", State: sessions.Withheld, To: chat.String(), Rule: "rule"}})
	there := message("m4", sessions.Assistant, 4, "sure")
	there.SetDeliveries([]sessions.Mark{{Delivery: "d4", State: sessions.Sent, To: telegram.String()}})
	step := message("m6", sessions.Assistant, 6, "let me look")
	step.Content = append(step.Content, sessions.Block{Type: sessions.ToolCallBlock, ID: "c", Name: "x", Arguments: json.RawMessage("{}")})
	phone := from(message("m3", sessions.User, 3, "from my phone"), sessions.Provenance{Kind: sessions.ExternalUser, Name: "Ada", Address: telegram, Message: "77"})
	phone.Content = append([]sessions.Block{sessions.NewContextBlock([]sessions.ContextLine{{Name: "Gustav", Text: "talk that she did not write"}})}, phone.Content...)
	s := &shelf{
		msgs: []sessions.Message{
			from(message("m1", sessions.User, 1, "hello"), sessions.Provenance{Kind: sessions.ExternalUser, Address: chat, Message: "w1"}),
			reply,
			phone,
			there,
			from(message("m5", sessions.User, 5, "a question"), sessions.Provenance{Kind: sessions.InterSession, Source: "agent:b:main"}),
			step,
			message("m7", sessions.Assistant, 7, "NO_REPLY"),
			from(message("m8", sessions.User, 8, "announce step"), sessions.Provenance{Kind: sessions.InternalSystem}),
			from(message("m11", sessions.User, 9, "The disk is full."), sessions.Provenance{Kind: sessions.ExternalUser, Sender: "hook", Name: "Monitor", Tool: "hook"}),
			from(message("m12", sessions.User, 9, "by hand"), sessions.Provenance{Kind: sessions.ExternalUser, Sender: "owner", Tool: "api"}),
		},
		runs: []sessions.Run{ // newest first
			{Session: "s1", Input: from(message("m10", sessions.User, 11, "and two"), sessions.Provenance{Kind: sessions.ExternalUser, Address: chat, Message: "w3"})},
			{Session: "s1", Input: from(message("m9", sessions.User, 10, "one"), sessions.Provenance{Kind: sessions.ExternalUser, Address: chat, Message: "w2"})},
			{Session: "s0", Input: message("gone", sessions.User, 9, "of the conversation before")},
		},
		deliveries: []sessions.Delivery{
			{ID: "d0", Seq: 1, Session: "agent:main:main", Kind: sessions.Notice, To: chat, Text: "before the reset", Created: at(0)},
			{ID: "d2", Seq: 2, Session: "agent:main:main", Kind: sessions.Reply, To: chat, Message: "m2", Text: "**hi**", Created: at(2)},
			{ID: "d3", Seq: 3, Session: "agent:main:main", Kind: sessions.Notice, To: chat, Text: "status", State: sessions.Sent, ReplyTo: "w9", Created: at(3).Add(time.Second)},
			{ID: "d5", Seq: 4, Session: "agent:main:sub", Kind: sessions.Announce, To: chat, Message: "x", Text: "done", State: sessions.DeliveryFail, Error: "why", Verdict: &policy.Verdict{Rule: "r"}, Created: at(12)},
			{ID: "d6", Seq: 5, Session: "agent:main:main", Kind: sessions.Notice, To: telegram, Text: "not here", Created: at(13)},
		},
	}
	want := []Line{
		{ID: "m1", Role: User, Text: "hello", Time: at(1), Client: "w1"},
		{ID: "m2", Role: Assistant, Text: "**hi**", Time: at(2), Deliveries: []string{"d2"}, State: sessions.Withheld, Rule: "rule"},
		{ID: "m3", Role: User, Text: "from my phone", Time: at(3), From: "Ada, from telegram/work"},
		{ID: "d3", Role: Notice, Text: "status", Time: at(3).Add(time.Second), Deliveries: []string{"d3"}, State: sessions.Sent, Command: true, ReplyTo: "w9"},
		{ID: "m4", Role: Assistant, Text: "sure", Time: at(4), From: "to telegram/work"},
		{ID: "m5", Role: User, Text: "a question", Time: at(5), From: "from session agent:b:main"},
		{ID: "m11", Role: User, Text: "The disk is full.", Time: at(9), From: "Monitor, from a hook"},
		{ID: "m12", Role: User, Text: "by hand", Time: at(9), From: "owner, through the API"},
		{ID: "m9", Role: User, Text: "one", Time: at(10), Client: "w2"},
		{ID: "m10", Role: User, Text: "and two", Time: at(11), Client: "w3"},
		{ID: "d5", Role: Assistant, Text: "done", Time: at(12), Deliveries: []string{"d5"}, State: sessions.DeliveryFail, Rule: "r", Reason: "why"},
	}
	got, err := s.history()(t.Context(), "main", "")
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Errorf("%v %s", err, d)
	}
	if got, err := s.history()(t.Context(), "stranger", ""); err != nil || got != nil {
		t.Errorf("a chat without a session: %v %v", got, err)
	}
	s.msgs, s.runs, s.past = nil, nil, []sessions.Run{{Session: "s0"}}
	got, err = s.history()(t.Context(), "main", "")
	if err != nil || len(got) != 1 || got[0].ID != "d3" {
		t.Errorf("after a reset: %v %v", got, err)
	}
}

// What a run says in an exchange between sessions, or to the host alone, is no answer in the chat.
func TestStoreHistoryTellsRepliesBetweenSessions(t *testing.T) {
	t.Parallel()
	announced := message("m6", sessions.Assistant, 6, "news")
	announced.SetDeliveries([]sessions.Mark{{Delivery: "d6", State: sessions.Withheld, To: chat.String()}})
	s := &shelf{msgs: []sessions.Message{
		from(message("m1", sessions.User, 1, "ask them"), sessions.Provenance{Kind: sessions.ExternalUser, Address: chat, Message: "w1"}),
		message("m2", sessions.Assistant, 2, "asked"),
		from(message("m3", sessions.User, 3, "their reply"), sessions.Provenance{Kind: sessions.InterSession, Source: "agent:b:main"}),
		message("m4", sessions.Assistant, 4, "my reply to them"),
		from(message("m5", sessions.User, 5, "Announce step."), sessions.Provenance{Kind: sessions.InternalSystem}),
		announced,
		from(message("m7", sessions.User, 7, "Announce step."), sessions.Provenance{Kind: sessions.InternalSystem}),
		message("m8", sessions.Assistant, 8, "to nobody"),
	}}
	got, err := s.history()(t.Context(), "main", "")
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, l := range got {
		lines = append(lines, l.ID+"|"+l.From)
	}
	want := "m1| m2| m3|from session agent:b:main m4|to session agent:b:main m6|"
	if strings.Join(lines, " ") != want {
		t.Errorf("got %v, want %s", lines, want)
	}
	// The same when the beginning of the exchange is older than what is read at first.
	s.msgs = s.msgs[2:3]
	for i := range 2 * firstTail {
		s.msgs = append(s.msgs, message(fmt.Sprint("x", i), sessions.Assistant, 9+i, "step"))
	}
	s.msgs = append(s.msgs, from(message("again", sessions.User, 1000, "more"), sessions.Provenance{Kind: sessions.InterSession, Source: "agent:b:main"}))
	got, err = s.history()(t.Context(), "main", "")
	if err != nil || len(got) != pageLines || slices.ContainsFunc(got, func(l Line) bool { return l.From == "" }) {
		t.Errorf("a long exchange: %d lines, %v", len(got), err)
	}
}

// In a chat where nothing was said yet, the answers to all commands are there.
func TestStoreHistoryOfCommandsOnly(t *testing.T) {
	t.Parallel()
	s := &shelf{deliveries: []sessions.Delivery{
		{ID: "d1", Seq: 1, Session: "agent:main:main", Kind: sessions.Notice, To: chat, Text: "off", State: sessions.Sent, Created: at(1)},
		{ID: "d2", Seq: 2, Session: "agent:main:main", Kind: sessions.Notice, To: chat, Text: "help", State: sessions.Withheld, Verdict: &policy.Verdict{Rule: "r"}, Created: at(2)},
		{ID: "d3", Seq: 3, Session: "agent:main:main", Kind: sessions.Notice, Run: "run", To: chat, Text: "failed", State: sessions.Sent, Created: at(3)},
	}}
	got, err := s.history()(t.Context(), "main", "")
	want := []Line{
		{ID: "d1", Role: Notice, Text: "off", Time: at(1), Deliveries: []string{"d1"}, State: sessions.Sent, Command: true},
		{ID: "d2", Role: Notice, Text: "help", Time: at(2), Deliveries: []string{"d2"}, State: sessions.Withheld, Rule: "r", Command: true},
		{ID: "d3", Role: Notice, Text: "failed", Time: at(3), Deliveries: []string{"d3"}, State: sessions.Sent},
	}
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Errorf("%v %s", err, d)
	}
}

// Page by page back to the beginning gives every line once, in order.
func TestStoreHistoryPages(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, pageLines, pageLines + 1, firstTail, 4*firstTail + 1, 1000} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			s := &shelf{}
			var want, got []string
			for i := range n {
				want = append(want, fmt.Sprint("m", i))
				s.msgs = append(s.msgs, message(want[i], sessions.User, i, "x"))
			}
			before := ""
			for range n + 1 {
				lines, err := s.history()(t.Context(), "main", before)
				if err != nil {
					t.Fatal(err)
				}
				if len(lines) == 0 {
					break
				}
				var ids []string
				for _, l := range lines {
					ids = append(ids, l.ID)
				}
				got, before = append(ids, got...), lines[0].ID
			}
			if strings.Join(got, " ") != strings.Join(want, " ") {
				t.Errorf("got %v", got)
			}
		})
	}
	s := &shelf{msgs: []sessions.Message{message("m", sessions.User, 1, "x")}}
	if lines, err := s.history()(t.Context(), "main", "unknown"); err != nil || len(lines) != 0 {
		t.Errorf("before an unknown line: %v %v", lines, err)
	}
}
