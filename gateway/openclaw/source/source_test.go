package source

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"parley/gateway/openclaw/jsontree"
	"parley/gateway/openclaw/report"
)

// fakeTables has the rows of tables by file and table, the columns by name.
type fakeTables map[string][]map[string]string

func (f fakeTables) Rows(file, table string, columns ...string) (rows [][]string, err error) {
	for _, r := range f[file+" "+table] {
		var row []string
		for _, c := range columns {
			row = append(row, r[c])
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// load writes the files of a state folder and loads it.
func load(t testing.TB, files, env map[string]string, tables fakeTables) (*Source, *report.Report) {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return loadDir(t, dir, env, tables)
}

func loadDir(t testing.TB, dir string, env map[string]string, tables fakeTables) (*Source, *report.Report) {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	r := &report.Report{}
	return Load(Folder{Root: root, Getenv: func(name string) string { return env[name] }, Report: r, Rows: tables.Rows}), r
}

// sameTree compares a tree with JSON5.
func sameTree(t *testing.T, got any, want string) {
	t.Helper()
	w, err := ParseJSON5([]byte(want))
	if err != nil {
		t.Fatal(err)
	}
	g, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	var again any
	b, _ := json.Marshal(w)
	if json.Unmarshal(g, &again) != nil || json.Unmarshal(b, &w) != nil {
		t.Fatal("no JSON")
	}
	if diff := cmp.Diff(w, again); diff != "" {
		t.Error(diff)
	}
}

func hasLine(list []report.Item, what, why string) bool {
	return slices.ContainsFunc(list, func(i report.Item) bool { return strings.Contains(i.What, what) && strings.Contains(i.Why, why) })
}

// One variable may hold a value with references or escapes; none of that is looked at again.
//
// source: openclaw/openclaw src/config/env-substitution.test.ts, docs.openclaw.ai/help/environment
func TestVariables(t *testing.T) {
	t.Parallel()
	env := map[string]string{"FOO": "bar", "A": "x", "B": "y", "REF": "${BAR}", "ESC": "$${BAR}", "_U": "u", "N_1": "n", "END": "a$", "OWNER_ID": "1001", "MONKEY_ID": "7", "API_KEY": "made-up-secret"}
	for in, want := range map[string]string{
		"${FOO}": "bar", "${A}/${B}": "x/y", "prefix-${FOO}-suffix": "prefix-bar-suffix", "${FOO}:${FOO}": "bar:bar",
		"$${FOO}": "$${FOO}", "${A}/$${LITERAL}": "x/$${LITERAL}", "$${FOO} ${FOO}": "$${FOO} bar", "$VAR": "$VAR", "${lower}": "$${lower}", "${Mixed}": "$${Mixed}",
		"${123}": "$${123}", "${_U}${N_1}": "un", "${MISSING}/x": "${MISSING}/x", "${REF}": "$${BAR}", "${ESC}": "$$${BAR}", "${END}${A}": "${END}x", "$$${A}": "$$${A}",
		"${OWNER_ID}": "1001", "${MONKEY_ID}": "7", "https://x/?k=${API_KEY}": "https://x/?k=${API_KEY}", "plain": "plain", "": "",
	} {
		s, _ := load(t, map[string]string{"openclaw.json": `{"x": {"y": [` + quote(in) + `]}}`}, env, nil)
		list, _ := jsontree.Object(s.Tree["x"])["y"].([]any)
		if len(list) != 1 || list[0] != want {
			t.Errorf("%q: %q, want %q", in, list, want)
		}
	}
}

func quote(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

// Values come from the environment, .env, the env block, and what OpenClaw stored for model providers, in this order.
//
// source: docs.openclaw.ai/help/environment "Precedence", openclaw/openclaw docs/concepts/model-failover.md "Auth storage"
func TestOriginOfVariables(t *testing.T) {
	t.Parallel()
	profile := func(key string) string {
		return `{"version": 1, "profiles": {"groq:default": {"type": "api_key", "provider": "groq", "key": "` + key + `"}}}`
	}
	s, r := load(t, map[string]string{
		"openclaw.json": `{env: {ONE: "block", TWO: "block", THREE: "block", vars: {FOUR: "vars"}}, auth: {order: {mistral: ["mistral:b"]}},
			models: {providers: {deepseek: {apiKey: {source: "env", provider: "default", id: "MY_DEEPSEEK"}}}}}`,
		".env": "# a comment\nexport ONE=file\nTWO='file'\nbroken line made-up-secret\nUNUSED=\"x\"\nMY_DEEPSEEK=file",
		"agents/main/agent/auth-profiles.json": `{"profiles": {"openai:default": {"type": "api_key", "provider": "openai", "key": "main"}, "google:x": {"type": "api_key", "provider": "google", "keyRef": {"source": "env", "provider": "default", "id": "TWO"}},
			"mistral:a": {"type": "api_key", "provider": "mistral", "key": "a"}, "mistral:b": {"type": "api_key", "provider": "mistral", "key": "b"},
			"anthropic:claude-cli": {"type": "oauth", "provider": "anthropic", "access": "made-up-secret"}, "zai:t": {"type": "token", "provider": "zai", "token": "made-up-secret"}}}`,
		"agents/aaa/agent/auth-profiles.json": `{"profiles": {"openai:default": {"type": "api_key", "provider": "openai", "key": "other agent"}}}`,
		"agents/aaa/agent/auth.json":          `{"xai": {"type": "api_key", "key": "old form"}}`,
		"agent/auth-profiles.json":            `not json made-up-secret`,
	}, map[string]string{"ONE": "environment"}, fakeTables{
		"agents/main/agent/openclaw-agent.sqlite auth_profile_store": {{"store_json": profile("database")}},
		"state/openclaw.sqlite config_machine_state":                 {{"state_key": "other", "value_json": profile("wrong")}, {"state_key": "authProfiles.store", "value_json": strings.ReplaceAll(profile("machine"), "groq", "cerebras")}},
		"state/openclaw.sqlite auth_profile_stores":                  {{"store_json": strings.ReplaceAll(profile("shared"), "groq", "together")}},
	})
	for name, want := range map[string]string{"ONE": "environment", "TWO": "file", "THREE": "block", "FOUR": "vars", "OPENAI_API_KEY": "main", "GROQ_API_KEY": "database", "CEREBRAS_API_KEY": "machine",
		"TOGETHER_API_KEY": "shared", "XAI_API_KEY": "old form", "MISTRAL_API_KEY": "b", "GEMINI_API_KEY": "file", "ANTHROPIC_API_KEY": "", "ZAI_API_KEY": "", "MY_DEEPSEEK": "file"} {
		if got := s.Getenv(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	secrets := s.Secrets([]byte("a: ${ONE}\nb: [${OPENAI_API_KEY}, \"x ${MISSING_KEY}\", $${LITERAL}, ${OPTIONAL:-x}]"))
	if len(secrets) != 5 || secrets["TWO"].Reveal() != "file" || secrets["OPENAI_API_KEY"].Reveal() != "main" || secrets["THREE"].Reveal() != "block" || secrets["FOUR"].Reveal() != "vars" {
		t.Errorf("the secrets are %v", secrets)
	}
	if !hasLine(r.NeedsYou, "MISSING_KEY", "no value found") || !hasLine(r.Left, "anthropic:claude-cli", "subscription") || !hasLine(r.Left, "zai:t", "subscription") || !hasLine(r.Left, "agent/auth-profiles.json", "cannot be read") ||
		!hasLine(r.Left, ".env: MY_DEEPSEEK, UNUSED", "no setting") {
		t.Errorf("%+v", r)
	}
	noSecret(t, s, r)
}

// noSecret looks for texts of the tests that are secrets.
func noSecret(t *testing.T, s *Source, r *report.Report) {
	t.Helper()
	b, _ := json.Marshal([]any{r, s.Tree, s.Jobs, s.Workspaces})
	if strings.Contains(string(b), "made-up-secret") {
		t.Errorf("a secret is shown: %s", b)
	}
}

// A configuration that cannot be read refuses nothing.
func TestUnreadable(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`{`, `[]`, `"x"`, "\xff", strings.Repeat("[", 200)} {
		if s, r := load(t, map[string]string{"openclaw.json": text}, nil, nil); s.Tree != nil || s.Name != "openclaw.json" || !hasLine(r.NeedsYou, "openclaw.json", "repair the file") {
			t.Errorf("%q: %v, %+v", text, s.Tree, r)
		}
	}
	if s, r := load(t, nil, nil, nil); s.Name != "" || s.Tree != nil || !hasLine(r.Left, "the configuration", "none") {
		t.Errorf("no file: %+v", r)
	}
	if s, _ := load(t, map[string]string{"clawdbot.json": `{a: 1}`, "moldbot.json": `{a: 2}`}, nil, nil); s.Name != "moldbot.json" {
		t.Errorf("read %s", s.Name)
	}
	dir := t.TempDir()
	if err := os.Symlink("/etc/hostname", filepath.Join(dir, "openclaw.json")); err != nil {
		t.Fatal(err)
	}
	if s, r := loadDir(t, dir, nil, nil); s.Tree != nil || len(r.NeedsYou) != 1 {
		t.Errorf("a link out of the folder was read: %+v", r)
	}
}
