package convert

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"parley/channels/pattern"
	"parley/gateway/openclaw/ids"
	"parley/gateway/openclaw/jsontree"
	"parley/gateway/openclaw/report"
	"parley/gateway/openclaw/toolrights"
	"parley/sessions"
)

// raw is one agent as OpenClaw has it.
type raw struct {
	id, what string
	fields   map[string]any
}

// listed gives the agents of both ways to write them: a list, and entries by id.
func listed(agents map[string]any) (out []raw) {
	for i, a := range jsontree.List(agents["list"]) {
		r := raw{jsontree.Text(jsontree.Object(a)["id"]), "", jsontree.Object(a)}
		r.what = "agents.list." + r.id
		if r.id == "" {
			r.what = fmt.Sprintf("agents.list[%d]", i)
		}
		out = append(out, r)
	}
	entries := jsontree.Object(agents["entries"])
	for _, id := range slices.Sorted(maps.Keys(entries)) {
		out = append(out, raw{id, "agents.entries." + id, jsontree.Object(entries[id])})
	}
	return out
}

// agentConverter converts the section agents.
type agentConverter struct {
	*output
	models       *modelConverter
	tools        map[string]any // the section tools, whose profile holds for agents without one
	ownProfiles  bool           // an agent has a profile of tools
	hasWorkspace bool           // an agent or the defaults name one
}

// convert converts the section.
func (c *agentConverter) convert(v map[string]any) {
	c.ownProfiles = haveProfiles(v)
	rest := maps.Clone(v)
	delete(rest, "list")
	delete(rest, "entries")
	var out []any
	all := ownAgents(c.Report, listed(v))
	root := jsontree.Text(jsontree.Object(v["defaults"])["workspace"])
	if len(all) == 0 && root != "" {
		all = []raw{{"main", "agents.defaults", nil}}
	}
	first := max(slices.IndexFunc(all, func(r raw) bool { return r.fields["default"] == true }), 0)
	for i, r := range all {
		e := map[string]any{"id": string(ids.Agent(r.id))}
		for _, k := range slices.Sorted(maps.Keys(r.fields)) {
			switch k {
			case "id", "workspace", "sandbox", "tools", "runtime":
			case "model":
				c.models.model(r.what+".model", r.fields[k], e, true)
			case "subagents":
				for _, sub := range slices.Sorted(maps.Keys(jsontree.Object(r.fields[k]))) {
					if sub != "allowAgents" {
						c.walk(inAgent, []string{k, sub}, jsontree.Object(r.fields[k])[sub], e, r.what+".")
					}
				}
			default:
				c.walk(inAgent, []string{k}, r.fields[k], e, r.what+".")
			}
		}
		c.spawns(r, jsontree.Object(v["defaults"]), e)
		c.agentTools(r, e)
		if dir := jsontree.Text(r.fields["workspace"]); dir != "" {
			c.workspace(r.what+".workspace", dir, e)
		} else if root != "" {
			c.ownWorkspace(r, root, i == first, e)
		}
		c.Carry(r.what, "")
		out = append(out, e)
	}
	if out != nil {
		c.put([]string{"agents", "list"}, out)
	}
	mode, visibility := strictestSandbox(c.Report, v)
	if mode != "" {
		c.put([]string{"agents", "defaults", "sandbox", "mode"}, mode)
		c.Differ("agents.defaults.sandbox.mode", "in parley it decides only which session tools exist; parley runs no commands in containers")
	}
	if visibility != "" {
		c.put([]string{"agents", "defaults", "sandbox", "sessionToolsVisibility"}, visibility)
	}
	for _, k := range slices.Sorted(maps.Keys(rest)) {
		c.defaults([]string{"agents", k}, rest[k])
	}
}

// ownAgents leaves out what is no agent of parley's: those that run in another program, and those whose id another one has.
func ownAgents(r *report.Report, all []raw) (out []raw) {
	taken := map[sessions.AgentID]bool{}
	for _, a := range all {
		switch id := ids.Agent(a.id); {
		case isACP(a):
			r.Leave(a.what, "it runs in another program over ACP, which parley does not support. Connect its tools as MCP servers (docs/mcp.md)")
		case taken[id]:
			r.Need(a.what, "another agent has the same id in parley: choose another id, and add the agent to the new configuration")
		default:
			taken[id] = true
			out = append(out, a)
		}
	}
	return out
}

// kept returns the agents that parley has, without a line in the report. What other programs run decides nothing for them.
func kept(agents map[string]any) []raw { return ownAgents(&report.Report{}, listed(agents)) }

// spawns carries over which agents an agent may spawn, its own list or that of all agents.
func (c *agentConverter) spawns(r raw, defaults, out map[string]any) {
	v, what := jsontree.Object(r.fields["subagents"])["allowAgents"], r.what+".subagents.allowAgents"
	if v == nil {
		v, what = jsontree.Object(defaults["subagents"])["allowAgents"], "agents.defaults.subagents.allowAgents"
	}
	allow, ok := jsontree.Texts(v)
	if !ok {
		c.Need(what, "the list cannot be read, so the agent spawns only itself: write it again")
		return
	}
	var spawned []string
	for _, a := range allow {
		if a != everybody {
			a = string(ids.Agent(a))
		}
		spawned = append(spawned, a)
	}
	if len(spawned) > 0 {
		jsontree.Put(out, []string{"subagents", "allowAgents"}, anys(spawned))
		c.Carry(what, "")
	}
}

// haveProfiles reports whether an agent of parley's has a profile of tools. Then each agent's entry has its own or the host's.
func haveProfiles(agents map[string]any) bool {
	return slices.ContainsFunc(kept(agents), func(r raw) bool { return jsontree.Object(r.fields["tools"])["profile"] != nil })
}

// agentTools writes the tools of one agent, with the host's profile where the agent has none and others have.
func (c *agentConverter) agentTools(r raw, out map[string]any) {
	m := jsontree.Object(r.fields["tools"])
	profile := m["profile"]
	if profile == nil && c.ownProfiles {
		profile = c.tools["profile"]
		if also := mustTexts(c.tools["alsoAllow"]); profile != nil && len(also) > 0 {
			m = maps.Clone(m)
			if m == nil {
				m = map[string]any{}
			}
			m["alsoAllow"] = anys(append(mustTexts(m["alsoAllow"]), also...))
		}
	}
	if r.fields["tools"] != nil && jsontree.Object(r.fields["tools"]) == nil {
		c.Need(r.what+".tools", "the value cannot be read, so the agent has no tools: write it again")
		out["tools"] = writeRights(toolrights.Nothing())
		return
	}
	if got := toolrights.Combine(toolPolicies(c.Report, r.what+".tools", m, profile)); !got.IsEmpty() {
		out["tools"] = writeRights(got)
		c.Carry(r.what+".tools", "")
	}
	for _, k := range slices.Sorted(maps.Keys(jsontree.Object(r.fields["tools"]))) {
		if !slices.Contains([]string{"allow", "alsoAllow", "deny", "profile", "byProvider", "toolsBySender", "sandbox"}, k) {
			c.Leave(r.what+".tools."+k, "parley has no equivalent for an agent")
		}
	}
}

// The modes of a sandbox and what its sessions see, the stricter one last.
var (
	sandboxModes = []string{"off", "non-main", "all"}
	sandboxSees  = []string{"all", "spawned"}
)

// strictestSandbox returns the strictest sandbox of all agents: parley has one setting for all. "" = none is set.
func strictestSandbox(r *report.Report, agents map[string]any) (mode, visibility string) {
	def := jsontree.Object(jsontree.Object(agents["defaults"])["sandbox"])
	all := kept(agents)
	strictest := func(key string, order []string, none string) string {
		at, differ, set := -1, false, def[key] != nil
		look := func(v any) {
			i := slices.Index(order, jsontree.Text(v))
			if i < 0 {
				i = len(order) - 1 // what cannot be read is strict
			}
			differ = differ || at >= 0 && i != at
			at = max(at, i)
		}
		for _, a := range all {
			own := jsontree.Object(a.fields["sandbox"])[key]
			set = set || own != nil
			switch {
			case own != nil:
				look(own)
			case def[key] != nil:
				look(def[key])
			default:
				look(none)
			}
		}
		if len(all) == 0 && def[key] != nil {
			look(def[key])
		}
		if !set {
			return ""
		}
		if differ {
			r.Need("agents.*.sandbox."+key, fmt.Sprintf("parley has one sandbox for all agents, so the strictest holds: %s. Set agents.defaults.sandbox.%s to the value that you want for all", order[at], key))
		}
		return order[at]
	}
	return strictest("mode", sandboxModes, "off"), strictest("sessionToolsVisibility", sandboxSees, "spawned")
}

// ownWorkspace finds the folder of an agent that has no entry for it: the default one has that of agents.defaults, others one beside
// it or in it.
func (c *agentConverter) ownWorkspace(r raw, root string, isDefault bool, out map[string]any) {
	if isDefault {
		c.workspace("agents.defaults.workspace", root, out)
		return
	}
	for _, dir := range []string{root + "-" + string(ids.Agent(r.id)), filepath.Join(root, string(ids.Agent(r.id)))} {
		if c.isFolder(dir) {
			c.workspace(r.what+".workspace", dir, out)
			return
		}
	}
	c.Leave(r.what+".workspace", "its folder was not found: set agents.list[].workspace, or use the folder in parley's state folder")
}

func (c *agentConverter) workspace(what, dir string, out map[string]any) {
	out["workspace"] = dir // ${NAME} and $${ are parley's already
	switch {
	case variableAtStart.MatchString(dir): // finish or the source asks for its value
		c.Carry(what, "")
	case !filepath.IsAbs(dir) && !strings.HasPrefix(dir, "~") && !drive.MatchString(dir):
		c.Differ(what, "parley resolves the path from the folder of the configuration file")
	case !c.isFolder(dir):
		c.Differ(what, "the folder does not exist on this machine, and parley creates it empty: copy the agent's files there, or set another path")
	default:
		c.Carry(what, "")
	}
	c.hasWorkspace = true
}

// drive matches the beginning of an absolute path of Windows.
var drive = pattern.New(`^[A-Za-z]:[\\/]`)

// variableAtStart matches a path whose beginning is known only where the configuration is used.
var variableAtStart = pattern.New(`^\$\{[A-Za-z_]`)

func (c *agentConverter) isFolder(dir string) bool {
	if rest, ok := strings.CutPrefix(dir, "~"); ok {
		dir = filepath.Join(c.getenv("HOME"), rest)
	}
	info, err := os.Stat(dir)
	return err == nil && info.IsDir()
}

// defaults converts what is beside the list of agents: agents.defaults above all.
func (c *agentConverter) defaults(place []string, v any) {
	m, isObject := v.(map[string]any)
	if what := strings.Join(place, "."); !isObject || what != "agents.defaults" && what != "agents.defaults.subagents" {
		c.walkTop(place, v)
		return
	}
	for _, k := range slices.Sorted(maps.Keys(m)) {
		if at := append(slices.Clone(place), k); !c.compound(strings.Join(at, "."), m[k]) {
			c.defaults(at, m[k])
		}
	}
}

// compound carries over those of agents.defaults that are more than a value at another place; false for all others.
func (c *agentConverter) compound(what string, v any) bool {
	out := map[string]any{}
	to := []string{"agents", "defaults"}
	switch what {
	case "agents.defaults.model":
		c.models.model(what, v, out, true)
	case "agents.defaults.subagents.model":
		c.models.model(what, v, out, false)
		to = append(to, "subagents")
	case "agents.defaults.compaction":
		for _, k := range slices.Sorted(maps.Keys(jsontree.Object(v))) {
			if k != "model" {
				c.Leave(what+"."+k, "parley compacts a session when its context window is nearly full (agents.defaults.compaction.at)")
			}
		}
		c.models.model(what+".model", jsontree.Object(v)["model"], out, false)
		to = append(to, "compaction")
	case "agents.defaults.models":
		c.Differ(what, "parley needs no list of models; aliases were replaced by full names")
	case "agents.defaults.workspace", "agents.defaults.subagents.allowAgents": // the agents have it
	case "agents.defaults.sandbox":
		for _, k := range slices.Sorted(maps.Keys(jsontree.Object(v))) {
			if k != "mode" && k != "sessionToolsVisibility" {
				c.Leave(what+"."+k, "parley runs no commands in containers; it confines MCP servers (docs/mcp.md)")
			}
		}
	default:
		return false
	}
	for k, x := range out {
		c.put(append(slices.Clone(to), k), x)
	}
	return true
}
