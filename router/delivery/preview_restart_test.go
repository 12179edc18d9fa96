package delivery_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/agent"
	"parley/channels"
	"parley/channels/channeltest"
	"parley/router/routertest"
	"parley/router/settings"
)

// TestDraftThatBrokeOff: a model breaks off while its words are shown, and another one answers, in other and fewer words, or none does. Its words are
// replaced while the other one still writes, and never stand as the answer.
// source: https://platform.openai.com/docs/guides/streaming-responses, charmbracelet/crush#2913
func TestDraftThatBrokeOff(t *testing.T) {
	broken := &agent.ModelError{Class: agent.Broken, Provider: "mock", Tries: 1, Err: errors.New("the stream ended early")}
	refused := &agent.ModelError{Class: agent.Refused, Provider: "mock", Tries: 1, Err: errors.New("content_filter")}
	always := *refused
	always.Always = true // it refuses what is harmless as well
	first := routertest.TenSeconds()
	first.Fails = broken
	refuses := first
	refuses.Fails = refused
	slow := func(answer string, fails error) routertest.Scribe {
		return routertest.Scribe{Pause: 2 * time.Second, Answer: answer, Fails: fails}
	}
	for name, c := range map[string]struct {
		first, second routertest.Scribe
		mode          channels.Stream
		keeps         bool // the platform removes nothing
		want          []string
	}{
		"other words":                {first, slow("something else altogether is what the other model says", nil), channels.StreamEdit, false, []string{"something else altogether is what the other model says"}},
		"a word":                     {first, slow("No, no.", nil), channels.StreamEdit, false, []string{"No, no."}},
		"the other breaks off, too":  {first, slow("something else that breaks off behind a few words", broken), channels.StreamEdit, false, []string{broken.Notice()}},
		"and nothing can be removed": {first, slow("something else that breaks off behind a few words", broken), channels.StreamEdit, true, []string{"…", broken.Notice()}},
		"a refusal":                  {refuses, slow("something", refused), channels.StreamEdit, false, []string{strings.ReplaceAll(always.Notice(), "`", "")}},
		"as a draft":                 {first, slow("something else altogether", nil), channels.StreamDraft, false, []string{"something else altogether"}},
	} {
		t.Run(name, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				g := &routertest.Rig{T: t, Dir: routertest.Folder(t), Fake: channeltest.NewFake(channeltest.Options{}), Model: &routertest.Script{}}
				g.Settings = routertest.SettingsFor(routertest.WithStreaming(channels.Streaming{Direct: c.mode}), func(s *settings.Snapshot) { s.Agents.Defaults.Fallbacks = []string{"mock/2"} })
				g.Models = func(name string) (agent.Candidate, error) {
					m := map[bool]routertest.Scribe{true: c.second, false: c.first}[name == "mock/2"]
					return agent.Candidate{Model: m, Name: name, Label: name}, nil
				}
				g.Start()
				if c.keeps {
					g.Router.Attach(routertest.Account, struct {
						*channeltest.Fake
						channels.Editor
					}{g.Fake, g.Fake.Editor()})
				}
				g.Say(routertest.Direct("a"), routertest.Guest, "write")
				g.Ended(1)
				<-time.After(time.Minute)
				if got := g.Fake.Texts(routertest.Direct("a")); !slices.Equal(got, c.want) {
					t.Errorf("shown in the end: %.100q, want %q", got, c.want)
				}
				noPreviews(g)
				op := channeltest.OpEdit
				if c.mode == channels.StreamDraft {
					op = channeltest.OpDraft
				}
				begun, replaced := false, false
				for _, e := range g.Fake.Calls(op) {
					words := e.Out.Text + e.Text // an edit's, or a draft's
					begun = begun || strings.HasPrefix(words, "word00 word01")
					replaced = replaced || words != "" && words != c.want[len(c.want)-1] && strings.HasPrefix(c.second.Answer, words)
				}
				if !begun || !replaced && name != "a refusal" {
					t.Errorf("the first model's words were shown: %v, the second one's while it wrote: %v", begun, replaced)
				}
			})
		})
	}
}
