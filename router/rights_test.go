package router

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"parley/agent"
	"parley/channels"
	"parley/channels/channeltest"
	"parley/policy"
	"parley/sessions"
	"parley/tools"
)

// tools are those that a run of a session has.
func (g *rig) tools(s sessions.Session, run sessions.Run, msgs ...sessions.Message) []tools.Tool {
	g.t.Helper()
	may, err := g.r.rightsOf(g.t.Context(), g.r.settings.Load(), s, run, msgs)
	if err != nil {
		g.t.Fatal(err)
	}
	return g.r.toolsFor(g.t.Context(), run, may)
}

func nameList(all []tools.Tool) (out []string) {
	for _, t := range all {
		out = append(out, t.Spec().Name)
	}
	return out
}

var some = []string{"fetch", "files", "remember", "recall", "message", "sessions_spawn", "sessions_list", "git_log"}

// drawRights draws lists of tools.
func drawRights(t *rapid.T, label string) tools.Rights {
	entries := rapid.SliceOfN(rapid.SampledFrom(append([]string{"*", "sessions_*", "group:fs", "group:web", "group:memory", "group:sessions", "group:mcp", "git_*"}, some...)), 0, 2)
	r := tools.Rights{Deny: entries.Draw(t, label+" deny")}
	if rapid.IntRange(0, 3).Draw(t, label+" lists") == 0 {
		r.Allow = append(entries.Draw(t, label+" allow"), "sessions_spawn", "*s")
	}
	return r
}

// drawSettings draws a configuration of everything that decides about tools.
func drawSettings(t *rapid.T) *Settings {
	access := policy.Access{Groups: map[string]policy.GroupAccess{}}
	for _, id := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"g", "*"}), 0, 2, rapid.ID[string]).Draw(t, "groups") {
		g := policy.GroupAccess{Tools: drawRights(t, "group "+id), ToolsBySender: map[string]tools.Rights{}, Topics: map[string]policy.GroupAccess{"7": {Tools: drawRights(t, "topic")}}}
		for _, who := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"1", "2", "@two", "*"}), 0, 3, rapid.ID[string]).Draw(t, "senders "+id) {
			g.ToolsBySender[who] = drawRights(t, "sender "+who)
		}
		access.Groups[id] = g
	}
	s := &Settings{
		Agents: agent.Config{List: []agent.Entry{{ID: "a", Default: true, Tools: drawRights(t, "a")}, {ID: "b", Tools: drawRights(t, "b")}},
			Defaults: agent.Defaults{Subagents: agent.Subagents{MaxSpawnDepth: rapid.IntRange(1, 3).Draw(t, "depth")}, Sandbox: agent.Sandbox{Mode: rapid.SampledFrom([]string{"off", "non-main", "all"}).Draw(t, "sandbox")}}},
		Tools: tools.Config{ByChatType: map[channels.ChatType]tools.Rights{}, BySender: map[tools.Sender]tools.Rights{}, Sandbox: tools.SandboxTools{Tools: drawRights(t, "sandboxed")},
			Subagents: tools.Subagents{Tools: drawRights(t, "sub-agents")}},
		Accounts: map[AccountRef]AccountSettings{account: {Access: access}},
		Owners:   policy.Owners{"fake:1", "fake:10"},
	}
	for _, c := range []channels.ChatType{channels.Direct, channels.Group, channels.Room} {
		s.Tools.ByChatType[c] = drawRights(t, string(c))
	}
	for _, w := range []tools.Sender{tools.FromOwner, tools.FromOther} {
		s.Tools.BySender[w] = drawRights(t, string(w))
	}
	all := drawRights(t, "all")
	s.Tools.Allow, s.Tools.Deny = all.Allow, all.Deny
	return s.Prepare()
}

// drawTurn draws a turn that people caused.
func drawTurn(t *rapid.T) (sessions.Session, sessions.Run) {
	to := channels.Address{Channel: fakeKind, Account: channels.DefaultAccount, Chat: channels.ChatID(rapid.SampledFrom([]string{"g", "h"}).Draw(t, "chat")),
		Type: rapid.SampledFrom([]channels.ChatType{channels.Direct, channels.Group, channels.Room}).Draw(t, "type")}
	if to.Type == channels.Group && rapid.Bool().Draw(t, "in a topic") {
		to.Thread = "7"
	}
	form := map[channels.ChatType]sessions.Form{channels.Direct: sessions.FormMain, channels.Group: sessions.FormGroup, channels.Room: sessions.FormRoom}[to.Type]
	s := sessions.Session{Agent: "a", Last: to, Key: sessions.Parts{Form: form, Agent: "a", Channel: fakeKind, Account: to.Account, ID: string(to.Chat), Thread: to.Thread}.Key()}
	run := sessions.Run{ID: "r", Kind: sessions.TurnRun, Key: s.Key, Agent: "a", Reply: to, Input: sessions.Message{ID: "i", Run: "r", Role: sessions.User,
		Provenance: &sessions.Provenance{Kind: sessions.ExternalUser, Sender: rapid.SampledFrom([]string{"1", "2", "3"}).Draw(t, "sender"), User: rapid.SampledFrom([]string{"", "Two"}).Draw(t, "name"),
			Address: to}}}
	p := run.Input.Provenance
	p.Owner = p.Sender == "1"
	return s, run
}

// mayUse gives the tools of a turn by name.
func mayUse(r *Router, set *Settings, s sessions.Session, run sessions.Run, msgs ...sessions.Message) (names []string) {
	may, err := r.rightsOf(context.Background(), set, s, run, msgs)
	if err != nil {
		panic(err)
	}
	for _, n := range some {
		if v, _ := may.decide(n); v.Allowed() {
			names = append(names, n)
		}
	}
	return names
}

func subset(t *rapid.T, what string, less, more []string) {
	t.Helper()
	for _, n := range less {
		if !slices.Contains(more, n) {
			t.Fatalf("%s: has %s; %q are not among %q", what, n, less, more)
		}
	}
}

// TestRightsOnlyNarrow: over random configurations and turns, a sub-agent and a sub-agent's sub-agent have no more than the turn that
// started them, a sandboxed session no more than one that is not, a turn that answers further people no more than before, and no
// entry of a deny list gives a tool to anybody.
//
// proves: N7
func TestRightsOnlyNarrow(t *testing.T) {
	t.Parallel()
	r := &Router{store: noRuns{}}
	rapid.Check(t, func(t *rapid.T) {
		set := drawSettings(t)
		s, run := drawTurn(t)
		own := mayUse(r, set, s, run)

		who, _, err := r.comesFrom(context.Background(), s, run)
		if err != nil {
			t.Fatal(err)
		}
		child := sessions.Session{Key: sessions.SubagentKey("b", "1"), Agent: "b", SpawnedBy: s.Key, Above: []sessions.AgentID{"a"}}
		task := sessions.Run{ID: "c", Kind: sessions.ChildRun, Key: child.Key, Agent: "b", Chain: &sessions.Chain{Kind: chainSpawn, Requester: s.Key, From: originOf(s, run).Chat, Owner: who.owner, People: who.people}}
		below := mayUse(r, set, child, task)
		subset(t, "a sub-agent", below, own)

		who, _, err = r.comesFrom(context.Background(), child, task)
		if err != nil {
			t.Fatal(err)
		}
		inner := sessions.Session{Key: sessions.SubagentKey("a", "2"), Agent: "a", SpawnedBy: child.Key, Above: []sessions.AgentID{"b", "a"}}
		deep := sessions.Run{ID: "d", Kind: sessions.ChildRun, Key: inner.Key, Agent: "a", Chain: &sessions.Chain{Kind: chainSpawn, Requester: child.Key, From: originOf(child, task).Chat, Owner: who.owner, People: who.people, Parent: task.Chain}}
		subset(t, "a sub-agent's sub-agent", without(mayUse(r, set, inner, deep), "sessions_spawn", "sessions_list"), without(below, "sessions_spawn", "sessions_list"))
		subset(t, "a sub-agent's sub-agent", mayUse(r, set, inner, deep), own)

		asked, through := sessions.Run{ID: "e", Kind: sessions.AskRun, Key: "agent:b:main", Agent: "b", Chain: &sessions.Chain{Kind: chainAsk, Requester: s.Key}}, sessions.Session{Key: "agent:b:main", Agent: "b"}
		alike := *set
		alike.Agents.List = []agent.Entry{{ID: "a", Default: true}, {ID: "b"}}
		alike.Agents.Defaults.Sandbox.Mode = "off"
		alike.Prepare()
		if err := r.begins(context.Background(), s, run, asked.Chain); err != nil {
			t.Fatal(err)
		}
		subset(t, "a session that it asks", mayUse(r, &alike, through, asked), mayUse(r, &alike, s, run))
		again := asked
		again.Chain = &sessions.Chain{Kind: chainAsk, Requester: through.Key}
		if err := r.begins(context.Background(), through, asked, again.Chain); err != nil {
			t.Fatal(err)
		}
		subset(t, "a session that this one asks", mayUse(r, &alike, through, again), mayUse(r, &alike, through, asked))
		helper := sessions.Session{Key: sessions.SubagentKey("b", "3"), Agent: "b", SpawnedBy: through.Key, Above: []sessions.AgentID{"b"}}
		help := sessions.Run{ID: "f", Kind: sessions.ChildRun, Key: helper.Key, Agent: "b", Chain: &sessions.Chain{Kind: chainSpawn, Requester: through.Key}}
		if err := r.begins(context.Background(), through, again, help.Chain); err != nil {
			t.Fatal(err)
		}
		subset(t, "a sub-agent of that", mayUse(r, &alike, helper, help), mayUse(r, &alike, s, run))

		free := *set
		free.Agents.Defaults.Sandbox.Mode = "off"
		subset(t, "a sandboxed session", own, mayUse(r, free.Prepare(), s, run))

		other := run.Input
		p := *other.Provenance
		p.Sender, other.ID, other.Provenance = rapid.SampledFrom([]string{"9", "10"}).Draw(t, "second"), "j", &p
		p.Owner = p.Sender == "10"
		both := mayUse(r, set, s, run, other)
		subset(t, "a turn that answers two people", both, own)
		alone := run
		alone.Input = other
		subset(t, "a turn that answers two people", both, mayUse(r, set, s, alone))
		who, _, err = r.comesFrom(context.Background(), s, run, other)
		if err != nil {
			t.Fatal(err)
		}
		task.Chain.Owner, task.Chain.People = who.owner, who.people
		subset(t, "a sub-agent of two people", mayUse(r, set, child, task), both)

		name := rapid.SampledFrom(some).Draw(t, "denied")
		place := rapid.IntRange(0, 5).Draw(t, "where")
		tight := *set
		deny := func(x tools.Rights) tools.Rights { x.Deny = append(slices.Clone(x.Deny), name); return x }
		switch place {
		case 0:
			tight.Tools.Deny = append(slices.Clone(set.Tools.Deny), name)
		case 1:
			tight.Tools.Subagents.Tools = deny(set.Tools.Subagents.Tools)
		case 2:
			tight.Tools.Sandbox.Tools = deny(set.Tools.Sandbox.Tools)
		case 3:
			tight.Tools.BySender = map[tools.Sender]tools.Rights{tools.FromOwner: deny(set.Tools.BySender[tools.FromOwner]), tools.FromOther: set.Tools.BySender[tools.FromOther]}
		case 4:
			tight.Agents.List = slices.Clone(set.Agents.List)
			tight.Agents.List[0].Tools = deny(tight.Agents.List[0].Tools)
		default:
			groups := map[string]policy.GroupAccess{}
			for id, g := range set.Accounts[account].Access.Groups {
				g.Tools = deny(g.Tools)
				groups[id] = g
			}
			tight.Accounts = map[AccountRef]AccountSettings{account: {Access: policy.Access{Groups: groups}}}
		}
		tight.Prepare()
		subset(t, fmt.Sprintf("one more denied (%d)", place), mayUse(r, &tight, s, run), own)
		subset(t, fmt.Sprintf("one more denied (%d), sub-agent", place), mayUse(r, &tight, child, task), mayUse(r, set, child, task))
	})
}

// noRuns is a store that knows of no run.
type noRuns struct{ sessions.Store }

func (noRuns) ListRuns(context.Context, sessions.RunQuery) ([]sessions.Run, error) { return nil, nil }

func (noRuns) Steps(context.Context, sessions.RunID) ([]sessions.Message, error) { return nil, nil }

func without(all []string, names ...string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(n string) bool { return slices.Contains(names, n) })
}

// TestRightsOfATurn goes over the layers one by one, and names them as parley tools explain does.
//
// proves: N7
func TestRightsOfATurn(t *testing.T) {
	bubble(t, func(t *testing.T) {
		no := func(name string) tools.Rights { return tools.Rights{Deny: []string{name}} }
		g := newRig(t, channeltest.Options{}, func(s *Settings) {
			s.Agents.List = []agent.Entry{{ID: "main", Default: true, Tools: no("agents_list")}}
			s.Agents.Defaults.Sandbox.Mode = "non-main"
			s.Tools.Deny = []string{"session_status"}
			s.Tools.ByChatType = map[channels.ChatType]tools.Rights{channels.Group: no("fetch"), channels.Direct: no("cron")}
			s.Tools.BySender = map[tools.Sender]tools.Rights{tools.FromOther: no("files")}
			s.Tools.Sandbox.Tools = no("remember")
			a := s.Accounts[account]
			a.Access.Groups = map[string]policy.GroupAccess{"a": {Tools: no("recall"), ToolsBySender: map[string]policy.Rights{guest: no("message")}}}
			s.Accounts[account] = a
		})
		g.say(groupChat("a"), owner, "hello")
		g.say(direct(owner), owner, "hello")
		g.shown(2)
		const room = "agent:main:fake:group:a"
		for _, c := range []struct {
			q    ToolQuery
			want string
		}{
			{ToolQuery{Session: room}, "session_status tools.deny[0], agents_list agents.list[main].tools.deny[0], fetch tools.byChatType.group.deny[0], recall channels.fake.groups.a.tools.deny[0], remember tools.sandbox.tools.deny[0]"},
			{ToolQuery{Session: room, Sender: "other"}, "session_status tools.deny[0], agents_list agents.list[main].tools.deny[0], fetch tools.byChatType.group.deny[0], recall channels.fake.groups.a.tools.deny[0], remember tools.sandbox.tools.deny[0], files tools.bySender.other.deny[0]"},
			{ToolQuery{Session: room, Sender: guest}, "session_status tools.deny[0], agents_list agents.list[main].tools.deny[0], fetch tools.byChatType.group.deny[0], recall channels.fake.groups.a.tools.deny[0], remember tools.sandbox.tools.deny[0], files tools.bySender.other.deny[0], message channels.fake.groups.a.toolsBySender[" + guest + "].deny[0]"},
			{ToolQuery{}, "session_status tools.deny[0], agents_list agents.list[main].tools.deny[0], cron tools.byChatType.direct.deny[0]"},
			{ToolQuery{Sandboxed: true}, "session_status tools.deny[0], agents_list agents.list[main].tools.deny[0], cron tools.byChatType.direct.deny[0], remember tools.sandbox.tools.deny[0]"},
			{ToolQuery{ChatType: channels.Room}, "session_status tools.deny[0], agents_list agents.list[main].tools.deny[0], fetch tools.byChatType.group.deny[0]"},
			{ToolQuery{Subagent: true, Tool: "sessions_list"}, "sessions_list sub-agents"},
			{ToolQuery{Subagent: true, Tool: "fetch"}, ""},
			{ToolQuery{Subagent: true, ChatType: channels.Group, Tool: "FETCH"}, "fetch tools.byChatType.group.deny[0]"},
		} {
			table, err := g.r.ExplainTools(t.Context(), c.q)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, x := range table.Tools {
				if !x.Verdict.Allowed() {
					got = append(got, x.Name+" "+x.Verdict.Rule)
				}
				if len(x.Layers) < 4 || !x.Known || x.About == "" {
					t.Errorf("%+v: %+v", c.q, x)
				}
			}
			want := strings.Split(c.want, ", ")
			if c.want == "" {
				want = nil
			}
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("%+v:\n%q\n%q", c.q, got, want)
			}
		}
		for _, q := range []ToolQuery{{Agent: "nobody"}, {ChatType: "cinema"}, {Session: "agent:main:nothing:here"}} {
			if _, err := g.r.ExplainTools(t.Context(), q); err == nil {
				t.Errorf("%+v is explained", q)
			}
		}
	})
}

// TestRightsFollowWhoIsAnswered has a turn of an owner take up somebody else's message: from then on it may do what both may.
//
// proves: S8
func TestRightsFollowWhoIsAnswered(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{}, func(s *Settings) {
			s.Tools.BySender = map[tools.Sender]tools.Rights{tools.FromOther: {Deny: []string{"remember"}}}
		})
		from := func(id string, isOwner bool) sessions.Message {
			return sessions.Message{ID: id, Run: "r", Role: sessions.User, Provenance: &sessions.Provenance{Kind: sessions.ExternalUser, Sender: id, Owner: isOwner, Address: groupChat("a")}}
		}
		s := sessions.Session{Key: "agent:main:fake:group:a", Agent: "main", Last: groupChat("a")}
		run := sessions.Run{ID: "r", Kind: sessions.TurnRun, Key: s.Key, Agent: "main", Input: from(owner, true)}
		has := func(all []tools.Tool) bool { return slices.Contains(nameList(all), "remember") }
		if !has(g.tools(s, run)) || has(g.tools(s, run, from(guest, false))) || !has(g.tools(s, run, from("1002", true))) {
			t.Error("the tools do not follow who is answered")
		}
		may, err := g.r.rightsOf(t.Context(), g.r.settings.Load(), s, run, nil)
		if err != nil {
			t.Fatal(err)
		}
		kit := g.r.toolsFor(t.Context(), run, may)
		tool := kit[slices.Index(nameList(kit), "remember")]
		call := func(id string) tools.Result {
			res, err := tool.Call(t.Context(), tools.Call{ID: id, Args: []byte(`{"text":"x"}`), Caller: tools.Caller{Session: s, Run: run}})
			if err != nil {
				t.Fatal(err)
			}
			return res
		}
		if res := call("1"); res.IsError {
			t.Errorf("%+v", res)
		}
		may.add(from(guest, false))
		if res := call("2"); !res.IsError || !strings.Contains(res.Text, "tools.bySender.other.deny[0]") {
			t.Errorf("a message of somebody else was taken up, and the tool still works: %+v", res)
		}
		if notes, err := g.store.Notes(t.Context(), sessions.NoteQuery{Agent: "main", Limit: 10}); err != nil || len(notes) != 1 {
			t.Errorf("%v, %v", notes, err)
		}
		var by callers
		if _, err := (guarded{&by, may}).Call(t.Context(), tools.Call{ID: "3", Caller: tools.Caller{Session: s, Run: run}}); err != nil || len(by) != 1 || by[0].Owner || by[0].Asker != "fake:"+guest {
			t.Errorf("who asks: %+v, %v", by, err)
		}
	})
}

// callers is a tool that keeps who called it.
type callers []tools.Caller

func (*callers) Spec() tools.Spec { return tools.Spec{Name: "look"} }

func (x *callers) Call(_ context.Context, c tools.Call) (tools.Result, error) {
	*x = append(*x, c.Caller)
	return tools.Result{}, nil
}

// TestRightsOfWhatIsAsked has a session in a group send to one that is in no such chat: that one's turn is held to the group as well.
//
// proves: S2
func TestRightsOfWhatIsAsked(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{}, func(s *Settings) {
			s.Tools.ByChatType = map[channels.ChatType]tools.Rights{channels.Group: {Deny: []string{"remember"}}}
		})
		g.say(groupChat("a"), owner, "hello")
		g.say(direct(owner), owner, "hello")
		g.shown(2)
		from := g.session("agent:main:fake:group:a")
		i := slices.IndexFunc(g.runs(), func(x sessions.Run) bool { return x.Key == from.Key })
		if _, err := g.r.Ask(t.Context(), tools.AskRequest{Source: "q", From: tools.Caller{Session: from, Run: g.runs()[i]}, To: "agent:main:main", Message: "note it"}); err != nil {
			t.Fatal(err)
		}
		g.until("it was asked", func() bool { return g.model.count() > 2 })
		turns, _ := g.model.byKind()
		for _, p := range turns[:3] {
			has := slices.ContainsFunc(p.Tools, func(s tools.Spec) bool { return s.Name == "remember" })
			if alone := strings.HasPrefix(lastUser(p), "hello"); has != alone {
				t.Errorf("a turn that answers %q has the tool: %t", lastUser(p), has)
			}
		}
	})
}
