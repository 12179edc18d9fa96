package routertest

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"parley/agent"
	"parley/sessions"
)

// Epoch is when the scenarios begin, on the clock of a bubble.
var Epoch = time.Date(2000, 1, 1, 1, 0, 0, 0, time.UTC)

// Step is a model call, seen as what it is for.
type Step struct {
	Kind    string   // turn, ask, reply, announce (of an exchange), child, report (of a sub-agent), result
	Session string   // as the prompt names it
	Turn    int      // of a reply step
	Said    string   // the newest message that is no tool result
	Results []string // of the tools called since then
	Latest  string   // what the sub-agent that is to report has found
}

// String names a step.
func (s Step) String() string {
	return fmt.Sprintf("%s %s/%d %q %q +%d", s.Kind, s.Session, s.Turn, s.Said, s.Latest, len(s.Results))
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
		{"follow-up", "This turn follows on a question"},
		{"result", "A sub-agent that this session started has ended"},
		{"child", "You are a sub-agent of"},
	}
)

// StepOf tells from a prompt which step it is.
func StepOf(p agent.Prompt) Step {
	s := Step{Kind: "turn"}
	if m := stepSession.FindStringSubmatch(p.System); m != nil {
		s.Session = m[1]
	}
	if m := stepTurn.FindStringSubmatch(p.System); m != nil {
		s.Turn, _ = strconv.Atoi(m[1])
	}
	if m := stepLatest.FindStringSubmatch(p.System); m != nil {
		s.Latest = m[1]
	}
	for _, k := range stepKinds {
		if strings.Contains(p.System, k.text) {
			s.Kind = k.kind
			break
		}
	}
	for _, m := range p.Messages {
		switch m.Role {
		case sessions.User:
			s.Said, s.Results = m.Text(), nil
		case sessions.ToolResult:
			s.Results = append(s.Results, m.Text())
		}
	}
	return s
}

// Mark tells one answer of a session's agent from the others.
func Mark(session string, m sessions.Message) string {
	s := session + " says " + strconv.Quote(m.Text())
	for _, c := range m.ToolCalls() {
		s += " " + c.Name + string(c.Arguments)
	}
	return s
}
