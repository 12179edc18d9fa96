package convert

import (
	"maps"
	"slices"
	"strings"

	"parley/gateway/openclaw/jsontree"
)

// rule says where a key goes. Places are dotted; * stands for any name, and for the same one in to.
type rule struct {
	from, to string
	why      string // it is carried over differently
}

// accountRules are the keys that a channel and each of its accounts have in common, besides those that say who may use it.
var accountRules = []rule{{"textChunkLimit", "textChunkLimit", ""}}

// own are the keys of single channels.
var own = map[string][]rule{
	"telegram": {{"apiRoot", "apiUrl", ""}},
	"whatsapp": {{"sendReadReceipts", "readReceipts", ""}},
}

// rules are those of everything that is not converted as a whole.
var rules = []rule{
	{"session.scope", "session.scope", ""}, {"session.identityLinks.*", "session.identityLinks.*", ""},
	{"session.agentToAgent.maxPingPongTurns", "session.agentToAgent.maxPingPongTurns", ""},
	{"session.idleMinutes", "session.reset.idleMinutes", "it becomes session.reset with mode idle"},
	{"agents.defaults.maxConcurrent", "agents.defaults.maxConcurrent", ""},
	{"agents.defaults.subagents.maxConcurrent", "agents.defaults.subagents.maxConcurrent", ""}, {"agents.defaults.subagents.archiveAfterMinutes", "agents.defaults.subagents.archiveAfterMinutes", ""},
	{"agents.defaults.subagents.maxSpawnDepth", "agents.defaults.subagents.maxSpawnDepth", ""}, {"agents.defaults.subagents.maxChildrenPerAgent", "agents.defaults.subagents.maxChildrenPerAgent", ""},
	{"agents.defaults.thinkingDefault", "agents.defaults.thinking", ""}, {"agents.defaults.userTimezone", "agents.defaults.timezone", ""}, {"agents.defaults.timeoutSeconds", "agents.defaults.timeoutSeconds", ""},
	{"messages.ackReaction", "messages.ackReaction", ""}, {"messages.ackReactionScope", "messages.ackReactionScope", ""}, {"messages.removeAckAfterReply", "messages.removeAckAfterReply", ""},
	{"messages.groupChat.historyLimit", "messages.groupChat.historyLimit", ""}, {"messages.groupChat.mentionPatterns", "messages.groupChat.mentionPatterns", ""},
	{"messages.queue.mode", "messages.queue.mode", ""}, {"messages.queue.debounceMs", "messages.queue.debounceMs", ""}, {"messages.queue.cap", "messages.queue.cap", ""}, {"messages.queue.drop", "messages.queue.drop", ""},
	{"messages.queue.byChannel.*", "messages.queue.byChannel.*.mode", ""}, {"messages.queue.debounceMsByChannel.*", "messages.queue.byChannel.*.debounceMs", ""},
	{"logging.level", "log.level", ""}, {"gateway.trustedProxies", "gateway.trustedProxies", ""},
}

// inAgent are those of one of agents.list.
var inAgent = []rule{
	{"default", "default", ""}, {"identity.name", "name", ""}, {"name", "name", ""}, {"groupChat.mentionPatterns", "groupChat.mentionPatterns", ""}, {"thinkingDefault", "thinking", ""},
	{"instructions", "instructions", "IDENTITY.md and USER.md of the workspace become instructions"},
}

// hints say of what is left out what to do about it, by the beginning of its place.
var hints = []struct{ place, why string }{
	{"gateway", "parley creates its own token; gateway.listen and gateway.token set address and token"},
	{"hooks", "parley has no equivalent; its hooks are in docs/automation.md"},
	{"cron", "parley has no settings for all jobs; each job has its own"},
	{"auth", "set the key of each model provider in the environment, or under models.providers"},
	{"plugins", "parley has no plugins; use MCP servers (docs/mcp.md)"},
	{"skills", "parley has no skills; tools come from MCP servers (docs/mcp.md)"},
	{"tools", "parley has other tools; choose them with tools.allow and tools.deny (docs/tools.md)"},
	{"session.store", "parley keeps sessions in its database"},
	{"session.mainKey", "the main session is always called main; its sessions are carried over"},
	{"channels.", "parley has no equivalent for this channel"},
}

func hint(place string) string {
	for _, h := range hints {
		if place == h.place || strings.HasPrefix(place, strings.TrimSuffix(h.place, ".")+".") {
			return h.why
		}
	}
	return "parley has no equivalent"
}

// walkTop carries over what the rules know of a section into the top of the new configuration.
func (o *output) walkTop(place []string, v any) { o.walk(rules, place, v, o.config, "") }

// walk carries over what the rules know into a part of the new configuration. prefix is what the place is called in the report.
func (o *output) walk(rs []rule, place []string, v any, to map[string]any, prefix string) {
	what := prefix + strings.Join(place, ".")
	into, why, ok := match(rs, place)
	if m, deep := v.(map[string]any); deep && !ok && inside(rs, place) {
		for _, k := range slices.Sorted(maps.Keys(m)) {
			o.walk(rs, append(slices.Clone(place), k), m[k], to, prefix)
		}
		return
	}
	if !ok {
		o.Leave(what, hint(what))
		return
	}
	jsontree.Put(to, into, o.value(into, v))
	if why != "" {
		o.Differ(what, why)
	} else {
		o.Carry(what, "")
	}
}

// words are values that have another name in parley, by the last part of their place.
var words = map[string]map[string]string{
	"mode":  {"steer-backlog": "steer", "steer+backlog": "steer", "queue": "followup"},
	"level": {"trace": "debug", "silent": "error", "fatal": "error"},
}

// value writes a value as parley has it.
func (o *output) value(to []string, v any) any {
	if w, ok := words[to[len(to)-1]][jsontree.Text(v)]; ok {
		return w
	}
	if len(to) > 2 && to[1] == "identityLinks" {
		return o.links(v)
	}
	return v
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
		for _, t := range strings.Split(r.to, ".") {
			if t == "*" {
				t, wild = wild[0], wild[1:]
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
