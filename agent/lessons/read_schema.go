package lessons

import (
	"slices"
	"strings"

	"parley/agent/wire"
	"parley/channels/pattern"
	"parley/sessions"
)

// The names of lessons about schemas, besides the one without a name. With each of them schemas are plain.
const (
	requiredList = "required"     // each object says what is required
	allRequired  = "all required" // each property is required, as strict mode wants it
	withoutEnum  = "enum"         // values are told in descriptions
	bareSchema   = "bare"         // types and names alone
	// The schemas stay as they are with these, the definitions around them change.
	ToolsTyped  = "custom"   // Anthropic's definitions say what they are
	ToolsNested = "function" // those of the Responses API are written like those of chat completions
)

// schemaForms are the forms that lessons about schemas stand for.
var schemaForms = []struct {
	name string
	form wire.Form
}{{"", wire.Plain}, {requiredList, wire.Plain | wire.WithRequired}, {allRequired, wire.Plain | wire.AllRequired}, {withoutEnum, wire.Plain | wire.WithoutEnum}, {bareSchema, wire.Plain | wire.Bare},
	{ToolsTyped, wire.Typed}, {ToolsNested, wire.Nested}}

// SchemaForm gives the form in which the endpoint takes the schemas of tools.
func (c *Call) SchemaForm() (form wire.Form) {
	for _, f := range schemaForms {
		if c.Off(Schema, f.name) {
			form |= f.form
		}
	}
	return form
}

var (
	// wantsAll is in errors of strict mode. source: kevinwatt/mysql-mcp#5, CherryHQ/cherry-studio#12407
	wantsAll = pattern.New(`\brequired['"\x60]? is required to be supplied|including every key in properties|additionalproperties['"\x60]? (?:is required|must|should|has to|needs)[^.\n]{0,60}\bfalse|\ball (?:of the )?(?:properties|fields|keys|parameters)\b[^.\n]{0,30}\b(?:must|should|need|have to|be)\b[^.\n]{0,30}\brequired\b|\bat least one (?:required|mandatory) (?:parameter|property|argument|field)`)
	// wantsRequired is in errors about schemas that do not say what is required. source: NousResearch/hermes-agent#20151 (None is not of type 'array'), microsoft/foundry-local#336, run-llama/llama_index#22581
	wantsRequired = pattern.New(`['"\x60]required['"\x60] is a required property|\bmissing (?:field|property|keyword|key):? [\x60'"]?required\b|\b(?:parameters|input_?schema)[a-z0-9_./\[\]]*[./]required['"\x60]?:? ?(?:field required|missing|is required|is missing|required)|\bmissing required parameter: ['"]?tools\S*\.required\b|schema\b[^\n]{0,80}\bnone is not of type ['"]array|not defined using an openai-compatible tool definition`)
	// requiredPlace is the place of the list of what is required.
	requiredPlace = pattern.New(`\b(?:parameters|input_?schema)\b.*[./]required$`)
)

// missingInTool is the place of a field of a definition, also with each of its parts on a line.
// source: docs.pydantic.dev/latest/errors/validation_errors (missing, "loc")
var missingInTool = pattern.New(`(?m)\btools(?:\[|\.|/)\d+\]?[./]([a-z_]+)(?:[^\w./\[]|\.?$)|^tools\n\d+\n([a-z_]+)$`)

// readSchemaForm reads errors that say what is wrong with the schemas of tools. Whatever tool they name, it is of all: an endpoint
// names the first that it dislikes. Strict mode is switched off where it can be.
func readSchemaForm(r reading) (sessions.Lesson, bool) {
	if len(r.sent.Tools) == 0 || r.has("response_format", "json_schema is") {
		return sessions.Lesson{}, false
	}
	name := ""
	if m := missingInTool.FindStringSubmatch(strings.ToLower(r.f.Param) + "\n" + r.text); m != nil && required.MatchString(r.text) {
		for field, form := range map[string]string{"type": ToolsTyped, "function": ToolsNested} {
			if m[1]+m[2] == field && slices.Contains(r.sent.ToolForms, form) && !r.call.Off(Schema, form) {
				return sessions.Lesson{Kind: Schema, Name: form}, true
			}
		}
	}
	switch {
	case wantsAll.MatchString(r.text):
		if l, ok := r.notStrict(); ok {
			return l, true
		}
		name = allRequired
	case wantsRequired.MatchString(r.text) || requiredPlace.MatchString(strings.ToLower(r.f.Param)) && required.MatchString(r.text):
		name = requiredList
	default:
		return sessions.Lesson{}, false
	}
	return sessions.Lesson{Kind: Schema, Name: name}, !r.call.Off(Schema, name)
}

// notStrict has each tool say that its schema is not for strict mode, where that was not said yet and is not refused.
func (r reading) notStrict() (sessions.Lesson, bool) {
	const off = "false"
	for _, p := range r.sent.Params {
		if p.Name == StrictTools && p.Value != off && slices.Contains(p.Next, off) && !r.call.refused(p, off) {
			return sessions.Lesson{Kind: Parameter, Name: p.Name, Value: p.Value, Use: off}, true
		}
	}
	return sessions.Lesson{}, false
}

// StrictTools is the parameter that says of each tool whether its schema is for strict mode.
const StrictTools = "tools.strict"
