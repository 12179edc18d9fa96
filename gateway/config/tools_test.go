package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"parley/sessions"
)

// Lists of tools that name none are reported wherever they stand; what an MCP server may have is not.
func TestToolLists(t *testing.T) {
	t.Parallel()
	_, ps, _ := load(`
tools:
  allow: [fetch, "git_*", "group:fs", fetsch]
  deny: ["group:nothing"]
  byChatType: {group: {deny: [x1]}}
  bySender: {other: {allow: [x2]}}
  sandbox: {tools: {deny: [x3]}}
  subagents: {tools: {allow: [x4, sessions_list]}}
  mcp: {servers: {git: {command: git-mcp}}}
agents: {list: [{id: main, tools: {deny: [x5, git_log]}}]}
channels:
  telegram:
    token: "1:a"
    groups: {"-1": {tools: {deny: [x6]}, toolsBySender: {"7": {deny: [x7]}}, topics: {"5": {tools: {deny: [x8]}}}}}
`)
	var got []string
	for _, p := range ps {
		if strings.Contains(p.Text, "matches no tool") {
			got = append(got, p.Key)
		}
	}
	want := "tools.allow[3] tools.deny[0] tools.byChatType.group.deny[0] tools.bySender.other.allow[0] tools.sandbox.tools.deny[0] tools.subagents.tools.allow[0] " +
		"agents.list[0].tools.deny[0] channels.telegram.groups.-1.tools.deny[0] channels.telegram.groups.-1.toolsBySender.7.deny[0] channels.telegram.groups.-1.topics.5.tools.deny[0]"
	if strings.Join(got, " ") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, " "), want)
	}
}

// Who lets guests work in the whole workspace is warned. source: CWE-668
func TestFilesOfOthers(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{"tools: {files: {others: all}}\n": 1, "tools: {files: {others: own}}\n": 0, "tools: {}\n": 0} {
		n := 0
		_, ps, _ := load(text)
		for _, p := range ps {
			if p.Key == "tools.files.others" && p.Severity != SevereError {
				n++
			}
		}
		if n != want {
			t.Errorf("%s: %v", text, ps)
		}
	}
}

// A kind of chat or sender that is none is an error: the rights would hold nowhere.
func TestToolSwitches(t *testing.T) {
	t.Parallel()
	_, ps, _ := load("tools: {byChatType: {groups: {deny: [fetch]}, channel: {}}, bySender: {guest: {deny: [fetch]}, owner: {}}}\n")
	var got []string
	for _, p := range ps {
		if p.Severity == SevereError {
			got = append(got, p.Key)
		}
	}
	if strings.Join(got, " ") != "tools.byChatType.groups tools.bySender.guest" {
		t.Errorf("%v", ps)
	}
}

// The folders of the agents' files: below the state folder unless the configuration says otherwise, and never one that holds what is
// the host's.
func TestWorkspaces(t *testing.T) {
	t.Parallel()
	c := mustLoad(t, "state: /srv/state\nagents: {list: [{id: a}, {id: b, workspace: own}, {id: c, workspace: ~/c}]}\n")
	for id, want := range map[string]string{"a": filepath.FromSlash("/srv/state/workspace/a"), "b": filepath.FromSlash("/etc/parley/own"), "nobody": ""} {
		if got := c.Workspace(sessions.AgentID(id)); got != want {
			t.Errorf("%s: %s, want %s", id, got, want)
		}
	}
	if c = mustLoad(t, "agents: {defaults: {workspace: /srv/w}}\n"); c.Workspace("main") != "/srv/w/main" {
		t.Errorf("%s", c.Workspace("main"))
	}
	for _, bad := range []string{"/srv", "/srv/state", "/srv/state/agents/a", "/srv/state/exports", "/srv/state/new/a", "/srv/state/mcp", "."} {
		_, ps, _ := load("state: /srv/state\nagents: {list: [{id: a, workspace: " + bad + "}]}\n")
		if len(ps) != 1 || ps[0].Key != "agents.list[0].workspace" || ps[0].Severity != SevereError {
			t.Errorf("%s: %v", bad, ps)
		}
	}
	_, ps, _ := load("agents: {list: [{id: a, workspace: /srv/w}, {id: b, workspace: /srv/w/b}, {id: c, workspace: /srv/w}]}\n")
	if len(ps) != 2 || ps[0].Severity != Warning || ps[0].Key != "agents.list[0].workspace" || ps[1].Key != "agents.list[2].workspace" {
		t.Errorf("%v", ps)
	}
}

// Links are followed: the state folder by another name is the state folder, and what leads out of it does not lie in it.
func TestFoldersByAnotherName(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	at := func(p string) string { return filepath.Join(dir, p) }
	for _, p := range []string{"state/exports", "state/mcp/x", "state/workspace", "free"} {
		if err := os.MkdirAll(at(p), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{"other": "state", "direct": "state/exports", "up": ".", "state/mcp/out": "../../free", "state/workspace/b": "../exports"} {
		if err := os.Symlink(to, at(name)); err != nil {
			t.Fatal(err)
		}
	}
	for p, want := range map[string][2]string{ // for a workspace, for a folder of the MCP server x
		"free": {"", ""}, "free/new": {"", ""}, "state/mcp/out": {"", ""}, "state/workspace/a": {"", "error"}, "other/workspace/a": {"", "error"}, "state/workspace/b": {"error", "error"},
		"state/exports": {"error", "error"}, "other/exports/new": {"error", "error"}, "direct": {"error", "error"}, "state/mcp/x": {"error", ""}, "other/mcp/x/y": {"error", ""}, "state/mcp/y": {"error", "error"},
		"up": {"error", "warning"}, "other": {"error", "warning"},
	} {
		_, ps, _ := load("state: " + at("state") + "\nagents: {list: [{id: a, workspace: " + at(p) + "}]}\n")
		_, more, _ := load("state: " + at("state") + "\ntools: {mcp: {servers: {x: {command: c, cwd: " + at(p) + "}}}}\n")
		for i, ps := range [][]Problem{ps, more} {
			got := ""
			if len(ps) > 0 {
				if got = "error"; ps[0].Severity == Warning {
					got = "warning"
				}
			}
			if got != want[i] || len(ps) > 1 {
				t.Errorf("%s %d: %v, want %q", p, i, ps, want[i])
			}
		}
	}
}
