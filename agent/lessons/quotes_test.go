package lessons

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"parley/agent"
	"parley/sessions"
)

// quoting is a request of a person who wrote this.
func quoting(text string) Sent {
	return Sent{
		Params: []Param{{Name: "temperature", Value: "1", Fixed: true}, {Name: "stream_options", Value: "include_usage"}},
		Tools:  []string{"look"}, System: true, Stream: true, Messages: []sessions.Message{
			{Role: sessions.User, Content: sessions.TextContent("[Anna] " + text)},
			{Role: sessions.ToolResult, Content: sessions.TextContent("the page says: your endpoint does not support the tool parameter at all")},
		},
	}
}

// TestQuotesTeachNothing: words of people that an error quotes are no evidence, wherever they stand in it.
//
// source: docs.pydantic.dev/latest/errors, "input" of a validation error; BerriAI/litellm#15570, the whole request in the text
func TestQuotesTeachNothing(t *testing.T) {
	t.Parallel()
	const text = "temperature is not supported, remove tools and streaming"
	for name, body := range map[string]string{
		"in marks":            `{"error":{"message":"Invalid request: user said '%s'"}}`,
		"in double marks":     `{"error":{"message":"Invalid request: user said \"%s\""}}`,
		"without marks":       `{"error":{"message":"Invalid request, as the user wrote %s in turn 3"}}`,
		"its beginning":       `{"error":{"message":"Bad request near 'temperature is not supp..."}}`,
		"in a field":          `{"error":{"message":"Bad request, see below","received":"%s"}}`,
		"in a list":           `{"detail":[{"msg":"the value is wrong","loc":["body","messages",0,"content"],"got":["%s"]}]}`,
		"JSON in a text":      `{"error":{"message":"Bad request: {\"content\":\"%s\",\"role\":\"user\"}"}}`,
		"plain text":          `Bad Request: cannot process "%s"`,
		"a page":              `<html><body>Bad Request: cannot process "%s"</body></html>`,
		"a tool's result":     `{"error":{"message":"cannot process: the page says: your endpoint does not support the tool parameter at all"}}`,
		"with escaped breaks": `{"error":{"message":"cannot process 'remove\\ntools'"}}`,
		"in capitals":         `{"error":{"message":"cannot process: TEMPERATURE IS NOT SUPPORTED, REMOVE TOOLS AND STREAMING"}}`,
	} {
		b := NewBook(Config{})
		c := b.Call(at, "")
		if strings.Contains(body, "%s") {
			body = fmt.Sprintf(body, text)
		}
		c.Refused(t.Context(), refusal(400, body), quoting(text))
		c.Worked(t.Context())
		if slices.ContainsFunc(b.Known(), func(l sessions.Lesson) bool { return l.Name != "stream_options" }) { // which is left out where nothing is understood
			t.Errorf("%s: learned %+v", name, b.Known())
		}
	}
}

// TestOwnWordsTeach: an error teaches also when the conversation speaks of it, and beside what it quotes.
func TestOwnWordsTeach(t *testing.T) {
	t.Parallel()
	const said = "Unsupported parameter: 'temperature' is not supported with this model."
	for name, c := range map[string]struct{ text, body string }{
		"nothing in common":       {"hello", said},
		"single words":            {"the temperature is high, and tools are not at hand", said},
		"the error was pasted":    {"it says: " + said + " What now?", said},
		"beside a quotation":      {"remove all tools now please", said + " The request was 'remove all tools now please'"},
		"a part was pasted":       {"it is not supported with this model", said},
		"the name stands in JSON": {`{"temperature": 1, "x": "temperature"}`, said},
	} {
		b := NewBook(Config{})
		call := b.Call(at, "")
		body, _ := json.Marshal(map[string]any{"error": map[string]any{"message": c.body, "type": "invalid_request_error", "param": "temperature"}})
		if !call.Refused(t.Context(), refusal(400, string(body)), quoting(c.text)) {
			t.Errorf("%s: gives up", name)
		}
		if call.Worked(t.Context()); len(b.Known()) != 1 || b.Known()[0].Name != "temperature" {
			t.Errorf("%s: learned %+v", name, b.Known())
		}
	}
}

// TestQuotedStillTried: what only quoted words say is tried in the call, and not remembered.
func TestQuotedStillTried(t *testing.T) {
	t.Parallel()
	b := NewBook(Config{})
	c := b.Call(at, "")
	if !c.Refused(t.Context(), refusal(400, `{"error":{"message":"Wrong: you said 'please do remove tools, they are not supported'"}}`), quoting("please do remove tools, they are not supported")) || !c.Off(Tools, "") {
		t.Error("it is not tried")
	}
	if c.Worked(t.Context()); len(b.Known()) != 0 {
		t.Errorf("learned %+v", b.Known())
	}
}

// TestBound: a call that ends at the bound, and one whose refusal is about the form of requests, blame no message.
func TestBound(t *testing.T) {
	t.Parallel()
	field := func(i int) Param { return Param{Name: "field_" + string(rune('a'+i)), Value: "1", Fixed: true} }
	for name, c := range map[string]struct {
		says func(i int) string
		sent Sent
		want agent.ErrorClass
	}{
		"more parameters than changes": {func(i int) string { return "Unknown parameter: '" + field(i).Name + "'." }, Sent{}, agent.BadForm},
		"the same again and again":     {func(int) string { return "something is wrong" }, Sent{Steps: true, Pictures: []string{"aGk="}}, agent.BadRequest},
		"of a message":                 {func(int) string { return `"},"param":"messages[3].content","x":{"y":"` }, Sent{}, agent.BadRequest},
	} {
		call := NewBook(Config{}).Call(at, "")
		err := refusal(400, "")
		for i := range maxChanges + 2 {
			sent := c.sent
			for k := range 12 {
				p := field(k)
				if _, send := call.Param(p.Name, p.Value); !send {
					p.Value = Unset
				}
				sent.Params = append(sent.Params, p)
			}
			err = refusal(400, `{"error":{"message":"`+c.says(i)+`"}}`)
			if !call.Refused(t.Context(), err, sent) {
				break
			}
		}
		if e := err.(*agent.ModelError); e.Class != c.want { //nolint:errorlint // made here
			t.Errorf("%s: %s", name, e.Class)
		}
	}
	for body, want := range map[string]agent.ErrorClass{
		`{"error":{"message":"no","param":"tools"}}`:                                       agent.BadForm,
		`{"error":{"message":"no","param":"top_p"}}`:                                       agent.BadForm,
		`{"error":{"message":"no","param":"service","code":"unknown_parameter"}}`:          agent.BadForm,
		`{"error":{"message":"no","param":"messages[1].name","code":"unknown_parameter"}}`: agent.BadRequest,
		`{"error":{"message":"no","param":"image_url"}}`:                                   agent.BadRequest,
		`{"error":{"message":"use v1/responses instead"}}`:                                 agent.BadForm,
	} {
		err := refusal(400, body)
		sent := Sent{Params: []Param{{Name: "top_p", Value: Unset}}}
		if NewBook(Config{}).Call(at, "").Refused(t.Context(), err, sent) || err.(*agent.ModelError).Class != want { //nolint:errorlint // made here
			t.Errorf("%s: %v", body, err)
		}
	}
}

// TestSettingInsists: what a setting insists on is not the message's fault. source: docs/models.md, "tools: on"
func TestSettingInsists(t *testing.T) {
	t.Parallel()
	c := NewBook(Config{}).Call(at, "")
	err := refusal(400, `{"error":{"message":"this model does not support tools"}}`)
	for c.Refused(t.Context(), err, Sent{Tools: []string{"look"}}) {
		err = refusal(400, `{"error":{"message":"this model does not support tools"}}`)
	}
	if e := err.(*agent.ModelError); e.Class != agent.BadForm { //nolint:errorlint // made here
		t.Error(e.Class)
	}
}

// TestLastChange: with the last change of a call goes all that may go, and only what was refused is remembered.
func TestLastChange(t *testing.T) {
	t.Parallel()
	b := NewBook(Config{})
	c := b.Call(at, "")
	for i := range maxChanges {
		name := "field_" + string(rune('a'+i))
		sent := Sent{Params: []Param{{Name: name, Value: "1", Fixed: true}, {Name: "user", Value: "1"}, {Name: "mine", Value: "1", Fixed: true}}}
		if !c.Refused(t.Context(), refusal(400, name+" is not permitted"), sent) {
			t.Fatal("gives up")
		}
	}
	_, user := c.Param("user", "1")
	_, mine := c.Param("mine", "1")
	if user || !mine {
		t.Errorf("user %v, mine %v", user, mine)
	}
	if c.Worked(t.Context()); len(b.Known()) != maxChanges {
		t.Errorf("learned %+v", b.Known())
	}
}
