package lessons

import (
	"bytes"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"parley/sessions"
	"parley/tools"
)

// TestUntriedStaysKnown: a call without tools and pictures shows nothing about lessons that are of those.
func TestUntriedStaysKnown(t *testing.T) {
	t.Parallel()
	b := NewBook(Config{})
	for _, l := range []sessions.Lesson{{Kind: Images}, {Kind: MaxTools, Use: "8"}, {Kind: ToolTexts, Use: "100"}, {Kind: Tools}, {Kind: Tool, Name: "look"}} {
		l.Provider, l.Address, l.Model, l.Config, l.At = at.Provider, at.Address, at.Model, "before", b.conf.Now()
		b.Load([]sessions.Lesson{l})
	}
	for _, offered := range [][]tools.Spec{nil, {{Name: "see", Description: "short"}}} {
		c := b.Call(at, "after")
		c.Picture("", nil)
		c.Takes(Tools, "")
		c.Offer(offered)
		c.Worked(t.Context())
		kinds := []string{Images, MaxTools, ToolTexts, Tools, Tool}
		if offered != nil {
			kinds = []string{Images, MaxTools, ToolTexts, Tool} // tools were taken
		}
		for _, l := range b.Known() {
			kinds = slices.DeleteFunc(kinds, func(k string) bool { return k == l.Kind })
		}
		if len(kinds) > 0 {
			t.Errorf("with %d tools: forgotten are %v", len(offered), kinds)
		}
	}
}

// TestSecretFieldIsNotKept: the value of a field of the body that is a secret stands in no lesson and no log, and what older versions kept goes.
func TestSecretFieldIsNotKept(t *testing.T) {
	t.Parallel()
	const secret = "sk-very-secret-0123456789"
	for name, raw := range map[string]string{"auth_token": `"` + secret + `"`, "proxy": `{"api_key":"` + secret + `","region":"eu"}`} {
		var log bytes.Buffer
		b := NewBook(Config{Logger: slog.New(slog.NewTextHandler(&log, nil))})
		c := b.Call(at, "")
		p, sent := c.BodyField(name, []byte(raw))
		if string(sent) != raw {
			t.Errorf("%s: sent is %s", name, sent)
		}
		if !c.Refused(t.Context(), refusal(400, `{"error":{"message":"Unrecognized request argument supplied: `+name+`"}}`), Sent{Params: []Param{p}}) {
			t.Errorf("%s: it gives up", name)
		}
		if _, sent = c.BodyField(name, []byte(raw)); sent != nil {
			t.Errorf("%s: sent again is %s", name, sent)
		}
		c.Worked(t.Context())
		if l := b.Known(); len(l) != 1 || strings.Contains(l[0].Value, secret) || strings.Contains(log.String(), secret) {
			t.Errorf("%s: known are %+v\n%s", name, l, log.String())
		}
		old := sessions.Lesson{Provider: at.Provider, Address: at.Address, Model: at.Model, Kind: Parameter, Name: name, Value: strings.Trim(raw, `"`)}
		if gone := NewBook(Config{}).Load([]sessions.Lesson{old, {Kind: Parameter, Name: "max_tokens", Value: "4096"}}); len(gone) != 1 || gone[0].Name != name {
			t.Errorf("%s: to be removed are %+v", name, gone)
		}
	}
}

// TestEvidenceQuotesNobody: what a provider quotes of the conversation stands in no lesson.
func TestEvidenceQuotesNobody(t *testing.T) {
	t.Parallel()
	const said = "my tumour has come back and nobody knows it yet"
	b := NewBook(Config{})
	c := b.Call(at, "")
	p := Param{Name: "top_k", Value: "5"}
	c.Refused(t.Context(), refusal(400, `{"error":{"message":"Unrecognized request argument supplied: top_k, in a request with the input `+said+`"}}`),
		Sent{Params: []Param{p}, Messages: []sessions.Message{{Role: sessions.User, Content: []sessions.Block{{Type: sessions.TextBlock, Text: said}}}}})
	c.Worked(t.Context())
	if l := b.Known(); len(l) != 1 || strings.Contains(l[0].Evidence, "tumour") || !strings.Contains(l[0].Evidence, "top_k") {
		t.Errorf("known are %+v", l)
	}
}
