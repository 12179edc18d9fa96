package lessons

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"parley/sessions"
)

// fieldEndpoint refuses one of the fields that it does not know, the first one in its order, and says so.
func fieldEndpoint(says func(field string) string, unknown ...string) endpoint {
	return func(r request) error {
		for _, name := range unknown {
			if _, sent := r.params[name]; sent {
				return refusal(400, fmt.Sprintf(`{"error":{"message":%q}}`, says(name)))
			}
		}
		return nil
	}
}

// askWith makes one model call with these fields, and reports whether it was answered, and how many requests were refused.
func askWith(t *testing.T, b *Book, fields []string, e endpoint) (answered bool, refused int) {
	t.Helper()
	c := b.Call(at, "")
	for {
		r := request{params: make(map[string]string)}
		var sent Sent
		for _, name := range fields {
			p := Param{Name: name, Value: "1", Fixed: true}
			if value, send := c.Param(name, "1"); send {
				r.params[name] = value
			} else {
				p.Value = Unset
			}
			sent.Params = append(sent.Params, p)
		}
		err := e(r)
		if err == nil {
			c.Worked(t.Context())
			return true, refused
		}
		if refused++; refused > maxChanges+1 {
			t.Fatal("it changes the request without end")
		}
		if !c.Refused(t.Context(), err, sent) {
			return false, refused
		}
	}
}

// TestWall: of an endpoint that refuses more than one call may change, each call begins where the one before it ended, also in another
// process. source: BerriAI/litellm#16265, where a strict proxy names one field that it does not know at a time
func TestWall(t *testing.T) {
	t.Parallel()
	var letters, numbers []string
	for i := range 12 {
		letters, numbers = append(letters, "field_"+string(rune('a'+i))), append(numbers, fmt.Sprint("field_", i))
	}
	for name, c := range map[string]struct {
		fields []string
		says   func(string) string
	}{
		"names":               {letters, func(f string) string { return "Unknown parameter: '" + f + "'." }},
		"numbered names":      {numbers, func(f string) string { return "Unknown parameter: '" + f + "'." }},
		"ids of the requests": {letters, func(f string) string { return f + " is not permitted (request " + Hash(f) + ")" }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var kept []sessions.Lesson
			save := func(_ context.Context, l ...sessions.Lesson) { kept = append(kept, l...) }
			e := fieldEndpoint(c.says, c.fields...)
			answered, first := askWith(t, NewBook(Config{Save: save}), c.fields, e)
			if answered || first != maxChanges+1 || len(kept) != maxChanges {
				t.Errorf("first call: answered %v, %d refused, kept %d", answered, first, len(kept))
			}
			b := NewBook(Config{Save: save})
			b.Load(kept)
			if answered, refused := askWith(t, b, c.fields, e); !answered || refused != len(c.fields)-maxChanges {
				t.Errorf("second call: answered %v, %d refused", answered, refused)
			}
			if answered, refused := askWith(t, b, c.fields, e); !answered || refused != 0 {
				t.Errorf("third call: answered %v, %d refused", answered, refused)
			}
		})
	}
}

// TestHelped: of a call that fails, the changes after which the endpoint refused something else are remembered, and no others.
func TestHelped(t *testing.T) {
	t.Parallel()
	const tools, stream, system = "tools are not supported", "streaming is not supported", "system role is not supported"
	sent := Sent{Tools: []string{"look"}, Stream: true, System: true, Pictures: []string{"aGk=", "aG8="}}
	for name, c := range map[string]struct {
		says []string
		want []string // kinds that are remembered
	}{
		"something else":             {[]string{tools, stream, "no such thing"}, []string{Tools, Stream}},
		"the same again":             {[]string{tools, tools, "no"}, nil},
		"the same with another id":   {[]string{tools + " (request a1)", tools + " (request b2)"}, nil},
		"the first one comes back":   {[]string{tools, stream, tools, "no"}, nil},
		"one picture, then the next": {[]string{"could not process image", "could not process image", "could not process image"}, nil},
		"too long at last":           {[]string{system, "maximum context length exceeded: context length is 4096"}, []string{System}},
		"only the first":             {[]string{tools}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := NewBook(Config{})
			call := b.Call(at, "")
			for _, said := range c.says {
				s := sent
				if call.Off(Tools, "") {
					s.Tools = nil
				}
				s.Stream, s.System = !call.Off(Stream, ""), !call.Off(System, "")
				s.Pictures = slices.DeleteFunc(slices.Clone(s.Pictures), func(p string) bool { return call.Off(Images, Hash(p)) })
				call.Refused(t.Context(), refusal(400, `{"error":{"message":"`+said+`"}}`), s)
			}
			call.Refused(t.Context(), refusal(503, "down"), Sent{}) // the call ends
			var kinds []string
			for _, l := range b.Known() {
				kinds = append(kinds, l.Kind)
			}
			slices.Sort(c.want)
			if !slices.Equal(kinds, c.want) {
				t.Errorf("remembered %v, want %v", kinds, c.want)
			}
		})
	}
}

// TestFlapping: an endpoint that refuses something at random costs requests, and never answers: what it named before is not in the way.
func TestFlapping(t *testing.T) {
	t.Parallel()
	b, fields := NewBook(Config{}), []string{"field_a", "field_b"}
	for _, name := range fields {
		once := true
		flaps := func(r request) error {
			if once {
				once = false
				return refusal(400, `{"error":{"message":"Unknown parameter: '`+name+`'."}}`)
			}
			return nil
		}
		if answered, refused := askWith(t, b, fields, flaps); !answered || refused != 1 {
			t.Errorf("%s: answered %v, %d refused", name, answered, refused)
		}
		if answered, refused := askWith(t, b, fields, takesAll); !answered || refused != 0 {
			t.Errorf("%s, later: answered %v, %d refused", name, answered, refused)
		}
	}
	c := b.Call(at, "")
	if b.Load([]sessions.Lesson{c.lesson(sessions.Lesson{Kind: Tools})}); !b.Call(at, "").Takes(Tools, "on") {
		t.Error("a setting does not win over what was learned")
	}
}
