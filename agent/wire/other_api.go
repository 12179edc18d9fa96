package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"parley/agent"
)

// otherAPIs tell from the fields of a whole answer, or from the type of an event, which API it is of: the end of its address, the setting for it,
// "" = there is none, and what its name is.
//
// source: platform.openai.com/docs/api-reference/responses/object, docs.anthropic.com/en/api/messages, ai.google.dev/api/generate-content,
// github.com/ollama/ollama/blob/main/docs/api.md, docs.cohere.com/reference/chat, github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md,
// huggingface.co/docs/text-generation-inference/reference/api_reference, docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html,
// developers.cloudflare.com/workers-ai/configuration/open-ai-compatibility
var otherAPIs = []struct {
	fields            []string
	events            []string // beginnings of their types
	address, set, api string
}{
	{[]string{"choices"}, nil, "/chat/completions", "openai-completions", "chat completions"},
	{[]string{"output", "status"}, []string{"response."}, "/responses", "openai-responses", "OpenAI's Responses API"},
	{[]string{"stop_reason", "content"}, []string{"message_start", "content_block_", "message_delta"}, "/messages", "anthropic", "Anthropic's messages API"},
	{[]string{"candidates"}, nil, ":generateContent", "", "Gemini's own API; its compatible address ends in /v1beta/openai"},
	{[]string{"done", "message"}, nil, "/api/chat", "", "Ollama's own API; its compatible address ends in /v1"},
	{[]string{"done", "response"}, nil, "/api/generate", "", "Ollama's own API; its compatible address ends in /v1"},
	{[]string{"finish_reason", "message"}, nil, "/v2/chat", "", "Cohere's own API; its compatible address ends in /compatibility/v1"},
	{[]string{"output", "stopReason"}, nil, "/converse", "", "Bedrock's own API"},
	{[]string{"generated_text"}, nil, "/generate", "", "TGI's own API; its compatible address ends in /v1"},
	{[]string{"stop", "content"}, nil, "/completion", "", "llama.cpp's own API; its compatible address ends in /v1"},
	{[]string{"response"}, nil, "/ai/run", "", "the own API of Workers AI; its compatible address ends in /ai/v1"},
}

// ofOtherAPI says of an answer, or an event of one, that could not be read and is no error, which API it is of, and which setting is to change;
// "" = none that is known, or the one that was asked.
func (t *Try) ofOtherAPI(raw []byte) (is, hint string) {
	var answer map[string]json.RawMessage
	if json.NewDecoder(bytes.NewReader(raw)).Decode(&answer) != nil || IsError(answer["error"]) {
		return "", ""
	}
	kind := Scalar(answer["type"])
	for _, a := range otherAPIs {
		has := slices.ContainsFunc(a.events, func(begin string) bool { return strings.HasPrefix(kind, begin) })
		if !has {
			has = !slices.ContainsFunc(a.fields, func(f string) bool { return answer[f] == nil || f == "response" && answer[f][0] != '"' })
		}
		switch {
		case !has:
		case strings.HasSuffix(t.address, a.address):
			return "", ""
		case a.set == "":
			return a.api, "Set `baseUrl` of this provider to an address with a compatible API."
		default:
			return a.api, "Set `api: " + a.set + "` at this provider, or change its `baseUrl`."
		}
	}
	return "", ""
}

// IsOther reports whether an event is of another API than the one that was asked.
func (t *Try) IsOther(event []byte) bool {
	is, _ := t.ofOtherAPI(event)
	return is != ""
}

// OtherAPI makes the error of an answer that is of another API than the one that was asked: event is a part of it.
func (t *Try) OtherAPI(event []byte) error {
	e := t.modelError(errors.New("an answer of another API"))
	t.misdirected(e, event)
	return e
}

// misdirected makes of the error of an answer that could not be read one about the address, where the answer is that of another API.
func (t *Try) misdirected(e *agent.ModelError, raw []byte) {
	is, hint := t.ofOtherAPI(raw)
	if e.Class != agent.Broken || is == "" {
		return
	}
	text := t.text(t.address + " answered in the format of " + is)
	e.Class, e.Hint, e.Said = agent.BadAddress, hint, text
	e.Err = &Fault{Status: e.Status, Text: text, Raw: text, All: strings.ToLower(text)}
}
