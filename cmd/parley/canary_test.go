package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"parley/agent/modeltest"
	"parley/channels/channeltest"
	"parley/channels/discord/discordtest"
	"parley/channels/telegram/telegramtest"
	"parley/channels/whatsapp/whatsapptest"
)

// aviary is a world of many chats on three platforms, in each of which people tell the agent words that only those may see who share
// its session. Its model is a gossip: it says everything that it was shown.
type aviary struct {
	*three
	spots  []*spot
	agents []string // by share
	random *rand.Rand

	mu    sync.Mutex
	mode  string      // of visibility
	gen   map[int]int // of the words of a share: a reset begins a new one
	fresh map[int]bool
	seen  int // words that the model was shown, of others too
	other int
}

// spot is one chat. Spots with the same share are one session.
type spot struct {
	corner
	share int
	had   int
}

// What stands in texts: who speaks, and a word of theirs (of a share, of a generation; 0 is a note that outlives resets).
var (
	speaker = regexp.MustCompile(`\bat(\d+)\b`)
	secret  = regexp.MustCompile(`\bkn(\d+)g(\d+)x`)
	job     = regexp.MustCompile(`do (\w+) (\{[^\n]*\})`)
)

func number(text string) int {
	n, _ := strconv.Atoi(text)
	return n
}

// may is the rule: who may be shown a word of another share. It is written from the contract, not from the code.
func (a *aviary) may(viewer, of int) bool {
	x, y := a.agents[viewer], a.agents[of]
	switch {
	case viewer == of:
		return true
	case a.mode == "agent":
		return x == y
	case a.mode == "all":
		return x == y || x != "c" && y != "c" // agentToAgent.allow names a and b
	}
	return false // self, tree: sub-agents speak for the share that started them
}

// judge looks for words in what a share is shown.
func (a *aviary) judge(what string, viewer int, text string) (words []string) {
	for _, m := range secret.FindAllStringSubmatch(text, -1) {
		words = append(words, m[0])
		of := number(m[1])
		a.seen++
		if of != viewer {
			a.other++
		}
		if !a.may(viewer, of) {
			a.t.Errorf("%s: share %d (agent %s) is shown %s of agent %s, visibility %s", what, viewer, a.agents[viewer], m[0], a.agents[of], a.mode)
		}
	}
	slices.Sort(words)
	return slices.Compact(words)
}

// gossip is the model.
func (a *aviary) gossip(r modeltest.Request) modeltest.Reply {
	if c := callOf(r); c.Step == "reply" || c.Step == "announce" {
		return words(map[string]string{"reply": "REPLY_SKIP", "announce": "ANNOUNCE_SKIP"}[c.Step])
	}
	var last modeltest.Message
	results := 0
	for _, m := range r.Messages {
		switch m.Role {
		case "user":
			last, results = m, 0
		case "tool":
			results++
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	who := speaker.FindAllStringSubmatch(last.Text, -1)
	if who == nil { // a sub-agent's report: its task is in the prompt
		who = speaker.FindAllStringSubmatch(r.System, -1)
	}
	if who == nil {
		if w := secret.FindString(string(r.Raw)); w != "" {
			a.t.Errorf("nobody speaks and %s is there: %.2000s", w, r.Raw)
		}
		return words("nobody spoke")
	}
	viewer := number(who[len(who)-1][1])
	known := a.judge("a prompt", viewer, string(r.Raw))
	if summing := strings.HasPrefix(r.System, "You keep the memory"); a.fresh[viewer] && results == 0 && !summing { // whose memory it is, the last name in it does not say
		for _, w := range known {
			if m := secret.FindStringSubmatch(w); number(m[1]) == viewer && m[2] != "0" && number(m[2]) < a.gen[viewer] {
				a.t.Errorf("after a reset share %d is shown %s: %.3000s", viewer, w, r.Raw)
			}
		}
		a.fresh[viewer] = false
	}
	if m := job.FindAllStringSubmatch(last.Text, -1); m != nil && results == 0 && len(r.Tools) > 0 {
		do := m[len(m)-1]
		if slices.ContainsFunc(r.Tools, func(t modeltest.Tool) bool { return t.Name == do[1] }) {
			return modeltest.Reply{ToolCalls: []modeltest.ToolCall{{ID: fmt.Sprintf("call-%d", r.N), Name: do[1], Arguments: do[2]}}, Usage: modeltest.Usage{Input: 100, Output: 10}}
		}
	}
	return words("I know " + strings.Join(known[max(0, len(known)-40):], " ") + ".")
}

func newAviary(t *testing.T) *aviary {
	t.Helper()
	a := &aviary{three: newThree(t), random: rand.New(rand.NewPCG(1, 2)), gen: map[int]int{}, fresh: map[int]bool{}}
	a.model.Script(a.gossip)
	a.two = telegramtest.New(t)
	shares := map[string]int{}
	share := func(agent, name string) int {
		if _, ok := shares[agent+name]; !ok {
			shares[agent+name] = len(a.agents)
			a.agents = append(a.agents, agent)
		}
		return shares[agent+name]
	}
	for i, bot := range []*telegramtest.Server{a.tg, a.two} {
		agent := string("ab"[i])
		bot.AddUser(telegramtest.User{ID: owner, Name: "Olga"})
		bot.AddGroup(group, "Garden")
		bot.AddForum(forum, "Forum", map[int64]string{topic: "Seven", 8: "Eight"})
		a.onTelegram(bot, owner, owner, 0, share(agent, "main"))
		for n := range int64(8) {
			bot.AddUser(telegramtest.User{ID: 2100 + n, Name: "User"})
			name := fmt.Sprint("person", n)
			if n == 0 && agent == "a" {
				name = "linked"
			}
			a.onTelegram(bot, 2100+n, 2100+n, 0, share(agent, name))
		}
		a.onTelegram(bot, group, owner, 0, share(agent, "group"))
		a.onTelegram(bot, forum, owner, topic, share(agent, "seven"))
		a.onTelegram(bot, forum, owner, 8, share(agent, "eight"))
	}
	for n := range 6 {
		user := fmt.Sprint(2200000000000005000 + n)
		a.dc.AddUser(discordtest.User{ID: user, Name: fmt.Sprint("user", n)})
		a.onDiscord(a.dc.AddDM(user), user, share("a", map[bool]string{true: "linked", false: fmt.Sprint("discord", n)}[n == 0]))
	}
	a.onDiscord(a.dc.AddDM(olgaOnDiscord), olgaOnDiscord, share("a", "main"))
	a.onDiscord(room, olgaOnDiscord, share("a", "room"))
	garden := a.wa.NewGroup("Garden", a.olga.Phone, a.gustav.Phone, a.bot)
	a.onWhatsApp(a.olga, a.olga.Phone, a.bot, share("c", "main"))
	a.onWhatsApp(a.gustav, a.gustav.Phone, a.bot, share("c", "gustav"))
	a.onWhatsApp(a.olga, garden, garden, share("c", "garden"))
	return a
}

func (a *aviary) onTelegram(bot *telegramtest.Server, chat, who, thread int64, share int) {
	p := place{bot, chat, thread}
	a.spots = append(a.spots, &spot{share: share, corner: corner{name: fmt.Sprint("telegram ", chat, " ", thread), texts: p.texts,
		tell: func(text string) { bot.Say(chat, who, text, inTopicOf(p)) }}})
}

func (a *aviary) onDiscord(channel, who string, share int) {
	c := a.discord(channel, "")
	c.tell = func(text string) { a.dc.Say(channel, who, text) }
	a.spots = append(a.spots, &spot{share: share, corner: c})
}

func (a *aviary) onWhatsApp(who *whatsapptest.Person, chat, to whatsapptest.Chat, share int) {
	c := a.whatsapp(chat, "")
	c.tell = func(text string) { who.Say(to, text) }
	a.spots = append(a.spots, &spot{share: share, corner: c})
}

// see writes the configuration for a mode of visibility.
func (a *aviary) see(mode string) {
	a.t.Helper()
	a.mu.Lock()
	a.mode = mode
	a.mu.Unlock()
	const open = `
    dmPolicy: open
    allowFrom: ["*"]
    groupPolicy: open
    groups: {"*": {requireMention: false}}
    pacing: {perSecond: 0, perChatPerSecond: 0, perGroupPerMinute: 0, newChatsPerDay: 0}`
	text := fmt.Sprintf(`
state: state
gateway: {listen: "127.0.0.1:0"}
models:
  providers:
    mock: {api: openai, baseUrl: %s/v1, apiKey: x, contextWindow: 10000000}
agents:
  defaults: {model: mock/mock-1, historyLimit: 20}
  list: [{id: a, default: true}, {id: b}, {id: c}]
bindings:
  - {agentId: b, match: {channel: telegram, accountId: two}}
  - {agentId: c, match: {channel: whatsapp}}
session: {identityLinks: {somebody: ["telegram:2100", "discord:2200000000000005000"]}, agentToAgent: {followUp: false, maxPerMinute: 10000, maxTurnsPerHour: 100000}}
tools: {sessions: {visibility: %s}, agentToAgent: {enabled: true, allow: [a, b]}}
commands: {ownerAllowFrom: ["telegram:%d", "discord:%s", "whatsapp:%s"]}
channels:
  telegram:
    accounts: {one: {token: %q, apiUrl: %q}, two: {token: %q, apiUrl: %q}}%s
  discord:
    token: %q
    apiUrl: %s%s
  whatsapp:%s
`, a.model.URL(), mode, owner, olgaOnDiscord, a.olga.Number(), a.tg.Token(), a.tg.URL(), secondToken, secondURL(a.t, a.two), open, discordtest.BotToken, a.dc.APIURL(), open, open)
	if err := os.WriteFile(filepath.Join(a.dir, "config.yaml"), []byte(text), 0o600); err != nil {
		a.t.Fatal(err)
	}
}

// message is what is said at a spot: a word of its own, and mostly something that the agent shall look for.
func (a *aviary) message(s *spot) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	mine := fmt.Sprintf("at%d kn%dg%dx ", s.share, s.share, max(1, a.gen[s.share]))
	args := func(v map[string]any) string {
		b, _ := json.Marshal(v)
		return string(b)
	}
	switch a.random.IntN(10) {
	case 0:
		return mine + "do remember " + args(map[string]any{"text": fmt.Sprintf("a note kn%dg0x", s.share)})
	case 1:
		return mine + "do recall " + args(map[string]any{"query": "note"})
	case 2, 3:
		return mine + "do sessions_list " + args(map[string]any{"limit": 200, "messageLimit": 3})
	case 4, 5:
		return mine + "do sessions_search " + args(map[string]any{"query": []string{"know", "note", "at"}[a.random.IntN(3)]})
	case 6:
		return mine + "do sessions_spawn " + args(map[string]any{"task": fmt.Sprintf("at%d look for kn%dg0x", s.share, s.share)})
	case 7:
		keys := []string{"main", "agent:a:main", "agent:b:main", "agent:c:main", fmt.Sprintf("agent:a:telegram:one:direct:%d", 2100+a.random.IntN(8)), fmt.Sprintf("agent:a:telegram:one:group:%d", group),
			fmt.Sprintf("agent:b:telegram:two:direct:%d", 2100+a.random.IntN(8)), "agent:a:discord:channel:" + room}
		return mine + "do sessions_history " + args(map[string]any{"sessionKey": keys[a.random.IntN(len(keys))], "includeTools": true})
	}
	return mine + "hello"
}

// round has somebody speak at every spot, waits for the answers, and looks at what the chats show.
func (a *aviary) round() (turns int) {
	a.t.Helper()
	a.tg.Forget()
	a.two.Forget()
	a.dc.Forget()
	byShare := map[int]*spot{}
	for _, s := range a.spots {
		s.had = len(s.texts())
		if byShare[s.share] == nil || a.random.IntN(2) == 0 {
			byShare[s.share] = s // one session answers one person at a time
		}
	}
	for _, share := range slices.Sorted(maps.Keys(byShare)) {
		byShare[share].tell(a.message(byShare[share]))
	}
	a.answered(byShare)
	return len(byShare)
}

// answered waits for an answer at each of some spots, and judges all that the chats show.
func (a *aviary) answered(spots map[int]*spot) {
	a.t.Helper()
	for _, s := range spots {
		a.until(patience, s.name+" is answered", func() bool { return len(s.texts()) > s.had })
	}
	a.quiet()
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, s := range a.spots {
		for _, text := range s.texts()[s.had:] {
			a.judge("the chat "+s.name, s.share, text)
		}
	}
}

// command gives a chat command at a few spots. A reset begins a new generation of words.
func (a *aviary) command(text string) {
	a.t.Helper()
	some := map[int]*spot{}
	for range 8 {
		s := a.spots[a.random.IntN(len(a.spots))]
		some[s.share] = s
	}
	for _, s := range a.spots {
		s.had = len(s.texts())
	}
	for _, share := range slices.Sorted(maps.Keys(some)) {
		some[share].tell(text)
		if text == "/new" {
			a.mu.Lock()
			a.gen[share] = max(1, a.gen[share]) + 1
			a.fresh[share] = true
			a.mu.Unlock()
		}
	}
	a.quiet()
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, s := range a.spots {
		for _, text := range s.texts()[s.had:] {
			a.judge("the chat "+s.name+" after "+text, s.share, text)
		}
	}
}

// TestCanarySessions tells words to an agent in many sessions on three platforms, by two accounts of one of them and three agents, and
// has the agents look everywhere. What a session's model is shown and what its chat shows has words of others only where the
// configuration says that they may see each other: it is set to self, tree, agent and all in turn, with a kill of the host between.
//
// proves: K7, V1, V2, V4
func TestCanarySessions(t *testing.T) {
	t.Parallel()
	a := newAviary(t)
	turns, seen := 0, map[string]int{}
	for _, mode := range []string{"self", "tree", "agent", "all"} {
		a.see(mode)
		p := a.start()
		a.until(patience, "all accounts are connected", func() bool { return a.tg.Polling() && a.two.Polling() && a.dc.Ready() })
		other := a.other
		for n := range channeltest.Times(2, 400) {
			turns += a.round()
			if n%3 == 1 && (mode == "self" || mode == "tree") {
				a.command("/compact")
			}
			if n%3 == 1 {
				a.command("/new")
			}
		}
		a.command("/export")
		if mode == "self" || mode == "tree" {
			a.files()
		}
		seen[mode] = a.other - other
		p.kill()
	}
	t.Logf("%d turns of %d sessions in %d chats: %d words were shown, %v of them of others, by visibility", turns, len(a.agents), len(a.spots), a.seen, seen)
	if seen["self"]+seen["tree"] > 0 || seen["agent"] == 0 || seen["all"] == 0 {
		t.Error("the modes make no difference")
	}
}

// files looks at transcripts and exports: one file is about one share.
func (a *aviary) files() {
	a.t.Helper()
	n := 0
	for _, pattern := range []string{"state/agents/*/sessions/*.jsonl", "state/exports/*"} {
		found, err := filepath.Glob(filepath.Join(a.dir, pattern))
		if err != nil {
			a.t.Fatal(err)
		}
		for _, path := range found {
			b, err := os.ReadFile(path)
			if err != nil {
				a.t.Fatal(err)
			}
			if who := speaker.FindSubmatch(b); who != nil {
				n++
				a.mu.Lock()
				a.judge(path, number(string(who[1])), string(b))
				a.mu.Unlock()
			}
		}
	}
	if n < len(a.agents) {
		a.t.Errorf("only %d files", n)
	}
}
