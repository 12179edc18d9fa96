package lessons

import (
	"strings"
	"testing"

	"parley/agent"
	"parley/sessions"
)

// TestOtherSettings: what was learned under other settings is tried again, at the price of one refused request, whatever it was.
func TestOtherSettings(t *testing.T) {
	t.Parallel()
	b := NewBook(Config{})
	ask(t, b, "one", all(noStream, noTools))
	for range 2 {
		if refused, _ := ask(t, b, "two", all(noStream, noTools)); refused > 1 {
			t.Errorf("%d refused", refused)
		}
	}
	if refused, _ := ask(t, b, "two", all(noStream, noTools)); refused != 0 {
		t.Errorf("%d refused", refused)
	}
	if refused, last := ask(t, b, "three", takesAll); refused != 0 || !last.stream || len(last.tools) == 0 || len(b.Known()) != 0 {
		t.Errorf("%d refused, %+v, known %v", refused, last, b.Known())
	}
}

// TestGuess: what was left out because nothing was understood is remembered only where that alone helped, in two calls.
func TestGuess(t *testing.T) {
	t.Parallel()
	for pictures, want := range map[int]string{0: Parameter, 1: Images} { // the picture was the reason
		b := NewBook(Config{})
		for turn := range 5 {
			c := b.Call(at, "")
			for {
				use, send := c.Param("reasoning_effort", "high")
				p := Param{Name: "reasoning_effort", Value: use, Effort: true}
				if !send {
					p.Value = Unset
				}
				picture, sent := sessions.Block{Type: sessions.ImageBlock, Data: "aGk="}, []string{"aGk="}[:pictures]
				show := c.Picture("", []sessions.Message{{Content: []sessions.Block{picture}[:pictures]}})
				if show != nil && !show(picture) {
					sent = nil
				}
				if pictures == 1 && len(sent) == 0 || pictures == 0 && !send {
					break
				}
				if !c.Refused(t.Context(), refusal(400, `{"error":"Bad Request"}`), Sent{Params: []Param{p}, Pictures: sent}) {
					t.Fatal("it gives up")
				}
			}
			if c.Worked(t.Context()); turn == 0 && len(b.Known()) > 0 {
				t.Errorf("%d pictures: known after one call %+v", pictures, b.Known())
			}
		}
		if len(b.Known()) != 1 || b.Known()[0].Kind != want || b.Known()[0].Evidence != "Bad Request" {
			t.Errorf("%d pictures: known %+v", pictures, b.Known())
		}
	}
}

// TestServerFailed: a server that failed teaches nothing, whatever its words speak of: a repeat without tools would seem to have helped.
func TestServerFailed(t *testing.T) {
	t.Parallel()
	for text, learns := range map[string]bool{
		"The server had an error while processing your request. Sorry about that! It must be tried without tools": false, // source: platform.openai.com, error codes
		"Internal Server Error: the stream of the tool cannot be read":                                            false,
		"error parsing tool call: raw='{' , err=unexpected end of JSON input":                                     false, // source: ollama/ollama, server/routes.go
		"upstream connection failed: system role is unknown":                                                      false,
		"tool calling is not supported by this model":                                                             true,
	} {
		c := NewBook(Config{}).Call(at, "")
		if got := c.Refused(t.Context(), refusal(500, `{"error":{"message":"`+text+`"}}`), Sent{Tools: []string{"look"}, Stream: true, System: true}); got != learns {
			t.Errorf("%s: %v", text, got)
		}
	}
}

// callWithHistory makes one model call at an endpoint with calls in the history, and gives how many requests it refused and what became of the history
// and of pictures. Three failures in a row end it, as agent.Retry does.
func callWithHistory(t *testing.T, b *Book, pictures []string, refuses func(told, shown bool) error) (refused int, told, shown bool) {
	t.Helper()
	c := b.Call(at, "")
	show := c.Picture("", []sessions.Message{{Role: sessions.User, Content: []sessions.Block{{Type: sessions.ImageBlock}}}})
	for failures := 0; failures < 3; {
		var seen []string
		for _, data := range pictures {
			if c.Takes(Images, "") && show(sessions.Block{Type: sessions.ImageBlock, Data: data}) {
				seen = append(seen, data)
			}
		}
		told, shown = c.Told() || !c.ToldUntil().IsZero(), len(seen) > 0
		err := refuses(told, shown)
		if err == nil {
			c.Worked(t.Context())
			return refused, told, shown
		}
		refused++
		if !c.Refused(t.Context(), err, Sent{Tools: []string{"look"}, Steps: !told, Pictures: seen, Stream: true, System: true}) {
			failures++
		}
	}
	return refused, told, shown
}

// TestFailsAgain: a server that fails with a history or a picture, in the same words, is asked without it: in each turn until that cured two.
func TestFailsAgain(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"TypeError: Can only get item pairs from a mapping.", // source: mudler/LocalAI#10256
		"Value is not callable: null at row 62, column 114",  // source: ggml-org/llama.cpp, common/minja
		"Failed to parse tool call arguments as JSON",        // of a template that reads earlier calls
		"height:1 or width:1 must be larger than factor:28",  // source: vllm-project/vllm, Qwen-VL
		"Internal Server Error",                              // source: sgl-project/sglang
		"mtmd not enabled",                                   // source: ggml-org/llama.cpp
	} {
		b := NewBook(Config{})
		for i, most := range []int{3, 1, 1, 0} {
			refused, told, _ := callWithHistory(t, b, nil, func(told, _ bool) error {
				if !told {
					return failed(500, text)
				}
				return nil
			})
			if refused > most || !told {
				t.Errorf("%s: history, turn %d: %d refused, told %v", text, i, refused, told)
			}
		}
		b = NewBook(Config{})
		var pictures []string
		for i := range 5 { // one more picture each time
			pictures = append(pictures, strings.Repeat("x", i+1))
			refused, _, shown := callWithHistory(t, b, pictures, func(_, shown bool) error {
				if shown {
					return failed(500, text)
				}
				return nil
			})
			if refused > 2 || shown {
				t.Errorf("%s: pictures, turn %d: %d refused, shown %v", text, i, refused, shown)
			}
		}
	}
	b := NewBook(Config{})
	down := func(_, _ bool) error { return failed(500, "The server is overloaded") }
	if refused, told, _ := callWithHistory(t, b, nil, down); refused != 3 || told || len(b.Known()) > 0 {
		t.Errorf("down: %d refused, told %v, known %v", refused, told, b.Known())
	}
}

// failed is the error of a server that failed, or of a call that the model spoiled.
func failed(status int, text string) error {
	err := refusal(status, `{"error":{"message":"`+text+`"}}`)
	err.(*agent.ModelError).Class = agent.Overloaded //nolint:errorlint,forcetypeassert // refusal makes no other
	return err
}
