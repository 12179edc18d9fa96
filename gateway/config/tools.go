package config

import (
	"fmt"

	"parley/policy"
	"parley/tools"
	"parley/tools/mcp"
)

// tools reports entries of lists of tools that name none. What MCP servers have is not known before they run; their names begin with
// the server's.
func (k *checker) tools() {
	var servers []string
	for _, name := range sortedKeys(k.config.Tools.MCP.Servers) {
		servers = append(servers, name+"_")
	}
	look := func(path string, r policy.Rights) { k.adopt("", r.CheckTools(path, servers), nil) }
	t := k.config.Tools
	if t.Files.Others == tools.OthersAll {
		k.adopt("", []policy.Problem{{Path: "tools.files.others", Warning: true,
			Message: "all people who may write can have the agent read, change and send every file of its workspace; own gives each session its own folder"}}, nil)
	}
	look("tools", policy.Rights{Allow: t.Allow, Deny: t.Deny})
	for _, kind := range sortedKeys(t.ByChatType) {
		look("tools.byChatType."+string(kind), t.ByChatType[kind])
	}
	for _, who := range sortedKeys(t.BySender) {
		look("tools.bySender."+string(who), t.BySender[who])
	}
	look("tools.sandbox.tools", t.Sandbox.Tools)
	look("tools.subagents.tools", t.Subagents.Tools)
	for i, e := range k.config.Agents.List {
		look(fmt.Sprintf("agents.list[%d].tools", i), e.Tools)
	}
	for _, a := range k.decoder.accounts {
		for _, id := range sortedKeys(a.Access.Groups) {
			k.groupTools(a.path+".groups."+id, a.Access.Groups[id], look)
		}
	}
}

func (k *checker) groupTools(path string, g policy.GroupAccess, look func(string, policy.Rights)) {
	look(path+".tools", g.Tools)
	for _, who := range sortedKeys(g.ToolsBySender) {
		look(path+".toolsBySender."+who, g.ToolsBySender[who])
	}
	for _, id := range sortedKeys(g.Topics) {
		k.groupTools(path+".topics."+id, g.Topics[id], look)
	}
}

// toolSwitches checks that byChatType and bySender name what there is.
func (k *checker) toolSwitches() {
	for _, kind := range sortedKeys(k.config.Tools.ByChatType) {
		if kind != "direct" && kind != "group" && kind != "channel" {
			k.wrong("tools.byChatType."+string(kind), "is not a chat type", "use direct, group or channel")
		}
	}
	for _, who := range sortedKeys(k.config.Tools.BySender) {
		if who != "owner" && who != "other" {
			k.wrong("tools.bySender."+string(who), "is not a kind of sender", "use owner or other; for single people use toolsBySender of a group")
		}
	}
}

// MCPSettings returns what the MCP servers obey of the configuration.
func (c *Config) MCPSettings() mcp.Settings {
	mode := c.Agents.Defaults.Sandbox.Mode
	return mcp.Settings{Servers: c.Tools.MCP.Servers, Open: mode != "all", Sandbox: mode == "all" || mode == "non-main"}
}
