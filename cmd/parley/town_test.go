package main

import (
	"cmp"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"parley/channels/telegram/telegramtest"
	"parley/gateway/api"
	"parley/sessions"
)

// town is a world of two bots, the accounts one and two, both in the same chats: only the account tells them apart. Its model is a
// puppet.
type town struct {
	*world
	*puppet
	secondURL string
}

// setup is what a town's configuration says besides its accounts, as flow YAML. Empty fields have defaults that let agents a (account
// one) and b (account two) work together.
type setup struct {
	Agents, Session, Tools, Bindings string
	Defaults                         string // further fields of agents.defaults, each with a comma behind it
}

// The sessions of the town's chats.
const (
	atA      = "agent:a:telegram:one:group:-100600:topic:7"
	atB      = "agent:b:telegram:two:group:-100600:topic:7"
	groupOfA = "agent:a:telegram:one:group:-100500"
	groupOfB = "agent:b:telegram:two:group:-100500"
)

const (
	everybody = "{sessions: {visibility: all}, agentToAgent: {enabled: true}}"
	apart     = "[{agentId: a, match: {channel: telegram, accountId: one}}, {agentId: b, match: {channel: telegram, accountId: two}}]"
)

func newTown(t *testing.T, s setup) town {
	t.Helper()
	w := newWorld(t)
	w.two = telegramtest.New(t)
	for _, bot := range []*telegramtest.Server{w.tg, w.two} {
		bot.AddUser(telegramtest.User{ID: owner, Name: "Olga"})
		bot.AddUser(telegramtest.User{ID: guest, Name: "Gustav"})
		bot.AddGroup(group, "Garden")
		bot.AddGroup(denied, "Quiet")
		bot.AddForum(forum, "Forum", map[int64]string{topic: "Seven", 8: "Eight"})
	}
	tn := town{world: w, puppet: &puppet{}, secondURL: secondURL(t, w.two)}
	w.model.Script(tn.answer)
	t.Cleanup(tn.end)
	tn.setup(s)
	return tn
}

// secondToken is the login of the second bot: two accounts never share one.
const secondToken = "7000000002:AAtest-token_of-the-second-bot"

// secondURL is where the second bot's server is reached with its own token.
func secondURL(t *testing.T, bot *telegramtest.Server) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.URL.Path = strings.Replace(r.URL.Path, secondToken, bot.Token(), 1)
		bot.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s.URL
}

// setup writes the configuration.
func (tn town) setup(s setup) {
	tn.t.Helper()
	session := strings.Replace(cmp.Or(s.Session, "{agentToAgent: {}}"), "agentToAgent: {", "agentToAgent: {followUp: false, ", 1)
	text := fmt.Sprintf(`
state: state
gateway: {listen: "127.0.0.1:0"}
models:
  providers:
    mock: {api: openai, baseUrl: %s/v1, apiKey: x, contextWindow: 10000000}
agents:
  defaults: {%s model: mock/mock-1}
  list: %s
session: %s
tools: %s
bindings: %s
commands: {ownerAllowFrom: ["telegram:%d"]}
channels:
  telegram:
    pacing: {perSecond: 0, perChatPerSecond: 0, perGroupPerMinute: 0}
    dmPolicy: allowlist
    allowFrom: [%d]
    groupPolicy: open
    groups: {"*": {requireMention: false}}
    accounts: {one: {token: %q, apiUrl: %q}, two: {token: %q, apiUrl: %q}}
`, tn.model.URL(), s.Defaults, cmp.Or(s.Agents, "[{id: a, default: true}, {id: b}]"), session, cmp.Or(s.Tools, everybody),
		cmp.Or(s.Bindings, apart), owner, guest, tn.tg.Token(), tn.tg.URL(), secondToken, tn.secondURL)
	if err := os.WriteFile(filepath.Join(tn.dir, "config.yaml"), []byte(text), 0o600); err != nil {
		tn.t.Fatal(err)
	}
}

// place is a chat as one of the bots knows it.
type place struct {
	bot          *telegramtest.Server
	chat, thread int64
}

// The town's places: the topic of agent a, that of agent b, and the groups.
func (tn town) hereA() place  { return place{tn.tg, forum, topic} }
func (tn town) hereB() place  { return place{tn.two, forum, topic} }
func (tn town) groupA() place { return place{tn.tg, group, 0} }
func (tn town) groupB() place { return place{tn.two, group, 0} }

// tell makes the owner write.
func (p place) tell(text string) { p.bot.Say(p.chat, owner, text, inTopicOf(p)) }

func inTopicOf(p place) telegramtest.Option { return telegramtest.InTopic(p.thread) }

// texts are what the bot has posted there.
func (p place) texts() (out []string) {
	for _, m := range p.bot.SentTo(p.chat) {
		if m.Thread == p.thread {
			out = append(out, m.Text)
		}
	}
	return out
}

// shows waits until a bot has posted n messages in a place, and gives them. Any message of either bot in another place that is not
// named here is an error when the test ends (see only).
func (tn town) shows(p place, n int) []string {
	tn.t.Helper()
	if err := p.bot.Wait(tn.ctx(), func() bool { return len(p.texts()) >= n }); err != nil {
		tn.t.Fatalf("chat %d, thread %d shows %d messages, not %d: %q", p.chat, p.thread, len(p.texts()), n, p.texts())
	}
	return p.texts()
}

// meet makes the sessions of some places by a greeting, and waits for the answers. Each place shows one message then.
func (tn town) meet(places ...place) {
	tn.t.Helper()
	for _, p := range places {
		p.tell(say("hello from here"))
	}
	for _, p := range places {
		tn.shows(p, 1)
	}
}

// only waits until the host has nothing to do, and fails when a bot has sent more than the given numbers of messages anywhere.
func (tn town) only(want map[place]int) {
	tn.t.Helper()
	tn.quiet()
	have := map[place]int{}
	for _, bot := range []*telegramtest.Server{tn.tg, tn.two} {
		for _, m := range bot.Sent() {
			have[place{bot, m.Chat, m.Thread}]++
		}
	}
	for p, n := range want {
		if have[p] != n {
			tn.t.Errorf("chat %d, thread %d shows %d messages, not %d: %q", p.chat, p.thread, have[p], n, p.texts())
		}
		delete(have, p)
	}
	for p := range have {
		tn.t.Errorf("nothing belongs into chat %d, thread %d of bot %d: %q", p.chat, p.thread, map[bool]int{true: 1, false: 2}[p.bot == tn.tg], p.texts())
	}
}

// status asks the host how it is.
func (tn town) status() api.HostStatus {
	tn.t.Helper()
	return fromAPI[api.HostStatus](tn.world, "/api/status", nil)
}

// quietBut waits until only n sessions are at work and nothing is to be sent.
func (tn town) quietBut(n int) {
	tn.t.Helper()
	tn.until(20*time.Second, fmt.Sprintf("%d sessions are at work", n), func() bool {
		s := tn.status()
		return len(s.Working) == n && s.Deliveries[sessions.Pending]+s.Deliveries[sessions.Sending] == 0
	})
}

// sessions lists the sessions by key.
func (tn town) sessions(archived bool) map[sessions.Key]api.Session {
	tn.t.Helper()
	out := map[sessions.Key]api.Session{}
	for _, r := range fromAPI[[]api.Session](tn.world, "/api/sessions", url.Values{"limit": {"1000"}, "archived": {fmt.Sprint(archived)}}) {
		out[r.Key] = r
	}
	return out
}

// file waits until the transcript file of a session says all of some texts, and gives its lines.
func (tn town) file(key sessions.Key, says ...string) (lines []string) {
	tn.t.Helper()
	row, ok := tn.sessions(false)[key]
	if !ok {
		tn.t.Fatalf("there is no session %s", key)
	}
	path := filepath.Join(tn.dir, "state", "agents", string(key.Agent()), "sessions", string(row.ID)+".jsonl")
	tn.until(10*time.Second, fmt.Sprintf("the transcript of %s says %q", key, says), func() bool {
		b, err := os.ReadFile(path)
		lines = strings.Split(strings.TrimSpace(string(b)), "\n")
		for _, s := range says {
			if !strings.Contains(string(b), s) {
				return false
			}
		}
		return err == nil
	})
	return lines
}

// deliveries lists the deliveries of a kind, newest first.
func (tn town) deliveries(kind sessions.DeliveryKind) (out []sessions.Delivery) {
	tn.t.Helper()
	for _, d := range fromAPI[[]sessions.Delivery](tn.world, "/api/deliveries", url.Values{"limit": {"1000"}}) {
		if d.Kind == kind {
			out = append(out, d)
		}
	}
	return out
}

// ask is the program line of a sessions_send; what the other session's agent does is a program too.
func askFor(key, message string, seconds int) string {
	return use("sessions_send", map[string]any{"sessionKey": key, "message": message, "timeoutSeconds": seconds})
}
