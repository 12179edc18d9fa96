package openclaw

import "strings"

// rule says where a key goes. Places are dotted; * stands for any name, and for the same one in to.
type rule struct {
	from, to string
	why      string // it is carried over differently
}

// account are the keys that a channel and each of its accounts have in common.
var account = []rule{
	{"enabled", "enabled", ""}, {"dmPolicy", "dmPolicy", ""}, {"groupPolicy", "groupPolicy", ""}, {"textChunkLimit", "textChunkLimit", ""},
	{"groups.*.enabled", "groups.*.enabled", ""}, {"groups.*.requireMention", "groups.*.requireMention", ""}, {"groups.*.systemPrompt", "groups.*.systemPrompt", ""},
	{"groups.*.allowFrom", "groups.*.allowFrom", ""}, {"groups.*.topics.*.enabled", "groups.*.topics.*.enabled", ""},
	{"groups.*.topics.*.requireMention", "groups.*.topics.*.requireMention", ""}, {"groups.*.topics.*.systemPrompt", "groups.*.topics.*.systemPrompt", ""},
	{"groups.*.topics.*.allowFrom", "groups.*.topics.*.allowFrom", ""}, {"allowFrom", "allowFrom", ""}, {"groupAllowFrom", "groupAllowFrom", ""},
}

// own are the keys of single channels.
var own = map[string][]rule{
	"telegram": {{"botToken", "token", ""}, {"apiRoot", "apiUrl", ""}},
	"discord": {
		{"token", "token", ""}, {"allowBots", "allowBots", ""}, {"dm.policy", "dmPolicy", ""}, {"dm.allowFrom", "allowFrom", ""},
		{"guilds.*.channels.*.requireMention", "groups.*2.requireMention", "channels are listed by their id, without their server"},
		{"guilds.*.channels.*.enabled", "groups.*2.enabled", "channels are listed by their id, without their server"},
		{"guilds.*.channels.*.allow", "groups.*2.enabled", "channels are listed by their id, without their server"},
		{"guilds.*.channels.*.users", "groups.*2.allowFrom", "channels are listed by their id, without their server"},
		{"guilds.*.channels.*.systemPrompt", "groups.*2.systemPrompt", "channels are listed by their id, without their server"},
	},
	"whatsapp": {{"sendReadReceipts", "readReceipts", ""}},
}

// rules are those of everything but channels, agents and bindings.
var rules = []rule{
	{"session.scope", "session.scope", ""}, {"session.dmScope", "session.dmScope", ""}, {"session.identityLinks.*", "session.identityLinks.*", ""},
	{"session.sendPolicy.default", "session.sendPolicy.default", ""}, {"session.sendPolicy.rules", "session.sendPolicy.rules", ""},
	{"session.agentToAgent.maxPingPongTurns", "session.agentToAgent.maxPingPongTurns", ""},
	{"session.reset.*", "session.reset.*", ""}, {"session.resetByType.dm.*", "session.resetByType.direct.*", ""}, {"session.resetByType.*.*", "session.resetByType.*.*", ""},
	{"session.resetByChannel.*.*", "session.resetByChannel.*.*", ""},
	{"session.idleMinutes", "session.reset.idleMinutes", "it is session.reset with the mode idle now"},
	{"tools.sessions.visibility", "tools.sessions.visibility", ""}, {"tools.agentToAgent.enabled", "tools.agentToAgent.enabled", ""}, {"tools.agentToAgent.allow", "tools.agentToAgent.allow", ""},
	{"agents.defaults.subagents.maxConcurrent", "agents.defaults.subagents.maxConcurrent", ""}, {"agents.defaults.subagents.archiveAfterMinutes", "agents.defaults.subagents.archiveAfterMinutes", ""},
	{"agents.defaults.subagents.maxSpawnDepth", "agents.defaults.subagents.maxSpawnDepth", ""}, {"agents.defaults.subagents.maxChildrenPerAgent", "agents.defaults.subagents.maxChildrenPerAgent", ""},
	{"agents.defaults.thinkingDefault", "agents.defaults.thinking", ""}, {"agents.defaults.userTimezone", "agents.defaults.timezone", ""}, {"agents.defaults.timeoutSeconds", "agents.defaults.timeoutSeconds", ""},
	{"agents.defaults.sandbox.mode", "agents.defaults.sandbox.mode", "it decides which session tools are there; commands are not run in containers here"},
	{"agents.defaults.sandbox.sessionToolsVisibility", "agents.defaults.sandbox.sessionToolsVisibility", ""},
	{"messages.ackReaction", "messages.ackReaction", ""}, {"messages.ackReactionScope", "messages.ackReactionScope", ""}, {"messages.removeAckAfterReply", "messages.removeAckAfterReply", ""},
	{"messages.groupChat.historyLimit", "messages.groupChat.historyLimit", ""}, {"messages.groupChat.mentionPatterns", "messages.groupChat.mentionPatterns", ""},
	{"messages.queue.mode", "messages.queue.mode", ""}, {"messages.queue.debounceMs", "messages.queue.debounceMs", ""}, {"messages.queue.cap", "messages.queue.cap", ""}, {"messages.queue.drop", "messages.queue.drop", ""},
}

// inAgent are those of one of agents.list.
var inAgent = []rule{
	{"default", "default", ""}, {"name", "name", ""}, {"identity.name", "name", ""}, {"groupChat.mentionPatterns", "groupChat.mentionPatterns", ""}, {"subagents.allowAgents", "subagents.allowAgents", ""},
	{"thinkingDefault", "thinking", ""}, {"instructions", "instructions", "IDENTITY.md and USER.md of the workspace are instructions now"},
}

// inMatch are those of the match of one of bindings.
var inMatch = []rule{{"channel", "channel", ""}, {"accountId", "accountId", ""}, {"guildId", "guildId", ""}, {"teamId", "teamId", ""}, {"roles", "roles", ""}, {"peer.kind", "peer.kind", ""}, {"peer.id", "peer.id", ""}}

// hints say of what is left out what to do about it, by the beginning of its place.
var hints = []struct{ place, why string }{
	{"gateway", "parley makes a token of its own; set gateway.listen and gateway.token for others"},
	{"hooks", "set hooks up anew (docs/automation.md)"},
	{"cron", "make the jobs anew: parley cron add"},
	{"auth", "set the key of each model provider in the environment, or under models.providers"},
	{"env", "put the variables into the file .env beside the configuration"},
	{"plugins", "plugins are MCP servers here (docs/mcp.md)"},
	{"skills", "there are no skills; tools come from MCP servers (docs/mcp.md)"},
	{"tools", "parley has other tools; say which with tools.allow and tools.deny (docs/tools.md)"},
	{"session.store", "parley keeps sessions in its database"},
	{"session.mainKey", "the main session is always called main; its sessions are carried over"},
	{"channels.", "parley has no such setting for this channel"},
}

func hint(place string) string {
	for _, h := range hints {
		if place == h.place || strings.HasPrefix(place, strings.TrimSuffix(h.place, ".")+".") {
			return h.why
		}
	}
	return "parley has no such setting"
}

// match gives the place that a rule sends one to.
func match(rs []rule, place []string) (to []string, why string, ok bool) {
next:
	for _, r := range rs {
		from := strings.Split(r.from, ".")
		if len(from) != len(place) {
			continue
		}
		var wild []string
		for i, f := range from {
			if f == "*" {
				wild = append(wild, place[i])
			} else if f != place[i] {
				continue next
			}
		}
		n := 0
		for _, t := range strings.Split(r.to, ".") {
			switch t {
			case "*":
				t = wild[n]
				n++
			case "*2": // the second one
				t = wild[1]
			}
			to = append(to, t)
		}
		return to, r.why, true
	}
	return nil, "", false
}

// inside reports whether a rule goes deeper than a place.
func inside(rs []rule, place []string) bool {
next:
	for _, r := range rs {
		from := strings.Split(r.from, ".")
		if len(from) <= len(place) {
			continue
		}
		for i := range place {
			if from[i] != "*" && from[i] != place[i] {
				continue next
			}
		}
		return true
	}
	return false
}
