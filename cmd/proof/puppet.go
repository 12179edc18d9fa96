package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"parley/agent/modeltest"
	"parley/gateway/prooftest"
)

// puppet is a model that does what the messages say, by their tokens, and keeps a log of its own. What a person writes is a token and
// orders behind it (see order). It shows a token in brackets only where that is owed, and nothing else of what it was told.
type puppet struct {
	mu    sync.Mutex
	asked []prooftest.Asked
	begun map[string]bool // tokens that a turn or a step was about
	saw   map[string]int  // what errands want it to see (see want), and how often one prompt has it at most
}

// The steps that a model is asked for.
const (
	stepTurn     = "turn"
	stepAsk      = "ask"
	stepReply    = "reply"
	stepAnnounce = "announce"
	stepChild    = "child"
	stepReport   = "report"
	stepSummary  = "summary"
)

var (
	sessionName = regexp.MustCompile("(?:This|Your) session is `([^`]+)`")
	bracketed   = regexp.MustCompile(`\[(m\d+(?:\.[a-z]\d+)*)\]`) // of a person, an exchange, a sub-agent, a job
	exchanged   = regexp.MustCompile(`exchange (m\d+\.x\d+)`)
	tasked      = regexp.MustCompile(`task (m\d+\.s\d+(?:\.n\d+)?) (\w+)`)
	latest      = regexp.MustCompile(`(?m)^- Your result: (.*)$`)
)

// stepOf says what a call is for, by what the host tells the model about it.
func stepOf(system string) string {
	for _, s := range []struct{ step, text string }{
		{stepAsk, "This message comes from another session"},
		{stepReply, "This is a reply step"},
		{stepAnnounce, "This is the announce step of an exchange"},
		{stepReport, "This is the announce step of your task"},
		{stepChild, "You are a sub-agent of"},
		{stepSummary, "You keep the memory of an agent"},
	} {
		if strings.Contains(system, s.text) {
			return s.step
		}
	}
	return stepTurn
}

// scene is one call as the puppet sees it.
type scene struct {
	step, session string
	said          []string // by the users of this turn, oldest first: all behind the last answer
	results       int      // of tools, in this turn
}

func sceneOf(r modeltest.Request) scene {
	s := scene{step: stepOf(r.System)}
	if m := sessionName.FindStringSubmatch(r.System); m != nil {
		s.session = m[1]
	}
	for _, m := range slices.Backward(r.Messages) {
		if m.Role == "assistant" && len(m.ToolCalls) == 0 {
			break
		}
		switch m.Role {
		case "tool":
			s.results++
		case "user":
			s.said = append(s.said, m.Text)
		}
	}
	slices.Reverse(s.said)
	return s
}

// promptOf is what a call is shown of the conversation.
func promptOf(r modeltest.Request) (out []prooftest.Told) {
	for _, m := range r.Messages {
		out = append(out, prooftest.Told{Role: m.Role, Text: m.Text})
	}
	return out
}

// life is which process asks: each has a key of its own.
func life(r modeltest.Request) (n int) {
	if _, err := fmt.Sscanf(r.Header.Get("Authorization"), "Bearer "+lifeKey, &n); err != nil {
		return 0
	}
	return n
}

// answer is the script of the model server.
func (p *puppet) answer(r modeltest.Request) modeltest.Reply {
	s := sceneOf(r)
	token, reply := s.play(r)
	p.mu.Lock()
	p.asked = append(p.asked, prooftest.Asked{At: r.Time, Session: s.session, Step: s.step, Token: token, Call: s.results, Life: life(r), Says: strings.Join(reply.Text, ""), Prompt: promptOf(r), System: all(bracketed, r.System)})
	if p.begun == nil {
		p.begun = map[string]bool{}
	}
	p.begun[token] = true
	p.see(r)
	p.mu.Unlock()
	reply.Usage = modeltest.Usage{Input: 100, Output: 10}
	reply.Delay += s.slowly(r) + time.Duration(rand.IntN(15))*time.Millisecond
	return reply
}

// play says which token a call is about, and what is answered.
func (s scene) play(r modeltest.Request) (token string, reply modeltest.Reply) {
	last := ""
	if len(s.said) > 0 {
		last = s.said[len(s.said)-1]
	}
	switch s.step {
	case stepReply:
		if strings.Contains(r.System, "turn 1 of") {
			return "", words("thanks")
		}
		return "", words("REPLY_SKIP")
	case stepAsk:
		return first(exchanged, last), words("round one")
	case stepAnnounce:
		token = first(exchanged, r.System)
		return token, words("we agreed on " + shown(token))
	case stepReport:
		found := all(bracketed, first(latest, r.System))
		if len(found) == 0 {
			found = []string{first(tasked, r.System)}
		}
		return found[0], words("Result: " + shown(found...))
	case stepChild:
		return s.child(r.N)
	case stepSummary:
		return "", words("They talked about the garden.")
	}
	if reply, is := s.asks(last, r); is {
		return "", reply
	}
	if token, reply, is := s.errand(last, r.N); is {
		return token, reply
	}
	m := bracketed.FindStringSubmatchIndex(last)
	if at := bracketed.FindAllStringSubmatchIndex(last, -1); at != nil {
		m = at[len(at)-1]
	}
	if m == nil {
		return "", words("NO_REPLY")
	}
	token = last[m[2]:m[3]]
	if calls := order(last[m[1]:]).calls(token, r.N); s.results == 0 && len(calls) > 0 {
		return token, modeltest.Reply{ToolCalls: calls}
	}
	return token, words("done " + shown(token))
}

// child works on a task, or takes up what a sub-agent of its own reports.
func (s scene) child(n int) (token string, reply modeltest.Reply) {
	whole := strings.Join(s.said, "\n")
	done := all(bracketed, whole)
	if m := tasked.FindStringSubmatch(whole); m != nil {
		token = m[1]
		switch {
		case m[2] == mannerFail:
			return token, modeltest.Reply{Status: http.StatusUnauthorized} // not worth a second try
		case m[2] == mannerLate:
			return token, modeltest.Reply{Fault: modeltest.Silent}
		case m[2] == mannerNest && s.results == 0:
			return token, modeltest.Reply{ToolCalls: []modeltest.ToolCall{spawnCall(n, 0, token+".n1", mannerOK)}}
		case m[2] == mannerNest && s.results == 1 && len(done) == 0: // makes one result of both
			return token, modeltest.Reply{ToolCalls: []modeltest.ToolCall{{ID: fmt.Sprintf("call-%d-0", n), Name: "sessions_yield", Arguments: "{}"}}}
		}
		done = append([]string{token}, done...)
	}
	if len(done) == 0 {
		return "", words("nothing to do")
	}
	return done[0], words("found " + shown(done...))
}

func words(text string) modeltest.Reply { return modeltest.Reply{Text: []string{text}} }

// shown writes tokens so that they count.
func shown(tokens ...string) string { return "[" + strings.Join(tokens, "] [") + "]" }

func first(re *regexp.Regexp, text string) string {
	if m := re.FindStringSubmatch(text); m != nil {
		return m[1]
	}
	return ""
}

func all(re *regexp.Regexp, text string) (out []string) {
	for _, m := range re.FindAllStringSubmatch(text, -1) {
		if !slices.Contains(out, m[1]) {
			out = append(out, m[1])
		}
	}
	return out
}

// order is what a person wants besides an answer, a word for each: ask:<session>|<seconds>, spawn:<manner>.
type order string

// The manners in which a sub-agent ends.
const (
	mannerOK   = "ok"
	mannerFail = "fail" // its model refuses
	mannerLate = "late" // it runs out of time
	mannerGone = "gone" // its session is deleted after the report
	mannerNest = "nest" // it has one of its own
)

// calls are the tool calls of an order, all at once. The k-th exchange of message m7 has the token m7.x<k>, its k-th sub-agent m7.s<k>.
func (o order) calls(token string, n int) (out []modeltest.ToolCall) {
	asks, spawns := 0, 0
	for _, word := range strings.Fields(string(o)) {
		what, rest, _ := strings.Cut(word, ":")
		switch what {
		case "ask":
			asks++
			key, wait, _ := strings.Cut(rest, "|")
			args, _ := json.Marshal(map[string]any{"sessionKey": key, "message": fmt.Sprintf("exchange %s.x%d", token, asks), "timeoutSeconds": json.Number(wait)})
			out = append(out, modeltest.ToolCall{ID: fmt.Sprintf("call-%d-%d", n, len(out)), Name: "sessions_send", Arguments: string(args)})
		case "spawn":
			spawns++
			out = append(out, spawnCall(n, len(out), fmt.Sprintf("%s.s%d", token, spawns), rest))
		}
	}
	return out
}

// spawnCall spawns the sub-agent of a token.
func spawnCall(n, i int, token, manner string) modeltest.ToolCall {
	args := map[string]any{"task": "task " + token + " " + manner}
	switch manner {
	case mannerLate:
		args["runTimeoutSeconds"] = 1
	case mannerGone:
		args["cleanup"] = "delete"
	}
	b, _ := json.Marshal(args) // strings and a number
	return modeltest.ToolCall{ID: fmt.Sprintf("call-%d-%d", n, i), Name: "sessions_spawn", Arguments: string(b)}
}

// log gives the calls so far.
func (p *puppet) log() []prooftest.Asked {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.asked)
}

// missed gives those of some tokens that no call was about yet.
func (p *puppet) missed(tokens []string) (out []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, t := range tokens {
		if !p.begun[t] {
			out = append(out, t)
		}
	}
	return out
}
