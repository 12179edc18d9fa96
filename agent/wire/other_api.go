package wire

import (
	"bytes"
	"encoding/json"
	"strings"

	"parley/agent"
)

// otherAPIs tell from the fields of a whole answer which API it is of: the end of its address, the setting for it, "" = there is none, and what
// its name is.
// source: platform.openai.com/docs/api-reference/responses/object, docs.anthropic.com/en/api/messages, ai.google.dev/api/generate-content,
// github.com/ollama/ollama/blob/main/docs/api.md
var otherAPIs = []struct {
	fields            []string
	address, set, api string
}{
	{[]string{"choices"}, "/chat/completions", "openai-completions", "chat completions"},
	{[]string{"output", "status"}, "/responses", "openai-responses", "OpenAI's Responses API"},
	{[]string{"stop_reason", "content"}, "/messages", "anthropic", "Anthropic's messages API"},
	{[]string{"candidates"}, ":generateContent", "", "Gemini's own API, whose compatible address ends in /v1beta/openai"},
	{[]string{"done", "message"}, "/api/chat", "", "Ollama's own API, whose compatible address ends in /v1"},
	{[]string{"done", "response"}, "/api/generate", "", "Ollama's own API, whose compatible address ends in /v1"},
}

// ofOtherAPI says of an answer that could not be read, and is no error, which API it is of, and which setting is to change; "" = none that is known,
// or the one that was asked.
func (t *Try) ofOtherAPI(raw []byte) (is, hint string) {
	var answer map[string]json.RawMessage
	if json.NewDecoder(bytes.NewReader(raw)).Decode(&answer) != nil || IsError(answer["error"]) {
		return "", ""
	}
	for _, a := range otherAPIs {
		has := true
		for _, f := range a.fields {
			has = has && answer[f] != nil
		}
		switch {
		case !has:
		case strings.HasSuffix(t.address, a.address):
			return "", ""
		case a.set == "":
			return a.api, "Change `baseUrl` of this provider."
		default:
			return a.api, "Set `api: " + a.set + "` at this provider, or change its `baseUrl`."
		}
	}
	return "", ""
}

// misdirected makes of the error of an answer that could not be read one about the address, where the answer is that of another API.
func (t *Try) misdirected(e *agent.ModelError, raw []byte) {
	is, hint := t.ofOtherAPI(raw)
	if e.Class != agent.Broken || is == "" {
		return
	}
	text := t.text("the answer of " + t.address + " is one of " + is)
	e.Class, e.Hint, e.Said = agent.BadAddress, hint, text
	e.Err = &Fault{Status: e.Status, Text: text, Raw: text, All: strings.ToLower(text)}
}
