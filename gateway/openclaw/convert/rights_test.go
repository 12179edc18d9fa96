package convert_test

import (
	"encoding/json"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"parley/channels"
	"parley/channels/discord"
	"parley/channels/telegram"
	"parley/channels/whatsapp"
	"parley/gateway/config"
	"parley/gateway/openclaw/convert"
	"parley/gateway/openclaw/report"
	"parley/policy"
	"parley/sessions"
	"parley/sessions/route"
	"parley/tools"
)

// table has the adapters of the program.
func table() config.Table {
	return config.Table{
		{Kind: telegram.Kind, Person: telegram.Person, Chat: telegram.Chat, New: func() any { return &telegram.Config{} }},
		{Kind: discord.Kind, Person: discord.Person, Chat: discord.Chat, New: func() any { return &discord.Config{} }},
		{Kind: whatsapp.Kind, Person: whatsapp.Person, Chat: whatsapp.Chat, New: func() any { return &whatsapp.Config{} }},
	}
}

// world is a configuration after the import, as parley reads it.
type world struct {
	t      *testing.T
	claw   claw
	text   string
	config *config.Config
	routes route.Table
	paired []convert.Person
	report *report.Report
	pairs  int // of questions that parley answered with yes
}

func imported(t *testing.T, top map[string]any, paired []convert.Person) *world {
	t.Helper()
	var r report.Report
	got := convert.Configuration(convert.Input{Top: top, Table: table(), Getenv: func(string) string { return "" }, Paired: paired, Report: &r})
	c, _, err := config.Parse("x.yaml", got.Config, table(), func(n string) string {
		return fmt.Sprintf("%d:unset", crc32.ChecksumIEEE([]byte(n)))
	})
	if err != nil {
		t.Fatalf("parley refuses what was made: %v\n%s", err, got.Config)
	}
	w := &world{t: t, claw: claw{top, map[string]bool{}}, text: string(got.Config), config: c, paired: got.Paired, report: &r}
	for _, p := range paired {
		w.claw.paired[fmt.Sprintf("%s/%s/%s", p.Channel, p.Account, p.ID)] = true
	}
	w.routes = route.Table{Bindings: c.Bindings, Config: c.Session, Owners: policy.Owners(c.Commands.OwnerAllowFrom)}
	for _, e := range c.Agents.List {
		if w.routes.Agents = append(w.routes.Agents, e.ID); e.Default {
			w.routes.Default = e.ID
		}
	}
	return w
}

func (w *world) fail(format string, args ...any) {
	w.t.Helper()
	was, _ := json.MarshalIndent(w.claw.top, "", " ")
	need, _ := json.MarshalIndent(w.report.NeedsYou, "", " ")
	w.t.Fatalf("%s\nin OpenClaw: %s\nin parley: %s\nneeds: %s", fmt.Sprintf(format, args...), was, w.text, need)
}

// inbound is a spot as an adapter would tell of it.
func inbound(s spot) channels.Inbound {
	in := channels.Inbound{Event: channels.Message, Text: "hello", Sender: channels.Sender{ID: channels.UserID(s.person)}, Mentioned: s.mentioned, MentionsOthers: s.mentionsOthers, Guild: s.guild, Roles: s.roles,
		Address: channels.Address{Channel: channels.Kind(s.kind), Account: channels.AccountID(s.account), Chat: channels.ChatID(s.chat), Thread: channels.ThreadID(s.topic), Type: channels.Group}}
	switch {
	case s.chat == "":
		in.Address.Chat, in.Address.Type = channels.ChatID(s.person), channels.Direct
	case s.room:
		in.Address.Type = channels.Room
	}
	return in
}

// account is that of a spot; nil = there is none, or it is disabled.
func (w *world) account(s spot) *config.Account {
	i := slices.IndexFunc(w.config.Channels, func(a config.Account) bool { return string(a.Kind) == s.kind && string(a.ID) == s.account })
	if i < 0 {
		return nil
	}
	return &w.config.Channels[i]
}

// ask compares everything about one spot.
func (w *world) ask(s spot) {
	account := w.account(s)
	if account == nil {
		return
	}
	access := account.Access
	f := policy.FactsOf(inbound(s))
	f.Owner = w.routes.Owners.Is(f.Address.Channel, f.Sender)
	f.Paired = slices.Contains(w.paired, convert.Person{Channel: f.Address.Channel, Account: f.Address.Account, ID: f.Sender.ID})
	got := access.Admit(f)
	switch got.Outcome {
	case policy.Admit:
		w.pairs++
		if s.chat == "" && !w.claw.direct(s) || s.chat != "" && !w.claw.hears(s) {
			w.fail("parley admits %+v (%s), OpenClaw did not", s, got.Reason)
		}
		w.tools(s, access, f.Owner)
	case policy.Pair:
		if !w.claw.pairs(s) {
			w.fail("parley offers pairing to %+v, OpenClaw did not", s)
		}
	}
}

// stands says which tools of OpenClaw together could do what a tool of parley does. source: docs/tools.md
var stands = map[string][]string{"files": {"read", "write", "edit"}, "attachments": {"read"}, "fetch": {"web_fetch"}, "remember": {"write"}, "recall": {"memory_search"}, "sessions_search": {"sessions_history"},
	"sessions_list": nil, "sessions_history": nil, "sessions_send": nil, "sessions_spawn": nil, "session_status": nil, "subagents": nil, "message": nil, "cron": nil, "agents_list": nil,
	"github_search": {"github__search"}, "notes_add": {"notes__add"}}

// tools compares what a turn may use, in the chat itself and in a sub-agent, and where it runs and what it sees.
func (w *world) tools(s spot, access policy.Access, owner bool) {
	key, agent, _ := w.routes.Key(inbound(s))
	before := w.claw.answers(s)
	if string(agent) != before {
		w.fail("agent %s answers %+v, it was %s", agent, s, before)
	}
	wasMain := s.chat == "" && w.scope() == 0
	boxed := map[string]bool{"all": true, "non-main": key.Kind() != sessions.KindMain}[w.config.Agents.Defaults.Sandbox.Mode]
	was := w.claw.sandboxed(before, wasMain)
	if was && !boxed {
		w.fail("the session of %+v was sandboxed and is not", s)
	}
	sees := slices.Index([]string{"self", "tree", "agent", "all"}, string(w.config.Tools.Sessions.Visibility))
	if clamp := w.config.Agents.Defaults.Sandbox.SessionToolsVisibility != "all"; boxed && clamp {
		sees = min(sees, 1)
	}
	saw := w.claw.visibility()
	if was && !w.claw.seesAll(before) {
		saw = min(saw, 1)
	}
	if sees > saw {
		w.fail("sessions of %+v see more: %d, it was %d", s, sees, saw)
	}
	var own tools.Rights
	for _, e := range w.config.Agents.List {
		if e.ID == agent {
			own = e.Tools
		}
	}
	in := inbound(s)
	for _, sub := range []bool{false, true} {
		f := tools.Facts{Agent: agent, Own: own, Chats: []channels.ChatType{in.Address.Type}, Owner: owner, Sandboxed: boxed, Sub: sub,
			Groups: access.GroupTools("x", in.Address, "", []channels.Sender{in.Sender})}
		layers := tools.Rules(w.config.Tools, f)
		for name, by := range stands {
			if !policy.Permits(name, layers...).Allowed() {
				continue
			}
			if by == nil {
				by = []string{name}
			}
			for _, tool := range by {
				if t := (turn{s, before, was, sub}); !w.claw.permits(t, tool) {
					w.fail("%+v (sub-agent %v) may use %s; OpenClaw denied %s", s, sub, name, tool)
				}
			}
		}
	}
}

// scope ranks session.dmScope.
func (w *world) scope() int {
	v := str(obj(w.claw.top["session"])["dmScope"])
	return max(0, slices.Index([]string{"main", "per-peer", "per-channel-peer", "per-account-channel-peer"}, v))
}

// sends compares what may leave to a chat. A rule that was left out stands in the report.
func (w *world) sends(s spot) {
	if obj(w.claw.agent(w.claw.answers(s))["runtime"])["type"] == "acp" && w.account(s) == nil {
		return // its agent is gone, and so is the account
	}
	key, _, _ := w.routes.Key(inbound(s))
	in := inbound(s)
	got := w.config.Session.SendPolicy.Evaluate(policy.Subject{Key: string(key), StrippedKey: key.Stripped(), PlainKey: string(key.Plain()), Shown: string(key.Shown()), To: in.Address})
	d := delivery{channel: s.kind, account: s.account, chatType: string(in.Address.Type), key: "agent:" + w.claw.answers(s) + ":" + w.clawKey(s)}
	before, unsure := w.claw.leaves(d)
	if unsure && len(w.report.NeedsYou) == 0 {
		w.fail("a rule that denies was left out in silence")
	}
	if got.Allowed() && !before && !unsure {
		w.fail("a message may leave to %+v (%s, key %s), OpenClaw denied it (key %s)", s, got.Reason, key, d.key)
	}
}

// clawKey is the session key of a chat, without its agent.
func (w *world) clawKey(s spot) string {
	main := str(obj(w.claw.top["session"])["mainKey"])
	if main == "" {
		main = "main"
	}
	if s.chat != "" {
		word := map[bool]string{true: "channel", false: "group"}[s.room]
		topic := ""
		if s.topic != "" {
			topic = ":topic:" + s.topic
		}
		return s.kind + ":" + word + ":" + s.chat + topic
	}
	return []string{main, "direct:" + s.person, s.kind + ":direct:" + s.person, s.kind + ":" + s.account + ":direct:" + s.person}[w.scope()]
}

// people and places that generated configurations speak of.
var (
	persons = map[string][]string{"telegram": {"1001", "2002", "3003"}, "discord": {"80351110224678912", "80351110224678913", "80351110224678914"}, "whatsapp": {"+4915123456789", "+4915123456780", "+4915123456781"}}
	places  = map[string][]string{"telegram": {"-1001", "-1002"}, "discord": {"41771983423143937", "41771983423143938"}, "whatsapp": {"120363000000000001@g.us", "120363000000000002@g.us"}}
	servers = []string{"41771983423143930", "41771983423143931"}
	roles   = []string{"55771983423143930", "55771983423143931"}
)

// serverOf is the server of a channel; the third channel stands in no list.
func serverOf(chat string) string {
	return servers[max(0, slices.Index(places["discord"], chat))]
}

// spots are all that is asked about.
func spots() (out []spot) {
	for _, kind := range []string{"telegram", "discord", "whatsapp"} {
		for _, account := range []string{"default", "biz"} {
			for _, p := range persons[kind] {
				s := spot{kind: kind, account: account, person: p}
				out = append(out, s)
				for _, chat := range append(slices.Clone(places[kind]), map[string]string{"telegram": "-1009", "discord": "41771983423143999", "whatsapp": "120363000000000009@g.us"}[kind]) {
					for n := range 4 {
						s.chat, s.room, s.mentioned, s.mentionsOthers, s.topic, s.guild, s.roles = chat, kind == "discord", n%2 == 0, n == 3, "", "", nil
						if kind == "discord" {
							s.guild = serverOf(chat)
							s.roles = roles[:n%2]
						}
						if kind == "telegram" && n > 1 {
							s.topic = "7"
						}
						out = append(out, s)
					}
				}
			}
		}
	}
	return out
}

// TestAdmitsNobodyNew compares thousands of generated configurations: whoever parley admits, with whichever tools, wherever messages may leave to, OpenClaw
// did the same. The seeds are fixed, so that a failure comes again.
func TestAdmitsNobodyNew(t *testing.T) {
	t.Parallel()
	count, yes := 2000, 0
	if testing.Short() {
		count = 400
	}
	all := spots()
	for seed := range count {
		g := gen{rand.New(rand.NewPCG(uint64(seed), 31))} //nolint:gosec // a failure must come again
		top, paired := g.configuration()
		w := imported(t, top, paired)
		for _, s := range all {
			w.ask(s)
			w.sends(s)
		}
		for _, a := range w.routes.Agents {
			for _, b := range w.routes.Agents {
				if m := w.config.Tools.AgentToAgent; a != b && m.Enabled && permitsAgents(m.Allow, a, b) && !w.claw.reaches(string(a), string(b)) {
					w.fail("agent %s reaches %s", a, b)
				}
			}
		}
		w.owners()
		yes += w.pairs
	}
	if yes < count {
		t.Errorf("parley admitted in %d cases only: the configurations are too narrow to show anything", yes)
	}
	t.Logf("%d configurations, %d admissions compared", count, yes)
}

func permitsAgents(allow []string, ids ...sessions.AgentID) bool {
	for _, id := range ids {
		if len(allow) > 0 && !slices.ContainsFunc(allow, func(p string) bool { return glob(p, string(id)) }) {
			return false
		}
	}
	return true
}

// owners: nobody becomes an owner whom OpenClaw did not name, unless it let write this one person alone.
func (w *world) owners() {
	named := entriesOf(obj(w.claw.top["commands"])["ownerAllowFrom"])
	for _, o := range w.config.Commands.OwnerAllowFrom {
		kind, id, _ := strings.Cut(o, ":")
		if obj(w.claw.top["commands"])["ownerAllowFrom"] != nil {
			if !slices.ContainsFunc(named, func(v any) bool { return strings.HasSuffix(fmt.Sprint(v), id) }) {
				w.fail("%s became an owner", o)
			}
			continue
		}
		for _, account := range []string{"default", "biz"} {
			if _, has := w.claw.section(kind, account); has && !w.claw.direct(spot{kind: kind, account: account, person: id}) {
				w.fail("%s became an owner without being let in", o)
			}
		}
	}
}
