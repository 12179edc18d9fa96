package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"parley/agent/modeltest"
	"parley/channels/discord/discordtest"
	"parley/channels/telegram/telegramtest"
	"parley/channels/whatsapp/whatsapptest"
	"parley/cmd/internal/failpoint"
	"parley/gateway/access"
)

// world is what a host is proved in: stand-ins for the platforms and a model server in this process, a folder with the configuration
// and the state, and the real program as a child process, which can be ended and started again as often as one likes. Two bots on
// Telegram are in the same chats, so that only the account tells them apart.
type world struct {
	dir      string // config.yaml, and the folder state
	program  string
	one, two *telegramtest.Server
	discord  *discordtest.Server
	whatsapp *whatsapptest.Server
	bot      *whatsapptest.Phone  // the host's account on WhatsApp
	olga     *whatsapptest.Person // the owner there
	model    *modeltest.Server
	places   []*place

	mu        sync.Mutex
	strangers []*whatsapptest.Person // whose numbers are hidden at first
	client    *http.Client           // reaches the host through its socket

	second *httptest.Server // where bot two is reached with its own token
	env    []string         // of the program
	things *keeper
	lives  int
	latest *process // only one runs at a time
	logs   bool
	edges  bool
	tells  bool
	extra  string // of the configuration
	says   settings
}

// settings are what the configuration of a world says at the moment, besides what it always does.
type settings struct {
	denied []string // addresses that it has a deny for
	off    []string // accounts that are switched off, as account names them
	wrong  bool     // it has an error; what it says besides is a deny for everybody
}

// worldConfig is what worlds differ in.
type worldConfig struct {
	Program string // the binary, built with the tag failpoints
	Dir     string // empty, and with a short path: it holds a socket
	Model   func(modeltest.Request) modeltest.Reply
	Logs    bool   // what each life prints is kept in the folder log
	Extra   string // further sections of the configuration, YAML
	Tells   bool   // people are told of late replies, failures and stops
	Edges   bool   // what seldom happens is made to: sub-agents are archived after a minute, answers shown while they are written, a budget used up
}

// longestSocket is the longest path of a socket on every system.
const longestSocket = 100

// shortEnough says whether a world can be in a folder.
func shortEnough(dir string) error {
	socket := filepath.Join((&world{dir: dir}).state(), access.SocketName)
	if len(socket) > longestSocket {
		return fmt.Errorf("--dir: the path %s of the program's socket has %d bytes, at most %d are possible: use a shorter one", socket, len(socket), longestSocket)
	}
	return nil
}

// newWorld makes the stand-ins, their chats and the configuration. Nothing runs until start. Close ends all of it.
func newWorld(ctx context.Context, c worldConfig) (*world, error) {
	w := &world{dir: c.Dir, program: c.Program, things: &keeper{}, logs: c.Logs, edges: c.Edges, tells: c.Tells, extra: c.Extra}
	if err := shortEnough(c.Dir); err != nil {
		return nil, err
	}
	model, err := modeltest.New()
	if err != nil {
		return nil, err
	}
	w.model = model
	w.things.Cleanup(func() { _ = model.Close() })
	if c.Model != nil {
		model.Script(c.Model)
	}
	w.one, w.two, w.discord, w.whatsapp = telegramtest.New(nil), telegramtest.New(nil), discordtest.New(nil), whatsapptest.New(w.things)
	w.two.Become(telegramtest.BotID + 1)
	w.things.Cleanup(w.one.Close)
	w.things.Cleanup(w.two.Close)
	w.things.Cleanup(w.discord.Close)
	w.discord.IdentifyLimit(1<<20, 0) // a host that is killed again and again identifies more often than Discord likes
	w.second = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		r.URL.Path = strings.Replace(r.URL.Path, secondToken, w.two.Token(), 1)
		w.two.ServeHTTP(rw, r)
	}))
	w.things.Cleanup(func() {
		w.second.CloseClientConnections()
		w.second.Close()
	})
	socket := filepath.Join(w.state(), access.SocketName)
	w.client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 16, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}}}
	w.people()
	if err := w.settle(ctx); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return w, nil
}

// settle links the account on WhatsApp, writes the configuration and makes the program's environment.
func (w *world) settle(ctx context.Context) error {
	keys := filepath.Join(w.state(), "channels", "whatsapp", "default")
	if err := os.MkdirAll(keys, 0o700); err != nil {
		return err
	}
	if err := w.bot.Link(filepath.Join(keys, "keys.db")); err != nil {
		return err
	}
	at, err := failpoint.ToWhatsApp(ctx, w.whatsapp.Client())
	if err != nil {
		return err
	}
	w.env = append(plainEnv(os.Environ()), "HOME="+w.dir, at)
	return w.write(settings{})
}

// write writes the configuration. A host takes it when it starts, or when it is told to read it again; what reads the file meanwhile finds
// the old or the new one.
func (w *world) write(s settings) error {
	w.says = s
	next := w.config() + ".new"
	if err := os.WriteFile(next, []byte(w.configuration()+w.extra), 0o600); err != nil {
		return err
	}
	return os.Rename(next, w.config())
}

func (w *world) state() string  { return filepath.Join(w.dir, "state") }
func (w *world) config() string { return filepath.Join(w.dir, "config.yaml") }

// configuration lets both agents work with each other and answer everything that is written: each message is a turn of its own.
func (w *world) configuration() string {
	archive, agents, bound, stream, hooks, strangers := 60, "", "", "off", "", ""
	if w.edges {
		strangers = below + "dmPolicy: open" + below + `allowFrom: ["*"]`
		archive, agents, stream = 1, ", {id: c, budget: {sessionTokens: 100}}", "edit"
		hooks = fmt.Sprintf("hooks: {enabled: true, token: %q}\n", hookToken)
		for n := range int64(mostBudgets) {
			bound += fmt.Sprintf("\n  - {agentId: c, match: {channel: telegram, accountId: one, peer: {kind: group, id: %q}}}", id(budgetGroups-1-n))
		}
	}
	var rules []string
	for _, to := range w.says.denied {
		rules = append(rules, fmt.Sprintf("{match: {to: %q}, action: deny}", to))
	}
	policy := fmt.Sprintf("rules: [%s]", strings.Join(rules, ", "))
	if w.says.wrong {
		policy, hooks = "default: deny, "+policy, hooks+"nonsense: true\n"
	}
	off := func(account, how string) string {
		if slices.Contains(w.says.off, account) {
			return how + "enabled: false"
		}
		return ""
	}
	return fmt.Sprintf(`
state: state
gateway: {listen: "127.0.0.1:0"}
models:
  providers:
    mock: {api: openai, baseUrl: %s/v1, apiKey: "${PROOF_LIFE}", contextWindow: 10000000}
agents:
  defaults:
    model: mock/mock-1
    historyLimit: 12
    compaction: {off: true}
    subagents: {maxConcurrent: 16, maxChildrenPerAgent: 1000, maxSpawnDepth: 2, archiveAfterMinutes: %d}
  list: [{id: a, default: true}, {id: b}%s]
bindings:%s
  - {agentId: a, match: {channel: telegram, accountId: one}}
  - {agentId: b, match: {channel: telegram, accountId: two}}
  - {agentId: a, match: {channel: discord}}
  - {agentId: b, match: {channel: whatsapp}}
session:
  dmScope: per-account-channel-peer
  sendPolicy: {%s}
  agentToAgent: {followUp: %t, maxPingPongTurns: 2, maxPerMinute: 10000, maxTurnsPerHour: 100000}
tools: {sessions: {visibility: all}, agentToAgent: {enabled: true}}
messages: {queue: {mode: followup, debounceMs: 0, cap: 1000}}
commands: {ownerAllowFrom: ["telegram:%d", "discord:%s", "whatsapp:%s"]}
channels:
  telegram:
    streaming: {group: %s}
    accounts: {one: {token: %q, apiUrl: %q%s}, two: {token: %q, apiUrl: %q%s}}%s
  discord:
    token: %q
    apiUrl: %s%s%s
  whatsapp:%s%s%s
%s`, w.model.URL(), archive, agents, bound, policy, w.tells, telegramOwner, discordOwner, w.olga.Number(), stream, w.one.Token(), w.one.URL(), off("telegram/one", ", "),
		secondToken, w.second.URL, off("telegram/two", ", "), openChannel, discordtest.BotToken, w.discord.APIURL(), off("discord/default", below), openChannel, off("whatsapp/default", below), strangers, openChannel, hooks)
}

// below begins a line of a channel's section.
const below = "\n    "

// openChannel is what every channel's section ends with.
const openChannel = `
    groupPolicy: open
    groups: {"*": {requireMention: false}}
    pacing: {perSecond: 0, perChatPerSecond: 0, perGroupPerMinute: 0}`

// Close ends the host, if it runs, and the stand-ins.
func (w *world) Close() error {
	w.endAll()
	w.client.CloseIdleConnections()
	return w.things.close()
}

// plainEnv takes out of an environment what would pick a real model or another configuration.
func plainEnv(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(e string) bool {
		name, _, _ := strings.Cut(strings.ToUpper(e), "=")
		return name == "HOME" || strings.HasPrefix(name, "PARLEY_") || strings.HasPrefix(name, "HTTP") || strings.HasSuffix(name, "_PROXY") ||
			strings.Contains(name, "OPENAI") || strings.Contains(name, "ANTHROPIC") || strings.Contains(name, "OLLAMA")
	})
}

// until waits for something that another process does.
func until(ctx context.Context, limit time.Duration, what string, done func() bool) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("waited up to %s in vain: %s: %w", limit, what, ctx.Err())
		}
	}
	return nil
}

// keeper is what stand-ins take for a test: it collects what they complain about and closes them.
type keeper struct {
	mu       sync.Mutex
	problems []error
	ends     []func()
}

// Helper does nothing.
func (k *keeper) Helper() {}

// Errorf keeps a complaint.
func (k *keeper) Errorf(format string, args ...any) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.problems = append(k.problems, fmt.Errorf(format, args...))
}

// Cleanup has a func called at the end, the newest first.
func (k *keeper) Cleanup(fn func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.ends = append(k.ends, fn)
}

// complaints are what the stand-ins say went wrong with them: then the run proves nothing.
func (k *keeper) complaints() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return errors.Join(k.problems...)
}

func (k *keeper) close() error {
	k.mu.Lock()
	ends := k.ends
	k.ends = nil
	k.mu.Unlock()
	for _, end := range slices.Backward(ends) {
		end()
	}
	return k.complaints()
}
