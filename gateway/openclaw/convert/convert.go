package convert

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"parley/channels"
	"parley/gateway/config"
	"parley/gateway/openclaw/ids"
	"parley/gateway/openclaw/jsontree"
	"parley/gateway/openclaw/report"
)

// Person is somebody whom an account lets write directly.
type Person struct {
	Channel channels.Kind
	Account channels.AccountID
	ID      channels.UserID
}

// Input is what a conversion reads.
type Input struct {
	Top    map[string]any // the effective configuration; variables stand in the places of secrets
	Table  config.Table
	Getenv func(string) string
	Paired []Person // whom OpenClaw let in by pairing, whatever the policy of the account is now
	Report *report.Report
}

// Result is what a conversion makes.
type Result struct {
	Config       []byte
	Needs        []string          // variables that it takes from the environment and that nothing sets
	Unset        map[string]string // Needs, each with a made-up value that the configuration takes
	Paired       []Person          // whom parley should keep as paired
	MainKey      string            // session.mainKey
	Global       bool              // session.scope is global
	HasWorkspace bool              // the configuration names a workspace
}

// Configuration converts a configuration. It never fails: what parley would refuse is closed or left out, and reported.
func Configuration(in Input) Result {
	top := in.Top
	o := &output{Report: in.Report, ids: ids.Adapters{Table: in.Table}, getenv: in.Getenv, config: map[string]any{}}
	models := newModelConverter(o, top)
	agents := agentConverter{output: o, models: models, tools: jsontree.Object(top["tools"])}
	agents.convert(jsontree.Object(top["agents"]))
	toolConverter{o, jsontree.Object(top["agents"])}.convert(jsontree.Object(top["tools"]))
	all := o.channels(jsontree.Object(top["channels"]), jsontree.Object(top["accessGroups"]))
	bindingConverter{o, jsontree.Object(top["agents"]), all}.convert(top["bindings"])
	session := sessionConverter{output: o, mainKey: "main"}
	session.convert(jsontree.Object(top["session"]), jsontree.List(top["bindings"]))
	for _, k := range slices.Sorted(maps.Keys(top)) {
		switch k {
		case "channels", "bindings", "agents", "tools", "models", "meta", "wizard", "$schema", "accessGroups", "mcp", "session", "commands", "hooks":
		default:
			o.walkTop([]string{k}, top[k])
		}
	}
	o.servers(jsontree.Object(top["mcp"]))
	o.hooks(jsontree.Object(top["hooks"]))
	o.commands(jsontree.Object(top["commands"]), all)
	models.providers(top["models"])
	o.reportDefaults(all)
	models.closeWithoutModel(all)
	r := Result{MainKey: session.mainKey, Global: session.global, HasWorkspace: agents.hasWorkspace}
	f := finisher{o, in.Table, all}
	var ok bool
	if r.Config, r.Unset, ok = f.finish(); !ok {
		all = nil
	}
	r.Needs = slices.Sorted(maps.Keys(r.Unset))
	owners := ownerConverter{o, all, in.Paired}
	r.Paired = owners.keepPaired()
	r.Config = append(r.Config, owners.section(jsontree.Object(top["commands"]), r.Paired)...)
	return r
}

// otherDefaults are keys that both programs have and whose defaults differ. Those about rights are stricter in parley, so nothing opens.
var otherDefaults = []struct{ key, ours, theirs string }{
	{"tools.sessions.visibility", "tree", "all"}, {"tools.agentToAgent.enabled", "false", "true"}, {"agents.defaults.subagents.maxSpawnDepth", "1", "5"},
	{"messages.queue.mode", "collect", "steer"}, {"messages.queue.debounceMs", "1000", "500"}, {"agents.defaults.timeoutSeconds", "600", "172800"},
}

// reportDefaults reports the keys that the configuration leaves to a default that differs.
func (o *output) reportDefaults(all accounts) {
	var out []string
	for _, d := range otherDefaults {
		if jsontree.At(o.config, strings.Split(d.key, ".")) == nil {
			out = append(out, fmt.Sprintf("%s is %s (it was %s)", d.key, d.ours, d.theirs))
		}
	}
	if len(out) > 0 && len(all) > 0 {
		o.Differ("defaults", strings.Join(out, "; "))
	}
}
