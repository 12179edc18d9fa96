package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/agent/modeltest"
	"parley/channels/channeltest"
	"parley/channels/discord/discordtest"
	"parley/channels/telegram/telegramtest"
	"parley/sessions"
	"parley/sessions/sqlstore/engine"
)

// stopMoment is where the work of a chat is when it is stopped. Every message and task has the case's mark in it.
type stopMoment struct {
	name  string
	say   string // in chat a; the lines are messages of their own
	holds string // the step of the model that is asked and does not answer
	shown int    // answers in chat a before the stop
	spoke int    // in chat b
}

var stopMoments = []stopMoment{
	{"turn", "hello", "turn", 0, 0},
	{"queue", "hello\nand\nmore", "turn", 0, 0},
	{"sub-agent, depth 3", "spawn deep1", "child deep3", 1, 0},
	{"ask", "ask b", "ask", 0, 0},
	{"ask, not waited", "ask b later", "ask", 1, 0},
	{"own reply", "ask b", "reply a", 1, 0},
	{"other's reply", "ask b", "reply b", 1, 0},
	{"announce", "ask b", "announce", 1, 0},
	{"on its behalf", "ask b who spawns", "child deep3", 1, 1},
	{"report", "spawn quick", "report", 1, 0},
	{"split answer", "long", "", 0, 0},
	{"compaction", "tell\ntell\ntell\ntell\n/compact", "summary", 4, 0},
	{"result", "spawn quick", "result", 1, 0}, // last: on a host of its own
}

// stopWays are what stops a chat; the page's button is the API's.
var stopWays = []string{"/stop please", "停止！🛑", "/new", "page and API"}

// stopCase is one chat of a platform, brought to one moment and stopped in one way.
type stopCase struct {
	stopMoment
	id       int
	platform string
	way      string
	a, b     stopChat
	base     [2]int // what the chats show before it begins

	mu    sync.Mutex
	held  int // calls of the model that do not end by themselves
	asked int // calls of the model in all
	after []string
	over  bool // the stop is answered
}

func (c *stopCase) String() string {
	return fmt.Sprintf("%d %s/%s/%s", c.id, c.platform, c.name, c.way)
}

// stopChat is a chat as its owner sees it.
type stopChat struct {
	key   string
	say   func(text string)
	texts func() []string
}

// stopWorld is a host with many chats on four platforms.
type stopWorld struct {
	*three
	cases []*stopCase
	posts int // on the page
}

const stopParts = 80

var (
	caseMark = regexp.MustCompile(`#(\d+)#`)
	deepTask = regexp.MustCompile(`deep(\d) #`)
)

// newStopWorld makes a host on a store whose sub-agents hand their results to whom announce says, with the cases of the moments.
func newStopWorld(t *testing.T, dsn, announce string, moments []stopMoment) *stopWorld {
	t.Helper()
	x := &stopWorld{three: newThree(t)}
	x.model.Script(x.answer)
	for i, m := range moments {
		for j, platform := range []string{"telegram", "discord", "whatsapp", "webchat"} {
			for k, way := range stopWays {
				if (i+j)%len(stopWays) != k && channeltest.Times(0, 1) == 0 || m.name == "split answer" && platform == "webchat" { // the page gets an answer whole
					continue
				}
				c := &stopCase{stopMoment: m, id: len(x.cases) + 1, platform: platform, way: way}
				switch platform {
				case "telegram":
					c.a, c.b = x.telegramGroup(-930000-int64(2*c.id)), x.telegramGroup(-930001-int64(2*c.id))
				case "discord":
					c.a, c.b = x.discordRoom(4400000000000000000+2*c.id), x.discordRoom(4400000000000000001+2*c.id)
				case "whatsapp":
					c.a, c.b = x.whatsappGroup(fmt.Sprint("A", c.id)), x.whatsappGroup(fmt.Sprint("B", c.id))
				case "webchat":
					c.a, c.b = x.page(), x.telegramGroup(-930001-int64(2*c.id))
				}
				x.cases = append(x.cases, c)
			}
		}
	}
	store := ""
	if dsn != "" {
		store = fmt.Sprintf("store: {dsn: %q}\n", dsn)
	}
	const open = "    groupPolicy: open\n    groups: {\"*\": {requireMention: false}}\n    pacing: {perSecond: 0, perChatPerSecond: 1, perGroupPerMinute: 0}\n"
	text := fmt.Sprintf(`
state: state
%sgateway: {listen: "127.0.0.1:0"}
models: {providers: {mock: {api: openai, baseUrl: %s/v1, apiKey: x, contextWindow: 100000}}}
agents:
  defaults: {model: mock/mock-1, maxConcurrent: 1000, subagents: {maxConcurrent: 1000, maxSpawnDepth: 4, announce: %s}}
messages: {queue: {mode: followup}}
tools: %s
commands: {ownerAllowFrom: ["telegram:%d", "discord:%s", "whatsapp:%s"]}
channels:
  telegram:
    token: %q
    apiUrl: %s
%s  discord:
    token: %q
    apiUrl: %s
%s  whatsapp:
%s`, store, x.model.URL(), announce, everybody,
		owner, olgaOnDiscord, x.olga.Number(), x.tg.Token(), x.tg.URL(), open, discordtest.BotToken, x.dc.APIURL(), open, open)
	if err := os.WriteFile(x.dir+"/config.yaml", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return x
}

func (x *stopWorld) telegramGroup(id int64) stopChat {
	x.tg.AddGroup(id, fmt.Sprint("Group ", -id))
	return stopChat{fmt.Sprintf("agent:main:telegram:group:%d", id), func(text string) { x.tg.Say(id, owner, text) },
		func() []string {
			return textsOf(x.tg.SentTo(id), func(m telegramtest.Message) string { return m.Text })
		}}
}

func (x *stopWorld) discordRoom(n int) stopChat {
	id := strconv.Itoa(n)
	x.dc.AddChannel(guild, id, "room-"+id)
	return stopChat{"agent:main:discord:channel:" + id, func(text string) { x.dc.Say(id, olgaOnDiscord, text) },
		func() []string { return textsOf(x.dc.Sent(id), func(m discordtest.Sent) string { return m.Text }) }}
}

func (x *stopWorld) whatsappGroup(name string) stopChat {
	g := x.wa.NewGroup(name, x.olga.Phone, x.bot)
	c := x.three.whatsapp(g, "agent:main:whatsapp:group:"+g.JID().String())
	return stopChat{c.key, c.tell, c.texts}
}

// page is the owner's chat on the page. What it shows stands in the list of deliveries, which outlasts /new.
func (x *stopWorld) page() stopChat {
	return stopChat{"agent:main:main", func(text string) {
		x.posts++
		if err := x.host.call(x.ctx(), http.MethodPost, "/api/chat/messages", nil, map[string]string{"id": fmt.Sprint("post", x.posts), "text": text}, &struct{}{}); err != nil {
			x.t.Error(err)
		}
	}, func() []string {
		var all []sessions.Delivery
		_ = x.host.call(x.ctx(), http.MethodGet, "/api/deliveries", url.Values{"session": {"agent:main:main"}, "state": {"sent"}, "limit": {"1000"}}, nil, &all) // no session, no deliveries
		slices.Reverse(all)
		return textsOf(all, func(d sessions.Delivery) string { return d.Text })
	}}
}

func textsOf[T any](list []T, text func(T) string) (out []string) {
	for _, m := range list {
		out = append(out, text(m))
	}
	return out
}

// answer plays what the words ask for, and holds the step of the case's moment.
func (x *stopWorld) answer(r modeltest.Request) modeltest.Reply {
	var c *stopCase
	said, results := "", 0
	for _, m := range r.Messages {
		for _, found := range caseMark.FindAllStringSubmatch(m.Text, -1) {
			id, _ := strconv.Atoi(found[1]) // digits
			c = x.cases[id-1]
		}
		switch m.Role {
		case "user":
			said, results = spokenText(m.Text), 0
		case "tool":
			results++
		}
	}
	if c == nil || strings.HasSuffix(said, "good day") { // of a chat whose turn was stopped before, the prompt has that too
		return words("hello")
	}
	k := callOf(r)
	name := k.Step
	switch {
	case strings.HasPrefix(r.System, "You keep the memory"):
		name = "summary"
	case name == "reply" && k.Session == c.a.key:
		name = "reply a"
	case name == "reply":
		name = "reply b"
	case name == "child":
		if m := deepTask.FindStringSubmatch(said); m != nil {
			name = "child deep" + m[1]
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked++
	if c.over {
		c.after = append(c.after, name)
	}
	if name == c.holds {
		c.held++
		return modeltest.Reply{Fault: modeltest.Silent}
	}
	mark, fresh := fmt.Sprintf(" #%d#", c.id), results == 0
	call := func(tool string, args map[string]any) modeltest.Reply {
		return modeltest.Reply{ToolCalls: toolCalls(r.N, []string{use(tool, args)})}
	}
	spawn := func(task string) modeltest.Reply { return call("sessions_spawn", map[string]any{"task": task + mark}) }
	send := func(words string, wait int) modeltest.Reply {
		return call("sessions_send", map[string]any{"sessionKey": c.b.key, "message": words + mark, "timeoutSeconds": wait})
	}
	switch does := strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(said), strings.TrimSpace(mark))); {
	case name == "turn" && does == "ask b" && fresh:
		return send("question", 3600)
	case name == "turn" && does == "ask b later" && fresh:
		return send("question", 0)
	case name == "turn" && does == "ask b who spawns" && fresh:
		return send("spawn deep1", 3600)
	case (name == "turn" || name == "ask") && strings.HasPrefix(does, "spawn ") && fresh:
		return spawn(strings.TrimPrefix(does, "spawn "))
	case fresh && (name == "child deep1" || name == "child deep2"):
		return spawn(map[string]string{"child deep1": "deep2", "child deep2": "deep3"}[name])
	case results == 1 && (name == "child deep1" || name == "child deep2"):
		return call("sessions_yield", map[string]any{})
	case name == "turn" && does == "long":
		return words(strings.Repeat("SECRET "+strings.Repeat("word ", 760)+"\n\n", stopParts)) // a part of Telegram and WhatsApp each, two of Discord
	case name == "turn" && does == "tell":
		return words("SECRET " + strings.Repeat("The beans in the garden want water again. ", 40))
	}
	return words("SECRET " + name)
}

// groups are the cases that have chats of their own. The page has one chat: its cases come one after the other.
func (x *stopWorld) split() (groups, page []*stopCase) {
	for _, c := range x.cases {
		if c.platform == "webchat" {
			page = append(page, c)
		} else {
			groups = append(groups, c)
		}
	}
	return groups, page
}

// play makes the sessions of all chats of some cases, brings each to its moment, and stops it. It gives what the chats show then.
func (x *stopWorld) play(shown map[*stopCase][2]int, cases ...*stopCase) {
	x.t.Helper()
	for _, c := range cases {
		c.base = [2]int{len(c.a.texts()) + 1, len(c.b.texts()) + 1}
		c.a.say("good day")
		c.b.say("good day")
	}
	for _, c := range cases {
		x.until(2*patience, c.String()+": both chats are there", func() bool { return c.shows() == c.base })
		for text := range strings.SplitSeq(c.stopMoment.say, "\n") {
			if text[0] != '/' {
				text += fmt.Sprintf(" #%d#", c.id)
			}
			c.a.say(text)
		}
	}
	held := 0
	for _, c := range cases {
		x.until(3*patience, c.String()+": it is held", func() bool {
			c.mu.Lock()
			n := c.held
			c.mu.Unlock()
			at := c.shows()
			return c.holds == "" && at[0] > c.base[0]+1 || n == 1 && at == [2]int{c.base[0] + c.shown, c.base[1] + c.spoke}
		})
		held += map[bool]int{true: 1}[c.holds != ""]
	}
	gone := x.model.Gone()
	for _, c := range cases {
		x.stop(c)
	}
	x.until(5*time.Second, "all calls of the model are cancelled", func() bool { return x.model.Gone() >= gone+held })
	x.quiet()
	for _, c := range cases {
		shown[c] = c.shows()
		more := [2]int{shown[c][0] - c.base[0], shown[c][1] - c.base[1]}
		want := [2]int{c.shown, c.spoke}
		if c.way != "page and API" {
			want[0]++
		}
		if c.holds != "" && more != want || c.holds == "" && more[0] >= stopParts { // how many parts of a split answer had left by then is a matter of time
			x.t.Errorf("%s: %d more messages, want %d: %.60q", c, more, want, c.a.texts())
		}
	}
}

// shows counts what the two chats show.
func (c *stopCase) shows() [2]int { return [2]int{len(c.a.texts()), len(c.b.texts())} }

// stop stops a case, and waits for the answer.
func (x *stopWorld) stop(c *stopCase) {
	x.t.Helper()
	before := len(c.a.texts())
	if c.way == "page and API" {
		if err := x.host.call(x.ctx(), http.MethodPost, "/api/sessions/"+url.PathEscape(c.a.key)+"/abort", nil, map[string]any{}, &struct{}{}); err != nil {
			x.t.Errorf("%s: %v", c, err)
		}
	} else {
		c.a.say(c.way)
		isAnswer := func(s string) bool { return strings.HasPrefix(s, "⚙️") || strings.HasPrefix(s, "✅") }
		var at int
		x.until(patience, c.String()+": the stop is answered", func() bool {
			all := c.a.texts()
			at = slices.IndexFunc(all[min(before, len(all)):], isAnswer)
			return at >= 0
		})
		if text := c.a.texts()[before+at]; strings.Contains(text, "Nothing is running") || len(strings.Fields(text)) < 3 || at > 1 {
			x.t.Errorf("%s: message %d behind the stop is %q", c, at+1, text)
		}
	}
	c.mu.Lock()
	c.over = true
	c.mu.Unlock()
}

// judge fails where a model was asked after a stop, or a chat shows more than at its end.
func (x *stopWorld) judge(shown map[*stopCase][2]int) {
	x.t.Helper()
	for _, c := range x.cases {
		c.mu.Lock()
		if len(c.after) > 0 {
			x.t.Errorf("%s: the model was asked after the stop: %s", c, c.after)
		}
		c.mu.Unlock()
		if now := c.shows(); now != shown[c] {
			x.t.Errorf("%s: %d messages, at the stop %d; the last are %.60q and %.60q", c, now, shown[c], last(c.a.texts()), last(c.b.texts()))
		}
	}
}

// TestStopOnEveryPlatform stops chats on the real adapters of all platforms, at every moment of their work, by command, word, /new and page, on both
// stores: the calls of the model that are open are cancelled, no other begins, and the chats see the answer to the stop alone, also after a kill.
// (TestStopEverywhere of router holds the same against a clock.) Each moment and platform is stopped in one way, with PARLEY_TEST_FULL=1 in all.
//
// source: openclaw/openclaw#122909, #120856, #37024, #56386, #101162
// proves: X1, X3, X5
func TestStopOnEveryPlatform(t *testing.T) {
	t.Parallel()
	for _, store := range []string{"SQLite", "PostgreSQL"} {
		for _, announce := range []string{"direct", "requester"} {
			t.Run(store+"/"+announce, func(t *testing.T) {
				t.Parallel()
				dsn := ""
				if store == "PostgreSQL" {
					dsn = postgresSchema(t, announce)
				}
				moments := stopMoments[:len(stopMoments)-1]
				if announce == "requester" {
					moments = stopMoments[len(stopMoments)-1:]
				}
				x := newStopWorld(t, dsn, announce, moments)
				p := x.start()
				shown := map[*stopCase][2]int{}
				groups, page := x.split()
				x.until(patience, "all accounts are connected", func() bool { return x.tg.Polling() && x.dc.Ready() })
				x.play(shown, groups...)
				for _, c := range page {
					x.play(shown, c)
				}
				for _, c := range page {
					shown[c] = [2]int{shown[page[len(page)-1]][0], shown[c][1]} // they share a chat
				}
				<-time.After(time.Second)
				x.judge(shown)
				p.kill()
				x.start()
				<-time.After(time.Second)
				x.quiet()
				x.judge(shown)
			})
		}
	}
}

// postgresSchema makes a schema on the server for tests, and gives its address.
func postgresSchema(t *testing.T, name string) string {
	t.Helper()
	dsn := os.Getenv("PARLEY_TEST_POSTGRES")
	if dsn == "" {
		t.Skip("PARLEY_TEST_POSTGRES is not set: no PostgreSQL server to test on")
	}
	schema := fmt.Sprintf("parley_stop_%s_%d", name, os.Getpid())
	run := func(q string) {
		ctx := context.WithoutCancel(t.Context())
		c, err := engine.Postgres.Connect(ctx, dsn)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := c.Exec(ctx, q); err != nil {
			t.Error(err)
		}
	}
	run("CREATE SCHEMA " + schema)
	t.Cleanup(func() { run("DROP SCHEMA " + schema + " CASCADE") })
	return dsn + map[bool]string{true: "&", false: "?"}[strings.Contains(dsn, "?")] + "search_path=" + schema
}
