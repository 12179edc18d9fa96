package router

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"parley/agent"
	"parley/channels"
	"parley/channels/channeltest"
	"parley/sessions"
	"parley/sessions/sqlstore"
)

// scenario is a story that is told once to its end, and again from each of its crash images. What the model answers is a function
// of what it is shown: a process that takes over hears the same.
type scenario struct {
	name   string
	set    func(*Settings)
	moves  []move
	answer func(ctx context.Context, s step) (agent.Answer, error)
	want   want
	twice  bool          // kill the processes that take over as well
	pause  time.Duration // before each word of an answer

	limits  channels.Limits                                       // of the platform, besides those of its kind
	script  []channeltest.Step                                    // of the platform, for the first process
	prepare func(ctx context.Context, store sessions.Store) error // before the first message; may be repeated
}

func (sc *scenario) settings() *Settings {
	if sc.set == nil {
		return settingsFor()
	}
	return settingsFor(sc.set)
}

// move is what somebody writes, some time after epoch.
type move struct {
	id   channels.MessageID
	at   time.Duration
	to   channels.Address
	by   string
	text string
	in   func(*channels.Inbound)                    // changes it to something else than a message that is meant for the bot
	do   func(ctx context.Context, r *Router) error // instead of writing: may be repeated
}

// epoch is when the scenarios begin, on the clock of a bubble.
var epoch = time.Date(2000, 1, 1, 1, 0, 0, 0, time.UTC)

// step is a model call, seen as what it is for.
type step struct {
	kind    string   // turn, ask, reply, announce (of an exchange), child, report (of a sub-agent), result
	session string   // as the prompt names it
	turn    int      // of a reply step
	said    string   // the newest message that is no tool result
	results []string // of the tools called since then
	latest  string   // what the sub-agent that is to report has found
}

// asked is one call of the model and what it answered.
type asked struct {
	step
	mark   string
	empty  bool // the answer said nothing and called nothing
	prompt agent.Prompt
}

func (s step) String() string {
	return fmt.Sprintf("%s %s/%d %q %q +%d", s.kind, s.session, s.turn, s.said, s.latest, len(s.results))
}

var (
	stepSession = regexp.MustCompile("(?:This|Your) session is `([^`]+)`")
	stepLatest  = regexp.MustCompile(`(?m)^- Your result: "?(.*?)"?$`)
	stepTurn    = regexp.MustCompile(`reply step between two sessions, turn (\d+)`)
	stepKinds   = []struct{ kind, text string }{
		{"ask", "This message comes from another session"},
		{"reply", "This is a reply step"},
		{"announce", "This is the announce step of an exchange"},
		{"report", "This is the announce step of your task"},
		{"result", "A sub-agent that this session started has ended"},
		{"child", "You are a sub-agent of"},
	}
)

func stepOf(p agent.Prompt) step {
	s := step{kind: "turn"}
	if m := stepSession.FindStringSubmatch(p.System); m != nil {
		s.session = m[1]
	}
	if m := stepTurn.FindStringSubmatch(p.System); m != nil {
		s.turn, _ = strconv.Atoi(m[1])
	}
	if m := stepLatest.FindStringSubmatch(p.System); m != nil {
		s.latest = m[1]
	}
	for _, k := range stepKinds {
		if strings.Contains(p.System, k.text) {
			s.kind = k.kind
			break
		}
	}
	for _, m := range p.Messages {
		switch m.Role {
		case sessions.User:
			s.said, s.results = m.Text(), nil
		case sessions.ToolResult:
			s.results = append(s.results, m.Text())
		}
	}
	return s
}

// mark tells one answer of a session's agent from the others.
func mark(session string, m sessions.Message) string {
	s := session + " says " + strconv.Quote(m.Text())
	for _, c := range m.ToolCalls() {
		s += " " + c.Name + string(c.Arguments)
	}
	return s
}

// transcripts reads every transcript of a store.
func transcripts(t *testing.T, store *sqlstore.Store) map[sessions.Key][]sessions.Message {
	t.Helper()
	out := map[sessions.Key][]sessions.Message{}
	for _, archived := range []bool{false, true} {
		list, err := store.List(t.Context(), sessions.Query{Archived: archived, Limit: 1000})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range list {
			if out[s.Key], err = store.Tail(t.Context(), s.ID, sessions.TailQuery{Limit: 1000, IncludeTool: true}); err != nil {
				t.Fatal(err)
			}
		}
	}
	return out
}
