package openclaw

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// raw is one agent as OpenClaw has it.
type raw struct {
	id, what string
	fields   map[string]any
}

// listed gives the agents of both ways to write them: a list, and entries by id.
func listed(agents map[string]any) (out []raw) {
	list, _ := agents["list"].([]any)
	for i, a := range list {
		r := raw{text(object(a)["id"]), "", object(a)}
		r.what = "agents.list." + r.id
		if r.id == "" {
			r.what = fmt.Sprintf("agents.list[%d]", i)
		}
		out = append(out, r)
	}
	entries := object(agents["entries"])
	for _, id := range slices.Sorted(maps.Keys(entries)) {
		out = append(out, raw{id, "agents.entries." + id, object(entries[id])})
	}
	return out
}

func (c *conversion) agents(v map[string]any) {
	var out []any
	all := listed(v)
	root := text(object(v["defaults"])["workspace"])
	if len(all) == 0 && root != "" {
		all = []raw{{"main", "agents.defaults", nil}}
	}
	first := max(slices.IndexFunc(all, func(r raw) bool { return r.fields["default"] == true }), 0)
	for i, r := range all {
		e := &conversion{reader: c.reader, out: map[string]any{"id": string(agentID(r.id))}, models: c.models, getenv: c.getenv}
		for _, k := range slices.Sorted(maps.Keys(r.fields)) {
			switch k {
			case "id", "workspace":
			case "model":
				c.model(r.what+".model", r.fields[k], e.out, true)
			default:
				e.walk(inAgent, []string{k}, r.fields[k], nil, r.what+".")
			}
		}
		if dir := text(r.fields["workspace"]); dir != "" {
			c.workspace(r.what+".workspace", dir, e.out)
		} else if root != "" {
			c.ownWorkspace(r, root, i == first, e.out)
		}
		c.Report.Carry(r.what, "")
		out = append(out, e.out)
	}
	if out != nil {
		put(c.out, []string{"agents", "list"}, out)
	}
}

// ownWorkspace finds the folder of an agent that has no entry for it: the default one has that of agents.defaults, others one beside
// it or in it.
func (c *conversion) ownWorkspace(r raw, root string, isDefault bool, out map[string]any) {
	if isDefault {
		c.workspace("agents.defaults.workspace", root, out)
		return
	}
	for _, dir := range []string{root + "-" + string(agentID(r.id)), filepath.Join(root, string(agentID(r.id)))} {
		if c.isFolder(dir) {
			c.workspace(r.what+".workspace", dir, out)
			return
		}
	}
	c.Report.Leave(r.what+".workspace", "no folder of it was found: name one with agents.list[].workspace, or use the one in the state folder")
}

func (c *conversion) workspace(what, dir string, out map[string]any) {
	out["workspace"] = dir // ${NAME} and $${ are parley's already
	switch {
	case !filepath.IsAbs(dir) && !strings.HasPrefix(dir, "~"):
		c.Report.Differ(what, "it is relative to the configuration file now")
	case !c.isFolder(dir):
		c.Report.Differ(what, "there is no such folder on this machine: bring its files there, or name another one")
	default:
		c.Report.Carry(what, "")
	}
	c.hasWorkspace = true
}

func (c *conversion) isFolder(dir string) bool {
	if rest, ok := strings.CutPrefix(dir, "~"); ok {
		dir = filepath.Join(c.getenv("HOME"), rest)
	}
	info, err := os.Stat(dir)
	return err == nil && info.IsDir()
}

// defaults carries over those of agents.defaults that are more than a value at another place; false for all others.
func (c *conversion) defaults(what string, v any) bool {
	out := map[string]any{}
	to := []string{"agents", "defaults"}
	switch what {
	case "agents.defaults.model":
		c.model(what, v, out, true)
	case "agents.defaults.subagents.model":
		c.model(what, v, out, false)
		to = append(to, "subagents")
	case "agents.defaults.models":
		c.Report.Differ(what, "every model of a provider can be named; the short names were put in full")
	case "agents.defaults.workspace": // the agents have it
	default:
		return false
	}
	for k, x := range out {
		put(c.out, append(slices.Clone(to), k), x)
	}
	return true
}
