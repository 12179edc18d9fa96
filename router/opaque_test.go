package router_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/agent"
	"parley/channels/channeltest"
	"parley/router/routertest"
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
		if routertest.Last(p).Role == sessions.ToolResult || !strings.Contains(routertest.LastUser(p), "note it") {
			a := routertest.Text("answer")
			a.Content = append([]sessions.Block{seal(sessions.Block{Type: sessions.ThinkingBlock, Text: "hm"}, `{ "of": "<answer>" }`)}, a.Content...)
			return a, nil
		}
		a := routertest.Call("c1", "remember", map[string]any{"text": "something"})
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
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{})
		g.Model.Set(seals())
		wants := func(words, want string) {
			t.Helper()
			g.Asks(routertest.Direct("a"), routertest.Guest, words)
			g.Model.Mu.Lock()
			defer g.Model.Mu.Unlock()
			if got := opaqueIn(g.Model.Asked[len(g.Model.Asked)-1]); got != want {
				t.Errorf("%q: %s, want %s", words, got, want)
			}
		}
		all := sealOfCall
		wants("note it", all)
		for _, words := range []string{"from memory", "after a restart"} {
			all += " " + sealOfAnswer
			wants(words, all)
			g.Stop()
			g.Start()
		}
	})
}

// TestOpaqueAfterAKill kills the process at each commit between a model's call of a tool and its follow-up: the next process gives the model
// back what it wants.
// source: https://ai.google.dev/gemini-api/docs/thought-signatures
func TestOpaqueAfterAKill(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		var mu sync.Mutex
		var images []string
		var g *routertest.Rig
		called := false
		g = routertest.NewWith(t, channeltest.Options{}, func(op, phase string) {
			mu.Lock()
			defer mu.Unlock()
			if strings.HasPrefix(op, "Record") && phase == "after-commit" {
				called = true
			}
			if called && !strings.HasPrefix(op, "Finish") && len(images) < 10 {
				images = append(images, g.Image())
			}
		}, nil)
		g.Model.Set(seals())
		g.Say(routertest.Direct("a"), routertest.Guest, "note it")
		g.Ended(1)
		g.Trace.Store(nil)
		g.Stop()
		resumed := 0
		for i, image := range images {
			g.Dir = image
			before := g.Model.Count()
			g.Start()
			g.Until(fmt.Sprint("image ", i), func() bool { return len(g.Ended(1)) == 1 })
			<-time.After(time.Minute)
			g.Model.Mu.Lock()
			for _, p := range g.Model.Asked[before:] {
				resumed++
				if got := opaqueIn(p); got != sealOfCall {
					t.Errorf("image %d: %q, want %q", i, got, sealOfCall)
				}
			}
			g.Model.Mu.Unlock()
			g.Stop()
		}
		if len(images) < 2 || resumed < 2 {
			t.Errorf("%d images, %d follow-ups", len(images), resumed)
		}
		g.Start() // the rig ends it
	})
}
