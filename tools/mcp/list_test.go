package mcp

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"

	"parley/tools"
)

// listed gives the specs that a server's list makes.
func listed(t *testing.T, list string, change ...func(*tools.MCPServer, *Deps)) (specs []tools.Spec, log string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		conf := tools.MCPServer{Command: "x", Enabled: true, TimeoutSeconds: 60}
		r := newRig(t, Settings{}, inMemory(listing(list)), func(d *Deps) {
			for _, f := range change {
				f(&conf, d)
			}
		})
		r.Apply(one(conf))
		for _, x := range r.Tools(t.Context(), false) {
			specs = append(specs, x.Spec())
		}
		log = r.log.String()
		r.stop()
	})
	return specs, log
}

func named(specs []tools.Spec) string {
	var out []string
	for _, s := range specs {
		out = append(out, s.Name)
	}
	return strings.Join(out, " ")
}

// Ten thousand tools, descriptions of a megabyte, odd names: what is offered to models has bounds, and says what it is.
func TestHugeList(t *testing.T) {
	t.Parallel()
	var many []string
	for i := range 10_000 {
		many = append(many, fmt.Sprintf(`{"name":"t%05d","inputSchema":{"type":"object"}}`, i))
	}
	specs, log := listed(t, "["+strings.Join(many, ",")+"]")
	if len(specs) != mostTools || !strings.Contains(log, "too many tools") || len(log) > 5000 {
		t.Errorf("%d tools, a log of %d bytes:\n%.1000s", len(specs), len(log), log)
	}
	specs, _ = listed(t, `[{"name":"t","description":"\u0000\u001b[31mred\u202e`+strings.Repeat("é", 500_000)+`","inputSchema":{"type":"object"}}]`)
	if d := specs[0].Description; len(d) > mostDescription || !strings.HasPrefix(d, "Tool of the MCP server x. [31mredé") || !strings.HasSuffix(d, "é…") {
		t.Errorf("a description of %d bytes: %.100q", len(d), d)
	}
}

// Names are what all providers take; where two of a server would be the same, a hash tells them apart, and no tool of the host is replaced.
func TestNames(t *testing.T) {
	t.Parallel()
	list := func(names ...string) string {
		var out []string
		for _, n := range names {
			b, _ := json.Marshal(n)
			out = append(out, `{"name":`+string(b)+`,"inputSchema":{"type":"object"}}`)
		}
		return "[" + strings.Join(out, ",") + "]"
	}
	taken := func(_ *tools.MCPServer, d *Deps) { d.Taken = []string{"x_host"} }
	specs, log := listed(t, list("a b", "a.b", "a_b", "", "ü", "host", "plain", strings.Repeat("long", 40), strings.Repeat("long", 41)), taken)
	if got := named(specs); !regexp.MustCompile(`^x__ x_a_b x_a_b_[0-9a-f]{8} x_a_b_[0-9a-f]{8} x_longlong\S+_[0-9a-f]{8} x_longlong\S+_[0-9a-f]{8} x_plain$`).MatchString(got) {
		t.Errorf("names: %s", got)
	}
	for _, want := range []string{"tool=host", "it has no name"} {
		if !strings.Contains(log, want) {
			t.Errorf("the log lacks %s:\n%s", want, log)
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		server, name := rapid.StringMatching(`[A-Za-z0-9_-]{1,32}`).Draw(rt, "server"), rapid.String().Draw(rt, "name")
		if got := toolName(server, name); !regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`).MatchString(got) || got != toolName(server, name) {
			rt.Fatalf("%q", got)
		}
	})
}

// A server cannot offer a tool under the name of another server, whether or not that one is there and lists it.
func TestNamesOfOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		conf := tools.MCPServer{Command: "x", Enabled: true, TimeoutSeconds: 60}
		list := func(s string) string {
			return `[{"name":"` + s + `","inputSchema":{"type":"object"}},{"name":"own","inputSchema":{"type":"object"}}]`
		}
		r := newRig(t, Settings{}, inMemory(listing(list("hub_create"))))
		r.Apply(Settings{Servers: map[string]tools.MCPServer{"git": conf, "git_hub": conf}, Open: true})
		if got := strings.Join(r.names(false), " "); got != "git_hub_hub_create git_hub_own git_own" {
			t.Errorf("tools: %s", got)
		}
		if !strings.Contains(r.log.String(), "duplicate name\" server=git tool=hub_create") {
			t.Errorf("the log: %s", r.log)
		}
		r.stop()
	})
}

// allow and deny of a server are about its own names; deny wins.
func TestAllowAndDeny(t *testing.T) {
	t.Parallel()
	list := `[{"name":"read","inputSchema":{"type":"object"}},{"name":"write","inputSchema":{"type":"object"}},{"name":"wipe","inputSchema":{"type":"object"}}]`
	specs, _ := listed(t, list, func(c *tools.MCPServer, _ *Deps) { c.Allow, c.Deny = []string{"w*"}, []string{"wipe"} })
	if got := named(specs); got != "x_write" {
		t.Errorf("tools: %s", got)
	}
}

// Schemas that no provider takes, that cannot be read, that are huge or lead elsewhere are left out; the tools beside them stay.
func TestSchemas(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat(`{"type":"object","properties":{"a":`, 400) + "{}" + strings.Repeat("}}", 400)
	for name, schema := range map[string]string{
		"no object":    `7`,
		"null":         `null`,
		"a list":       `[1]`,
		"another type": `{"type":"string"}`,
		"huge":         `{"type":"object","description":"` + strings.Repeat("x", mostSchema) + `"}`,
		"outside":      `{"type":"object","properties":{"a":{"$ref":"http://127.0.0.1/x"}}}`,
		"nowhere":      `{"type":"object","properties":{"a":{"$ref":"#/$defs/no"}}}`,
		"another base": `{"type":"object","properties":{"a":{"$id":"http://x/","$ref":"#"}}}`,
		"dynamic":      `{"type":"object","$dynamicAnchor":"x","properties":{"a":{"$dynamicRef":"#x"}}}`,
		"deep":         deep,
	} {
		specs, log := listed(t, `[{"name":"bad","inputSchema":`+schema+`},{"name":"good","inputSchema":{"type":"object"}}]`)
		if got := named(specs); got != "x_good" || !strings.Contains(log, "tool=bad") {
			t.Errorf("%s: %s\n%s", name, got, log)
		}
	}
}

// A schema is told in a form that all models take: no keyword that is unknown or of a wrong type, no reference that can be followed,
// arrays that say what they hold, one type in each place, arguments whose names are letters, digits, _, . and -.
func TestSchemaForms(t *testing.T) {
	t.Parallel()
	at := func(schema string) string { return `{"type":"object","properties":{"a":` + schema + `}}` }
	told := func(schema string) string { return `{"properties":{"a":` + schema + `},"type":"object"}` }
	long := strings.Repeat("a", 65)
	for name, c := range map[string][2]string{
		"none":      {`{}`, `{"properties":{},"type":"object"}`},
		"PHP":       {`[]`, `{"properties":{},"type":"object"}`},
		"top level": {`{"type":"object","oneOf":[{"required":["a"]}],"$schema":"http://json-schema.org/draft-07/schema#","$id":"x"}`, `{"properties":{},"type":"object"}`},
		// A reference that leads to itself is followed, and ends in a schema that is open. source: google-gemini/gemini-cli#14945, google/adk-python#3870
		"recursive": {`{"type":"object","properties":{"a":{"$ref":"#"}}}`, `{"properties":{"a":{"properties":{"a":{"type":"object"}},"type":"object"}},"type":"object"}`},
		"tree": {`{"type":"object","properties":{"n":{"$ref":"#/$defs/n"}},"$defs":{"n":{"type":"object","description":"node","properties":{"next":{"anyOf":[{"$ref":"#/$defs/n"},{"type":"null"}]}},"required":["next"]}}}`,
			`{"properties":{"n":{"description":"node","properties":{"next":{"anyOf":[{"description":"node","properties":{"next":{"anyOf":[{"description":"node","type":"object"},{"type":"null"}]}},"required":["next"],"type":"object"},{"type":"null"}]}},"required":["next"],"type":"object"}},"type":"object"}`},
		"itself":          {`{"type":"object","properties":{"a":{"$ref":"#/properties/a"}}}`, `{"properties":{"a":{}},"type":"object"}`},
		"itself by turns": {`{"type":"object","properties":{"a":{"allOf":[{"$ref":"#/$defs/b"}]}},"$defs":{"b":{"allOf":[{"$ref":"#/properties/a"}]}}}`, `{"properties":{"a":{}},"type":"object"}`},
		"referred": {`{"type":"object","properties":{"a":{"$ref":"#/definitions/x","description":"mine"},"b":{"allOf":[{"$ref":"#/definitions/x"}],"default":"u"}},"definitions":{"x":{"type":"string","enum":["u","v"],"description":"its own"}}}`,
			`{"properties":{"a":{"description":"mine","enum":["u","v"],"type":"string"},"b":{"default":"u","description":"its own","enum":["u","v"],"type":"string"}},"type":"object"}`},
		"top types":          {`{"type":["object","null"]}`, `{"properties":{},"type":"object"}`},
		"properties of PHP":  {`{"type":"object","properties":[]}`, `{"properties":{},"type":"object"}`},
		"wrong keyword":      {at(`{"type":7,"minLength":"x","description":5,"enum":[],"required":true}`), `{"properties":{"a":{}},"required":["a"],"type":"object"}`},
		"unknown keyword":    {at(`{"type":"string","x-order":1,"markdownDescription":"x","examples":["e"],"$comment":"c"}`), told(`{"examples":["e"],"type":"string"}`)},
		"pattern of JS":      {at(`{"type":"string","pattern":"^(?!x)"}`), told(`{"type":"string"}`)},
		"no items":           {at(`{"type":"array"}`), told(`{"items":{},"type":"array"}`)}, // source: hermes-agent#77617
		"no items, deep":     {at(`{"anyOf":[{"type":["array","null"]},{"type":"object","additionalProperties":{"type":"array"}}]}`), told(`{"anyOf":[{"anyOf":[{"items":{},"type":"array"},{"type":"null"}]},{"additionalProperties":{"items":{},"type":"array"},"type":"object"}]}`)},
		"a tuple":            {at(`{"type":"array","items":[{"type":"string"},{"type":"integer"}],"additionalItems":false}`), told(`{"items":{"anyOf":[{"type":"string"},{"type":"integer"}]},"type":"array"}`)},
		"types":              {at(`{"type":["string","integer","null"],"minLength":2,"minimum":3,"description":"d"}`), told(`{"anyOf":[{"minLength":2,"type":"string"},{"minimum":3,"type":"integer"},{"type":"null"}],"description":"d"}`)},
		"types and values":   {at(`{"type":["string","null"],"enum":["x"]}`), told(`{"enum":["x"],"type":"string"}`)},
		"nullable":           {at(`{"type":"string","nullable":true}`), told(`{"anyOf":[{"type":"string"},{"type":"null"}]}`)},
		"other names":        {at(`{"type":"int"}`), told(`{"type":"integer"}`)},
		"draft 4":            {at(`{"type":"number","minimum":1,"exclusiveMinimum":true}`), told(`{"exclusiveMinimum":1,"type":"number"}`)},
		"a constant":         {at(`{"const":"x"}`), told(`{"enum":["x"]}`)},
		"booleans":           {`{"type":"object","properties":{"a":true,"b":null}}`, `{"properties":{"a":{},"b":{}},"type":"object"}`},
		"required by nobody": {`{"type":"object","properties":{"a":{}},"required":["a","b","a",7]}`, `{"properties":{"a":{}},"required":["a"],"type":"object"}`},
		"names":              {`{"type":"object","properties":{"$filter":{},"a b":{},"ü":{}},"required":["$filter"]}`, `{"properties":{"_":{},"_filter":{},"a_b":{}},"required":["_filter"],"type":"object"}`},
		"a long name":        {at(`{}`)[:0] + `{"type":"object","properties":{"` + long + `":{}}}`, `{"properties":{"` + long[:55] + `_635361c4":{}},"type":"object"}`},
		"the same name":      {`{"type":"object","properties":{"$a":{},"_a":{},"@a":{}}}`, `{"properties":{"_a":{},"_a_5e75a6ff":{},"_a_7a0eec4b":{}},"type":"object"}`},
	} {
		specs, log := listed(t, `[{"name":"t","inputSchema":`+c[0]+`}]`)
		if len(specs) != 1 || string(specs[0].Schema) != c[1] {
			t.Errorf("%s: %s\nwant %s\n%s", name, specs[0].Schema, c[1], log)
		}
	}
}

// A schema that multiplies when its references are followed is told up to a bound.
func TestMultipliedSchema(t *testing.T) {
	t.Parallel()
	bomb := `{"type":"object","properties":{"a":{"$ref":"#/$defs/d0"}},"$defs":{"d40":{"type":"string"}`
	for i := range 40 {
		bomb += fmt.Sprintf(`,"d%d":{"anyOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]}`, i, i+1, i+1)
	}
	specs, log := listed(t, `[{"name":"t","inputSchema":`+bomb+`}}}]`)
	if len(specs) != 1 || len(specs[0].Schema) > mostSchema || strings.Contains(string(specs[0].Schema), "$ref") {
		t.Errorf("%s\n%s", named(specs), log)
	}
}

// A list without an end, and one that cannot be read, end.
func TestEndlessList(t *testing.T) {
	t.Parallel()
	specs, _ := listed(t, plainTool+`,"nextCursor":"again"`)
	if got := named(specs); got != "x_t" {
		t.Errorf("endless: %s", got)
	}
	for _, list := range []string{`[null]`, `7`, `[{"name":5}]`, `{}`, `[[[[[[]]]]]]`, strings.Repeat("[", 100_000)} {
		if specs, _ := listed(t, list); len(specs) != 0 {
			t.Errorf("%.30s: %s", list, named(specs))
		}
	}
}
