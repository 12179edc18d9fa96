package source

import (
	"maps"
	"slices"
	"strings"

	"parley/gateway/openclaw/jsontree"
	"parley/gateway/openclaw/report"
)

// oldAccount brings a channel or one of its accounts into today's layout. what is its place.
func oldAccount(what, kind string, section map[string]any, r *report.Report) {
	if dm := jsontree.Object(section["dm"]); dm != nil {
		if dm["enabled"] == false { // OpenClaw reads no direct messages then
			section["dmPolicy"] = "disabled"
			delete(dm, "enabled")
		}
		if dm["enabled"] == true {
			delete(dm, "enabled")
		}
		if len(dm) == 0 {
			delete(section, "dm")
		}
	}
	for _, g := range jsontree.Object(section["guilds"]) {
		for _, c := range jsontree.Object(jsontree.Object(g)["channels"]) {
			channel := jsontree.Object(c)
			if policy := jsontree.Text(channel["groupPolicy"]); policy != "" {
				if channel["enabled"] == nil {
					channel["enabled"] = policy == "open" || policy == "allowlist"
				}
				delete(channel, "groupPolicy")
			}
			typedSenders(channel)
		}
		typedSenders(jsontree.Object(g))
	}
	for _, g := range jsontree.Object(section["groups"]) {
		typedSenders(jsontree.Object(g))
		for _, t := range jsontree.Object(jsontree.Object(g)["topics"]) {
			typedSenders(jsontree.Object(t))
		}
	}
	oldStreaming(what, kind, section, r)
}

// typedSenders writes which kind of name stands for a sender in toolsBySender. A name without a kind is an id.
//
// source: openclaw/openclaw docs/gateway/doctor/config-migrations.md, "Sender tool policies"
func typedSenders(group map[string]any) {
	old := jsontree.Object(group["toolsBySender"])
	if old == nil {
		return
	}
	typed := map[string]any{}
	for _, k := range slices.Sorted(maps.Keys(old)) {
		name := strings.TrimSpace(k)
		kind, _, ok := strings.Cut(name, ":")
		if name != "*" && (!ok || !slices.Contains([]string{"id", "e164", "username", "name", "channel"}, kind)) {
			name = "id:" + strings.TrimPrefix(name, "@")
		}
		if _, twice := typed[name]; !twice || strings.Contains(k, ":") {
			typed[name] = old[k]
		}
	}
	group["toolsBySender"] = typed
}

// oldStreaming brings the keys of drafts under streaming.
func oldStreaming(what, kind string, section map[string]any, r *report.Report) {
	moved := func(key string) {
		if section["streaming"] == nil {
			r.Carry(what+"."+key+" → "+what+".streaming", "")
		}
	}
	if section["streamMode"] != nil {
		moved("streamMode")
	}
	mode, had := jsontree.Text(section["streamMode"]), section["streamMode"] != nil
	switch v := section["streaming"].(type) {
	case string:
		mode, had = strings.ToLower(strings.TrimSpace(v)), true
	case bool:
		if had = true; mode == "" {
			mode = map[bool]string{true: "partial", false: "off"}[v]
		}
	}
	delete(section, "streamMode")
	streaming := map[string]any{}
	if m := jsontree.Object(section["streaming"]); m != nil {
		streaming = m
	}
	if had && streaming["mode"] == nil {
		switch mode = strings.ToLower(mode); mode {
		case "off", "partial", "block":
		case "progress", "replace":
			mode = "partial"
		default:
			mode = map[bool]string{true: "off", false: "partial"}[kind == "discord"]
		}
		streaming["mode"] = mode
	}
	for old, to := range map[string]string{"chunkMode": "chunkMode", "blockStreaming": "block.enabled", "draftChunk": "preview.chunk", "blockStreamingCoalesce": "block.coalesce", "nativeStreaming": "nativeTransport"} {
		v, ok := section[old]
		if !ok {
			continue
		}
		moved(old)
		delete(section, old)
		at, key, deep := strings.Cut(to, ".")
		if !deep {
			fillMissing(streaming, map[string]any{at: v})
			continue
		}
		fillMissing(streaming, map[string]any{at: map[string]any{key: v}})
	}
	if len(streaming) > 0 {
		section["streaming"] = streaming
	}
}

// oldSession brings the one idle time of old versions under reset.
func oldSession(session map[string]any, r *report.Report) {
	idle, ok := session["idleMinutes"]
	if !ok {
		return
	}
	delete(session, "idleMinutes")
	reset := jsontree.Object(session["reset"])
	if reset == nil {
		session["reset"] = map[string]any{"mode": "idle", "idleMinutes": idle}
	} else if reset["idleMinutes"] == nil {
		reset["idleMinutes"] = idle
	}
	r.Carry("session.idleMinutes → session.reset.idleMinutes", "")
}

// oldServers brings MCP servers into today's layout.
func oldServers(servers map[string]any) {
	for _, v := range servers {
		server := jsontree.Object(v)
		if off, ok := server["disabled"].(bool); ok {
			if server["enabled"] == nil {
				server["enabled"] = !off
			}
			delete(server, "disabled")
		}
		if kind := jsontree.Text(server["type"]); kind != "" {
			if now := map[string]string{"http": "streamable-http", "streamable-http": "streamable-http", "streamableHttp": "streamable-http", "sse": "sse"}[kind]; now != "" && server["transport"] == nil {
				server["transport"] = now
			}
			delete(server, "type")
		}
		for _, k := range slices.Sorted(maps.Keys(server)) {
			if now := camel(k); now != k {
				if server[now] == nil {
					server[now] = server[k]
				}
				delete(server, k)
			}
		}
	}
}

// camel writes snake_case as camelCase.
func camel(s string) string {
	parts := strings.Split(s, "_")
	for i, p := range parts[1:] {
		if p != "" {
			parts[i+1] = strings.ToUpper(p[:1]) + p[1:]
		}
	}
	return strings.Join(parts, "")
}
