package lessons

import (
	"testing"

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
				show, sent := c.Picture("", nil), []string{"aGk="}[:pictures]
				if show != nil && !show(sessions.Block{Type: sessions.ImageBlock, Data: "aGk="}) {
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
