package router_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"parley/agent"
	"parley/channels"
	"parley/channels/channeltest"
	"parley/policy"
	"parley/router/rights"
	"parley/router/routertest"
	"parley/router/settings"
	"parley/sessions"
	"parley/tools"
)

func nameList(all []tools.Tool) (out []string) {
	for _, t := range all {
		out = append(out, t.Spec().Name)
	}
	return out
}

// TestRightsOfATurn goes over the layers one by one, and names them as parley tools explain does.
//
// proves: N7
func TestRightsOfATurn(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		no := func(name string) tools.Rights { return tools.Rights{Deny: []string{name}} }
		g := routertest.New(t, channeltest.Options{}, func(s *settings.Snapshot) {
			s.Agents.List = []agent.Entry{{ID: "main", Default: true, Tools: no("agents_list")}}
			s.Agents.Defaults.Sandbox.Mode = "non-main"
			s.Tools.Deny = []string{"session_status"}
			s.Tools.ByChatType = map[channels.ChatType]tools.Rights{channels.Group: no("fetch"), channels.Direct: no("cron")}
			s.Tools.BySender = map[tools.Sender]tools.Rights{tools.FromOther: no("files")}
			s.Tools.Sandbox.Tools = no("remember")
			a := s.Accounts[routertest.Account]
			a.Access.Groups = map[string]policy.GroupAccess{"a": {Tools: no("recall"), ToolsBySender: map[string]policy.Rights{routertest.Guest: no("message")}}}
			s.Accounts[routertest.Account] = a
		})
		g.Say(routertest.Group("a"), routertest.Owner, "hello")
		g.Say(routertest.Direct(routertest.Owner), routertest.Owner, "hello")
		g.Shown(2)
		const room = "agent:main:fake:group:a"
		for _, c := range []struct {
			q    rights.ToolQuery
			want string
		}{
			{rights.ToolQuery{Session: room}, "session_status tools.deny[0], agents_list agents.list[main].tools.deny[0], fetch tools.byChatType.group.deny[0], recall channels.fake.groups.a.tools.deny[0], remember tools.sandbox.tools.deny[0]"},
			{rights.ToolQuery{Session: room, Sender: "other"}, "session_status tools.deny[0], agents_list agents.list[main].tools.deny[0], fetch tools.byChatType.group.deny[0], recall channels.fake.groups.a.tools.deny[0], remember tools.sandbox.tools.deny[0], files tools.bySender.other.deny[0]"},
			{rights.ToolQuery{Session: room, Sender: routertest.Guest}, "session_status tools.deny[0], agents_list agents.list[main].tools.deny[0], fetch tools.byChatType.group.deny[0], recall channels.fake.groups.a.tools.deny[0], remember tools.sandbox.tools.deny[0], files tools.bySender.other.deny[0], message channels.fake.groups.a.toolsBySender[" + routertest.Guest + "].deny[0]"},
			{rights.ToolQuery{}, "session_status tools.deny[0], agents_list agents.list[main].tools.deny[0], cron tools.byChatType.direct.deny[0]"},
			{rights.ToolQuery{Sandboxed: true}, "session_status tools.deny[0], agents_list agents.list[main].tools.deny[0], cron tools.byChatType.direct.deny[0], remember tools.sandbox.tools.deny[0]"},
			{rights.ToolQuery{ChatType: channels.Room}, "session_status tools.deny[0], agents_list agents.list[main].tools.deny[0], fetch tools.byChatType.group.deny[0]"},
			{rights.ToolQuery{Subagent: true, Tool: "sessions_list"}, "sessions_list sub-agents"},
			{rights.ToolQuery{Subagent: true, Tool: "fetch"}, ""},
			{rights.ToolQuery{Subagent: true, ChatType: channels.Group, Tool: "FETCH"}, "fetch tools.byChatType.group.deny[0]"},
		} {
			table, err := g.Router.Rights.ExplainTools(t.Context(), c.q)
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
		for _, q := range []rights.ToolQuery{{Agent: "nobody"}, {ChatType: "cinema"}, {Session: "agent:main:nothing:here"}} {
			if _, err := g.Router.Rights.ExplainTools(t.Context(), q); err == nil {
				t.Errorf("%+v is explained", q)
			}
		}
	})
}

// TestRightsFollowWhoIsAnswered has a turn of an owner take up another person's message: from then on it may do what both may.
//
// proves: S8
func TestRightsFollowWhoIsAnswered(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{}, func(s *settings.Snapshot) {
			s.Tools.BySender = map[tools.Sender]tools.Rights{tools.FromOther: {Deny: []string{"remember"}}}
			s.Owners = append(s.Owners, "fake:1002")
		})
		from := func(id string, isOwner bool) sessions.Message {
			return sessions.Message{ID: id, Run: "r", Role: sessions.User, Provenance: &sessions.Provenance{Kind: sessions.ExternalUser, Sender: id, Owner: isOwner, Address: routertest.Group("a")}}
		}
		s := sessions.Session{Key: "agent:main:fake:group:a", Agent: "main", Last: routertest.Group("a")}
		run := sessions.Run{ID: "r", Kind: sessions.TurnRun, Key: s.Key, Agent: "main", Input: from(routertest.Owner, true)}
		has := func(all []tools.Tool) bool { return slices.Contains(nameList(all), "remember") }
		if !has(g.ToolsFor(s, run)) || has(g.ToolsFor(s, run, from(routertest.Guest, false))) || !has(g.ToolsFor(s, run, from("1002", true))) {
			t.Error("the tools do not follow who is answered")
		}
		may, err := g.Router.Rights.Of(t.Context(), g.Router.Settings(), s, run, nil)
		if err != nil {
			t.Fatal(err)
		}
		kit := g.Router.Rights.ToolsFor(t.Context(), run, may)
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
		may.Add(from(routertest.Guest, false))
		if res := call("2"); !res.IsError || !strings.Contains(res.Text, "tools.bySender.other.deny[0]") {
			t.Errorf("a message of somebody else was taken up, and the tool still works: %+v", res)
		}
		if notes, err := g.Store.Notes(t.Context(), sessions.NoteQuery{Agent: "main", Limit: 10}); err != nil || len(notes) != 1 {
			t.Errorf("%v, %v", notes, err)
		}
		var by callers
		if _, err := may.Guard(&by).Call(t.Context(), tools.Call{ID: "3", Caller: tools.Caller{Session: s, Run: run}}); err != nil || len(by) != 1 || by[0].Owner || by[0].Asker != "fake:"+routertest.Guest {
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
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{}, func(s *settings.Snapshot) {
			s.Tools.ByChatType = map[channels.ChatType]tools.Rights{channels.Group: {Deny: []string{"remember"}}}
		})
		g.Say(routertest.Group("a"), routertest.Owner, "hello")
		g.Say(routertest.Direct(routertest.Owner), routertest.Owner, "hello")
		g.Shown(2)
		from := g.Session("agent:main:fake:group:a")
		i := slices.IndexFunc(g.Runs(), func(x sessions.Run) bool { return x.Key == from.Key })
		if _, err := g.Router.ToolHost.Ask(t.Context(), tools.AskRequest{Source: "q", From: tools.Caller{Session: from, Run: g.Runs()[i]}, To: "agent:main:main", Message: "note it"}); err != nil {
			t.Fatal(err)
		}
		g.Until("it was asked", func() bool { return g.Model.Count() > 2 })
		turns, _ := g.Model.ByKind()
		for _, p := range turns[:3] {
			has := slices.ContainsFunc(p.Tools, func(s tools.Spec) bool { return s.Name == "remember" })
			if alone := strings.HasPrefix(routertest.LastUser(p), "hello"); has != alone {
				t.Errorf("a turn that answers %q has the tool: %t", routertest.LastUser(p), has)
			}
		}
	})
}
