package lessons

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"parley/sessions"
	"parley/tools"
)

// richSchema has each keyword that a schema of an MCP server may have.
const richSchema = `{"type":"object","additionalProperties":false,"title":"Search","minProperties":1,"maxProperties":9,"$defs":{"x":{"type":"string"}},"properties":{
	"mode":{"type":"string","enum":["fast","slow"],"default":"fast","nullable":true},"n":{"type":"integer","minimum":1,"maximum":9,"exclusiveMinimum":0,"exclusiveMaximum":10,"multipleOf":1},
	"name":{"type":"string","pattern":"^a","format":"date","minLength":1,"maxLength":9,"examples":["a"]},"tags":{"type":"array","items":{"type":"string"},"minItems":1,"maxItems":3,"uniqueItems":true,"contains":{"type":"string"}},
	"any":{"anyOf":[{"type":"string"},{"type":"null"}]},"one":{"oneOf":[{"type":"string"}]},"all":{"allOf":[{"type":"string"}]},"no":{"type":"string","not":{"const":"x"}},"ref":{"$ref":"#/$defs/x"},
	"format":{"type":"string"},"old":{"type":"string","deprecated":true}}}`

var richTools = []tools.Spec{{Name: "look", Schema: json.RawMessage(`{"type":"object","properties":{"a":{"type":"string"}}}`)}, {Name: "search", Schema: json.RawMessage(richSchema)}, {Name: "list", Schema: json.RawMessage(`{"type":"object","properties":{}}`)}}

// afterKeyword plays a refusal to a request with rich schemas, and gives what is wrong with the next one.
func afterKeyword(t *testing.T, sent Sent, body, keyword string) string {
	t.Helper()
	c := NewBook(Config{}).Call(at, "")
	c.Offer(richTools)
	sent.Tools, sent.Loose = []string{"look", "search", "list"}, true
	if !slices.Contains(keywordsOf(c), keyword) {
		return "is not sent"
	}
	again := c.Refused(t.Context(), refusal(400, body), sent)
	switch {
	case !again || len(c.changed.applied) != 1 || c.changed.applied[0].Kind != Schema || len(c.changed.blind.changes) > 0:
		return fmt.Sprintf("%+v %+v", c.changed.applied, c.changed.blind.changes)
	case slices.Contains(keywordsOf(c), keyword):
		return "is sent again"
	case len(c.Offer(richTools)) != len(richTools):
		return "costs tools"
	case keyword == "enum" && !strings.Contains(string(c.SchemaForm().Schema(richTools[1])), "One of: fast, slow"):
		return "costs the values"
	}
	return ""
}

// TestKeywordIsNamed: an endpoint that names a keyword of a schema, in whatever words and by whatever place, costs that keyword and no tool.
// source: camel-ai/camel#2288, googleapis/python-genai#1093, CherryHQ/cherry-studio#20939, decolua/9router#3018, pizza-bot-app/pizza-bot#62, musistudio/claude-code-router#708, earendil-works/pi#9953, docs.pydantic.dev (loc), ajv.js.org (instancePath)
func TestKeywordIsNamed(t *testing.T) {
	t.Parallel()
	c := NewBook(Config{}).Call(at, "")
	c.Offer(richTools)
	bare := []string{"@ is an output-only field", "please strip @ before sending", "we do not like @", "@ found in request", "no @ please", "@: nope", "Unknown keyword @", "unsupported schema keyword: @", "Unsupported JSON schema fields: {'@', 'items'}", `{"message":"Unsupported JSON schema fields: [\"@\"]","type":"invalid_request_error","param":"response_format","code":"wrong_api_format"}`}
	at := map[string][]string{
		"chat": {"tools[1].function.parameters.properties.x.@: nope", `{"error":{"message":"Bad Request","param":"tools[1].function.parameters.properties.x.items.@"}}`, `{"error":{"message":"Invalid value","param":"tools[0].function.parameters.@","code":"invalid_value"}}`,
			`{"detail":[{"type":"value_error","loc":["body","tools",1,"function","parameters","properties","x","@"],"msg":"Value error, nope"}]}`, `{"errors":[{"pointer":"/tools/1/function/parameters/properties/x/@","detail":"nope"}]}`, "/tools/1/function/parameters/properties/enum/@ nope",
			"Invalid schema for function 'search': In context=('properties', 'x'), '@' is not permitted.", "tools.function.parameters is not a valid moonshot flavored json schema, details: <At path 'properties.x': keyword @ is not allowed>",
			`Invalid JSON payload received. Unknown name "@" at 'tools[0].function_declarations[1].parameters.properties[3].value': Cannot find field.`, `* GenerateContentRequest.tools[0].function_declarations[1].parameters.properties[x].@: nope`},
		"responses": {"tools[1].parameters.properties.x.@: nope", `{"error":{"message":"Invalid schema for function 'search': In context=('properties', 'x'), '@' is not permitted.","param":"tools[1].parameters","code":"invalid_function_parameters"}}`,
			`{"detail":[{"type":"extra_forbidden","loc":["body","tools",1,"FunctionTool","parameters","properties","x","@"],"msg":"Extra inputs are not permitted"}]}`},
		"messages": {"tools.1.custom.input_schema.properties.x.@: Extra inputs are not permitted", "tools.1.custom: For 'integer' type, property '@' is not supported", "tools.1.custom.input_schema: JSON schema keyword '@' is not supported", "tools[1].input_schema.properties.x.@: nope"},
	}
	of := map[string]Sent{"chat": chatSent("reasoning_content"), "responses": responsesSent(), "messages": messagesSent()}
	apis := []string{"chat", "responses", "messages"}
	for i, keyword := range keywordsOf(c) {
		for api, words := range at {
			if api == apis[i%len(apis)] {
				words = slices.Concat(bare, words)
			}
			for _, words := range words {
				if keyword == "not" && slices.Contains(bare[:6], words) {
					continue // in words alone it is a word
				}
				if wrong := afterKeyword(t, of[api], said(strings.ReplaceAll(words, "@", keyword)), keyword); wrong != "" {
					t.Errorf("%s at %s, %s: %s", keyword, api, words, wrong)
				}
			}
		}
	}
}

// TestNoKeyword: words of keywords that mean something else cost no keyword.
// source: ajv.js.org/api.html#error-objects (keyword), docs.pydantic.dev/latest/errors/validation_errors (enum), platform.openai.com/docs/guides/error-codes
func TestNoKeyword(t *testing.T) {
	t.Parallel()
	for api, sent := range map[string]Sent{"chat": chatSent("reasoning_content"), "responses": responsesSent(), "messages": messagesSent()} {
		for _, words := range []string{
			"Invalid request format", "Invalid input format", "the format of the image is not supported", "Unsupported image format", "The maximum is 4096", "maximum number of requests exceeded", "the default model was not found", "It is not supported", "Bad request format", "invalid json format",
			`{"detail":[{"type":"enum","loc":["body","reasoning_effort"],"msg":"Input should be 'none' or 'low'","ctx":{"expected":"'none' or 'low'"}}]}`,
			`{"errors":[{"instancePath":"","keyword":"additionalProperties","params":{"additionalProperty":"stream_options"},"message":"must NOT have additional properties"}],"stream_options":1}`,
			`{"errors":[{"instancePath":"/messages/0/role","keyword":"enum","params":{"allowedValues":["user","assistant"]},"message":"must be equal to one of the allowed values"}]}`,
			`{"errors":[{"instancePath":"/input/1/content","keyword":"oneOf","message":"must match exactly one schema in oneOf"}]}`,
			"messages.2.content: must match exactly one schema in oneOf", "Input should be a valid enumeration member: messages.0.role",
		} {
			if api != "chat" && strings.Contains(words, "reasoning_effort") || api != "chat" && strings.Contains(words, "stream_options") {
				continue // it is not sent
			}
			c := NewBook(Config{}).Call(at, "")
			c.Offer(richTools)
			sent.Tools, sent.Loose = []string{"look", "search", "list"}, true
			c.Refused(t.Context(), refusal(400, said(words)), sent)
			isGuess := slices.ContainsFunc(c.changed.blind.changes, func(l sessions.Lesson) bool { return l.Kind == Schema })
			if c.changed.hasChanged(Schema) && !isGuess {
				t.Errorf("%s, %s: %+v", api, words, c.changed.applied)
			}
		}
	}
}

// TestNoKeywordOfSchemas: keys of schemas that are no keywords of JSON Schema, and words of errors, cost nothing.
// source: json-schema.org/draft/2020-12/json-schema-core#section-4.3.1 (additional keywords), modelcontextprotocol.io (inputSchema)
func TestNoKeywordOfSchemas(t *testing.T) {
	t.Parallel()
	odd := slices.Clone(richTools)
	odd[0].Schema = json.RawMessage(`{"type":"object","properties":{"a":{"type":"string","message":"m","invalid":true,"error":"e","Temperature":1,"maxTokens":2,"request":"r","x-order":1,"propertyOrdering":["a"]}}}`)
	c := NewBook(Config{}).Call(at, "")
	c.Offer(odd)
	for _, key := range []string{"message", "invalid", "error", "Temperature", "maxTokens", "request"} {
		if slices.Contains(keywordsOf(c), key) {
			t.Errorf("%s is a keyword", key)
		}
	}
	for _, key := range []string{"x-order", "propertyOrdering", "additionalProperties", "$ref"} {
		if !slices.Contains(keywordsOf(c), key) {
			t.Errorf("%s is no keyword", key)
		}
	}
	for _, words := range []string{"Something is odd with this request", "an internal error", "the message is odd", "temperature is off"} {
		c := NewBook(Config{}).Call(at, "")
		c.Offer(odd)
		sent := chatSent("")
		sent.Tools, sent.Loose = []string{"look", "search", "list"}, true
		c.Refused(t.Context(), refusal(400, said(words)), sent)
		isGuess := slices.ContainsFunc(c.changed.blind.changes, func(l sessions.Lesson) bool { return l.Kind == Schema })
		if c.changed.hasChanged(Schema) && !isGuess {
			t.Errorf("%s: %+v", words, c.changed.applied)
		}
	}
}
