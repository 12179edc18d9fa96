package main

import (
	"fmt"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"parley/agent/modeltest"
)

// costCase is one thing that is done in a host of its own, and what the model is asked for it.
type costCase struct {
	name   string
	before [2]int // model calls and tokens of the version of 25 November 2026 (b27ffed), by the same test
	words  func(call) modeltest.Reply
	play   func(x town)
	after  func(x town) // what is counted comes after this; nil = after both chats have said hello
}

// costCases are what the table of docs/agents.md has.
var costCases = []costCase{
	{"`sessions_send`, the reply in time", [2]int{5, 12400}, nil, func(x town) { x.asks(30, say("The code is 4711.")) }, nil},
	{"… the reply late", [2]int{5, 12400}, nil, func(x town) { x.asksLate(say("The code is 4711.")) }, nil},
	{"… the target fails in time", [2]int{3, 11400}, nil, func(x town) { x.asks(30, fail()) }, nil},
	{"… the target fails late", [2]int{3, 11400}, nil, func(x town) { x.asksLate(fail()) }, nil},
	{"… steps end with `**REPLY_SKIP**.` and `ANNOUNCE_SKIP — nothing to tell`", [2]int{9, 14800}, func(c call) modeltest.Reply {
		return words(map[string]string{"reply": "**REPLY_SKIP**.", "announce": "ANNOUNCE_SKIP — nothing to tell"}[c.Step])
	}, func(x town) { x.asks(30, say("The code is 4711.")) }, nil},
	{"… each step calls tools, and nothing else", [2]int{67, 121200}, toolsOnly, func(x town) { x.asks(30, say("The code is 4711.")) }, nil},
	{"… `/stop` in the requester's chat while the target works: after it", [2]int{2, 1000}, nil, func(x town) { x.free("late") }, func(x town) {
		x.asks(30, program(hold("late"), say("The code is 4711.")))
		x.asked(atB, "ask", 1)
		x.hereA().tell("/stop")
		x.until(patience, "it is answered", func() bool { return len(x.hereA().texts()) > 1 })
	}},
	{"`sessions_spawn`", [2]int{4, 9000}, func(call) modeltest.Reply { return words("Three trains go.") }, spawns, nil},
	{"… the step that words the report calls tools, and nothing else", [2]int{35, 56500}, toolsOnly, spawns, nil},
}

func spawns(x town) {
	x.hereA().tell(program(use("sessions_spawn", map[string]any{"task": say("Three trains go.")}), say("started")))
}

// toolsOnly is a model that calls a tool whatever it is told.
func toolsOnly(c call) modeltest.Reply {
	return modeltest.Reply{ToolCalls: []modeltest.ToolCall{{ID: fmt.Sprint("c", c.N), Name: "message", Arguments: `{"text":"hello"}`}}}
}

// asks has the agent of chat a ask that of chat b, which does a program.
func (tn town) asks(wait int, does string) {
	tn.hereA().tell(program(use("sessions_send", map[string]any{"sessionKey": atB, "message": does, "timeoutSeconds": wait}), say("asked")))
}

// asksLate is asks of an agent that begins when the call that asked has been answered without it.
func (tn town) asksLate(does string) {
	tn.asks(0, program(hold("late"), does))
	tn.until(patience, "the requester has answered", func() bool { return slices.Contains(tn.hereA().texts(), "asked") })
	tn.free("late")
}

// cost plays a case and gives the calls of the model and the tokens of what was sent to it, a quarter of its bytes.
func (c costCase) cost(t *testing.T) (calls, tokens int) {
	t.Helper()
	x := newTown(t, setup{Session: "{dmScope: owner-main}"}) // with the default settings of exchanges
	x.puppet.words = c.words
	x.start()
	for _, p := range []place{x.hereA(), x.hereB()} {
		p.tell(say("hello"))
		x.until(patience, "both chats have a session", func() bool { return len(p.texts()) == 1 })
	}
	x.quiet()
	if c.after != nil {
		c.after(x)
	}
	from := x.model.Count()
	c.play(x)
	if c.after == nil {
		x.until(patience, "the model is asked", func() bool { return x.model.Count() > from })
	}
	x.quiet()
	for _, r := range x.model.Requests()[from:] {
		calls, tokens = calls+1, tokens+len(r.Raw)/4
	}
	return calls, tokens
}

// costRow is what the table of the document has: the last two are what is counted now.
var costRow = regexp.MustCompile(`(?m)^\| (.*) \| .* \| (\d+), ([\d.]+)k \|$`)

// TestGeneratedCosts counts the calls of the model and the tokens of exchanges, sub-agents and stops. The table in docs/agents.md has the same calls, and as
// many tokens within a tenth.
//
// proves: S19
func TestGeneratedCosts(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("../../docs/agents.md")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]float64{} // thousands of tokens
	for _, row := range costRow.FindAllStringSubmatch(string(doc), -1) {
		listed[row[1]], _ = strconv.ParseFloat(row[3], 64) // digits
	}
	k := func(n float64) string { return strconv.FormatFloat(n, 'f', 1, 64) + "k" }
	var table strings.Builder
	table.WriteString("| what | calls, tokens on 25 November 2026 | calls, tokens now |\n|---|---|---|\n")
	for _, c := range costCases {
		calls, n := c.cost(t)
		tokens := float64(n) / 1000
		if was, ok := listed[c.name]; ok && math.Abs(tokens-was) <= was/10 {
			tokens = was
		}
		fmt.Fprintf(&table, "| %s | %d, %s | %d, %s |\n", c.name, c.before[0], k(float64(c.before[1])/1000), calls, k(tokens))
	}
	holdToDoc(t, "agents.md", "costs", table.String())
}
