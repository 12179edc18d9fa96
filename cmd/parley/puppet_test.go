package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"parley/agent/modeltest"
)

// puppet is a model that does what the newest message of its session says, one line after the other (see use, say, hold, fail). Any
// other message is echoed, or asked of other. A step that only words a text is asked of words.
type puppet struct {
	words, other func(call) modeltest.Reply

	mu    sync.Mutex
	gates map[string]chan struct{}
	over  bool
}

// The lines of a puppet's program. One that ends without say ends its turn with NO_REPLY.

// use calls a tool.
func use(tool string, args any) string {
	b, err := json.Marshal(args)
	if err != nil {
		panic(err)
	}
	return "use " + tool + " " + string(b)
}

// together joins lines that call tools: the model asks for all of them at once.
func together(uses ...string) string { return strings.ReplaceAll(program(uses...), "\nuse ", "\nand ") }

// say ends the turn with a text.
func say(text string) string { return "say " + strconv.Quote(text) }

// hold waits until the test frees the gate, or has freed it already; the turn then goes on.
func hold(gate string) string { return "hold " + gate }

// fail ends the turn with a failure of the provider that is not worth a second try.
func fail() string { return "fail " }

func program(lines ...string) string { return strings.Join(lines, "\n") }

// words makes a model's answer.
func words(text string) modeltest.Reply {
	return modeltest.Reply{Text: []string{text}, Usage: modeltest.Usage{Input: 100, Output: 10}}
}

// refused is a provider's answer that is not worth a second try.
func refused() modeltest.Reply { return modeltest.Reply{Status: http.StatusUnauthorized} }

// call is a model call, seen as what it is for.
type call struct {
	modeltest.Request
	Agent, Session string // Session is the whole key
	Step           string // turn, child, ask, reply, announce (of an exchange), report (of a sub-agent), result, summary
}

var (
	inSession = regexp.MustCompile("(?:This|Your) session is `([^`]+)`")
	asAgent   = regexp.MustCompile("agent `([^`]+)`")
	steps     = []struct{ step, text string }{
		{"ask", "This message comes from another session"},
		{"reply", "This is a reply step"},
		{"announce", "This is the announce step of an exchange"},
		{"report", "This is the announce step of your task"},
		{"result", "A sub-agent that this session started has ended"},
		{"summary", "You keep the memory of an agent"},
		{"child", "You are a sub-agent of"},
	}
)

func callOf(r modeltest.Request) call {
	c := call{Request: r, Step: "turn"}
	if m := inSession.FindStringSubmatch(r.System); m != nil {
		c.Session = m[1]
	}
	if m := asAgent.FindStringSubmatch(r.System); m != nil {
		c.Agent = m[1]
	} else if p := strings.Split(c.Session, ":"); len(p) > 1 {
		c.Agent = p[1]
	}
	if c.Session == "main" {
		c.Session = "agent:" + c.Agent + ":main"
	}
	for _, s := range steps {
		if strings.Contains(r.System, s.text) {
			c.Step = s.step
			break
		}
	}
	return c
}

// toolNames are the tools that the model was offered.
func (c call) toolNames() []string {
	var out []string
	for _, t := range c.Tools {
		out = append(out, t.Name)
	}
	slices.Sort(out)
	return out
}

func (p *puppet) answer(r modeltest.Request) modeltest.Reply {
	c := callOf(r)
	if c.Step == "summary" {
		return words("they talked")
	}
	if c.Step == "reply" || c.Step == "announce" || c.Step == "report" || c.Step == "result" {
		if p.words != nil {
			return p.words(c)
		}
		return words(map[string]string{"reply": "REPLY_SKIP", "announce": "ANNOUNCE_SKIP", "report": "ANNOUNCE_SKIP", "result": "NO_REPLY"}[c.Step])
	}
	at, lines := 0, []string(nil)
	for i := len(r.Messages) - 1; i >= 0 && lines == nil; i-- {
		switch m := r.Messages[i]; m.Role {
		case "tool":
			at++
		case "user":
			lines = strings.Split(strings.ReplaceAll(spokenText(m.Text), "\n  ", "\n"), "\n") // in groups later lines may be indented
		}
	}
	if lines == nil {
		return words("NO_REPLY")
	}
	if !isLine(lines[0]) {
		if p.other != nil {
			return p.other(c)
		}
		return modeltest.Echo(r)
	}
	for i, l := range lines {
		word, rest, _ := strings.Cut(l, " ")
		switch {
		case word == "hold" && at == 0:
			p.wait(rest)
		case word == "hold":
		case at > 0:
			at--
		case word == "use":
			return modeltest.Reply{ToolCalls: toolCalls(r.N, lines[i:]), Usage: modeltest.Usage{Input: 100, Output: 10}}
		case word == "say":
			text, err := strconv.Unquote(rest)
			if err != nil {
				panic(fmt.Sprintf("puppet: %q: %v", l, err))
			}
			return words(text)
		case word == "fail":
			return refused()
		}
	}
	return words("NO_REPLY")
}

// toolCalls are the call of the first line and those that go together with it.
func toolCalls(n int, lines []string) (out []modeltest.ToolCall) {
	for i, l := range lines {
		word, rest, _ := strings.Cut(l, " ")
		if i > 0 && word != "and" {
			break
		}
		tool, args, _ := strings.Cut(rest, " ")
		out = append(out, modeltest.ToolCall{ID: fmt.Sprintf("call-%d-%d", n, i), Name: tool, Arguments: args})
	}
	return out
}

// lead is what a message begins with that does not come from a person alone: where it is from, or who spoke in a group.
var lead = regexp.MustCompile(`\[(?:inter-session message|message of)[^\n]*\]\n\n|(?:Olga|Gustav): `)

// spokenText is the newest message without its lead. (Messages that nobody has answered are shown to a model as one.)
func spokenText(text string) string {
	if all := lead.FindAllStringIndex(text, -1); all != nil {
		return text[all[len(all)-1][1]:]
	}
	return text
}

func isLine(l string) bool {
	word, _, _ := strings.Cut(l, " ")
	return slices.Contains([]string{"use", "say", "hold", "fail"}, word)
}

func (p *puppet) gate(name string) chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gates == nil {
		p.gates = map[string]chan struct{}{}
	}
	if p.gates[name] == nil {
		p.gates[name] = make(chan struct{})
		if p.over {
			close(p.gates[name])
		}
	}
	return p.gates[name]
}

func (p *puppet) wait(name string) { <-p.gate(name) }

// free opens a gate for good.
func (p *puppet) free(name string) {
	g := p.gate(name)
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-g:
	default:
		close(g)
	}
}

// end opens every gate.
func (p *puppet) end() {
	p.mu.Lock()
	p.over = true
	var names []string
	for n := range p.gates {
		names = append(names, n)
	}
	p.mu.Unlock()
	for _, n := range names {
		p.free(n)
	}
}

// calls gives the model calls so far that are for a session and a step; "" is any.
func (w *world) modelCalls(session, step string) (out []call) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range w.model.Requests() {
		c, ok := w.called[r.N]
		if !ok { // a test that waits looks again and again
			c = callOf(r)
			w.called[r.N] = c
		}
		if (session == "" || c.Session == session) && (step == "" || c.Step == step) {
			out = append(out, c)
		}
	}
	return out
}

// asked waits until the model was called n times for a session and a step, and gives these calls.
func (w *world) asked(session, step string, n int) (out []call) {
	w.t.Helper()
	w.until(20*time.Second, fmt.Sprintf("the model is asked %d times: %s %s", n, session, step), func() bool {
		out = w.modelCalls(session, step)
		return len(out) >= n
	})
	return out
}

// given is the result of a tool call as a session's model was shown it.
type given struct {
	Call modeltest.ToolCall
	Text string
}

// results are the tool results that the model of a session was shown, in order.
func (w *world) results(session, tool string) (out []given) {
	seen := map[string]bool{}
	for _, c := range w.modelCalls(session, "") {
		calls := map[string]modeltest.ToolCall{}
		for _, m := range c.Messages {
			for _, tc := range m.ToolCalls {
				calls[tc.ID] = tc
			}
			if tc := calls[m.ToolCallID]; m.Role == "tool" && tc.Name == tool && !seen[tc.ID] {
				seen[tc.ID] = true
				out = append(out, given{tc, m.Text})
			}
		}
	}
	return out
}

// outcome is what the session tools answer with.
type outcome struct {
	Status, Error, Reply, RunID, SessionKey, ChildSessionKey string
}

// told waits until the model of a session was shown n results of a tool, and decodes the n-th.
func told[T any](w *world, session, tool string, n int) (v T) {
	w.t.Helper()
	var rs []given
	w.until(20*time.Second, fmt.Sprintf("the model of %s is shown %d results of %s", session, n, tool), func() bool {
		rs = w.results(session, tool)
		return len(rs) >= n
	})
	if err := json.Unmarshal([]byte(rs[n-1].Text), &v); err != nil {
		w.t.Fatalf("the result of %s: %v in %s", tool, err, rs[n-1].Text)
	}
	return v
}
