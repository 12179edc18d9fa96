package router

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/agent"
	"parley/channels"
	"parley/channels/channeltest"
)

// TestDraftThatBrokeOff: a model breaks off while its words are shown, and another one answers, in other and fewer words, or none does. Its words are
// replaced while the other one still writes, and never stand as the answer.
// source: https://platform.openai.com/docs/guides/streaming-responses, charmbracelet/crush#2913
func TestDraftThatBrokeOff(t *testing.T) {
	broken := &agent.ModelError{Class: agent.Broken, Provider: "mock", Tries: 1, Err: errors.New("the stream ended early")}
	refused := &agent.ModelError{Class: agent.Refused, Provider: "mock", Tries: 1, Err: errors.New("content_filter")}
	always := *refused
	always.Always = true // it refuses what is harmless as well
	first := tenSeconds()
	first.fails = broken
	refuses := first
	refuses.fails = refused
	slow := func(answer string, fails error) scribe {
		return scribe{pause: 2 * time.Second, answer: answer, fails: fails}
	}
	for name, c := range map[string]struct {
		first, second scribe
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
			bubble(t, func(t *testing.T) {
				g := &rig{t: t, dir: folder(t), fake: channeltest.NewFake(channeltest.Options{}), model: &script{}}
				g.set = settingsFor(streams(channels.Streaming{Direct: c.mode}), func(s *Settings) { s.Agents.Defaults.Fallbacks = []string{"mock/2"} })
				g.models = func(name string) (agent.Candidate, error) {
					m := map[bool]scribe{true: c.second, false: c.first}[name == "mock/2"]
					return agent.Candidate{Model: m, Name: name, Label: name}, nil
				}
				g.start()
				if c.keeps {
					g.r.Attach(account, struct {
						*channeltest.Fake
						channels.Editor
					}{g.fake, g.fake.Editor()})
				}
				g.say(direct("a"), guest, "write")
				g.ended(1)
				<-time.After(time.Minute)
				if got := g.fake.Texts(direct("a")); !slices.Equal(got, c.want) {
					t.Errorf("shown in the end: %.100q, want %q", got, c.want)
				}
				g.noPreviews()
				op := channeltest.OpEdit
				if c.mode == channels.StreamDraft {
					op = channeltest.OpDraft
				}
				begun, replaced := false, false
				for _, e := range g.fake.Calls(op) {
					words := e.Out.Text + e.Text // an edit's, or a draft's
					begun = begun || strings.HasPrefix(words, "word00 word01")
					replaced = replaced || words != "" && words != c.want[len(c.want)-1] && strings.HasPrefix(c.second.answer, words)
				}
				if !begun || !replaced && name != "a refusal" {
					t.Errorf("the first model's words were shown: %v, the second one's while it wrote: %v", begun, replaced)
				}
			})
		})
	}
}
