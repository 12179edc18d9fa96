package lessons

import (
	"fmt"
	"strings"
	"testing"

	"parley/tools"
)

// TestToolsSize: as many of the first tools are sent as fit into the size that a refusal names, half of them where it names none that helps.
// source: dwgx/WindsurfAPI#70
func TestToolsSize(t *testing.T) {
	t.Parallel()
	specs := make([]tools.Spec, 16)
	var names []string
	for i := range specs { // about 1,000 bytes each
		specs[i] = tools.Spec{Name: fmt.Sprintf("tool_%02d", i), Description: strings.Repeat("d", 900), Schema: []byte(`{"type":"object"}`)}
		names = append(names, specs[i].Name)
	}
	for _, c := range []struct {
		status int
		text   string
		want   string // kind and use; "" = nothing is learned
	}{
		{413, `{"error":"tools definition size 16000 exceeds the limit of 8000 bytes"}`, "max-tools 7"},
		{400, `{"error":"Tool definitions are too large (16KB > 4KB)."}`, "max-tools 3"},
		{400, `{"error":"total size of tools exceeds 6000 bytes"}`, "max-tools 5"},
		{400, `{"error":"the tools are too large"}`, "max-tools 7"},
		{400, `{"error":"total size of 16 tools exceeds 8192 bytes"}`, "max-tools 7"},
		{400, `{"error":"total size of 16 tools (tool_00 to tool_15) is 16000 bytes, over the limit of 8000"}`, "max-tools 7"},
		{400, `{"error":"tools definition size 160000 exceeds the limit of 2000 bytes"}`, "max-tools 8"},
		{400, `{"error":"total size of tools exceeds 500 bytes"}`, "tools "},
		{400, `{"error":"the definition of tool 'tool_03' is too large: 990 bytes"}`, "tool "},
	} {
		call := NewBook(Config{}).Call(at, "")
		call.Offer(specs)
		if !call.Refused(t.Context(), refusal(c.status, c.text), Sent{Tools: names}) || len(call.changed.applied) == 0 {
			t.Errorf("%s: not changed", c.text)
			continue
		}
		if l := call.changed.applied[0]; l.Kind+" "+l.Use != c.want {
			t.Errorf("%s: learned %s %s, not %s", c.text, l.Kind, l.Use, c.want)
		}
	}
}
