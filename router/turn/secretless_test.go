package turn

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"strings"
	"testing"

	"parley/agent"
	"parley/channels"
	"parley/sessions"
)

// spoken is a model that says what it is told to, in pieces of a few bytes.
type spoken struct {
	answer agent.Answer
	broken bool // the answer is the part of an error
}

func (m spoken) Stream(context.Context, agent.Prompt) iter.Seq2[agent.Delta, error] {
	return func(yield func(agent.Delta, error) bool) {
		yield(agent.Delta{Text: "sk-made-up-"}, nil)
		yield(agent.Delta{Restart: true}, nil)
		for left := (sessions.Message{Content: m.answer.Content}).Text(); left != ""; {
			n := min(3, len(left))
			yield(agent.Delta{Text: left[:n], Thinking: left[:n]}, nil)
			left = left[n:]
		}
		if a := m.answer; m.broken {
			yield(agent.Delta{}, &agent.ModelError{Class: agent.Broken, Part: &a})
		} else {
			yield(agent.Delta{Final: &a}, nil)
		}
	}
}

// Nothing that an answer has shows a secret: not its pieces, its text across blocks, its thinking, its calls in any spelling of JSON, nor
// what its provider wants back.
//
// source: docs/security.md, On disk
func TestAnswersAreSecretless(t *testing.T) {
	t.Parallel()
	const key = "sk-made-up-key/0123456789"
	set := channels.NewSecretSet(channels.NewSecret(key))
	call := func(args string) sessions.Block {
		return sessions.Block{Type: sessions.ToolCallBlock, ID: "1", Name: "message", Arguments: json.RawMessage(args)}
	}
	text := func(s string) sessions.Block { return sessions.Block{Type: sessions.TextBlock, Text: s} }
	nested, _ := json.Marshal(`{"a":"sk-made-up-key\/0123456789"}`)
	for name, c := range map[string]struct {
		content []sessions.Block
		stop    string
		want    string // the blocks as JSON
	}{
		"text":            {[]sessions.Block{text("it is " + key + "!")}, "stop", `[{"type":"text","text":"it is [secret]!"}]`},
		"two blocks":      {[]sessions.Block{text("it is sk-made-"), call(`{}`), text("up-key/0123456789!")}, "stop", `[{"type":"text","text":"it is [secret]!"},{"type":"toolCall","id":"1","name":"message","arguments":{}}]`},
		"each block":      {[]sessions.Block{text(key), text("b " + key)}, "stop", `[{"type":"text","text":"[secret]"},{"type":"text","text":"b [secret]"}]`},
		"thinking":        {[]sessions.Block{{Type: sessions.ThinkingBlock, Text: "hm " + key, Signature: new("s")}, text("ok")}, "stop", `[{"type":"thinking","text":"hm [secret]"},{"type":"text","text":"ok"}]`},
		"cut off":         {[]sessions.Block{text("it is " + key[:12])}, agent.StopLength, `[{"type":"text","text":"it is [secret]"}]`},
		"arguments":       {[]sessions.Block{call(`{"text":"` + key + `"}`)}, "toolUse", `[{"type":"toolCall","id":"1","name":"message","arguments":{"text":"[secret]"}}]`},
		"escaped letters": {[]sessions.Block{call(`{"text":["\u0073k-made-up-key\/0123456789"],"n":1.50}`)}, "toolUse", `[{"type":"toolCall","id":"1","name":"message","arguments":{"n":1.50,"text":["[secret]"]}}]`},
		"JSON in a text":  {[]sessions.Block{call(`{"args":` + string(nested) + `}`)}, "toolUse", `[{"type":"toolCall","id":"1","name":"message","arguments":{"args":"{\"a\":\"[secret]\"}"}}]`},
		"a key of JSON":   {[]sessions.Block{call(`{"\u0073k-made-up-key/0123456789":1}`)}, "toolUse", `[{"type":"toolCall","id":"1","name":"message","arguments":{"[secret]":1}}]`},
		"no secret":       {[]sessions.Block{call(`{"b":"\u0041", "a":1}`)}, "toolUse", `[{"type":"toolCall","id":"1","name":"message","arguments":{"b":"\u0041","a":1}}]`},
	} {
		t.Run(name, func(t *testing.T) {
			for _, broken := range []bool{false, true} {
				m := secretless{spoken{agent.Answer{Content: c.content, Stop: c.stop}, broken}, func() *channels.SecretSet { return set }}
				shown, thought, before := "", "", ""
				var got *agent.Answer
				for d, err := range m.Stream(t.Context(), agent.Prompt{}) {
					if d.Restart {
						before, shown, thought = shown, "", ""
					}
					shown, thought = shown+d.Text, thought+d.Thinking
					if got = d.Final; broken && err != nil {
						e, _ := errors.AsType[*agent.ModelError](err)
						got = e.Part
					}
				}
				out, err := json.Marshal(got.Content)
				if err != nil || string(out) != c.want {
					t.Errorf("%s, not %s: %v", out, c.want, err)
				}
				for _, s := range []string{before, shown, thought} {
					if strings.Contains(s, key[:8]) {
						t.Errorf("shown: %q", s)
					}
				}
				if want := (sessions.Message{Content: got.Content}).Text(); !broken && shown != want {
					t.Errorf("shown %q, not %q", shown, want)
				}
			}
		})
	}
	opaque := func(data string) *sessions.Opaque { return &sessions.Opaque{From: "p", Data: json.RawMessage(data)} }
	was := agent.Answer{Content: []sessions.Block{{Type: sessions.ToolCallBlock, ID: key, Name: key, Opaque: opaque(`"` + key + `"`)}, {Type: sessions.TextBlock, Text: "x", Opaque: opaque(`"y"`)}}}
	got := withoutSecrets(set, &was)
	if b := got.Content[0]; b.ID != "" || b.Name != "[secret]" || b.Opaque.Data != nil || got.Content[1].Opaque.Data == nil || was.Content[0].ID != key {
		t.Errorf("%+v", got.Content)
	}
}
