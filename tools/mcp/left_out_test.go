package mcp

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/tools"
)

// One tool that cannot be used costs that tool: the others stay, and the status, the log and people are told its name and why.
func TestLeftOutIsTold(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ tool, left, reason string }{
		"schema":      {`{"name":"bad","inputSchema":{"type":"string"}}`, "bad", "its arguments are not an object"},
		"reference":   {`{"name":"bad","inputSchema":{"type":"object","properties":{"a":{"$ref":"#/$defs/no"}}}}`, "bad", "which is not in it"},
		"no name":     {`{"inputSchema":{"type":"object"}}`, "(no name)", "it has no name"},
		"odd name":    {`{"name":7,"inputSchema":{"type":"object"}}`, "(no name)", "it has no name"},
		"no tool":     {`"words"`, "(no name)", "it has no name"},
		"a task only": {`{"name":"slow","inputSchema":{"type":"object"},"execution":{"taskSupport":"required"}}`, "slow", "taskSupport: required"}, // source: MCP 2025-11-25, tasks
		"reserved":    {`{"name":"host","inputSchema":{"type":"object"}}`, "host", "its name x_host is taken"},
	} {
		synctest.Test(t, func(t *testing.T) {
			list := `[{"name":"good","inputSchema":{"type":"object"},"title":7,"icons":{},"annotations":"x","outputSchema":5,"execution":{"taskSupport":"optional"}},` + c.tool + `]`
			r := newRig(t, one(tools.MCPServer{Command: "x", Enabled: true, TimeoutSeconds: 60}), inMemory(listing(list)), func(d *Deps) { d.Taken = []string{"x_host"} })
			if got := r.names(false); !slices.Contains(got, "x_good") {
				t.Errorf("%s: the tools: %v, %v\n%s", name, got, r.Status(), r.log.String())
			}
			s := r.Status()[0]
			if len(s.LeftOut) != 1 || s.LeftOut[0].Tool != c.left || !strings.Contains(s.LeftOut[0].Reason, c.reason) {
				t.Errorf("%s: %+v", name, s.LeftOut)
			}
			if notes := s.Notes(); len(notes) != 1 || !strings.Contains(notes[0], "MCP server x: the tool "+c.left+" is left out: ") {
				t.Errorf("%s: notes %q", name, notes)
			}
			if !strings.Contains(r.log.String(), "skipped a") {
				t.Errorf("%s: the log: %s", name, r.log)
			}
			r.stop()
		})
	}
}

// A server that sends nothing but tools that cannot be used fills neither status nor log.
func TestManyLeftOut(t *testing.T) {
	t.Parallel()
	var all []string
	for i := range 3000 {
		all = append(all, fmt.Sprintf(`{"name":"bad%d","inputSchema":7}`, i))
	}
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, one(tools.MCPServer{Command: "x", Enabled: true, TimeoutSeconds: 60}), inMemory(listing("["+strings.Join(all, ",")+"]")))
		r.names(false)
		left := r.Status()[0].LeftOut
		if len(left) != maxLeftOut+1 || left[maxLeftOut].Tool != "(2980 more)" || len(r.log.String()) > 20_000 {
			t.Errorf("%d are told, the last one %+v; a log of %d bytes", len(left), left[len(left)-1], len(r.log.String()))
		}
		r.stop()
	})
}

// A call gives the server its own names of arguments, whatever models are told.
func TestArgumentsKeepTheirNames(t *testing.T) {
	t.Parallel()
	list := `[{"name":"query","inputSchema":{"type":"object","properties":{"$filter":{"type":"string"},"_filter":{"type":"string"},"top":{"type":"integer"}}}}]`
	in(t, func(p *peer, id json.RawMessage, m string, params json.RawMessage) (string, bool) {
		if m == "tools/call" {
			var c struct{ Arguments map[string]any }
			_ = json.Unmarshal(params, &c)
			return fmt.Sprintf(`{"content":[{"type":"text","text":%q}]}`, fmt.Sprint(c.Arguments)), true
		}
		return listing(list)(p, id, m, params)
	}, func(t *testing.T, r *rig) {
		var schema struct{ Properties map[string]any }
		_ = json.Unmarshal(r.Tools(t.Context(), false)[0].Spec().Schema, &schema)
		var told string
		for name := range schema.Properties {
			if name != "top" && name != "_filter" {
				told = name
			}
		}
		if got := r.call("x_query", fmt.Sprintf(`{%q:"a eq 1","_filter":"other","top":5}`, told)); got.Text != "map[$filter:a eq 1 _filter:other top:5]" {
			t.Errorf("told as %s: %s", told, got.Text)
		}
	})
}

// How long a start may take is configured; a server that is too slow says what to change.
func TestStartSeconds(t *testing.T) {
	t.Parallel()
	for seconds, within := range map[int]time.Duration{0: time.Minute, 5: 5 * time.Second, 300: 5 * time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, one(tools.MCPServer{Command: "x", Enabled: true, TimeoutSeconds: 60, StartSeconds: seconds}), inMemory(silent("tools/list")))
			began := time.Now()
			for r.Status()[0].State == Starting {
				time.Sleep(time.Second)
			}
			s := r.Status()[0]
			if took := time.Since(began); took < within || took > within+3*time.Second {
				t.Errorf("given up after %s, not %s", took, within)
			}
			if want := fmt.Sprintf("it did not start within %s", within); !strings.Contains(s.Detail, want) || !strings.Contains(s.Detail, "tools.mcp.servers.x.startSeconds") {
				t.Errorf("why: %s", s.Detail)
			}
			r.stop()
		})
	}
	// source: artokun/comfyui-mcp#1447, PraisonAI#5099: a first start that downloads takes more than a minute
	slow := func(p *peer, id json.RawMessage, m string, params json.RawMessage) (string, bool) {
		if m == "initialize" {
			time.Sleep(90 * time.Second) // virtual
		}
		return listing(plainTool)(p, id, m, params)
	}
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, one(tools.MCPServer{Command: "x", Enabled: true, TimeoutSeconds: 60, StartSeconds: 120}), inMemory(slow))
		time.Sleep(100 * time.Second)
		if s := r.Status()[0]; s.State != Running || s.Restarts != 0 {
			t.Errorf("a start of 90 s: %+v", s)
		}
		r.stop()
	})
}

// Where all servers have more tools than a request holds, they share its places, and the status and the log say of each how many are behind
// find_tool, once. source: digitalocean-labs/mcp-digitalocean#265
func TestHiddenTools(t *testing.T) {
	t.Parallel()
	many := func(n int) string {
		var out []string
		for i := range n {
			out = append(out, fmt.Sprintf(`{"name":"t%03d","inputSchema":{"type":"object"}}`, i))
		}
		return "[" + strings.Join(out, ",") + "]"
	}
	synctest.Test(t, func(t *testing.T) {
		conf := tools.MCPServer{Command: "x", Enabled: true, TimeoutSeconds: 60}
		r := newRig(t, Settings{Servers: map[string]tools.MCPServer{"a": conf, "b": conf}, Open: true}, inMemory(listing(many(80))), func(d *Deps) { d.Taken = []string{"own1", "own2"} })
		r.names(false)
		synctest.Wait()
		got := r.Status()
		if got[0].Hidden != 18 || got[1].Hidden != 18 || got[1].Tools != 80 { // (126 - 2) / 2 of each are shown
			t.Errorf("%+v", got)
		}
		if notes := got[1].Notes(); len(notes) != 1 || !strings.Contains(notes[0], "agents find 18 of its 80 tools with find_tool") {
			t.Errorf("%q", notes)
		}
		r.rebuild()
		if n := strings.Count(r.log.String(), "too many tools for one model request"); n != 1 || !strings.Contains(r.log.String(), `hidden="a 18 of 80, b 18 of 80"`) {
			t.Errorf("logged %d times:\n%s", n, r.log)
		}
		r.stop()
	})
}
