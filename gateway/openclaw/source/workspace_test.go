package source

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"parley/gateway/openclaw/report"
)

// source: openclaw/openclaw docs/concepts/agent-workspace.md; NousResearch/hermes-agent#7847
func TestWorkspaces(t *testing.T) {
	t.Parallel()
	var long strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&long, "long words %d. ", i)
	}
	s, r := load(t, map[string]string{
		"openclaw.json":       `{agents: {defaults: {workspace: "~/.openclaw/workspace"}, list: [{id: "main"}, {id: "b", workspace: "~/.openclaw/mine"}, {id: "c"}, {id: "d", workspace: "/srv/elsewhere"}, {id: "e", workspace: "~/.openclaw/../x"}]}}`,
		"workspace/AGENTS.md": "x", "workspace/TOOLS.md": "x", "workspace/MEMORY.md": "One fact.\n\nAnother fact.\n\n## Garden\nBeans grow.\n\n## Empty\n", "workspace/memory/2026-01-02.md": "- planted beans",
		"workspace/memory/2026-01-03.md": "- planted beans", "workspace/HEARTBEAT.md": "# HEARTBEAT.md\n<!-- nothing -->\n", "mine/USER.md": "\uFEFFOlga\x00 \xff", "mine/IDENTITY.md": "", "mine/MEMORY.md": strings.Repeat("x", maxProse+1), "workspace-c/MEMORY.md": long.String(),
	}, nil, nil)
	var got []Workspace
	for _, w := range s.Workspaces {
		if w.Agent == "c" {
			for _, n := range w.Notes {
				if c := utf8.RuneCountInString(n); c > maxNote {
					t.Errorf("a note has %d characters", c)
				}
			}
			if all := strings.Join(w.Notes, " "); strings.Count(all, "long words ") != 1000 {
				t.Errorf("%d of 1000 sentences are left in %d notes", strings.Count(all, "long words "), len(w.Notes))
			}
			w.Notes = nil
		}
		got = append(got, w)
	}
	want := []Workspace{
		{Agent: "b", Path: "mine", Files: []string{"IDENTITY.md", "USER.md", "MEMORY.md"}, Instructions: "Olga \uFFFD"},
		{Agent: "c", Path: "workspace-c", Files: []string{"MEMORY.md"}},
		{Agent: "main", Path: "workspace", Files: []string{"AGENTS.md", "MEMORY.md", "TOOLS.md", "HEARTBEAT.md", "memory/2026-01-03.md", "memory/2026-01-02.md"},
			Notes: []string{"MEMORY: One fact.\nAnother fact.", "MEMORY: Garden: Beans grow.", "2026-01-03: - planted beans", "2026-01-02: - planted beans"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if !hasLine(r.Left, "mine/MEMORY.md", "larger than 1 MB") {
		t.Errorf("%+v", r.Left)
	}
	if !hasLine(r.Different, "workspace/MEMORY.md", "2 notes of the agent main") || !hasLine(r.Also, "workspace/TOOLS.md", "AGENTS.md") || !hasLine(r.Also, "workspace /srv/elsewhere", "as workspace-d,") || len(s.Jobs) > 0 {
		t.Errorf("%+v, %+v", r, s.Jobs)
	}
}

// A folder of a container, or of another machine, is the one in the state folder. One that is elsewhere is named once, with one place for its copy.
//
// source: openclaw/openclaw docs/install/docker.md (/home/u/.openclaw), docs/concepts/multi-agent.md (agents may share a workspace)
func TestWorkspacesElsewhere(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{"/home/u/.openclaw/workspace", `C:\\Users\\u\\.openclaw\\workspace`, "~/.clawdbot/workspace", "/srv/clawd"} {
		s, r := load(t, map[string]string{"openclaw.json": `{agents: {defaults: {workspace: "` + dir + `"}}}`, "workspace/USER.md": "Olga"}, nil, nil)
		if len(s.Workspaces) != 1 || s.Workspaces[0].Path != "workspace" || len(r.Also) > 0 {
			t.Errorf("%s: %+v, %+v", dir, s.Workspaces, r.Also)
		}
	}
	const five = `{agents: {defaults: {workspace: "/srv/clawd"}, list: [{id: "main"}, {id: "a", workspace: "/srv/clawd"}, {id: "b", workspace: "/srv/clawd"}, {id: "c", workspace: "/srv/other"}]}}`
	_, r := load(t, map[string]string{"openclaw.json": five}, nil, nil)
	if len(r.Also) != 2 || !hasLine(r.Also, "workspace /srv/clawd", "OpenClaw's folder as workspace,") || !hasLine(r.Also, "workspace /srv/other", "as workspace-c,") {
		t.Errorf("%+v", r.Also)
	}
	if s, r := load(t, map[string]string{"openclaw.json": five, "workspace/USER.md": "Olga", "workspace-c/USER.md": "Olga"}, nil, nil); len(s.Workspaces) != 4 || len(r.Also) > 0 {
		t.Errorf("%+v, %+v", s.Workspaces, r.Also)
	}
}

// The heartbeat of OpenClaw is a job: every 30 minutes without a setting, never with 0m. Its answer goes to a chat only where the configuration says so.
//
// source: openclaw/openclaw docs/gateway/heartbeat.md
func TestHeartbeat(t *testing.T) {
	t.Parallel()
	for config, want := range map[string]time.Duration{`{}`: 30 * time.Minute, `{agents: {defaults: {heartbeat: {every: "2h", target: "last"}}}}`: 2 * time.Hour,
		`{agents: {defaults: {heartbeat: {target: "last", directPolicy: "block"}}}}`: 30 * time.Minute, `{agents: {defaults: {heartbeat: {target: "telegram"}}}}`: 30 * time.Minute, `{agents: {defaults: {heartbeat: {every: "45"}}}}`: 45 * time.Minute,
		`{agents: {defaults: {heartbeat: {every: "0m"}}}}`: 0, `{agents: {defaults: {heartbeat: {every: "2h"}}, list: [{id: "main", heartbeat: {every: "1d", target: "none"}}]}}`: 24 * time.Hour, `{heartbeat: {every: "5s"}}`: time.Minute} {
		s, r := load(t, map[string]string{"openclaw.json": config, "workspace/HEARTBEAT.md": "Look at the mail."}, nil, nil)
		if strings.Contains(textOf(s.Tree), "heartbeat") || want == 0 != hasLine(r.Carried, "heartbeat", "off") || hasLine(r.Left, "heartbeat", "") {
			t.Errorf("%s: %v, %+v", config, s.Tree, r.Left)
		}
		switch {
		case want == 0 && len(s.Jobs) == 0:
		case len(s.Jobs) != 1 || s.Jobs[0].Every != want || s.Jobs[0].To.Last != (strings.Contains(config, "last") && !strings.Contains(config, "block")):
			t.Errorf("%s: %+v", config, s.Jobs)
		}
	}
}

// Whose heartbeat it is, and how often it runs, is what OpenClaw says: a setting that is off asks for nothing.
//
// source: openclaw/openclaw docs/gateway/heartbeat.md, "Scope and precedence"
func TestHeartbeatOfAgents(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, config, left, carried, jobs string }{
		{"off", `{agents: {defaults: {heartbeat: {every: "0m"}}, list: [{id: "A", heartbeat: {every: "0"}}]}}`, "", "defaults: off, A: off", ""},
		{"intervals", `{agents: {list: [{id: "A", heartbeat: {every: "2h"}}, {id: "b", heartbeat: {every: "1440"}}, {id: "c", heartbeat: {}}, {id: "d", heartbeat: {every: "soon"}}]}}`, "A: --every=2h --agent=a, b: --every=24h --agent=b, c: --every=30m --agent=c", "d: off", ""},
		{"only agents with settings", `{agents: {defaults: {heartbeat: {every: "1h"}}, list: [{id: "main"}, {id: "b", heartbeat: {target: "none"}}, {id: "x"}]}}`, "b: --every=1h --agent=b", "defaults: settings of their own", ""},
		{"no job for others", `{agents: {list: [{id: "main"}, {id: "x", heartbeat: {every: "0m"}}, {id: "y", heartbeat: {every: "1h"}}]}}`, "y: --every=1h", "x: off", ""},
		{"a job for each", `{agents: {defaults: {heartbeat: {every: "1h"}}, list: [{id: "main"}, {id: "x"}]}}`, "", "defaults: a scheduled job", "x"},
		{"the default agent alone", `{agents: {list: [{id: "main"}, {id: "x"}]}}`, "", "", ""},
		{"the agent that is named", `{agents: {defaults: {heartbeat: {agentId: "x"}}, list: [{id: "main"}, {id: "x"}]}}`, "", "defaults: a scheduled job", "x"},
	} {
		s, r := load(t, map[string]string{"openclaw.json": c.config, "workspace-x/HEARTBEAT.md": "Look at the mail."}, nil, nil)
		for list, wants := range map[*[]report.Item]string{&r.Left: c.left, &r.Carried: c.carried} {
			for _, want := range strings.Split(wants, ", ") {
				if place, why, ok := strings.Cut(want, ": "); ok && !slices.ContainsFunc(*list, func(i report.Item) bool {
					return strings.Contains(i.What+i.Why, place+".heartbeat") && strings.Contains(i.What+i.Why, why)
				}) {
					t.Errorf("%s: no %q in %+v", c.name, want, *list)
				}
			}
		}
		jobs := ""
		for _, j := range s.Jobs {
			jobs += j.Agent
		}
		if jobs != c.jobs || c.left == "" && len(r.Left) > 0 {
			t.Errorf("%s: jobs of %q, %+v", c.name, jobs, r.Left)
		}
	}
}

// Persona and memory of an agent are read in the state folder only.
func TestWorkspacesStayInside(t *testing.T) {
	t.Parallel()
	dir, outside := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "USER.md"), []byte("made-up-secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(dir, "workspace")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "mine"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(outside, "USER.md"), filepath.Join(dir, "mine", "USER.md")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "openclaw.json"), []byte(`{agents: {list: [{id: "main"}, {id: "b", workspace: "mine"}, {id: "c", workspace: `+quote(outside)+`}]}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	s, r := loadDir(t, dir, nil, nil)
	if slices.ContainsFunc(s.Workspaces, func(w Workspace) bool { return w.Instructions != "" }) {
		t.Errorf("%+v", s.Workspaces)
	}
	noSecret(t, s, r)
}

// FuzzPieces: notes are short, and no word of a text is lost.
func FuzzPieces(f *testing.F) {
	f.Add("# A\n\nb\n\nc", 100)
	f.Add(strings.Repeat("x", 500), 60)
	f.Add("#\n\n#x\r\n\r\ny", 70)
	f.Fuzz(func(t *testing.T, text string, most int) {
		if most < 50 || most > maxNote || !utf8.ValidString(text) {
			return
		}
		all := pieces(text, most)
		for _, p := range all {
			if strings.TrimSpace(p) == "" || utf8.RuneCountInString(p) > most {
				t.Errorf("%q", p)
			}
		}
		for _, line := range strings.Split(text, "\n") {
			if word := strings.TrimSpace(line); word != "" && len(word) < 20 && !strings.Contains(word, "#") && len(text) < most/4 && !strings.ContainsFunc(word, func(r rune) bool { return r < ' ' || r > '~' }) && !strings.Contains(strings.Join(all, "\n"), word) {
				t.Errorf("%q is lost of %q: %q", word, text, all)
			}
		}
	})
}
