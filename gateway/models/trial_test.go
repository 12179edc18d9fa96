package models

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"

	"parley/agent"
	"parley/sessions"
)

// scripted is a model that answers as told.
type scripted func(p agent.Prompt) ([]sessions.Block, error)

func (f scripted) Stream(_ context.Context, p agent.Prompt) iter.Seq2[agent.Delta, error] {
	return func(yield func(agent.Delta, error) bool) {
		blocks, err := f(p)
		if err != nil {
			yield(agent.Delta{}, err)
			return
		}
		yield(agent.Delta{Final: &agent.Answer{Content: blocks, Usage: sessions.Usage{Input: 100, Output: 10}}}, nil)
	}
}

// taught is a book of lessons that gets one with every call.
type taught struct{ list []sessions.Lesson }

func (t *taught) Known() []sessions.Lesson  { return append([]sessions.Lesson(nil), t.list...) }
func (t *taught) Forget(string, string) int { return 0 }

func TestTrial(t *testing.T) {
	t.Parallel()
	says := func(s string) []sessions.Block { return []sessions.Block{textBlock(s)} }
	refused := &agent.ModelError{Class: agent.BadRequest, Provider: "p", Said: "no such thing here", Err: errors.New("400")}
	all := func(p agent.Prompt) ([]sessions.Block, error) {
		last := p.Messages[len(p.Messages)-1]
		switch {
		case len(p.Tools) > 0 && last.Role == sessions.User:
			return []sessions.Block{{Type: sessions.ToolCallBlock, ID: "a", Name: p.Tools[0].Name, Arguments: []byte(`{"street":"Elm"}`)}}, nil
		case len(p.Tools) > 0:
			return says("It is " + last.Content[0].Text), nil
		case p.Thinking != "":
			return append([]sessions.Block{{Type: sessions.ThinkingBlock, Text: "hm"}}, textBlock("9.9")), nil
		case last.Content[len(last.Content)-1].Type == sessions.ImageBlock:
			return says("red"), nil
		}
		return says("ready"), nil
	}
	for name, c := range map[string]struct {
		model scripted
		facts agent.ModelFacts
		want  []string // per turn: ✓, ✗ or –, and a part of what is said
	}{
		"all works":       {all, agent.ModelFacts{Input: 1, Output: 2}, []string{"✓ it says: ready", "✓ the model called the tool, and answered: It is 4711", "✓ the model accepts images, and describes a red one: red", "✓ shows its reasoning"}},
		"nothing works":   {func(agent.Prompt) ([]sessions.Block, error) { return nil, refused }, agent.ModelFacts{}, []string{"✗ bad_request", "– the plain turn failed", "– the plain turn", "– the plain turn"}},
		"an empty answer": {func(agent.Prompt) ([]sessions.Block, error) { return nil, nil }, agent.ModelFacts{}, []string{"✗ the answer is empty", "– the plain", "– the plain", "– the plain"}},
		"the result is refused": {func(p agent.Prompt) ([]sessions.Block, error) {
			if len(p.Messages) > 1 {
				return nil, refused
			}
			return all(p)
		}, agent.ModelFacts{}, []string{"✓ ready", "✗ the model called the tool, but refused its result", "✓ red", "✓ low"}},
		"switched off": {all, agent.ModelFacts{NoImages: true, Levels: []string{}, ModelSettings: agent.ModelSettings{Tools: "off"}}, []string{"✓ ready", "– tools: off", "– noImages", "– reasoning.levels: []"}},
		"no call":      {func(agent.Prompt) ([]sessions.Block, error) { return says("no"), nil }, agent.ModelFacts{}, []string{"✓ no", "✓ but called none", "✓ no", "✓ shows no reasoning"}},
	} {
		book := &taught{}
		x := Test(t.Context(), agent.Candidate{Label: "p/m", Name: "m", Facts: c.facts, Model: scripted(func(p agent.Prompt) ([]sessions.Block, error) {
			book.list = append(book.list, sessions.Lesson{Provider: "p", Model: "m", Kind: fmt.Sprint("kind ", len(book.list))})
			return c.model(p)
		})}, book)
		if len(x.Turns) != 4 || x.OK != strings.HasPrefix(c.want[0], "✓") {
			t.Fatalf("%s: %+v", name, x)
		}
		for i, turn := range x.Turns {
			sign, part, _ := strings.Cut(c.want[i], " ")
			if got := map[bool]string{true: "✓", false: "✗"}[turn.OK]; turn.Skipped && sign != "–" || !turn.Skipped && got != sign || !strings.Contains(turn.What, part) {
				t.Errorf("%s, %s: %+v, want %s", name, turn.Turn, turn, c.want[i])
			}
			if !turn.Skipped && len(turn.Learned) == 0 || turn.Skipped && len(turn.Learned) > 0 {
				t.Errorf("%s, %s: learned %v", name, turn.Turn, turn.Learned)
			}
			if sign == "✗" && turn.Class == agent.BadRequest && turn.Said != "no such thing here" {
				t.Errorf("%s: %q", name, turn.Said)
			}
		}
		if want := map[bool]int64{true: 5 * 120, false: 0}[name == "all works"]; x.Cost != want {
			t.Errorf("%s: costs %d, want %d", name, x.Cost, want)
		}
	}
}

// A turn that worked because the refused part was left out does not pass for one that was taken.
func TestTrialRefused(t *testing.T) {
	t.Parallel()
	book := &taught{}
	learn := func(kind, name, value, use string) {
		book.list = append(book.list, sessions.Lesson{Provider: "p", Model: "m", Kind: kind, Name: name, Value: value, Use: use, Evidence: "not here"})
	}
	x := Test(t.Context(), agent.Candidate{Label: "p/m", Name: "m", Model: scripted(func(p agent.Prompt) ([]sessions.Block, error) {
		switch last := p.Messages[len(p.Messages)-1]; {
		case len(p.Tools) > 0:
			learn("tools", "", "", "")
		case p.Thinking != "":
			learn("parameter", "reasoning_effort", "low", "")
		case len(last.Content) > 1:
			learn("images", "0a1b", "", "")
		}
		return []sessions.Block{textBlock("ready")}, nil
	})}, book)
	for i, want := range []string{"it says: ready", "the model accepts no tools", "the model did not accept the image", "the model accepts no reasoning effort"} {
		if turn := x.Turns[i]; turn.OK != (i == 0) || !strings.Contains(turn.What, want) || i > 0 && !strings.Contains(turn.What, "not here") {
			t.Errorf("%s: %+v, want %q", turn.Turn, turn, want)
		}
	}
	f := agent.ModelFacts{}
	facts := &Facts{ModelFacts: f}
	if facts.Learn("p", "m", []sessions.Lesson{{Provider: "p", Model: "m", Kind: "images", Name: "0a1b"}}); facts.NoImages {
		t.Error("one refused picture counts as all pictures")
	}
}

// What may surprise is said with the one command that changes it.
func TestNotes(t *testing.T) {
	t.Parallel()
	no := false
	p := agent.Provider{API: "openai", BaseURL: "http://127.0.0.1:11434/v1"}
	small := p
	small.ContextWindow = 5000
	var ofModelfile Served
	ofModelfile.show(doc{"parameters": "num_ctx    2048\nstop \"x\""})
	for name, c := range map[string]struct {
		p    agent.Provider
		said Answer
		want string
	}{
		"a window that fits":  {p, Answer{Program: Ollama, Model: Served{Window: 32768}}, ""},
		"an ollama that cuts": {p, Answer{Program: Ollama, Model: Served{Window: 4096}}, "Ollama cuts longer prompts silently: OLLAMA_CONTEXT_LENGTH=32768 ollama serve"},
		// source: docs.ollama.com/modelfile (PARAMETER num_ctx), docs.ollama.com/faq (OLLAMA_CONTEXT_LENGTH is the default only)
		"an ollama whose Modelfile cuts": {p, Answer{Program: Ollama, Model: ofModelfile}, "Ollama cuts longer prompts silently: write FROM m and PARAMETER num_ctx 32768 into a Modelfile, then ollama create m -f Modelfile"},
		"an ollama that is empty":        {p, Answer{Program: Ollama}, "is unknown until Ollama loads the model"},
		"a guess":                        {p, Answer{}, "is unknown; parley assumes 128000 tokens: set models.providers.o.contextWindow"},
		"llama.cpp":                      {p, Answer{Program: LlamaCPP, Model: Served{Window: 4096}}, "llama-server --ctx-size 32768"},
		"configured too small":           {small, Answer{Program: Ollama, Model: Served{Window: 32768}}, "is set to 5000 tokens"},
		"an embedding model":             {p, Answer{Model: Served{Chat: &no, Window: 2048}}, "o/m is not a chat model"},
		"no tools":                       {p, Answer{Model: Served{Window: 32768, Tools: &no}}, "o/m accepts no tools (asked), so the agent can only talk: choose a model with tools"},
	} {
		var got []string
		for _, n := range FactsOf("o", c.p, "m", c.said).Notes("o/m", c.p, 3700) {
			got = append(got, n.String())
		}
		if (len(got) == 0) != (c.want == "") || len(got) > 1 || len(got) == 1 && !strings.Contains(got[0], c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
