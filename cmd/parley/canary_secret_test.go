package main

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"parley/agent/modeltest"
	"parley/channels/channeltest"
	"parley/channels/discord/discordtest"
	"parley/channels/telegram/telegramtest"
)

// TestCanarySecrets runs a host in whose configuration every secret is a text of its own, through good days and bad ones: platforms,
// the model and tools that repeat what they were sent. Then it looks for the secrets, in clear and encoded, in all that the host has
// written, said and answered.
func TestCanarySecrets(t *testing.T) {
	t.Parallel()
	x := newCanaryWorld(t)
	secrets := x.secrets
	p := x.start()
	x.until(patience, "all accounts are connected", func() bool { return x.tg.Polling() && x.dc.Ready() })
	x.goodDay()
	x.indiscreet()
	for range channeltest.Times(1, 20) {
		x.badDay()
	}
	x.atTheDoor(p.url)
	x.leave(p)
	secrets.search(t, "the log", []byte(p.log.String()))
	for _, m := range x.tg.Sent() {
		x.chat("telegram", m.Text)
	}
	for _, m := range x.dc.Sent() {
		x.chat("discord", m.Text)
	}
	for _, m := range x.bot.Sent(x.olga.Phone) {
		x.chat("whatsapp", m.Text)
	}
	for _, r := range x.model.Requests() {
		secrets.search(t, fmt.Sprintf("prompt %d", r.N), r.Raw)
	}
	files := secrets.searchFolder(t, filepath.Join(x.dir, "state"), map[string]string{})
	if t.Failed() {
		return
	}
	t.Logf("%d secrets, %d texts in chats, %d prompts, %d answers and outputs, %d files: none of them shows", len(secrets), x.chats, x.model.Count(), x.answers, files)
	if x.chats < 10 || x.answers < 60 || files < 5 || strings.Count(p.log.String(), "[secret]") < 50 {
		t.Error("the test did not look at much")
	}
}

// canaryWorld is a three whose configuration is full of secrets.
type canaryWorld struct {
	*three
	secrets        canaries
	codes          canaries // of pairing and of the page: they are shown to whom they are for
	chats, answers int
	bad            atomic.Pointer[func(modeltest.Request) modeltest.Reply]
}

// Secrets are as they are in life, with what has to be encoded somewhere.
func canary(name string) string { return "cAnary/" + name + "+7f3=9b&x" + "-of-the-test" }

func newCanaryWorld(t *testing.T) *canaryWorld {
	x := &canaryWorld{three: newThree(t), codes: canaries{}}
	x.model.Script(func(r modeltest.Request) modeltest.Reply {
		if bad := x.bad.Load(); bad != nil {
			return (*bad)(r)
		}
		return x.answer(r)
	})
	leaky := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(r *http.Request) *sdk.Server { return leakyServer(r) }, nil))
	t.Cleanup(leaky.Close)
	base, err := url.Parse(x.model.URL())
	if err != nil {
		t.Fatal(err)
	}
	discord := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodHead { // that is how the doctor looks whether a platform is there
			x.dc.ServeHTTP(rw, r)
		}
	}))
	t.Cleanup(func() {
		discord.CloseClientConnections()
		discord.Close()
	})
	x.two = telegramtest.New(t)
	text := fmt.Sprintf(`
state: state
log: {level: debug}
gateway:
  listen: "127.0.0.1:0"
  token: %q
  tokens: [{name: looks, token: %q, scope: read}, {name: talks, token: %q, scope: write}, {name: rules, token: %q, scope: admin}]
  mcp: {enabled: true}
  openai: {enabled: true}
models:
  providers:
    mock: {api: openai, baseUrl: "http://someone:%s@%s/v1", apiKey: %q, contextWindow: 10000000, headers: {X-House: %q}, models: {mock-1: {headers: {X-Model: %q}}}}
    other: {api: anthropic, baseUrl: "http://%s", apiKey: %q}
agents:
  defaults: {model: mock/mock-1}
tools:
  mcp:
    servers:
      dies: {command: sh, args: [-c, "env >&2; exit 3", sh, --token, %q], env: {SERVICE_TOKEN: %q}}
      leaky: {url: "%s/%s?key=%s", headers: {Authorization: %q}}
hooks:
  enabled: true
  token: %q
  mappings: [{path: signed, message: "{{.text}}", signature: {header: X-Signature, secret: %q}}]
commands: {ownerAllowFrom: ["telegram:%d", "discord:%s", "whatsapp:%s"]}
channels:
  telegram:
    groupPolicy: open
    pacing: {perSecond: 0, perChatPerSecond: 0, perGroupPerMinute: 0}
    accounts:
      default: {token: %q, apiUrl: %q}
      hooked: {token: %q, apiUrl: %q, webhook: {url: "https://parley.example/channels/telegram/hooked/hook", secret: %q}}
  discord: {token: %q, apiUrl: %q, groupPolicy: open, pacing: {perSecond: 0, perChatPerSecond: 0, perGroupPerMinute: 0}}
  whatsapp: {groupPolicy: open, pacing: {perSecond: 0, perChatPerSecond: 0, perGroupPerMinute: 0}}
`, canary("own"), canary("looks"), canary("talks"), canary("rules"), basePassword, base.Host, canary("api-key"), canary("house"), canary("model"), base.Host, canary("second-key"),
		canary("argument"), canary("environment"), leaky.URL, pathKey, queryKey, "Bearer "+canary("header"),
		canary("hooks"), canary("signature"), owner, olgaOnDiscord, x.olga.Number(),
		x.tg.Token(), x.tg.URL(), secondToken, secondURL(t, x.two), webhookSecret, discordtest.BotToken, strings.Replace(x.dc.APIURL(), x.dc.URL(), discord.URL, 1))
	if err := os.WriteFile(filepath.Join(x.dir, "config.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	elsewhere := filepath.Join(x.dir, "postgres.yaml")
	dsn := fmt.Sprintf("state: other\nstore: {dsn: %q}\nagents: {defaults: {model: offline/offline}}\n", "postgres://parley:"+dsnPassword+"@127.0.0.1:1/parley?sslmode=disable&connect_timeout=1")
	if err := os.WriteFile(elsewhere, []byte(dsn), 0o600); err != nil {
		t.Fatal(err)
	}
	x.secrets = canariesOf(t, filepath.Join(x.dir, "config.yaml"), elsewhere)
	for name, text := range map[string]string{"the password of a provider's address": basePassword, "the password of the database": dsnPassword,
		"a server's argument": canary("argument"), "a key in a server's path": pathKey, "a key in a server's query": queryKey, "a bearer token": canary("header"),
		"half a token of Telegram": secondToken[strings.Index(secondToken, ":")+1:]} {
		x.secrets[name] = text
	}
	return x
}

// Secrets that are a part of an address.
const (
	basePassword  = "cAnaryPasswordOfTheProvider77"
	dsnPassword   = "cAnaryPasswordOfTheDatabase88"
	pathKey       = "cAnaryKeyInThePath99x0"
	queryKey      = "cAnaryKeyInTheQuery1122"
	webhookSecret = "cAnary_secret-of_the_webhook"
)

// leakyServer is an MCP server whose tool repeats what it was asked with.
func leakyServer(r *http.Request) *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "leaky", Version: "1"}, nil)
	type none struct{}
	for _, fails := range []bool{false, true} {
		name := map[bool]string{false: "tell", true: "fail"}[fails]
		sdk.AddTool(s, &sdk.Tool{Name: name, Description: "repeats it"}, func(context.Context, *sdk.CallToolRequest, none) (*sdk.CallToolResult, any, error) {
			return &sdk.CallToolResult{IsError: fails, Content: []sdk.Content{&sdk.TextContent{Text: everyForm(r.Header.Get("Authorization"), r.URL.String(), r.URL.RawQuery)}}}, nil, nil
		})
	}
	return s
}

// everyForm is what somebody says who repeats secrets, in every form.
func everyForm(secrets ...string) string {
	var b strings.Builder
	for _, s := range secrets {
		quoted, _ := json.Marshal(s)
		fmt.Fprintf(&b, "clear %s query %s path %s quoted %s basis %s %s.\n", s, url.QueryEscape(s), url.PathEscape(s), quoted,
			base64.StdEncoding.EncodeToString([]byte(s)), base64.RawURLEncoding.EncodeToString([]byte(s)))
	}
	return b.String()
}

// corners are the owner's direct chats.
func (x *canaryWorld) corners() []corner {
	wa := x.whatsapp(x.olga.Phone, "")
	wa.tell = func(text string) { x.olga.Say(x.bot, text) }
	return []corner{x.telegram(owner, ""), x.discord(x.dc.AddDM(olgaOnDiscord), ""), wa}
}

func (x *canaryWorld) goodDay() {
	x.t.Helper()
	for i, c := range x.corners() {
		had := len(c.texts())
		c.tell(fmt.Sprintf("hello %d", i))
		x.shows(c, had+1)
	}
	c := x.corners()[0]
	had := len(c.texts())
	c.tell(program(use("leaky_tell", map[string]any{}), use("leaky_fail", map[string]any{}), say("told")))
	x.shows(c, had+1)
	x.tg.Say(guest, guest, "let me in")
	x.shows(x.telegram(guest, ""), 1)
	code := pairingCode.FindString(last(x.telegram(guest, "").texts()))
	if code == "" {
		x.t.Fatalf("no code in %q", x.telegram(guest, "").texts())
	}
	x.codes["the pairing code"] = code
	out, _ := x.cli("open", "--json")
	if link := linkCode.FindStringSubmatch(out); link != nil {
		x.codes["the code of the page's link"] = link[1]
	} else {
		x.t.Fatalf("no code in %s", out)
	}
}

var (
	pairingCode = regexp.MustCompile(`\b[A-Z0-9]{8}\b`)
	linkCode    = regexp.MustCompile(`[?&#/=]([A-Za-z0-9_-]{20,})"`)
)

// indiscreet has the model say the secrets in its answers to an owner and to a guest, in pieces, and call a tool with them: in what it thinks as well.
//
// source: docs/security.md, On disk
func (x *canaryWorld) indiscreet() {
	x.t.Helper()
	var known []string
	for _, name := range []string{"own", "looks", "talks", "rules", "api-key", "house", "model", "second-key", "argument", "environment", "header", "hooks", "signature"} {
		known = append(known, canary(name))
	}
	said := everyForm(append(known, basePassword, pathKey, queryKey, webhookSecret, secondToken, discordtest.BotToken, x.tg.Token())...)
	args, _ := json.Marshal(map[string]string{"to": "current", "text": said})
	talks := func(r modeltest.Request) modeltest.Reply {
		if last := r.Messages[len(r.Messages)-1]; last.Role != "tool" {
			return modeltest.Reply{Thinking: said, ToolCalls: []modeltest.ToolCall{{ID: "tell", Name: "message", Arguments: string(args)}}}
		}
		var pieces []string
		for rest := said; rest != ""; {
			n := min(7, len(rest))
			pieces, rest = append(pieces, rest[:n]), rest[n:]
		}
		return modeltest.Reply{Thinking: said, Text: pieces, Between: time.Millisecond}
	}
	x.bad.Store(&talks)
	x.tg.AddGroup(group, "Garden")
	x.tg.Say(group, guest, "@"+telegramtest.BotUsername+" what do you know?")
	x.corners()[0].tell("and to me?")
	x.until(patience, "the model has answered", func() bool {
		texts := func(c corner) int { return strings.Count(strings.Join(c.texts(), ""), "[secret]") }
		return texts(x.telegram(group, "")) > 50 && texts(x.corners()[0]) > 50
	})
	x.quiet()
	x.bad.Store(nil)
}

// badDay has everything that the host talks to fail with words that repeat what it was sent.
func (x *canaryWorld) badDay() {
	x.t.Helper()
	said := everyForm(x.tg.Token(), x.tg.URL()+"/bot"+x.tg.Token()+"/sendMessage", x.tg.Token()[strings.Index(x.tg.Token(), ":")+1:])
	corners := x.corners()
	for _, f := range []telegramtest.Fault{{Method: "getUpdates", Code: 500, Description: said}, {Method: "getUpdates", Cut: true}, {Method: "getUpdates", Code: 502, Body: said},
		{Method: "sendMessage", Code: 500, Description: said}, {Method: "sendMessage", Code: 400, Description: said}, {Method: "sendChatAction", Code: 400, Description: said}} {
		x.tg.Inject(f)
	}
	x.two.Inject(telegramtest.Fault{Method: "setWebhook", Code: 400, Description: everyForm(webhookSecret, secondToken)})
	corners[0].tell("on a bad day")
	said = everyForm(discordtest.BotToken, "Bot "+discordtest.BotToken)
	x.dc.Inject(discordtest.Fault{Status: 500, Message: said})
	x.dc.Inject(discordtest.Fault{Status: 400, Message: said, Code: 50035})
	corners[1].tell("on a bad day")
	x.quiet()
	x.dc.Disconnect(4000)
	x.until(2*time.Minute, "Discord is connected again", x.dc.Ready) // what is said meanwhile comes later, and the quiet before it says nothing
	for i, status := range []int{http.StatusUnauthorized, http.StatusBadRequest, http.StatusForbidden, http.StatusOK} {
		bad := func(r modeltest.Request) modeltest.Reply {
			said := everyForm(r.Header.Get("Authorization"), canary("api-key"), "http://someone:"+basePassword+"@models.example/v1")
			if status == http.StatusOK { // an answer that is none
				return modeltest.Reply{Status: status, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: "data: {\"error\": {\"message\": " + strconv.Quote(said) + "}}\n\n"}
			}
			body, _ := json.Marshal(map[string]any{"error": map[string]any{"message": said, "type": "x"}})
			if i == 1 {
				body = []byte("no JSON: " + said)
			}
			return modeltest.Reply{Status: status, Body: string(body)}
		}
		x.bad.Store(&bad)
		corners[i%2].tell(fmt.Sprintf("the model fails with %d", status))
		x.quiet()
	}
	x.bad.Store(nil)
}

// chat looks at what a chat shows.
func (x *canaryWorld) chat(where, text string) {
	x.chats++
	x.secrets.search(x.t, "the chat on "+where, []byte(text))
}

// atTheDoor asks the host for everything that can be read, with every token and with wrong ones.
func (x *canaryWorld) atTheDoor(base string) {
	x.t.Helper()
	b := &browser{t: x.t, url: base, token: canary("rules"), ids: map[string][2]string{}}
	_, text := b.raw("GET", "/api/openapi.json", nil, "")
	var doc struct{ Paths map[string]map[string]any }
	if err := json.Unmarshal(text, &doc); err != nil {
		x.t.Fatal(err)
	}
	paths := []string{"/metrics", "/healthz", "/readyz", "/", "/chat", "/sessions", "/deliveries", "/runs", "/channels", "/cron", "/policy", "/usage", "/login", "/nothing"}
	for path := range doc.Paths {
		if strings.Contains(path, "/events") || strings.Contains(path, "/backup") {
			continue // one never ends, the other is looked at below
		}
		path = strings.NewReplacer("{key}", "agent:main:main", "{session}", "agent:main:main").Replace(path)
		paths = append(paths, strings.NewReplacer("{channel}", "telegram", "{account}", "default").Replace(path))
	}
	for _, token := range []string{canary("own"), canary("looks"), canary("talks"), canary("rules"), canary("hooks"), "wrong"} {
		b.token = token
		seen := x.secrets
		for _, path := range paths {
			_, text := b.raw("GET", path, nil, "")
			x.answers++
			seen.search(x.t, "GET "+path, text)
			if token != canary("own") && token != canary("rules") {
				x.codes.search(x.t, "GET "+path+" with a token that lets nobody in", text)
			}
		}
	}
	for _, path := range []string{"/hooks/wake", "/hooks/signed", "/hooks/agent", "/channels/telegram/hooked/hook", "/v1/chat/completions", "/mcp", "/api/nothing"} {
		for _, token := range []string{canary("hooks"), canary("talks"), "wrong"} {
			b.token = token
			_, text := b.raw("POST", path+"?token="+url.QueryEscape(token), []byte(`{"text": "hello", "message": "hello", "model": "parley", "messages": [{"role": "user", "content": "hello"}]}`), "")
			x.answers++
			x.secrets.search(x.t, "POST "+path, text)
		}
	}
	x.quiet()
}

// leave asks the commands, makes a backup, and ends the host with a dump of its goroutines.
func (x *canaryWorld) leave(p *process) {
	x.t.Helper()
	archive := filepath.Join(x.dir, "backup.tar.gz")
	for _, line := range []string{"check", "doctor", "status", "models", "channels", "deliveries", "runs", "sessions", "sessions history main", "sessions search hello", "skipped",
		"tools", "policy rules", "agents", "cron", "usage", "backup " + archive, "config show"} {
		for _, more := range [][]string{nil, {"--json"}} {
			out, _ := x.cli(append(strings.Fields(line), more...)...)
			x.answers++
			x.secrets.search(x.t, "parley "+line, []byte(out))
		}
	}
	for _, d := range fromAPI[[]struct{ ID string }](x.world, "/api/deliveries?limit=100", nil) {
		out, _ := x.cli("trace", d.ID)
		x.answers++
		x.secrets.search(x.t, "parley trace", []byte(out))
	}
	for _, line := range []string{"check", "doctor", "status", "run"} {
		out, code := x.cli(append([]string{"--config", "postgres.yaml"}, line)...)
		if line == "run" && code == 0 {
			x.t.Error("the host ran without a database")
		}
		x.answers++
		x.secrets.search(x.t, "without a database: parley "+line, []byte(out))
	}
	x.secrets.searchArchive(x.t, archive)
	if err := p.cmd.Process.Signal(syscall.SIGQUIT); err != nil {
		x.t.Fatal(err)
	}
	select {
	case err := <-p.done:
		x.t.Logf("the dump ends it: %v", err)
	case <-time.After(patience):
		x.t.Fatal("the host did not end")
	}
	if !strings.Contains(p.log.String(), "goroutine ") {
		x.t.Error("there is no dump of the goroutines")
	}
	x.codes.search(x.t, "the log", []byte(cmp.Or(p.log.String(), "-")))
}
