package endpoints

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// optionalTool has an argument that may be left out, with values.
var optionalTool = []ToolSpec{{"odd", `{"type":"object","properties":{"mode":{"type":"string","enum":["fast","slow"]},"deep":{"type":"object","properties":{"n":{"type":"integer"}}}},"required":["deep"]}`}, {"bare", `{"type":"object"}`}}

// eachSchema refuses the first tool whose schema is refused: with an answer for its place, name and what is wrong.
func eachSchema(wrong func(schema, tool obj) string, no func(place int, name, what string) *Refusal) Check {
	return func(c *Call) *Refusal {
		for i, t := range objects(c.Body["tools"]) {
			f := function(t)
			if len(f) == 0 {
				f = t
			}
			schema, _ := f["parameters"].(obj)
			if schema == nil {
				schema, _ = f["input_schema"].(obj)
			}
			if what := wrong(schema, f); what != "" {
				return no(i, str(f["name"]), what)
			}
		}
		return nil
	}
}

// strictly says what strict mode dislikes first of a schema: a property that is not required, or that there may be others.
func strictly(schema obj) string {
	what := ""
	walk(schema, nil, func(_ []string, s obj) bool {
		properties, isObject := s["properties"].(obj)
		if !isObject || what != "" {
			return false
		}
		required, _ := s["required"].(list)
		for _, name := range slices.Sorted(maps.Keys(properties)) {
			if !slices.Contains(required, any(name)) {
				what = "'required' is required to be supplied and to be an array including every key in properties. Missing '" + name + "'."
				return true
			}
		}
		if s["additionalProperties"] != false {
			what = "'additionalProperties' is required to be supplied and to be false."
		}
		return what != ""
	})
	return what
}

// unlessLoose says what strict mode dislikes of a tool that does not say that it is not strict.
func unlessLoose(schema, tool obj) string {
	if tool["strict"] == false {
		return ""
	}
	return strictly(schema)
}

// alwaysStrict says what strict mode dislikes of a tool, whatever it says.
func alwaysStrict(schema, _ obj) string { return strictly(schema) }

// unlisted says whether a schema does not say what is required.
func unlisted(schema, _ obj) string {
	if _, there := schema["required"].(list); there {
		return ""
	}
	return "required"
}

// withEnum says whether a schema lists values anywhere.
func withEnum(schema, _ obj) string {
	if walk(schema, nil, func(_ []string, s obj) bool { return s["enum"] != nil }) == nil {
		return ""
	}
	return "enum"
}

// firstBad is what OpenAI says of the first bad schema.
func firstBad(place int, name, what string) *Refusal {
	return invalid(fmt.Sprintf("tools[%d].function.parameters", place), "invalid_function_parameters", "Invalid schema for function '%s': In context=(), %s", name, what)
}

const (
	strictSource = "langchain-ai/langchain#32930"
	unlistedAt   = "anomalyco/opencode#45245"
	keywordless  = "anomalyco/opencode#43371"
)

var (
	notStrict = Expectation{Refused: 1, Sends: []string{`"strict":false`}}
	nullable  = Expectation{Refused: 2, Sends: []string{`"additionalProperties":false.*"null"`}}
	requiring = Expectation{Refused: 1, Sends: []string{`"required":\[\]`}}
	enumless  = Expectation{Refused: 1, Sends: []string{`One of: fast, slow`}}
)

var toolSchemas = []Row{
	{ID: "strict-schemas-one-by-one", Vendor: "OpenAI", Source: "kevinwatt/mysql-mcp#5", Does: "takes schemas for strict, and names the first that is not", Tools: optionalTool, Kind: KindLearned, Checks: []Check{eachSchema(unlessLoose, firstBad)}, Want: notStrict},
	{ID: "strict-schemas-behind-a-router", Vendor: "OpenRouter", Source: strictSource, Does: "hides in metadata that schemas are not strict", Tools: optionalTool, Checks: []Check{eachSchema(unlessLoose, func(place int, name, what string) *Refusal {
		return router(400, "Azure", firstBad(place, name, what).Body)
	})}, Want: notStrict},
	{ID: "strict-schemas-without-a-name", Vendor: "a gateway", Source: strictSource, Does: "says that schemas are not strict, of no tool", Tools: optionalTool, Checks: []Check{eachSchema(unlessLoose, func(_ int, _, what string) *Refusal {
		return invalid(nil, nil, "In context=(), %s", what)
	})}, Want: notStrict},
	{ID: "strict-mode-in-other-words", Vendor: "a gateway", Source: strictSource, Does: "says in its own words that strict mode wants all properties", Tools: optionalTool, Checks: []Check{eachSchema(unlessLoose, func(int, string, string) *Refusal {
		return invalid(nil, nil, "strict mode: all properties must be required")
	})}, Want: notStrict},
	{ID: "always-strict-schemas", Vendor: "a gateway", Source: strictSource, Does: "takes only strict schemas, whatever a tool says of itself", Tools: optionalTool, Checks: []Check{eachSchema(alwaysStrict, firstBad)}, Want: nullable},
	{ID: "always-strict-and-strict-unknown", Vendor: "a gateway", Source: strictSource, Does: "takes only strict schemas, and does not know the field strict", Tools: optionalTool, Checks: []Check{func(c *Call) *Refusal {
		if strings.Contains(encode(c.Body["tools"]), `"strict"`) {
			return invalid("tools[0].function.strict", "unknown_parameter", "Unknown parameter: 'tools[0].function.strict'.")
		}
		return nil
	}, eachSchema(alwaysStrict, firstBad)}, Want: Expectation{Refused: 3, Sends: nullable.Sends}},
	{ID: "always-strict-at-responses", API: Responses, Vendor: "a gateway", Source: strictSource, Does: "takes only strict schemas at the Responses API", Tools: optionalTool, Checks: []Check{eachSchema(alwaysStrict, func(place int, name, what string) *Refusal {
		return invalid(fmt.Sprintf("tools[%d].parameters", place), "invalid_function_parameters", "Invalid schema for function '%s': In context=(), %s", name, what)
	})}, Want: Expectation{Refused: 1, Sends: nullable.Sends}},
	{ID: "always-strict-at-messages", API: Messages, Vendor: "a gateway", Source: strictSource, Does: "takes only strict schemas at the Messages API", Tools: optionalTool, Checks: []Check{eachSchema(alwaysStrict, func(place int, _, what string) *Refusal {
		return claude(400, "invalid_request_error", "tools.%d.custom.input_schema: %s", place, what)
	})}, Want: Expectation{Refused: 1, Sends: nullable.Sends}},

	{ID: "required-of-each-schema", Vendor: "a server with pydantic", Source: unlistedAt, Does: "wants to be told what is required, of each tool", Tools: optionalTool, Checks: []Check{eachSchema(unlisted, func(place int, _, _ string) *Refusal {
		return raw(422, encode(obj{"detail": list{obj{"type": "missing", "loc": list{"body", "tools", place, "function", "parameters", "required"}, "msg": "Field required"}}}))
	})}, Want: requiring},
	{ID: "required-is-a-required-property", Vendor: "a server with JSON Schema", Source: unlistedAt, Does: "wants what is required, and names the tool", Tools: optionalTool, Checks: []Check{eachSchema(unlisted, func(_ int, name, _ string) *Refusal {
		return invalid(nil, nil, "Invalid schema for function '%s': 'required' is a required property", name)
	})}, Want: requiring},
	{ID: "required-is-none", Vendor: "OpenAI", Source: "coaidev/coai#110", Does: "says that nothing stands where the required ones do", Tools: optionalTool, Checks: []Check{eachSchema(unlisted, func(_ int, name, _ string) *Refusal {
		return invalid(nil, nil, "Invalid schema for function '%s': None is not of type 'array'", name)
	})}, Want: requiring},
	{ID: "required-in-a-struct", Vendor: "a server with serde", Source: unlistedAt, Does: "wants what is required, and names no tool", Tools: optionalTool, Checks: []Check{eachSchema(unlisted, func(int, string, string) *Refusal {
		return plain(422, "Failed to deserialize the JSON body into the target type: tools: missing field `required` at line 1 column 900")
	})}, Want: requiring},
	{ID: "required-at-foundry-local", Vendor: "Foundry Local", Source: "microsoft/vscode#283468", Does: "takes a tool without what is required for no tool", Tools: optionalTool, Checks: []Check{eachSchema(unlisted, func(int, string, string) *Refusal {
		return invalid(nil, nil, "Provided tools are not defined using an OpenAI-compatible tool definition format per tool. Each provided tool should use the same tool definition format.")
	})}, Want: requiring},
	{ID: "required-at-responses", API: Responses, Vendor: "a gateway", Source: unlistedAt, Does: "wants to be told what is required at the Responses API", Tools: optionalTool, Checks: []Check{eachSchema(unlisted, func(place int, _, _ string) *Refusal {
		return invalid(fmt.Sprintf("tools[%d].parameters.required", place), "missing_required_parameter", "Missing required parameter: 'tools[%d].parameters.required'.", place)
	})}, Want: requiring},
	{ID: "required-at-messages", API: Messages, Vendor: "a gateway", Source: unlistedAt, Does: "wants to be told what is required at the Messages API", Tools: optionalTool, Checks: []Check{eachSchema(unlisted, func(place int, _, _ string) *Refusal {
		return claude(400, "invalid_request_error", "tools.%d.custom.input_schema.required: Field required", place)
	})}, Want: requiring},

	{ID: "enum-of-a-named-tool", Vendor: "a gateway", Source: keywordless, Does: "does not know the keyword for values, and names the tool", Tools: optionalTool, Checks: []Check{eachSchema(withEnum, func(_ int, name, _ string) *Refusal {
		return invalid(nil, "unsupported_keyword", "Invalid schema for function '%s': keyword 'enum' is not supported", name)
	})}, Want: enumless},
	{ID: "enum-at-responses", API: Responses, Vendor: "a gateway", Source: keywordless, Does: "does not know the keyword for values at the Responses API", Tools: optionalTool, Checks: []Check{eachSchema(withEnum, func(place int, name, _ string) *Refusal {
		return invalid(fmt.Sprintf("tools[%d].parameters", place), "invalid_function_parameters", "Invalid schema for function '%s': In context=('properties', 'mode'), 'enum' is not permitted.", name)
	})}, Want: enumless},
	{ID: "enum-at-messages", API: Messages, Vendor: "a gateway", Source: keywordless, Does: "does not know the keyword for values at the Messages API", Tools: optionalTool, Checks: []Check{eachSchema(withEnum, func(place int, _, _ string) *Refusal {
		return claude(400, "invalid_request_error", "tools.%d.custom.input_schema: JSON schema keyword 'enum' is not supported", place)
	})}, Want: enumless},
}
