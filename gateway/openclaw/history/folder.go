package history

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"parley/gateway/openclaw/database"
)

// shared reports what state/openclaw.sqlite says of databases elsewhere and of messages that waited.
func (h *History) shared(ctx context.Context) error {
	d, err := h.databases.Open(ctx, database.Shared)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		h.report.Need(database.Shared, "it cannot be read: "+err.Error())
		return nil
	}
	rows, err := h.databases.Rows(ctx, database.Shared, "agent_databases", "agent_id", "path")
	if err != nil {
		h.report.Leave(database.Shared, err.Error())
	}
	for _, row := range rows {
		if here := path.Join("agents", row[0], database.Agent); !h.has(here) && !h.isHere(row[1]) {
			h.report.Need("database of the agent "+row[0]+": "+row[1], "the import reads only files in the state folder, and this database is elsewhere: copy the file and its -wal to "+here+", and import again")
		}
	}
	for _, t := range []struct{ table, why string }{
		{"delivery_queue_entries", "messages that waited to be sent; an import sends nothing"},
		{"channel_pairing_requests", "pairing requests without an answer; people can ask again"},
	} {
		if !d.Has(t.table) {
			continue
		}
		n, err := d.Count(ctx, t.table)
		if err != nil {
			h.report.Leave(database.Shared, err.Error())
		} else if n > 0 {
			h.report.Leave(fmt.Sprintf("%s: table %s (%d)", database.Shared, t.table, n), t.why)
		}
	}
	return nil
}

func (h *History) has(name string) bool {
	_, err := fs.Stat(h.files, name)
	return err == nil
}

// isHere reports whether a path of this machine is one of the databases that were read.
func (h *History) isHere(name string) bool {
	rel, err := filepath.Rel(h.root.Name(), name)
	if err != nil {
		return false
	}
	parts := strings.Split(filepath.ToSlash(rel), "/")
	return len(parts) > 1 && parts[0] == "agents" && slices.Contains(h.databasesOf(parts[1]), strings.Join(parts, "/"))
}

// known are files and folders of a state folder and what they are; "" = the import reads them. A pattern with a slash is below a folder.
// source: openclaw/openclaw docs/gateway/doctor/state-and-sessions.md (0ae28995), docs/install/migrating.md
var known = []struct{ pattern, kind string }{
	{"agents", ""}, {"sessions", ""}, {"state", ""}, {"credentials", ""}, {"workspace*", ""}, {"cron", ""},
	{"openclaw.json*", ""}, {"moltbot.json*", ""}, {"moldbot.json*", ""}, {"clawdbot.json*", ""}, {"clawdis.json*", ""}, {".env", ""}, {"agent", ""},
	{"hooks", "scripts of hooks: write them again as hooks of parley (docs/automation.md)"},
	{"skills", "skills: parley has none; tools come from MCP servers (docs/mcp.md)"},
	{"extensions", "plugins: they run in OpenClaw only"},
	{"plugins", "plugins: they run in OpenClaw only"},
	{"memory", "memory index of OpenClaw; parley builds its own from the sessions"},
	{"media", "files that people sent; the transcripts name them"},
	{"telegram", "positions in Telegram's updates; parley begins with what is new"},
	{"devices", "paired devices of OpenClaw's apps"},
	{"nodes", "paired nodes of OpenClaw's apps"},
	{"identity", "identity of this OpenClaw"},
	{"exec-approvals.json", "approvals of shell commands; parley asks again"},
	{"delivery-queue", "messages that waited to be sent; an import sends nothing"},
	{"subagents", "list of running sub-agents; their sessions are read"},
	{"browser", "profiles of OpenClaw's browser"},
	{"sandbox*", "files of sandboxes"},
	{"canvas", "files of OpenClaw's canvas"},
	{"logs", "logs"}, {"*.log", "logs"}, {"cache", "cache"}, {"tmp", "temporary files"}, {"update-check.json", "cache"}, {"completions", "cache"},
	{"settings", "settings of OpenClaw's apps"}, {"push", "settings of OpenClaw's apps"}, {"tasks", "list of background tasks"}, {"flows", "list of background tasks"},
	{"session-sqlite-import-archive", "JSONL files that OpenClaw moved into its database"},
	{"*.migrated", "backups and leftovers"}, {"*.bak*", "backups and leftovers"}, {"*.lock", "backups and leftovers"}, {"*.tmp", "backups and leftovers"}, {".DS_Store", "backups and leftovers"},
	{"whatsapp*", "keys of the linked phone: link it again with parley login whatsapp"},

	{"credentials/*allowFrom.json", ""},
	{"credentials/oauth.json", "subscriptions to model providers: set an API key for each provider"},
	{"credentials/*-pairing.json", "pairing requests without an answer; people can ask again"},
	{"credentials/whatsapp", "keys of the linked phone, which fit OpenClaw only: link it again with parley login whatsapp, and unlink OpenClaw in the phone"},
	{"credentials/*", "credentials of channels or services that parley does not read"},
	{"state/openclaw.sqlite*", ""},
	{"state/memory", "memory that agents shared"},
	{"state/*", "other state of OpenClaw"},
	{"cron/jobs.json", ""},
	{"cron/*", "records of past runs"},
	{"agents/*/sessions", ""}, {"agents/*/agent", ""},
	{"agents/*/*", "other state of an agent"},
	{"agents/*/agent/openclaw-agent.*", ""}, {"agents/*/agent/cold", ""},
	{"agents/*/agent/auth-profiles.json", ""}, {"agents/*/agent/auth.json", ""}, {"agents/*/agent/models.json", ""},
	{"agents/*/agent/auth*.json", "subscriptions and the order of keys"},
	{"agent/auth-profiles.json", ""}, {"agent/auth.json", ""}, {"agent/models.json", ""},
	{"agent/*", "other state of an agent"},
	{"agents/*/agent/*", "other state of an agent"},
}

// Rest reports what is in the folder and was not read, one line a kind. read has files and folders that somebody else read.
func (h *History) Rest(read ...string) {
	kinds, opened := map[string][]string{}, map[string]bool{} // opened: unknown folders with something that was read
	_ = fs.WalkDir(h.files, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			h.report.See(name, "it cannot be read: "+err.Error())
			return fs.SkipDir
		}
		if name == "." {
			return nil
		}
		kind, down := kindOf(name)
		switch {
		case slices.Contains(read, name):
			kind = ""
		case kind == "" && opened[path.Dir(name)]:
			kind = unknownKind
		}
		if e.IsDir() && kind == unknownKind && slices.ContainsFunc(read, func(n string) bool { return strings.HasPrefix(n, name+"/") }) {
			kind, down, opened[name] = "", true, true
		}
		if kind != "" {
			kinds[kind] = append(kinds[kind], name)
		}
		if e.IsDir() && (kind != "" || !down) {
			return fs.SkipDir
		}
		return nil
	})
	for kind, names := range kinds {
		const few = 4
		what := strings.Join(names[:min(len(names), few)], ", ")
		if len(names) > few {
			what = fmt.Sprintf("%s and %d more", what, len(names)-few)
		}
		h.report.See(what, kind)
	}
}

const unknownKind = "parley does not know these files"

// kindOf returns what a file is; "" = the import reads it. down: files below it are looked at.
func kindOf(name string) (kind string, down bool) {
	for _, k := range known {
		down = down || below(k.pattern, name)
	}
	for _, k := range known {
		if ok, _ := path.Match(k.pattern, name); ok {
			return k.kind, down
		}
	}
	if !strings.Contains(name, "/") {
		return unknownKind, false
	}
	return "", down
}

// below reports whether a pattern is of something directly below a folder.
func below(pattern, folder string) bool {
	parts := strings.Split(pattern, "/")
	depth := strings.Count(folder, "/") + 1
	if len(parts) <= depth {
		return false
	}
	ok, _ := path.Match(strings.Join(parts[:depth], "/"), folder)
	return ok
}
