package turn

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"iter"
	"slices"
	"strings"

	"parley/agent"
	"parley/channels"
	"parley/sessions"
)

// secretless is a model in whose answers "[secret]" stands in the place of each secret that the host knows: in what is shown while the
// answer grows, and in the answer that becomes a step. All that an agent says, calls tools with, reports or sums up comes through here. A
// tool gets its arguments without secrets as well: a turn that is resumed makes the same call from its stored step.
type secretless struct {
	agent.Model
	secrets func() *channels.SecretSet // by the configuration in force
}

// Stream implements agent.Model.
func (s secretless) Stream(ctx context.Context, p agent.Prompt) iter.Seq2[agent.Delta, error] {
	return func(yield func(agent.Delta, error) bool) {
		set := s.secrets()
		text, thinking := set.Pieces(), set.Pieces()
		for d, err := range s.Model.Stream(ctx, p) {
			if e, ok := errors.AsType[*agent.ModelError](err); ok && e.Part != nil {
				own := *e
				own.Part, err = withoutSecrets(set, e.Part), &own
			}
			if d.Restart {
				text, thinking = set.Pieces(), set.Pieces()
			}
			d.Text, d.Thinking = text.Add(d.Text), thinking.Add(d.Thinking)
			if d.Final != nil {
				cut := isCut(d.Final)
				d.Text, d.Thinking = d.Text+text.End(cut), d.Thinking+thinking.End(cut)
				d.Final = withoutSecrets(set, d.Final)
			}
			if !yield(d, err) {
				return
			}
		}
	}
}

// isCut reports whether an answer may end in the middle of a word.
func isCut(a *agent.Answer) bool { return a.Stop == agent.StopLength || a.Stop == agent.StopUnclear }

// withoutSecrets returns an answer without secrets. The one given is not changed.
func withoutSecrets(set *channels.SecretSet, a *agent.Answer) *agent.Answer {
	out := *a
	out.Content = slices.Clone(a.Content)
	for i := range out.Content {
		b := &out.Content[i]
		if b.Type == sessions.ToolCallBlock {
			b.Name, b.Arguments = set.Replace(b.Name), argumentsWithout(set, b.Arguments)
			if set.Replace(b.ID) != b.ID {
				b.ID = "" // the loop makes one
			}
		}
		if b.Opaque != nil && len(b.Opaque.Data) > 0 && set.Replace(string(b.Opaque.Data)) != string(b.Opaque.Data) {
			b.Opaque = &sessions.Opaque{From: b.Opaque.From}
		}
	}
	for _, kind := range []string{sessions.TextBlock, sessions.ThinkingBlock} {
		out.Content = blocksWithout(set, out.Content, kind, isCut(a))
	}
	return &out
}

// blocksWithout takes the secrets out of the blocks of a kind, which are read as one text: one that lies across blocks leaves all of the
// text in the first of them. blocks are changed.
func blocksWithout(set *channels.SecretSet, blocks []sessions.Block, kind string, cut bool) []sessions.Block {
	whole, each := "", ""
	for _, b := range blocks {
		if b.Type == kind {
			whole, each = whole+b.Text, each+set.Replace(b.Text)
		}
	}
	clean := set.Replace(whole)
	if cut {
		clean = set.ReplaceCut(whole)
	}
	if clean == whole {
		return blocks
	}
	together, out := clean != each, blocks[:0]
	for _, b := range blocks {
		if b.Type == kind && b.Text != "" {
			text := clean
			if clean = ""; !together {
				text = set.Replace(b.Text)
			}
			if text == "" {
				continue
			}
			if text != b.Text { // what its provider wants back is for what it was
				b.Text, b.Signature, b.Opaque = text, nil, nil
			}
		}
		out = append(out, b)
	}
	return out
}

// argumentsWithout takes the secrets out of the arguments of a call, however JSON writes them.
func argumentsWithout(set *channels.SecretSet, raw json.RawMessage) json.RawMessage {
	clean := set.Replace(string(raw))
	if bytes.IndexByte(raw, '\\') >= 0 {
		clean = jsonWithout(set, clean)
	}
	if clean == string(raw) {
		return raw
	}
	return json.RawMessage(clean)
}

// jsonWithout takes the secrets out of the texts of a JSON value that may have escaped letters, also where a text is JSON again. What is no
// JSON, and what has none, stays as it is.
func jsonWithout(set *channels.SecretSet, text string) string {
	if !json.Valid([]byte(text)) {
		return text
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return text
	}
	clean, changed := valueWithout(set, v)
	out, err := json.Marshal(clean)
	if !changed || err != nil {
		return text
	}
	return string(out)
}

// valueWithout takes the secrets out of a decoded JSON value.
func valueWithout(set *channels.SecretSet, v any) (out any, changed bool) {
	switch x := v.(type) {
	case string:
		clean := set.Replace(x)
		if strings.Contains(clean, `\`) {
			clean = jsonWithout(set, clean)
		}
		return clean, clean != x
	case []any:
		for i, e := range x {
			was := changed
			x[i], changed = valueWithout(set, e)
			changed = changed || was
		}
	case map[string]any:
		clean := make(map[string]any, len(x))
		for k, e := range x {
			name := set.Replace(k)
			value, also := valueWithout(set, e)
			clean[name] = value
			changed = changed || name != k || also
		}
		return clean, changed
	}
	return v, changed
}
