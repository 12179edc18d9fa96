package router

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/agent"
	"parley/channels/channeltest"
	"parley/sessions"
)

// opaqueIn writes down what a prompt has for its provider, in order.
func opaqueIn(p agent.Prompt) string {
	var out []string
	for _, m := range p.Messages {
		for _, b := range m.Content {
			if b.Opaque != nil {
				out = append(out, b.Opaque.From+"="+string(b.Opaque.Data))
			}
		}
	}
	return strings.Join(out, " ")
}

// seals is a model that calls a tool, and then answers; each of its answers has something that it wants back, in JSON with spaces that no
// encoder would leave.
func seals() func(context.Context, agent.Prompt) (agent.Answer, error) {
	return func(_ context.Context, p agent.Prompt) (agent.Answer, error) {
		seal := func(b sessions.Block, data string) sessions.Block {
			b.Opaque = &sessions.Opaque{From: "mock", Data: []byte(data)}
			return b
		}
		if last(p).Role == sessions.ToolResult || !strings.Contains(lastUser(p), "note it") {
			a := text("answer")
			a.Content = append([]sessions.Block{seal(sessions.Block{Type: sessions.ThinkingBlock, Text: "hm"}, `{ "of": "<answer>" }`)}, a.Content...)
			return a, nil
		}
		a := call("c1", "remember", map[string]any{"text": "something"})
		a.Content[0] = seal(a.Content[0], `{"signature":  "c2ln"}`)
		return a, nil
	}
}

const (
	sealOfCall   = `mock={"signature":  "c2ln"}`
	sealOfAnswer = `mock={ "of": "<answer>" }`
)

// TestOpaqueComesBack: what a model wants back is in the follow-up, in the next turn and in the next process, byte by byte.
func TestOpaqueComesBack(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{})
		g.model.set(seals())
		wants := func(words, want string) {
			t.Helper()
			g.asks(direct("a"), guest, words)
			g.model.mu.Lock()
			defer g.model.mu.Unlock()
			if got := opaqueIn(g.model.asked[len(g.model.asked)-1]); got != want {
				t.Errorf("%q: %s, want %s", words, got, want)
			}
		}
		all := sealOfCall
		wants("note it", all)
		for _, words := range []string{"from memory", "after a restart"} {
			all += " " + sealOfAnswer
			wants(words, all)
			g.stop()
			g.start()
		}
	})
}

// TestOpaqueAfterAKill kills the process at each commit between a model's call of a tool and its follow-up: the next process gives the model
// back what it wants.
// source: https://ai.google.dev/gemini-api/docs/thought-signatures
func TestOpaqueAfterAKill(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var mu sync.Mutex
		var images []string
		var g *rig
		called := false
		g = rigWith(t, channeltest.Options{}, func(op, phase string) {
			mu.Lock()
			defer mu.Unlock()
			if strings.HasPrefix(op, "Record") && phase == "after-commit" {
				called = true
			}
			if called && !strings.HasPrefix(op, "Finish") && len(images) < 10 {
				images = append(images, g.image())
			}
		}, nil)
		g.model.set(seals())
		g.say(direct("a"), guest, "note it")
		g.ended(1)
		g.trace.Store(nil)
		g.stop()
		resumed := 0
		for i, image := range images {
			g.dir = image
			before := g.model.count()
			g.start()
			g.until(fmt.Sprint("image ", i), func() bool { return len(g.ended(1)) == 1 })
			<-time.After(time.Minute)
			g.model.mu.Lock()
			for _, p := range g.model.asked[before:] {
				resumed++
				if got := opaqueIn(p); got != sealOfCall {
					t.Errorf("image %d: %q, want %q", i, got, sealOfCall)
				}
			}
			g.model.mu.Unlock()
			g.stop()
		}
		if len(images) < 2 || resumed < 2 {
			t.Errorf("%d images, %d follow-ups", len(images), resumed)
		}
		g.start() // the rig ends it
	})
}

// What a provider wants back counts into what memory holds.
func TestHistoriesCountOpaque(t *testing.T) {
	t.Parallel()
	h := newHistories()
	message := func(n, size int) sessions.Message {
		return sessions.Message{ID: fmt.Sprint(n), Role: sessions.Assistant, Content: []sessions.Block{
			{Type: sessions.ThinkingBlock, Opaque: &sessions.Opaque{From: "mock", Data: []byte(`"` + strings.Repeat("x", size-2) + `"`)}}}}
	}
	h.put(history{id: "a", msgs: []sessions.Message{message(0, 1000)}})
	for n := 1; n <= 20; n++ {
		h.add("a", 1<<20, message(n, sessions.MaxOpaque))
	}
	if _, there := h.get("a"); there || h.bytes > historyBytes {
		t.Errorf("%d bytes are kept", h.bytes)
	}
	h.put(history{id: "b", msgs: []sessions.Message{message(0, 1000)}})
	h.add("b", 1<<20, message(1, sessions.MaxOpaque+1))
	if x, _ := h.get("b"); x.msgs[1].Content[0].Opaque.Data != nil || x.msgs[1].Content[0].Opaque.From != "mock" {
		t.Error("memory keeps more than the store")
	}
}
