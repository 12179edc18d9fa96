package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"parley/channels"
	"parley/policy"
	"parley/sessions"
	"parley/tools"
)

// telegramLike has the shape of an adapter's struct.
type telegramLike struct {
	Token       channels.Secret `yaml:"token" required:"true" doc:"Token from @BotFather."`
	APIURL      string          `yaml:"apiUrl" default:"https://api.telegram.org" doc:"Where the API is."`
	PollSeconds int             `yaml:"pollSeconds" default:"50" min:"1" max:"50" doc:"Longest poll, in seconds."`
}

func table() Table {
	return Table{
		{Kind: "telegram", New: func() any { return new(telegramLike) }, Pacing: channels.Pacing{PerSecond: 30, PerChatPerSecond: 1, PerGroupPerMinute: 20}},
		{Kind: "webchat", Always: true, Access: &policy.Access{DMPolicy: policy.DMOpen, AllowFrom: []string{"*"}, GroupPolicy: policy.GroupDisabled}},
	}
}

func env(pairs ...string) func(string) string {
	m := map[string]string{"HOME": "/home/u"}
	for i := 0; i+1 < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	return func(k string) string { return m[k] }
}

// load checks a text as the file /etc/parley/config.yaml.
func load(text string, pairs ...string) (*Config, []Problem, error) {
	return Parse("/etc/parley/config.yaml", []byte(text), table(), env(pairs...))
}

func mustLoad(t *testing.T, text string, pairs ...string) *Config {
	t.Helper()
	c, ps, err := load(text, pairs...)
	if err != nil {
		t.Fatalf("load: %v", err)
	}
	for _, p := range ps {
		t.Errorf("unexpected: %s", p)
	}
	return c
}

// fixed are the keys that tools outside rely on.
const fixed = `state: ~/.local/state/parley            # or $PARLEY_STATE
gateway: {listen: 127.0.0.1:18790, token: ${PARLEY_TOKEN}}   # no token configured: one is made
store: {dsn: ""}
models:
  providers:
    mock: {api: openai, baseUrl: http://127.0.0.1:18080/v1, apiKey: x}     # api: openai | anthropic | offline
agents:
  defaults: {model: mock/mock-1, subagents: {archiveAfterMinutes: 60}, sandbox: {sessionToolsVisibility: spawned}}
  list: [{id: main, default: true}]
session: {scope: per-sender, dmScope: owner-main, sendPolicy: {default: allow, rules: []}, agentToAgent: {maxPingPongTurns: 5}}
tools: {sessions: {visibility: tree}, agentToAgent: {enabled: false, allow: []}, subagents: {tools: {deny: []}}}
commands: {ownerAllowFrom: ["telegram:1001"]}
channels:
  telegram: {token: "1234567:abcdefghijklmnopqrst", apiUrl: https://api.telegram.org, dmPolicy: pairing, allowFrom: [], groupPolicy: allowlist, groups: {}, pacing: {perSecond: 30, perChatPerSecond: 1, perGroupPerMinute: 20}}
`

func TestFixedKeysLoad(t *testing.T) {
	t.Parallel()
	for _, token := range []string{"", "t0ken"} {
		c := mustLoad(t, fixed, "PARLEY_TOKEN", token)
		if got := c.Gateway.Token.Reveal(); got != token {
			t.Errorf("gateway.token = %q, want %q", got, token)
		}
		if c.State != "/home/u/.local/state/parley" {
			t.Errorf("state = %q", c.State)
		}
		if c.Models.Providers["mock"].APIKey.Reveal() != "x" || c.Models.Providers["mock"].FirstByte != 120 {
			t.Errorf("provider = %+v", c.Models.Providers["mock"])
		}
		tg := c.Channels[0]
		want := telegramLike{Token: channels.NewSecret("1234567:abcdefghijklmnopqrst"), APIURL: "https://api.telegram.org", PollSeconds: 50}
		if *tg.Adapter.(*telegramLike) != want || tg.ID != "default" || tg.Line != 14 {
			t.Errorf("account = %+v", tg)
		}
	}
}

func TestDefaultsAreThoseOfTheFixedKeys(t *testing.T) {
	t.Parallel()
	c := Default(table(), env())
	for _, x := range []struct {
		key       string
		got, want any
	}{
		{"listen", c.Gateway.Listen, "127.0.0.1:18790"},
		{"archive", c.Agents.Defaults.Subagents.ArchiveAfterMinutes, 60},
		{"clamp", c.Agents.Defaults.Sandbox.SessionToolsVisibility, "spawned"},
		{"agents", len(c.Agents.List), 1},
		{"main", c.Agents.List[0].ID, mainAgent},
		{"scope", c.Session.Scope, sessions.PerSender},
		{"dmScope", c.Session.DMScope, sessions.OwnerMain},
		{"send policy", c.Session.SendPolicy.Default, policy.Allow},
		{"turns", c.Session.AgentToAgent.MaxPingPongTurns, 5},
		{"visibility", c.Tools.Sessions.Visibility, tools.VisibleTree},
		{"agent to agent", c.Tools.AgentToAgent.Enabled, false},
		{"ambiguous", c.Delivery.Ambiguous, Resend},
		{"ttl", c.Delivery.TTL, TTL{60, 1440, 360}},
		{"log", c.Log, Log{"info", "auto"}},
		{"channels", len(c.Channels), 1},
		{"webchat", c.Channels[0].Kind, channels.Kind("webchat")},
		{"webchat access", c.Channels[0].Access.DMPolicy, policy.DMOpen},
		{"state", c.State, "/home/u/.local/state/parley"},
	} {
		if !cmp.Equal(x.got, x.want) {
			t.Errorf("%s: got %v, want %v", x.key, x.got, x.want)
		}
	}
}

func TestEmptyFilesAreDefaults(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "\n\n", "# nothing\n", "---\n", "channels:\nsession:\n  sendPolicy:\n    rules:\n", "\ufeff# bom\n"} {
		c := mustLoad(t, text)
		d := Default(table(), env())
		d.Path = c.Path
		if got := differences(d, c); len(got) > 0 {
			t.Errorf("%q differs from the defaults in %v", text, got)
		}
	}
}

func TestStateFolder(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		name, text string
		env        []string
		want       string
	}{
		{"default", "", nil, "/home/u/.local/state/parley"},
		{"variable", "", []string{"PARLEY_STATE", "/srv/p"}, "/srv/p"},
		{"variable with ~", "", []string{"PARLEY_STATE", "~/p"}, "/home/u/p"},
		{"file wins", "state: /a/b\n", []string{"PARLEY_STATE", "/srv/p"}, "/a/b"},
		{"relative to the file", "state: data/../x\n", nil, "/etc/parley/x"},
		{"~", "state: ~/x\n", nil, "/home/u/x"},
		{"only ~ in quotes", "state: '~'\n", nil, "/home/u"},
		{"reference", "state: ${D}/x\n", []string{"D", "/d"}, "/d/x"},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			if got := mustLoad(t, x.text, x.env...).State; got != x.want {
				t.Errorf("got %s, want %s", got, x.want)
			}
		})
	}
}

func TestUnreadableFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name string, data []byte) string {
		p := filepath.Join(dir, name)
		if err := os.WriteFile(p, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return p
	}
	for _, x := range []struct {
		name, path, want string
		is               error
	}{
		{"missing", filepath.Join(dir, "no.yaml"), "no such file", fs.ErrNotExist},
		{"folder", dir, "is a directory", nil},
		{"10 MB", write("big.yaml", slices.Repeat([]byte("# 3456789\n"), 1<<20)), "is larger than 1024 KiB", nil},
		{"binary", write("bin.yaml", []byte{0x7f, 'E', 'L', 'F', 0, 1}), "not a text file", nil},
		{"Latin-1", write("latin.yaml", []byte("state: /caf\xe9\n")), "not a text file", nil},
		{"UTF-16", write("utf16.yaml", []byte("\xff\xfes\x00t\x00")), "not a text file", nil},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			c, ps, err := Load(x.path, table(), env())
			if c != nil || err == nil || len(ps) != 1 {
				t.Fatalf("got %v, %v, %v", c, ps, err)
			}
			if !strings.Contains(err.Error(), x.want) || !strings.HasPrefix(err.Error(), x.path+": ") {
				t.Errorf("got %q, want it to name the file and say %q", err, x.want)
			}
			if x.is != nil && !errors.Is(err, x.is) {
				t.Errorf("%v is not %v", err, x.is)
			}
		})
	}
}
