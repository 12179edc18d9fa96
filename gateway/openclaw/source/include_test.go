package source

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"parley/gateway/openclaw/jsontree"
	"parley/gateway/openclaw/report"
)

// source: openclaw/openclaw src/config/includes.test.ts, docs/gateway/configuration.md "$include"
func TestInclude(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"one file":       {map[string]string{"openclaw.json": `{agents: {$include: "./agents.json5"}}`, "agents.json5": `{list: [{id: "main"}]}`}, `{agents: {list: [{id: "main"}]}}`},
		"several":        {map[string]string{"openclaw.json": `{broadcast: {$include: ["./a.json", "./b.json"]}}`, "a.json": `{"group-a": ["one"], x: 1, l: [1]}`, "b.json": `{"group-b": ["two"], x: 2, l: [2]}`}, `{broadcast: {"group-a": ["one"], "group-b": ["two"], x: 2, l: [1, 2]}}`},
		"keys beside":    {map[string]string{"openclaw.json": `{$include: "./base.json", b: 99, c: {d: 1}}`, "base.json": `{a: 1, b: 2, c: {e: 2}}`}, `{a: 1, b: 99, c: {d: 1, e: 2}}`},
		"nested":         {map[string]string{"openclaw.json": `{$include: "./x/1.json", nested: {b: 9}}`, "x/1.json": `{nested: {$include: "./2.json"}}`, "x/2.json": `{a: 1, b: 2}`}, `{nested: {a: 1, b: 9}}`},
		"in a list":      {map[string]string{"openclaw.json": `{agents: {list: [{$include: "clients/m.json"}]}}`, "clients/m.json": `{id: "m"}`}, `{agents: {list: [{id: "m"}]}}`},
		"not an object":  {map[string]string{"openclaw.json": `{allow: {$include: "l.json"}}`, "l.json": `["1001"]`}, `{allow: ["1001"]}`},
		"below home":     {map[string]string{"openclaw.json": `{x: {$include: "~/.openclaw/x.json"}}`, "x.json": `{y: 1}`}, `{x: {y: 1}}`},
		"backslashes":    {map[string]string{"openclaw.json": `{x: {$include: ".\\c\\x.json"}}`, "c/x.json": `{y: 1}`}, `{x: {y: 1}}`},
		"twice":          {map[string]string{"openclaw.json": `{x: {$include: "x.json"}, z: {$include: "x.json"}}`, "x.json": `{y: 1}`}, `{x: {y: 1}, z: {y: 1}}`},
		"with variables": {map[string]string{"openclaw.json": `{x: {$include: "x.json"}}`, "x.json": `{y: "${HOUSE}"}`}, `{x: {y: "green"}}`},
	} {
		s, r := load(t, c.files, map[string]string{"HOUSE": "green"}, nil)
		sameTree(t, s.Tree, c.want)
		if len(r.NeedsYou) > 0 {
			t.Errorf("%s: %+v", name, r.NeedsYou)
		}
	}
}

// Of a name that stands twice the last one counts, and the report has the name, its file and its line.
//
// source: openclaw/openclaw docs/gateway/configuration-examples.md, "Expanded example" (tools stands twice); spec.json5.org
func TestNamesTwice(t *testing.T) {
	t.Parallel()
	s, r := load(t, map[string]string{"openclaw.json": "{tools: {deny: ['cron']}, $include: './x.json',\ntools: {deny: ['message']}}", "x.json": `{session: {scope: "global", scope: "per-sender"}}`}, nil, nil)
	sameTree(t, s.Tree, `{tools: {deny: ["message"]}, session: {scope: "per-sender"}}`)
	for _, what := range []string{"openclaw.json: tools (line 2)", "x.json: scope (line 1)"} {
		if !hasLine(r.Left, what, "only the last one counts") {
			t.Errorf("no %q in %+v", what, r.Left)
		}
	}
}

// What is missing may have been a restriction: every account is switched off, and somebody is told.
func TestIncludeFails(t *testing.T) {
	t.Parallel()
	deep := map[string]string{"openclaw.json": `{hooks: {enabled: true}, channels: {telegram: {accounts: {b: {}}}}, x: {$include: "0.json"}}`}
	for i := range 15 {
		deep[fmt.Sprintf("%d.json", i)] = fmt.Sprintf(`{$include: "%d.json"}`, i+1)
	}
	wide := map[string]string{"openclaw.json": `{hooks: {enabled: true}, channels: {telegram: {accounts: {b: {}}}}, x: {$include: "0.json"}}`, "8.json": `{}`}
	for i := range 8 {
		wide[fmt.Sprintf("%d.json", i)] = fmt.Sprintf(`{a: {$include: "%d.json"}, b: {$include: "%[1]d.json"}, c: {$include: "%[1]d.json"}}`, i+1)
	}
	cases := map[string]struct {
		files map[string]string
		why   string
	}{
		"too deep": {deep, "more than 10 deep"}, "too many": {wide, "more than 200 files"},
	}
	for include, why := range map[string]string{`"/etc/hostname"`: "not in the state folder", `"../x.json"`: "not in the state folder", `"~/other/x.json"`: "not in the state folder", `"missing.json"`: "no such file",
		`"openclaw.json"`: "includes itself", `1`: "not in the state folder", `["x.json", 2]`: "not in the state folder", `"broken.json"`: "line 1", `"folder"`: "is a directory", `"link.json"`: "escapes", `""`: "not in the state folder"} {
		cases[include] = struct {
			files map[string]string
			why   string
		}{map[string]string{"openclaw.json": `{hooks: {enabled: true}, channels: {telegram: {accounts: {b: {}}}}, x: {$include: ` + include + `}}`, "x.json": `{y: 1}`, "broken.json": `{made-up-secret`, "folder/x": ""}, why}
	}
	large := strings.Repeat(" ", maxIncluded/2)
	cases["too large together"] = struct {
		files map[string]string
		why   string
	}{map[string]string{"openclaw.json": `{hooks: {enabled: true}, channels: {telegram: {accounts: {b: {}}}}, x: {$include: ["l.json", "l.json", "l.json"]}}`, "l.json": large + "{}"}, "more than 16 MB"}
	cases["keys beside a list"] = struct {
		files map[string]string
		why   string
	}{map[string]string{"openclaw.json": `{hooks: {enabled: true}, channels: {telegram: {accounts: {b: {}}}}, x: {$include: "l.json", y: 1}}`, "l.json": `[1]`}, "file with an object"}
	for name, c := range cases {
		dir := t.TempDir()
		for file, text := range c.files {
			if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, file)), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Symlink("/etc/hostname", filepath.Join(dir, "link.json")); err != nil {
			t.Fatal(err)
		}
		s, r := loadDir(t, dir, nil, nil)
		telegram := jsontree.Object(jsontree.Object(s.Tree["channels"])["telegram"])
		if !hasLine(r.NeedsYou, "$include", c.why) || telegram["enabled"] != false || jsontree.Object(jsontree.Object(telegram["accounts"])["b"])["enabled"] != false || jsontree.Object(s.Tree["hooks"])["enabled"] != false {
			t.Errorf("%s: %v, %+v", name, s.Tree, r.NeedsYou)
		}
		noSecret(t, s, r)
	}
}

// FuzzInclude: whatever files include, loading ends, reads nothing outside, and leaves no $include that was read.
func FuzzInclude(f *testing.F) {
	for _, s := range []string{`{$include: "a.json"}`, `{$include: ["a.json", "b.json"], x: 1}`, `{x: [{$include: "b.json"}]}`, `{$include: {$include: "a.json"}}`, `{"$include": "../a.json"}`, `[{$include: "a.json"}]`, `"x"`} {
		f.Add(s, s, s)
	}
	f.Fuzz(func(t *testing.T, top, a, b string) {
		s, r := load(t, map[string]string{"openclaw.json": top, "a.json": a, "b.json": b}, nil, nil)
		x := &includer{folder: Folder{Root: s.folder.Root, Getenv: s.folder.Getenv, Report: &report.Report{}}}
		if readConfig(x.folder, x); x.files > maxIncludes {
			t.Errorf("%d files", x.files)
		}
		if s.Tree != nil && strings.Contains(fmt.Sprint(keys(s.Tree)), includeKey) {
			t.Errorf("%v", s.Tree)
		}
		if x.broken && len(r.NeedsYou) == 0 {
			t.Error("nobody is told")
		}
	})
}

// keys lists all names of objects.
func keys(v any) (all []string) {
	switch v := v.(type) {
	case map[string]any:
		for k, x := range v {
			if k == includeKey {
				all = append(all, k)
			}
			all = append(all, keys(x)...)
		}
	case []any:
		for _, x := range v {
			all = append(all, keys(x)...)
		}
	}
	return all
}

// What has another shape than OpenClaw reads is named. It may have held a restriction, so every account is switched off.
//
// source: openclaw/openclaw docs/gateway/configuration.md, "Strict validation" (such a file does not start OpenClaw)
func TestMisshapen(t *testing.T) {
	t.Parallel()
	for in, what := range map[string]string{
		`agents: [{id: "a"}]`: "agents", `agents: {list: {a: {}}}`: "agents.list", `agents: {list: ["a"]}`: "agents.list", `agents: {entries: ["a"]}`: "agents.entries", `agents: {entries: {a: 1}}`: "agents.entries.a",
		`mcp: {servers: [{name: "x", url: "http://localhost:8080"}]}`: "mcp.servers", `mcp: {servers: {x: "y"}}`: "mcp.servers.x", `bindings: {a: 1}`: "bindings", `bindings: [{agentId: "a", match: "telegram"}]`: "bindings[].match",
		`session: "x"`: "session", `session: {sendPolicy: []}`: "session.sendPolicy", `session: {sendPolicy: {rules: {}}}`: "session.sendPolicy.rules", `tools: ["message"]`: "tools", `tools: {agentToAgent: true}`: "tools.agentToAgent",
		`models: {providers: [{id: "openai"}]}`: "models.providers", `commands: []`: "commands", `messages: {queue: "steer"}`: "messages.queue", `accessGroups: []`: "accessGroups", `channels: {discord: ["x"]}`: "channels.discord",
		`channels: {discord: {accounts: [{id: "a"}]}}`: "channels.discord.accounts", `channels: {discord: {accounts: {a: "x"}}}`: "channels.discord.accounts.a",
	} {
		s, r := load(t, map[string]string{"openclaw.json": `{channels: {telegram: {botToken: "${T}"}}, $include: "./x.json"}`, "x.json": "{" + in + "}"}, nil, nil)
		if !slices.ContainsFunc(r.NeedsYou, func(i report.Item) bool { return i.What == what && strings.Contains(i.Why, "switched off") }) || len(r.NeedsYou) != 1 {
			t.Errorf("%s: %+v", in, r.NeedsYou)
		}
		if jsontree.Object(jsontree.Object(s.Tree["channels"])["telegram"])["enabled"] != false {
			t.Errorf("%s: %v", in, s.Tree)
		}
	}
	if s, r := load(t, map[string]string{"openclaw.json": `{channels: [1]}`}, nil, nil); !hasLine(r.NeedsYou, "channels", "not an object") {
		t.Errorf("%v, %+v", s.Tree, r)
	}
	if _, r := load(t, map[string]string{"openclaw.json": `{channels: {_comment: "x", telegram: null}, models: {providers: {_comment_a: "x"}}, agents: {list: [null]}}`}, nil, nil); len(r.NeedsYou) > 0 {
		t.Errorf("%+v", r)
	}
}

// The files that were read are listed, so that nothing calls them unknown.
func TestReadFiles(t *testing.T) {
	t.Parallel()
	s, _ := load(t, map[string]string{"openclaw.json": `{$include: "./parts/base.json5", secrets: {providers: {f: {source: "file", path: "~/.openclaw/secrets.json"}}}}`,
		"parts/base.json5": `{channels: {telegram: {botToken: {source: "file", provider: "f", id: "/t"}, accounts: {b: {tokenFile: "/home/u/.openclaw/b.txt"}}}}, agents: {defaults: {workspace: "/home/u/.openclaw/mine"}}}`,
		"secrets.json":     `{"t": "made-up-secret"}`, "b.txt": "made-up-secret", "mine/USER.md": "Olga", "other.txt": "x"}, nil, nil)
	for _, name := range []string{"openclaw.json", "parts/base.json5", "secrets.json", "b.txt", "mine"} {
		if !slices.Contains(s.Read, name) {
			t.Errorf("no %s in %v", name, s.Read)
		}
	}
	if slices.Contains(s.Read, "other.txt") {
		t.Errorf("%v", s.Read)
	}
}
