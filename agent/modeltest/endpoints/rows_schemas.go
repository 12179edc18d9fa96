package endpoints

import (
	"fmt"
	"slices"
	"strings"
)

func manyTools(n int) (out []ToolSpec) {
	for i := range n {
		out = append(out, ToolSpec{fmt.Sprintf("tool_%03d", i), `{"type":"object","properties":{"a":{"type":"string"}}}`})
	}
	return out
}

var oddTools = []ToolSpec{{"odd", `{"type":"object","properties":{"when":{"type":"string","format":"date-time"},"to":{"type":"string","format":"uri"},"n":{"type":"integer","exclusiveMinimum":0},
	"opts":{"type":"object","additionalProperties":{"type":"string"},"propertyNames":{"pattern":"^[a-z]+$"}},"ref":{"$ref":"#/$defs/x"},"one":{"oneOf":[{"type":"string"},{"type":"integer"}]},"c":{"const":"x"}},"$defs":{"x":{"type":"string"}},"required":["n"]}`}}

// refuseToolName refuses a tool by its name.
func refuseToolName(tool string, no *Refusal) Check {
	return func(c *Call) *Refusal {
		if slices.ContainsFunc(c.Tools, func(s string) bool { return strings.Contains(s, tool) }) {
			return no
		}
		return nil
	}
}

// googleSchema is what Gemini's OpenAI endpoint says of a keyword that it does not know.
func googleSchema(i int, _ string, word string, path []string) *Refusal {
	return google(400, "INVALID_ARGUMENT", `Invalid JSON payload received. Unknown name "%s" at 'tools[0].function_declarations[%d].parameters.%s': Cannot find field.`, word, i, strings.Join(path, "."))
}

var schemas = []Row{
	{ID: "array-without-items", Faults: []string{"H11"}, Vendor: "OpenAI", Source: "spacelift-io/spacectl#402", Does: "refuses every tool when one has an array without items", Tools: []ToolSpec{{"tags", `{"type":"object","properties":{"tags":{"type":"array"},"deep":{"type":"object","properties":{"in":{"type":"array"}}}}}`}}},
	{ID: "array-without-items-at-gemini", Faults: []string{"H11"}, Vendor: "Google", Source: "NousResearch/hermes-agent#69924", Path: "/v1beta/openai", Model: "gemini-2.5-flash", Does: "names the property whose items are missing", Lax: true, Tools: []ToolSpec{{"tags", `{"type":"object","properties":{"tags":{"type":"array"}}}`}},
		Checks: []Check{func(c *Call) *Refusal {
			for i, t := range objects(c.Body["tools"]) {
				if where := walk(function(t)["parameters"].(obj), nil, func(_ []string, s obj) bool { return s["type"] == "array" && s["items"] == nil }); where != nil {
					return google(400, "INVALID_ARGUMENT", "* GenerateContentRequest.tools[0].function_declarations[%d].parameters.%s.items: missing field.", i, strings.Join(where, "."))
				}
			}
			return nil
		}}},
	{ID: "more-than-128-tools", Faults: []string{"H11"}, Vendor: "OpenAI", Source: "digitalocean-labs/mcp-digitalocean#265", Does: "takes at most 128 tools", Tools: manyTools(140)},
	{ID: "more-than-128-tools-at-responses", Faults: []string{"H11"}, API: Responses, Vendor: "OpenAI", Source: "https://platform.openai.com/docs/guides/function-calling", Does: "takes at most 128 tools", Tools: manyTools(140)},
	{ID: "gemini-schema-keywords", Faults: []string{"H11"}, Vendor: "Google", Source: "NousResearch/hermes-agent#77617", Path: "/v1beta/openai", Model: "gemini-2.0-flash", Does: "does not know additionalProperties, $ref, exclusiveMinimum, propertyNames, const and others", Tools: oddTools,
		Checks: []Check{keywords("additionalProperties exclusiveMinimum exclusiveMaximum propertyNames $ref $defs $schema const oneOf allOf patternProperties", googleSchema)}, Want: Expectation{Refused: 3}},
	{ID: "gemini-schema-format", Faults: []string{"H11"}, Vendor: "Google", Source: "enechange/collmbo#195", Path: "/v1beta/openai", Model: "gemini-2.0-flash", Does: "knows only the formats enum and date-time of a text", Tools: oddTools,
		Checks: []Check{func(c *Call) *Refusal {
			for i, t := range objects(c.Body["tools"]) {
				schema, _ := function(t)["parameters"].(obj)
				if where := walk(schema, nil, func(_ []string, s obj) bool {
					f := str(s["format"])
					return s["type"] == "string" && f != "" && f != "enum" && f != "date-time"
				}); where != nil {
					return google(400, "INVALID_ARGUMENT", "* GenerateContentRequest.tools[0].function_declarations[%d].parameters.%s.format: only 'enum' and 'date-time' are supported for STRING type", i, strings.Join(where, "."))
				}
			}
			return nil
		}}, Want: Expectation{Refused: 2}},
	{ID: "invalid-schema-for-function", Faults: []string{"H11"}, Vendor: "OpenAI", Source: "https://platform.openai.com/docs/guides/structured-outputs", Does: "refuses one tool by its name", Tools: oddTools, Kind: KindLearned,
		Checks: []Check{refuseToolName("odd", invalid("tools[3].function.parameters", "invalid_function_parameters", "Invalid schema for function 'odd_odd': In context=('properties', 'ref'), '$ref' is not permitted."))}, Want: Expectation{Refused: 2, Log: `odd_odd`}},
	{ID: "invalid-schema-at-responses", Faults: []string{"H11"}, API: Responses, Vendor: "OpenAI", Source: "https://platform.openai.com/docs/guides/structured-outputs", Does: "refuses one tool by its name at the Responses API", Tools: oddTools,
		Checks: []Check{refuseToolName("odd", invalid("tools[3].parameters", "invalid_function_parameters", "Invalid schema for function 'odd_odd': In context=('properties', 'ref'), '$ref' is not permitted."))}, Want: Expectation{Refused: 2, Log: `odd_odd`}},
	{ID: "anthropic-tool-by-number", Faults: []string{"H11"}, API: Messages, Vendor: "Anthropic", Source: "https://docs.anthropic.com/en/docs/agents-and-tools/tool-use/implement-tool-use", Does: "refuses one tool by its place in the list", Tools: oddTools,
		Checks: []Check{keywords("propertyNames", func(i int, _, _ string, _ []string) *Refusal {
			return claude(400, "invalid_request_error", "tools.%d.custom.input_schema: JSON schema is invalid. It must match JSON Schema draft 2020-12 (https://json-schema.org/draft/2020-12). Learn more about tool use at https://docs.claude.com/en/docs/tool-use.", i)
		})}, Want: staged},
	{ID: "llamacpp-grammar", Faults: []string{"H11"}, Vendor: "llama.cpp", Source: "ggml-org/llama.cpp#26930", Does: "cannot make a grammar of a pattern", Tools: []ToolSpec{{"pat", `{"type":"object","properties":{"id":{"type":"string","pattern":"[a-z]+"}}}`}},
		Checks: []Check{keywords("pattern", func(_ int, _, _ string, _ []string) *Refusal {
			return llama(400, "invalid_request_error", "Unable to generate parser for this template. Automatic parser generation failed: JSON schema conversion failed:\nPattern must start with '^' and end with '$'")
		})}, Want: Expectation{Refused: 2}},
	{ID: "fireworks-nested-schema", Faults: []string{"H11"}, Vendor: "Fireworks", Source: "https://docs.fireworks.ai/guides/function-calling", Does: "refuses one tool with its name and a text of its validator", Tools: oddTools,
		Checks: []Check{refuseToolName("odd", raw(400, `{"error":{"object":"error","type":"invalid_request_error","code":"invalid_request_error","message":"Invalid tool schema for 'odd_odd': propertyNames: Extra inputs are not permitted"}}`))}, Want: staged},
	{ID: "moonshot-schema-any-of", Faults: []string{"H11"}, Vendor: "Moonshot", Source: "https://platform.moonshot.ai/docs/guide/use-kimi-api-to-complete-tool-calls", Model: "kimi-k2", Does: "calls its dialect of JSON Schema moonshot flavored, and names the function", Tools: oddTools,
		Checks: []Check{refuseToolName("odd", kimi("Invalid request: tools.function.parameters is not a valid moonshot flavored json schema, details: <At path 'properties.one': when using anyOf, type should be defined in anyOf items instead of the parent schema> in function odd_odd"))}, Want: staged},
	{ID: "objects-need-properties", Vendor: "Cerebras", Source: "aj47/SpeakMCP#352", Does: "refuses schemas of objects without properties, and names no tool", Tools: oddTools,
		Checks: []Check{objectsWithProperties(func(int, []string) *Refusal {
			return raw(400, `{"message":"Object fields require at least one of: 'properties' or 'anyOf' with a list of possible properties.","type":"invalid_request_error","param":"tools","code":"wrong_api_format"}`)
		})}, Want: staged},
	{ID: "properties-of-objects-at-gemini", Vendor: "Google", Source: "https://ai.google.dev/gemini-api/docs/function-calling", Path: "/v1beta/openai", Model: "gemini-2.0-flash", Does: "refuses objects without properties", Tools: oddTools,
		Checks: []Check{objectsWithProperties(func(i int, path []string) *Refusal {
			return google(400, "INVALID_ARGUMENT", "* GenerateContentRequest.tools[0].function_declarations[%d].parameters.%s: should be non-empty for OBJECT type", i, strings.Join(append(path, "properties"), "."))
		})}, Want: staged},
	{ID: "tool-in-a-list-of-paths", Vendor: "LM Studio", Source: "elie222/rakazo#851", Does: "refuses the schema of one tool, whatever it is, and names its place in a path of its validator", Tools: oddTools,
		Checks: []Check{func(c *Call) *Refusal {
			i := slices.IndexFunc(c.Tools, func(s string) bool { return strings.Contains(s, "odd") })
			if i < 0 {
				return nil
			}
			return raw(400, fmt.Sprintf(`{"error":"[\n  {\n    \"code\": \"invalid_type\",\n    \"expected\": \"object\",\n    \"received\": \"undefined\",\n    \"path\": [\n      %d,\n      \"function\",\n      \"parameters\",\n      \"properties\"\n    ],\n    \"message\": \"Required\"\n  }\n]"}`, i))
		}}, Want: Expectation{Refused: 2, Log: `odd_odd`}},
}

// objectsWithProperties refuses objects without properties, anywhere.
func objectsWithProperties(no func(tool int, path []string) *Refusal) Check {
	return func(c *Call) *Refusal {
		for i, t := range objects(c.Body["tools"]) {
			schema, _ := function(t)["parameters"].(obj)
			if path := walk(schema, nil, func(_ []string, s obj) bool {
				properties, _ := s["properties"].(obj)
				return s["type"] == "object" && len(properties) == 0 && s["anyOf"] == nil
			}); path != nil {
				return no(i, path)
			}
		}
		return nil
	}
}
