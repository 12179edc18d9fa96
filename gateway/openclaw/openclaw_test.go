package openclaw

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"parley/agent"
	"parley/channels"
	"parley/gateway/config"
	"parley/gateway/openclaw/history"
	"parley/gateway/openclaw/report"
	"parley/policy"
	"parley/sessions"
	"parley/sessions/sqlstore"
)

// The channels of the tests. The adapters' own are tried in cmd/parley.
type fields struct {
	Token        channels.Secret `yaml:"token"`
	ReadReceipts bool            `yaml:"readReceipts" default:"true"`
}

func table() config.Table {
	var t config.Table
	for _, k := range []channels.Kind{"telegram", "discord", "whatsapp"} {
		t = append(t, config.Adapter{Kind: k, New: func() any { return &fields{} }, Chat: func(s string) (channels.ChatID, error) {
			if strings.Trim(s, "-0123456789") != "" && !strings.HasSuffix(s, "@g.us") {
				return "", fmt.Errorf("%q is no chat", s)
			}
			return channels.ChatID(s), nil
		}})
	}
	return t
}

func none(string) string { return "" }

func fixture(t *testing.T) *Result {
	t.Helper()
	return read(t, "testdata/state")
}

func read(t *testing.T, dir string) *Result {
	t.Helper()
	r, err := Read(t.Context(), dir, table(), none, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// TestKeys: every form of key there is.
func TestKeys(t *testing.T) {
	t.Parallel()
	got := map[sessions.Key]bool{}
	for _, s := range fixture(t).Sessions {
		got[s.Session.Key] = true
	}
	u := func(n int) string { return fmt.Sprintf("%08x-0000-4000-8000-000000000000", n) }
	want := []sessions.Key{
		"agent:main:main", "agent:main:main:thread:9", "agent:main:direct:1001", "agent:main:telegram:direct:1001", "agent:main:telegram:work:direct:1001",
		"agent:main:telegram:group:-100500", "agent:main:telegram:group:-100500:topic:7", "agent:main:discord:channel:41771983423143937", "agent:main:discord:group:41771983423143939",
		"agent:main:slack:channel:c123:thread:1700000000.0001", "agent:main:whatsapp:group:120363000000000001@g.us", "agent:main:whatsapp:direct:+4915123456789",
		"agent:main:cron:daily", "agent:main:cron:daily%3Arun%3Ar1", sessions.Key("agent:main:hook:" + u(70)), "agent:main:node-kitchen", "agent:main:node-hall",
		sessions.SubagentKey("main", u(71)), sessions.SubagentKey("main", u(72)), sessions.Key("agent:main:openai:owner/" + u(73)), "agent:main:openai:owner/ada",
		"agent:main:cron:weekly", "agent:helper:main",
	}
	for _, k := range want {
		if !got[k] {
			t.Errorf("there is no %s", k)
		}
		delete(got, k)
		if _, err := k.Parse(); err != nil {
			t.Error(err)
		}
	}
	for k := range got {
		t.Errorf("there is %s", k)
	}
}

func find(t *testing.T, r *Result, k sessions.Key) history.Imported {
	t.Helper()
	i := slices.IndexFunc(r.Sessions, func(x history.Imported) bool { return x.Session.Key == k })
	if i < 0 {
		t.Fatalf("there is no %s", k)
	}
	return r.Sessions[i]
}

func messages(t *testing.T, x history.Imported) []sessions.Message {
	t.Helper()
	msgs, err := x.Messages(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return msgs
}

func TestSession(t *testing.T) {
	t.Parallel()
	r := fixture(t)
	x := find(t, r, "agent:main:main")
	want := sessions.Session{Key: "agent:main:main", ID: "00000001-0000-4000-8000-000000000000", Agent: "main", Label: "My home", Updated: time.UnixMilli(1700000000000).UTC(),
		Last:     channels.Address{Channel: "telegram", Account: "default", Chat: "1001", Type: channels.Direct},
		Settings: sessions.Settings{SendPolicy: policy.Override("deny"), Model: "openai/gpt-5.1", Thinking: "high", Queue: sessions.Queue{Mode: "steer"}}}
	if d := cmp.Diff(want, x.Session); d != "" {
		t.Error(d)
	}
	var lines []string
	told := messages(t, x)
	for _, m := range told {
		line := string(m.Role) + " " + m.Text()
		for _, c := range m.ToolCalls() {
			line += fmt.Sprintf(" %s(%s)", c.Name, c.Arguments)
		}
		lines = append(lines, fmt.Sprintf("%s @%d", line, m.Time.Unix()-1700000000))
	}
	story := []string{"user What grows in the garden? @0", `assistant Let me look. read({"path": "garden.md"}) @1`, "toolResult beans @2", "assistant Beans. @3", "user Tell the others. @4",
		"assistant  say({}) @5", "toolResult No result was recorded. @8", "user Thanks @8"}
	if d := cmp.Diff(story, lines); d != "" {
		t.Error(d)
	}
	if p := told[4].Provenance; p == nil || p.Kind != sessions.InterSession || p.Source != "agent:main:telegram:group:-100500" || p.Tool != "sessions_send" {
		t.Errorf("provenance: %+v", p)
	}
	if u := told[1].Usage; u == nil || u.Input != 13 || u.Output != 5 || told[1].Model != "anthropic/claude" {
		t.Errorf("usage: %+v of %s", u, told[1].Model)
	}
	if s := find(t, r, sessions.SubagentKey("main", "00000048-0000-4000-8000-000000000000")).Session; s.SpawnedBy != sessions.SubagentKey("main", "00000047-0000-4000-8000-000000000000") {
		t.Errorf("a sub-agent of %q", s.SpawnedBy)
	}
	if slices.ContainsFunc(r.Report.Left, func(i report.Item) bool { return strings.Contains(i.What, "topic-7.jsonl") }) {
		t.Error("the file of a topic was not found")
	}
	if s := find(t, r, "agent:main:telegram:group:-100500:topic:7").Session; s.Last.String() != "telegram/default/group/-100500/7" {
		t.Errorf("the chat of a topic: %s", s.Last)
	}
}

func TestConfiguration(t *testing.T) {
	t.Parallel()
	r := fixture(t)
	lookup := func(n string) string {
		if slices.Contains(r.Needs, n) {
			return "d"
		}
		return r.Secrets[n].Reveal()
	}
	c, _, err := config.Parse("x.yaml", r.Config, table(), lookup)
	if err != nil {
		t.Fatalf("%v in\n%s", err, r.Config)
	}
	byKind := map[channels.Kind]config.Account{}
	for _, a := range c.Channels {
		byKind[a.Kind] = a
	}
	tg := byKind["telegram"]
	if tg.Adapter.(*fields).Token.Reveal() != "123456:made-up-secret" || !slices.Equal(tg.Access.AllowFrom, []string{"1001", "2002"}) {
		t.Errorf("telegram: %+v", tg.Access.AllowFrom)
	}
	if g := tg.Access.Groups; len(g) != 2 || *g["-100500"].RequireMention || g["-100500"].Topics["7"].SystemPrompt != "About bees." {
		t.Errorf("groups: %+v", g)
	}
	if d := byKind["discord"]; d.Access.DMPolicy != policy.DMAllowlist || len(d.Access.Groups) != 1 || d.Adapter.(*fields).Token.Reveal() != "d" {
		t.Errorf("discord: %+v", d)
	}
	if w := byKind["whatsapp"]; w.ID != "home" || w.Adapter.(*fields).ReadReceipts || len(w.Access.Groups) != 1 {
		t.Errorf("whatsapp: %+v", w)
	}
	if c.Session.DMScope != "per-peer" || c.Session.Reset.AtHour != 5 || c.Session.ResetByType["direct"].IdleMinutes != 120 || len(c.Session.SendPolicy.Rules) != 2 || len(c.Session.IdentityLinks["ada"]) != 2 {
		t.Errorf("session: %+v", c.Session)
	}
	if len(c.Agents.List) != 2 || c.Agents.List[0].Name != "Ada" || c.Agents.List[1].ID != "helper-two" || c.Agents.Defaults.Subagents.ArchiveAfterMinutes != 30 {
		t.Errorf("agents: %+v", c.Agents)
	}
	if len(c.Bindings) != 1 || c.Bindings[0].AgentID != "helper-two" || c.Bindings[0].Match.Peer.Kind != channels.Direct {
		t.Errorf("bindings: %+v", c.Bindings)
	}
}

// TestModels: models that parley can ask come over with their providers, keys only as variables.
func TestModels(t *testing.T) {
	t.Parallel()
	r := fixture(t)
	if want := []string{"ANTHROPIC_API_KEY", "DISCORD_BOT_TOKEN", "OPENROUTER_API_KEY"}; !slices.Equal(r.Needs, want) {
		t.Errorf("it needs %q", r.Needs)
	}
	if got := r.Secrets["HOUSE_API_KEY"].Reveal(); got != "house-made-up-secret" {
		t.Errorf("the key of a provider: %q", got)
	}
	c, problems, err := config.Parse("x.yaml", r.Config, table(), func(n string) string {
		if slices.Contains(r.Needs, n) {
			return "key-of-" + n
		}
		return r.Secrets[n].Reveal()
	})
	if err != nil || len(problems) > 0 {
		t.Fatalf("%v, %v in\n%s", err, problems, r.Config)
	}
	d, ps := c.Agents.Defaults, c.Models.Providers
	if d.Model != "anthropic/claude" || !slices.Equal(d.Fallbacks, []string{"openrouter/bees/b-1"}) || d.Subagents.Model != "house/small" || d.Thinking != "low" {
		t.Errorf("defaults: %+v", d)
	}
	if l := c.Agents.List; l[0].Model != "box/tiny" || l[1].Model != "" || !strings.HasSuffix(l[0].Workspace, "openclaw-workspace") || l[1].Workspace != "/nowhere" {
		t.Errorf("agents: %+v", l)
	}
	if h := ps["house"]; h.API != "openai-responses" || h.BaseURL != "https://models.example/v1" || h.APIKey.Reveal() != "house-made-up-secret" || !reflect.DeepEqual(h.Models["small"], agent.ModelFacts{ContextWindow: 32000, Input: 1.5, Output: 3, NoImages: true,
		ModelSettings: agent.ModelSettings{Tools: "off", Reasoning: agent.Reasoning{Levels: []string{"none", "high"}, SendBack: "on"}}}) || h.Headers["X-Team"].Reveal() != "bees" || h.Headers["X-Auth-Token"].Reveal() != "header-made-up-secret" {
		t.Errorf("house: %+v", h)
	}
	if len(ps) != 4 || ps["anthropic"].API != "anthropic" || ps["anthropic"].APIKey.Reveal() != "key-of-ANTHROPIC_API_KEY" || ps["openrouter"].BaseURL == "" || !ps["box"].APIKey.IsZero() {
		t.Errorf("providers: %+v", ps)
	}
}

// TestReport: everything is in one of its three parts, and no secret is.
func TestReport(t *testing.T) {
	t.Parallel()
	r := fixture(t)
	b, err := json.Marshal(r.Report)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(b, []byte("made-up-secret")) || bytes.Contains(r.Config, []byte("made-up-secret")) {
		t.Errorf("a secret is shown: %s", b)
	}
	has := func(part []report.Item, what, why string) {
		t.Helper()
		if !slices.ContainsFunc(part, func(i report.Item) bool { return strings.Contains(i.What, what) && strings.Contains(i.Why, why) }) {
			t.Errorf("no %q (%s) in %+v", what, why, part)
		}
	}
	has(r.Report.Carried, "session agent:main:home → agent:main:main, 8 messages", "")
	has(r.Report.Carried, "channels.telegram.botToken", "")
	has(r.Report.Different, "openai-user:ada", "own token")
	has(r.Report.Carried, "pairing on telegram, account default: 2 people", "pairing list")
	has(r.Report.NeedsYou, "channels.telegram.allowFrom: @Grace", "not by name")
	has(r.Report.NeedsYou, "channels: general", "by id")
	has(r.Report.Carried, "agents.defaults.model.fallbacks[0] → openrouter/bees/b-1", "")
	has(r.Report.Different, "agents.list.Helper Two.workspace", "does not exist")
	has(r.Report.Carried, "models.providers.house", "")
	has(r.Report.Left, "models.providers.house.models.small.compat.supportsStore", "detects this")
	has(r.Report.Different, "entries of other roles (1)", "left out")
	has(r.Report.Different, "summaries (1)", "messages")
	has(r.Report.Different, "tool calls without a result (1)", "")
	has(r.Report.NeedsYou, "session broken row", "cannot be read")
	has(r.Report.NeedsYou, "agents.list.Helper Two.model vertex/gem", "google-generative-ai")
	has(r.Report.NeedsYou, "job Morning brief", `parley cron add '--name=Morning brief' '--cron=0 7 * * 1-5' --zone=Europe/Berlin --agent=helper-two --to=telegram/default/direct/1001 -- 'Say what'\''s new.'`)
	for what, why := range map[string]string{
		"channels.slack": "no such channel", "bindings[1]": "slack", "gateway": "its own token", "tools.exec": "other tools",
		"sessions (2): acp:x, agent:main:acp:y": "ACP", "telegram:slash:77": "slash", "sessions (1): unknown": "does not know", "sessions (1): global": "not global",
		"agent:main:something": "no key", "2 lines of its transcript": "keep the file", "transcripts of sessions that were reset or deleted (1)": "keep", "model lonely-model": "no provider",
		"agents.defaults.model.fallbacks[1] openai-codex/gpt": "subscription", "agents.defaults.model.fallbacks[2] lonely": "no provider",
		"models.providers.lost": "address", "models.providers.spare": "no agent uses", "models.mode": "",
	} {
		has(r.Report.Left, what, why)
	}
}

// TestIntoTheStore: sessions come in with their times, without work, once.
func TestIntoTheStore(t *testing.T) {
	t.Parallel()
	s, err := sqlstore.Open(t.Context(), sqlstore.Config{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	r := fixture(t)
	stored, err := r.Store(t.Context(), s, nil)
	if err != nil || stored.New != len(r.Sessions) || stored.Messages != r.Report.Messages {
		t.Fatalf("%+v of %d sessions, %v", stored, len(r.Sessions), err)
	}
	if again, err := r.Store(t.Context(), s, nil); err != nil || again.Same != len(r.Sessions) || again.Messages != 0 {
		t.Errorf("once more: %+v, %v", again, err)
	}
	x := find(t, r, "agent:main:main")
	got, err := s.Get(t.Context(), "agent:main:main")
	if err != nil || !got.Updated.Equal(x.Session.Updated) || got.Settings.Model != "openai/gpt-5.1" || got.ID != x.Session.ID {
		t.Errorf("%+v, %v", got, err)
	}
	msgs, err := s.Tail(t.Context(), got.ID, sessions.TailQuery{IncludeTool: true})
	if err != nil || len(msgs) != 8 || !msgs[0].Time.Equal(time.UnixMilli(1700000000000)) {
		t.Errorf("%d messages, %v", len(msgs), err)
	}
	hits, err := s.Search(t.Context(), sessions.SearchQuery{Text: "beans"})
	if err != nil || len(hits) == 0 {
		t.Errorf("found: %v, %v", hits, err)
	}
	for range 2 { // it is safe to repeat
		if _, err := r.KeepPaired(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	if p, err := s.Admitted(t.Context()); err != nil || len(p) != 2 || p[0].Channel != "telegram" || p[0].Account != channels.DefaultAccount || p[0].User != "1001" || p[1].User != "3003" {
		t.Errorf("paired people: %+v, %v", p, err)
	}
	keys, open, err := s.Recover(t.Context())
	if err != nil || len(keys)+len(open) > 0 {
		t.Errorf("work came with them: %v, %v, %v", keys, open, err)
	}
	if n, err := s.CountDeliveries(t.Context(), sessions.DeliveryQuery{}); err != nil || len(n) > 0 {
		t.Errorf("something is to be sent: %v, %v", n, err)
	}
}

// TestSmallFolder: variables go into the file of secrets and are no secret of a report; what has no transcript is in one line of it, and what
// cannot be read is told in words.
func TestSmallFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, content := range map[string]string{
		"openclaw.json": `{"env": {"HOUSE_KEY": "made-up-secret", "shellEnv": {"enabled": true}, "vars": {"OTHER": "made-up-secret", "TELEGRAM_TOKEN": "another", "odd name": "x", "REF": "${X}"}},
			"channels": {"telegram": {"botToken": "made-up-secret"}}}`,
		"credentials/telegram-allowFrom.json": `["1"]`,
		"agents/main/sessions/sessions.json":  `{"agent:main:cron:j1": {"sessionId": "00000001-0000-4000-8000-000000000000"}}`,
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r := read(t, dir)
	if got := slices.Sorted(maps.Keys(r.Secrets)); !slices.Equal(got, []string{"HOUSE_KEY", "OTHER", "TELEGRAM_TOKEN", "TELEGRAM_TOKEN_2"}) || r.Secrets["TELEGRAM_TOKEN_2"].Reveal() != "made-up-secret" || r.Secrets["OTHER"].Reveal() != "made-up-secret" {
		t.Errorf("the secrets are %v", got)
	}
	for _, items := range [][]report.Item{r.Report.NeedsYou, r.Report.Different} {
		for i := range items {
			if items[i].What == "defaults" || slices.Contains(r.Report.NeedsYou, items[i]) { // tried in the package convert
				items[i].Why = ""
			}
		}
	}
	want := report.Report{NeedsYou: []report.Item{item("a language model", ""), item("commands.ownerAllowFrom", "")}, OpenToMore: []report.Item{}, Also: []report.Item{}, Carried: []report.Item{item("channels.telegram.botToken", "")}, Sessions: 1,
		Different: []report.Item{item("channels.telegram.groups", "OpenClaw ignores Telegram groups that are not listed, and none is: groupPolicy is disabled"), item("defaults", ""), item("env.HOUSE_KEY", "it is in the file .env beside the configuration"), item("env.vars.OTHER", "it is in the file .env beside the configuration"),
			item("env.vars.TELEGRAM_TOKEN", "it is in the file .env beside the configuration"),
			item("session agent:main:cron:j1 → agent:main:cron:j1, 0 messages", "there is no file of its transcript"),
			item("session.dmScope", "the main conversation belongs to the owners; everybody else has a session of their own. Set it to main to share one session")},
		Left: []report.Item{item("credentials/telegram-allowFrom.json", `it is not {"allowFrom": ["…"]}: let these people pair again`), item("env.shellEnv", besides),
			item("env.vars.REF", besides), item("env.vars.odd name", besides)}}
	if diff := cmp.Diff(want, r.Report); diff != "" {
		t.Error(diff)
	}
}

// Each thing that a person must do is one line, whatever found it.
func TestOneLineForEachThing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "openclaw.json"), []byte(`{"channels": {"discord": {"token": 5, "allowFrom": ["80351110224678912", "80351110224678913"]}},
		"models": {"providers": {"openai": {"apiKey": {"odd": 1}}}}, "agents": {"defaults": {"model": "openai/gpt"}}, "hooks": {"enabled": true, "token": 7}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	r := read(t, dir)
	for _, name := range []string{"OPENAI_API_KEY", "DISCORD_TOKEN", "PARLEY_HOOKS_TOKEN", "ownerAllowFrom"} {
		if n := len(slices.DeleteFunc(slices.Clone(r.Report.NeedsYou), func(i report.Item) bool { return !strings.Contains(i.What+i.Why, name) })); n != 1 {
			t.Errorf("%s stands in %d lines: %+v", name, n, r.Report.NeedsYou)
		}
	}
}

// TestMainOwner: without a scope of its own the main conversation is the owners', so a chat of another person is not where it answers.
func TestMainOwner(t *testing.T) {
	t.Parallel()
	olga, bob := channels.Address{Channel: "telegram", Chat: "1001", Type: channels.Direct}, channels.Address{Channel: "telegram", Chat: "2002", Type: channels.Direct}
	made := func(text string) *Result {
		x := reader{Result: &Result{Config: []byte(text), Unset: map[string]string{"WA": "15550000001"}}}
		x.parse(table(), none)
		return x.Result
	}
	is := made("channels: {whatsapp: {allowFrom: [\"${WA}\"]}}\ncommands:\n  ownerAllowFrom: [telegram:1001]\n").mainOwner()
	if is == nil || !is(olga) || is(bob) {
		t.Error("the owner is not known")
	}
	for _, r := range []*Result{{}, made("session:\n  dmScope: main\n"), made("session:\n  dmScope: per-peer\n")} {
		if r.mainOwner() != nil {
			t.Errorf("%s: the main conversation is nobody's in particular", r.Config)
		}
	}
	refused := made("session:\n  dmScope: nonsense\n")
	if is := refused.mainOwner(); is == nil || is(olga) || len(refused.Report.NeedsYou) != 1 {
		t.Errorf("a configuration that parley refuses has an owner: %+v", refused.Report.NeedsYou)
	}
}

// TestAccountsWithTokens: accounts have a token each, known or not, so the configuration is read with different ones.
func TestAccountsWithTokens(t *testing.T) {
	t.Parallel()
	for name, tokens := range map[string][2]string{
		"known": {`"botToken": "1:a", `, `"botToken": "2:b", `}, "unset": {`"botToken": "${A}", `, `"botToken": "${B}", `}, "one is unset": {`"botToken": "1:a", `, `"botToken": "${B}", `},
	} {
		dir := t.TempDir()
		sessions := filepath.Join(dir, "agents", "main", "sessions")
		if err := os.MkdirAll(sessions, 0o700); err != nil {
			t.Fatal(err)
		}
		for file, text := range map[string]string{
			filepath.Join(dir, "openclaw.json"): `{"models": {"providers": {"openai": {"apiKey": "k"}}}, "agents": {"defaults": {"model": "openai/gpt-5"}}, "commands": {"ownerAllowFrom": ["telegram:1001"]},
				"channels": {"telegram": {"accounts": {"a": {` + tokens[0] + `"dmPolicy": "open", "allowFrom": ["*"]}, "b": {` + tokens[1] + `"dmPolicy": "open", "allowFrom": ["*"]}}}}}`,
			filepath.Join(sessions, "sessions.json"): `{"agent:main:main": {"sessionId": "a", "lastChannel": "telegram", "lastTo": "telegram:2002"}}`,
		} {
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		needed := table()
		needed[0].New = func() any { // each account needs a token of its own, as in the adapter
			return &struct {
				Token channels.Secret `yaml:"token" required:"true"`
			}{}
		}
		r, err := Read(t.Context(), dir, needed, none, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = r.Close() })
		if r.Parsed == nil || len(r.Parsed.Channels) != 2 {
			t.Fatalf("%s: the configuration cannot be read: %+v", name, r.Report.NeedsYou)
		}
		if last := find(t, r, "agent:main:main").Session.Last; !last.IsZero() {
			t.Errorf("%s: the owners' main session answers to a stranger, %v", name, last)
		}
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	if _, err := Read(t.Context(), t.TempDir(), table(), none, nil); err == nil || !strings.Contains(err.Error(), "no state folder") {
		t.Errorf("an empty folder: %v", err)
	}
}

func item(what, why string) report.Item { return report.Item{What: what, Why: why} }

const besides = "put the variables into the file .env beside the configuration"
