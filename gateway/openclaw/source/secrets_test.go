package source

import (
	"os"
	"path/filepath"
	"testing"

	"parley/gateway/openclaw/jsontree"
)

// Every way to write a secret becomes a reference. What has a value in the folder keeps it, all else is asked for.
//
// source: openclaw/openclaw docs/gateway/secrets/secretref-contract.md, docs/reference/secretref-credential-surface.md, docs/channels/discord.md, docs/channels/telegram.md (tokenFile)
func TestSecrets(t *testing.T) {
	t.Parallel()
	files := map[string]string{"secrets.json": `{"providers": {"openai": {"apiKey": "made-up-secret"}}, "a/b": {"~": "made-up-secret"}}`, "secrets/one.txt": "made-up-secret\n", "secrets/telegram.token": "123:made-up-secret\n"}
	providers := `secrets: {providers: {all: {source: "file", path: "~/.openclaw/secrets.json"}, one: {source: "file", path: "~/.openclaw/secrets/one.txt", mode: "singleValue"}, far: {source: "file", path: "/run/secrets/x"},
		vault: {source: "exec", command: "/usr/local/bin/resolver", args: ["--token", "made-up-secret"]}}}, `
	const known, asked, none = "made-up-secret", "", "-"
	for in, want := range map[string]struct{ ref, value string }{
		`{channels: {discord: {token: "made-up-secret"}}}`:                                                             {"DISCORD_TOKEN", known},
		`{channels: {telegram: {botToken: " made-up-secret "}}}`:                                                       {"TELEGRAM_TOKEN", known},
		`{channels: {telegram: {accounts: {Work: {botToken: "made-up-secret"}}}}}`:                                     {"TELEGRAM_WORK_TOKEN", known},
		`{telegram: {token: "made-up-secret"}}`:                                                                        {"TELEGRAM_TOKEN", known},
		`{channels: {discord: {token: "${MY_TOKEN}"}}}`:                                                                {"MY_TOKEN", asked},
		`{channels: {discord: {token: "${env:MY_TOKEN}"}}}`:                                                            {"MY_TOKEN", asked},
		`{channels: {discord: {token: "${MY_TOKEN:-}"}}}`:                                                              {"MY_TOKEN", asked},
		`{channels: {discord: {token: "$MY_TOKEN"}}}`:                                                                  {"MY_TOKEN", asked},
		`{channels: {discord: {token: {source: "env", provider: "default", id: "DISCORD_BOT_TOKEN"}}}}`:                {"DISCORD_BOT_TOKEN", asked},
		`{channels: {discord: {token: {source: "env", id: "KNOWN"}}}}`:                                                 {"KNOWN", known},
		`{channels: {discord: {token: {source: "exec", provider: "vault", id: "discord/token"}}}}`:                     {"DISCORD_TOKEN", asked},
		`{channels: {discord: {token: {source: "store", provider: "default", id: "DISCORD"}}}}`:                        {"DISCORD_TOKEN", asked},
		`{channels: {discord: {token: {source: "file", provider: "far", id: "value"}}}}`:                               {"DISCORD_TOKEN", asked},
		`{channels: {discord: {token: {source: "file", provider: "unknown", id: "value"}}}}`:                           {"DISCORD_TOKEN", asked},
		`{channels: {discord: {token: {source: "file", provider: "one", id: "value"}}}}`:                               {"DISCORD_TOKEN", known},
		`{models: {providers: {openai: {apiKey: {source: "file", provider: "all", id: "/providers/openai/apiKey"}}}}}`: {"OPENAI_API_KEY", known},
		`{models: {providers: {openai: {apiKey: {source: "file", provider: "all", id: "/a~1b/~0"}}}}}`:                 {"OPENAI_API_KEY", known},
		`{models: {providers: {openai: {apiKey: {source: "file", provider: "all", id: "/providers"}}}}}`:               {"OPENAI_API_KEY", asked},
		`{models: {providers: {openai: {apiKey: "OPENAI_API_KEY"}}}}`:                                                  {"OPENAI_API_KEY", asked},
		`{models: {providers: {openai: {apiKey: "secretref-env:OPENAI_API_KEY"}}}}`:                                    {"OPENAI_API_KEY", asked},
		`{models: {providers: {openai: {apiKey: "made-up-secret", headers: {}}}}}`:                                     {"OPENAI_API_KEY", known},
		`{models: {providers: {"4me": {apiKey: "made-up-secret"}}}}`:                                                   {"_4ME_API_KEY", known},
		`{models: {providers: {house: {headers: {"X-Auth-Token": "made-up-secret"}}}}}`:                                {"HOUSE_X_AUTH_TOKEN", known},
		`{models: {providers: {house: {headers: {Authorization: "Bearer ${HOUSE}"}}}}}`:                                {"HOUSE", asked},
		`{models: {providers: {house: {headers: {"X-Team": "bees"}}}}}`:                                                {none, none},
		`{models: {providers: {openai: {apiKey: "<your key>"}}}}`:                                                      {"OPENAI_API_KEY", asked},
		`{models: {providers: {openai: {apiKey: "YOUR_API_KEY"}}}}`:                                                    {"OPENAI_API_KEY", asked},
		`{models: {providers: {openai: {apiKey: "__OPENCLAW_REDACTED__"}}}}`:                                           {"OPENAI_API_KEY", asked},
		`{models: {providers: {openai: {apiKey: "minimax-oauth"}}}}`:                                                   {none, none},
		`{channels: {telegram: {tokenFile: "~/.openclaw/secrets/telegram.token", botToken: "old"}}}`:                   {"TELEGRAM_TOKEN", "123:" + known},
		`{channels: {telegram: {tokenFile: "/run/secrets/telegram"}}}`:                                                 {"TELEGRAM_TOKEN", asked},
		`{channels: {telegram: {dmPolicy: "allowlist", allowFrom: ["1001"]}}}`:                                         {"TELEGRAM_BOT_TOKEN", asked},
		`{channels: {discord: {accounts: {default: {}, b: {token: "${B}"}}}}}`:                                         {"DISCORD_BOT_TOKEN", asked},
		`{channels: {telegram: {enabled: false}}}`:                                                                     {none, none},
		`{channels: {telegram: {accounts: {b: {}}}}}`:                                                                  {none, none},
		`{mcp: {servers: {gh: {command: "x", env: {GITHUB_TOKEN: "made-up-secret", HOME: "/h"}}}}}`:                    {"GITHUB_TOKEN", known},
		`{mcp: {servers: {gh: {command: "x", env: {MY_KEY_ID: "made-up-secret", LANG: "C"}}}}}`:                        {"MY_KEY_ID", known},
		`{mcp: {servers: {gh: {command: "x", env: {GITHUB_TOKEN: "${GITHUB_TOKEN}"}}}}}`:                               {"GITHUB_TOKEN", asked},
		`{mcp: {servers: {far: {url: "https://x.example", headers: {Authorization: "Bearer made-up-secret"}}}}}`:       {"FAR_AUTHORIZATION", "Bearer " + known},
		`{mcp: {servers: {gh: {command: "x", args: ["--api-key", "made-up-secret", "-v"]}}}}`:                          {"GH_ARGS", known},
		`{mcp: {servers: {gh: {command: "x", args: ["--api-key=made-up-secret"]}}}}`:                                   {"GH_ARGS", known},
		`{hooks: {token: "made-up-secret"}, gateway: {auth: {token: "${GATEWAY}"}}}`:                                   {"HOOKS_TOKEN", known},
		`{hooks: {token: "ALL_CAPITALS"}}`:                                                                             {"HOOKS_TOKEN", "ALL_CAPITALS"},
		`{tools: {web: {search: {apiKey: "${PART}made-up-secret"}}}}`:                                                  {"TOOLS_WEB_SEARCH_API_KEY", "p" + known},
	} {
		with := map[string]string{"openclaw.json": "{" + providers + in[1:]}
		for n, c := range files {
			with[n] = c
		}
		s, r := load(t, with, map[string]string{"KNOWN": "made-up-secret", "PART": "p"}, nil)
		refs := map[string]bool{}
		for _, m := range reference.FindAllString(textOf(s.Tree), -1) {
			refs[m[2:len(m)-1]] = true
		}
		if want.ref != none && !refs[want.ref] || want.ref == none && len(refs) > 0 && !refs["B"] {
			t.Errorf("%s: the references are %v, want %s: %v", in, refs, want.ref, s.Tree)
		}
		if want.ref != none {
			if got := s.Getenv(want.ref); got != want.value {
				t.Errorf("%s: %s is %q, want %q", in, want.ref, got, want.value)
			}
			if s.Secrets([]byte("${" + want.ref + "}")); (want.value == asked) != hasLine(r.NeedsYou, "variable "+want.ref, "no value found") {
				t.Errorf("%s: %+v", in, r.NeedsYou)
			}
		}
		noSecret(t, s, r)
	}
}

func textOf(v any) string {
	b, _ := marshal(v)
	return string(b)
}

// A secret never takes the name of a variable with another value: the host would use that one.
func TestNamesOfSecretsAreFree(t *testing.T) {
	t.Parallel()
	s, _ := load(t, map[string]string{"openclaw.json": `{channels: {discord: {token: "config", accounts: {b: {token: "other"}}}, telegram: {botToken: "same"}}}`, ".env": "DISCORD_B_TOKEN=file\nTELEGRAM_TOKEN=same"},
		map[string]string{"DISCORD_TOKEN": "environment"}, nil)
	sameTree(t, s.Tree, `{channels: {discord: {token: "${DISCORD_TOKEN_2}", accounts: {b: {token: "${DISCORD_B_TOKEN_2}"}}}, telegram: {botToken: "${TELEGRAM_TOKEN}"}}}`)
}

// A value that the file of variables cannot hold refuses nothing: a person is asked for it.
func TestSecretOfSeveralLines(t *testing.T) {
	t.Parallel()
	s, r := load(t, map[string]string{"openclaw.json": `{channels: {discord: {token: "made-up-secret\nsecond line"}, telegram: {botToken: "'\""}}}`}, nil, nil)
	if got := s.Secrets([]byte("${DISCORD_TOKEN} ${TELEGRAM_TOKEN}")); len(got) > 0 || !hasLine(r.NeedsYou, "variable DISCORD_TOKEN", "several lines") || !hasLine(r.NeedsYou, "variable TELEGRAM_TOKEN", "quotes") {
		t.Errorf("%v, %+v", got, r)
	}
	noSecret(t, s, r)
}

// Local servers need no key, whatever OpenClaw's setup or a guide wrote there.
//
// source: openclaw/openclaw docs/providers/ollama.md, src/agents/model-auth-markers.ts
func TestLocalServersNeedNoKey(t *testing.T) {
	t.Parallel()
	for base, local := range map[string]bool{"http://127.0.0.1:11434": true, "http://localhost:1234/v1": true, "http://192.168.1.5:8000": true, "http://10.0.0.2": true, "http://100.101.2.3:11434": true, "http://ollama:11434": true,
		"http://host.docker.internal:1": true, "http://nas.local": true, "http://[::1]:1": true, "${LOCAL}": true, "https://api.example.com": false, "http://8.8.8.8": false} {
		for key, dummy := range map[string]bool{`"ollama-local"`: true, `"OLLAMA_API_KEY"`: true, `"${OLLAMA_API_KEY}"`: true, `"not-needed"`: true, `"lm-studio"`: true, `"made-up-secret"`: false, `"${REAL}"`: false} {
			s, _ := load(t, map[string]string{"openclaw.json": `{models: {providers: {box: {baseUrl: "` + base + `", apiKey: ` + key + `}}}}`}, map[string]string{"LOCAL": "http://127.0.0.1:1", "REAL": "made-up-secret"}, nil)
			set := jsontree.Object(jsontree.Object(jsontree.Object(s.Tree["models"])["providers"])["box"])
			has := set["apiKey"] != nil && set["apiKey"] != ""
			if want := !(local && dummy) && !(key == `"ollama-local"`); has != want {
				t.Errorf("%s %s: a key is %v, want %v", base, key, has, want)
			}
		}
	}
	s, _ := load(t, map[string]string{"openclaw.json": `{models: {providers: {ollama: {apiKey: "OLLAMA_API_KEY"}}}}`}, nil, nil)
	sameTree(t, s.Tree, `{models: {providers: {ollama: {apiKey: ""}}}}`)
	s, _ = load(t, map[string]string{"openclaw.json": `{models: {providers: {box: {baseUrl: "http://ollama:11434"}}}}`}, nil, nil)
	sameTree(t, s.Tree, `{models: {providers: {box: {baseUrl: "http://ollama:11434", apiKey: ""}}}}`)
}

// A file of secrets is read inside the folder only, and only a plain file.
func TestSecretFilesStayInside(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	outside := filepath.Join(t.TempDir(), "x")
	if err := os.WriteFile(outside, []byte("made-up-secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(dir, ".env")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{outside, "link", "../" + filepath.Base(filepath.Dir(outside)) + "/x", "folder", "missing", ""} {
		if err := os.WriteFile(filepath.Join(dir, "openclaw.json"), []byte(`{channels: {telegram: {tokenFile: `+quote(name)+`}}}`), 0o600); err != nil {
			t.Fatal(err)
		}
		s, r := loadDir(t, dir, nil, nil)
		if v := s.Getenv("TELEGRAM_TOKEN"); v != "" {
			t.Errorf("%q gave %q", name, v)
		}
		noSecret(t, s, r)
	}
}

// FuzzVariables: a text in any place is given back as it was, with variables filled in; nothing of a secret place stays in the tree.
func FuzzVariables(f *testing.F) {
	for _, s := range []string{"${A}", "$${A}", "$$${A}", "${A}${B}", "a$", "${a}", "$A", "<x>", "Bearer ${A}", "\x00", "${"} {
		f.Add(s, "x")
	}
	f.Fuzz(func(t *testing.T, text, value string) {
		s := newVariables(Folder{Getenv: func(name string) string {
			if name == "A" {
				return value
			}
			return ""
		}}, "")
		out := s.substitute(text, false)
		if again := s.substitute(text, false); again != out {
			t.Errorf("%q and %q", out, again)
		}
		if want, got := reading(text, map[string]string{"A": value}), parley(out, map[string]string{"A": value}); want != got {
			t.Errorf("%q: OpenClaw reads %q, parley %q of %q", text, want, got, out)
		}
	})
}
