package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// plainTool is a tool of a name and a description.
type plainTool struct{ spec Spec }

func (p plainTool) Spec() Spec { return p.spec }

func (p plainTool) Call(_ context.Context, c Call) (Result, error) {
	return Result{Text: p.spec.Name + string(c.Args)}, nil
}

func manyTools(n int) (out []Tool) {
	for i := range n {
		out = append(out, plainTool{Spec{Name: fmt.Sprintf("crm_tool%03d", i), Description: "Does something with contacts.", Schema: json.RawMessage(`{"type":"object","properties":{"id":{"type":"string"}}}`)}})
	}
	return out
}

// FitRequest leaves up to 128 tools as they are, and gives 128 where there are more; the descriptions of the two are their files.
func TestFitRequest(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]int{0: 0, 1: 1, 127: 127, 128: 128, 129: 128, 1000: 128} {
		got := FitRequest(manyTools(n), 0)
		if len(got) != want || ShownInRequest(n) > MaxInRequest {
			t.Errorf("%d tools are %d", n, len(got))
		}
		if n <= MaxInRequest {
			continue
		}
		for i, name := range ReservedNames {
			s := got[want-2+i].Spec()
			file, err := os.ReadFile(name + ".md")
			if s.Name != name || err != nil || string(file) != s.Description || !json.Valid(s.Schema) {
				t.Errorf("%s: %+v, %v", name, s, err)
			}
		}
	}
}

// A model that takes fewer tools is told of fewer, and finds the others as well.
// source: anomalyco/opencode#43374
func TestFitSmallRequest(t *testing.T) {
	t.Parallel()
	for most, want := range map[int]int{1: 1, 2: 2, 3: 3, 20: 20, 500: 128} {
		got := FitRequest(manyTools(200), most)
		if hasFind := got[len(got)-1].Spec().Name == "call_tool"; len(got) != want || hasFind != (most > 2) {
			t.Errorf("%d: %d tools, the last one %s", most, len(got), got[len(got)-1].Spec().Name)
		}
	}
	if got := FitRequest(manyTools(20), 20); len(got) != 20 || got[19].Spec().Name == "call_tool" {
		t.Errorf("%d tools", len(got))
	}
}

// The servers share the places of a request: the one tool of a small server is not behind find_tool because another one has 187.
func TestServersShareRequest(t *testing.T) {
	t.Parallel()
	of := func(server string, n int) (out []Tool) {
		for i := range n {
			out = append(out, plainTool{Spec{Name: fmt.Sprintf("%s_t%03d", server, i), Server: server}})
		}
		return out
	}
	all := slices.Concat(of("", 20), of("big", 187), of("mid", 40), of("small", 1))
	shown, others := Share(all, ShownInRequest(len(all)))
	count := map[string]int{}
	for _, x := range shown {
		count[x.Spec().Server]++
	}
	if fmt.Sprint(count) != "map[:20 big:65 mid:40 small:1]" || len(others) != 122 || others[0].Spec().Name != "big_t065" {
		t.Errorf("%v, %d others", count, len(others))
	}
	isSorted := func(a, b Tool) int { return strings.Compare(a.Spec().Name, b.Spec().Name) }
	if !slices.IsSortedFunc(shown[20:], isSorted) || !slices.IsSortedFunc(others, isSorted) {
		t.Error("the tools have another order")
	}
	if shown, others := Share(all, -3); len(shown) != 0 || len(others) != len(all) {
		t.Errorf("no place: %d shown", len(shown))
	}
}

// find_tool finds by name, by words of names, descriptions and arguments, the best first; what it gives has bounds.
func TestFindTool(t *testing.T) {
	t.Parallel()
	all := append(manyTools(600), plainTool{Spec{Name: "git_create_issue", Description: "Opens an issue in a repository.", Schema: json.RawMessage(`{"type":"object","properties":{"labels":{"type":"array","items":{}}}}`)}},
		plainTool{Spec{Name: "git_list_issues", Description: "Lists issues.", Schema: json.RawMessage(`{}`)}},
		plainTool{Spec{Name: "x_big", Description: "enormous " + strings.Repeat("é", 20_000), Schema: json.RawMessage(`{"type":"object","description":"` + strings.Repeat("x", 60<<10) + `"}`)}},
		plainTool{Spec{Name: "x_big2", Description: "enormous", Schema: json.RawMessage(`{"type":"object","description":"` + strings.Repeat("x", 60<<10) + `"}`)}})
	find := findTool{newCatalogue(all)}
	for query, want := range map[string]string{
		"git_create_issue":          "[git_create_issue git_list_issues]",
		"create ISSUE":              "[git_create_issue git_list_issues]",
		"please open an issue!":     "[git_create_issue git_list_issues]",
		"labels":                    "[git_create_issue]",
		"tool007":                   "[crm_tool007]",
		"issues":                    "[git_list_issues]",
		"nothing-has-these-letterz": "[]",
	} {
		w := newWorld()
		r := call[findToolResult](t, w, find, fmt.Sprintf(`{"query":%q}`, query))
		got := []string{}
		for _, x := range r.Tools {
			got = append(got, x.Name)
		}
		if query == "nothing-has-these-letterz" { // words that stand in the names of others do not count here
			got = slices.DeleteFunc(got, func(string) bool { return r.Note == "" })
		}
		if fmt.Sprint(got[:min(len(got), 2)]) != want {
			t.Errorf("%q: %v, want %s", query, got, want)
		}
	}
	w := newWorld()
	if r := call[findToolResult](t, w, find, `{}`); len(r.Names) != maxNames || r.Next != maxNames || r.Total != 604 {
		t.Errorf("all names: %d, next %d of %d", len(r.Names), r.Next, r.Total)
	}
	if r := call[findToolResult](t, w, find, `{"offset":400}`); len(r.Names) != 204 || r.Next != 0 {
		t.Errorf("the rest: %d, next %d", len(r.Names), r.Next)
	}
	r := call[findToolResult](t, w, find, `{"query":"contacts","limit":1000,"offset":20}`)
	if len(r.Tools) != maxFoundTools || r.Next != 40 || r.Total != 600 || r.Tools[0].Name != "crm_tool020" || string(r.Tools[0].Arguments) == "" {
		t.Errorf("many: %d, next %d of %d", len(r.Tools), r.Next, r.Total)
	}
	if r := call[findToolResult](t, w, find, `{"query":"enormous"}`); len(r.Tools) != 1 || len(r.Names) != 1 || len(r.Tools[0].Description) > 2*foundAbout+10 {
		t.Errorf("large ones: %d with schemas, %v", len(r.Tools), r.Names)
	}
	if r := call[problem](t, w, find, `{"query":5}`); r.Status != "error" {
		t.Errorf("wrong arguments: %+v", r)
	}
}

// call_tool reads what models write as a call, and refuses what is none.
func TestCallTool(t *testing.T) {
	t.Parallel()
	x := callTool{newCatalogue(manyTools(3))}
	for args, want := range map[string]string{
		`{"name":" crm_tool001 ","arguments":{"id":"7"}}`: `crm_tool001 {"id":"7"}`,
		`{"name":"crm_tool001"}`:                          `crm_tool001 `,
		`{"arguments":{}}`:                                "name is required",
		// source: NousResearch/hermes-agent#114484 (the call as JSON in a text)
		`{"name":"crm_tool001","arguments":"{\"id\":\"7\"}"}`: `crm_tool001 "{\"id\":\"7\"}"`,
		`{"tool_name":"crm_tool001","parameters":{"id":"7"}}`: `crm_tool001 {"id":"7"}`,
		`{"name":"crm_tool001","id":"7","path":"x"}`:          `crm_tool001 {"id":"7","path":"x"}`,
		`{"name":"crm_tool001","arguments":{},"id":"7"}`:      `crm_tool001 {"id":"7"}`,
		`{"name":"crm_tool001","arguments":null}`:             `crm_tool001 `,
		`{"name":7}`: "are not an object with name and arguments",
		`[]`:         "are not an object with name and arguments",
	} {
		name, inner, problem := x.Inner(json.RawMessage(args))
		got := name + " " + string(inner)
		if problem != nil {
			got = problem.Text
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", args, got, want)
		}
	}
	if _, ok := x.Find("crm_tool003"); ok {
		t.Error("it finds a tool that it has not")
	}
	r, err := x.Call(t.Context(), Call{Args: json.RawMessage(`{"name":"crm_tool002"}`)})
	if err != nil || r.Text != "crm_tool002{}" {
		t.Errorf("called by itself: %+v, %v", r, err)
	}
}

// What the schema library says of arguments is worded without its leads, with places as paths.
func TestSchemaProblem(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`validating root: required: missing properties: ["to"]`:                                                                                              `required: missing properties: ["to"]`,
		`validating root: validating /properties/a: type: 5 has type "integer", want "string"`:                                                               `a: type: 5 has type "integer", want "string"`,
		`validating root: validating /properties/a/items: validating /properties/a/items/properties/b~1c: minimum: 1 is less`:                                `a[].b/c: minimum: 1 is less`,
		"validating root: validating /properties/x: anyOf: did not validate against any of [<anonymous schema>]:\nvalidating /properties/x/anyOf/0: type: x": "x: anyOf: did not validate against any of […]:\nx: type: x",
		`validating root: validating /properties/task: type: <invalid reflect.Value> has type "null", want "string"`:                                         `task: type: null has type "null", want "string"`,
		`unexpected end of JSON input`: `unexpected end of JSON input`,
	} {
		if got := SchemaProblem(fmt.Errorf("%s", text)); got != want {
			t.Errorf("%s\nis %s\nwant %s", text, got, want)
		}
	}
}
