package rights

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"parley/agent"
	"parley/channels"
	"parley/policy"
	"parley/router/chain"
	"parley/router/settings"
	"parley/sessions"
	"parley/tools"
)

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
func drawSettings(t *rapid.T) *settings.Snapshot {
	access := policy.Access{Groups: map[string]policy.GroupAccess{}}
	for _, id := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"g", "*"}), 0, 2, rapid.ID[string]).Draw(t, "groups") {
		g := policy.GroupAccess{Tools: drawRights(t, "group "+id), ToolsBySender: map[string]tools.Rights{}, Topics: map[string]policy.GroupAccess{"7": {Tools: drawRights(t, "topic")}}}
		for _, who := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"1", "2", "@two", "*"}), 0, 3, rapid.ID[string]).Draw(t, "senders "+id) {
			g.ToolsBySender[who] = drawRights(t, "sender "+who)
		}
		access.Groups[id] = g
	}
	s := &settings.Snapshot{
		Agents: agent.Config{List: []agent.Entry{{ID: "a", Default: true, Tools: drawRights(t, "a")}, {ID: "b", Tools: drawRights(t, "b")}},
			Defaults: agent.Defaults{Subagents: agent.Subagents{MaxSpawnDepth: rapid.IntRange(1, 3).Draw(t, "depth")}, Sandbox: agent.Sandbox{Mode: rapid.SampledFrom([]string{"off", "non-main", "all"}).Draw(t, "sandbox")}}},
		Tools: tools.Config{ByChatType: map[channels.ChatType]tools.Rights{}, BySender: map[tools.Sender]tools.Rights{}, Sandbox: tools.SandboxTools{Tools: drawRights(t, "sandboxed")},
			Subagents: tools.Subagents{Tools: drawRights(t, "sub-agents")}},
		Accounts: map[settings.AccountRef]settings.Account{account: {Access: access}},
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
func mayUse(r *Resolver, set *settings.Snapshot, s sessions.Session, run sessions.Run, msgs ...sessions.Message) (names []string) {
	may, err := r.Of(context.Background(), set, s, run, msgs)
	if err != nil {
		panic(err)
	}
	for _, n := range some {
		if v, _ := may.Verdict(n); v.Allowed() {
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
	rapid.Check(t, func(t *rapid.T) {
		set := drawSettings(t)
		r := &Resolver{store: noRuns{}, settings: func() *settings.Snapshot { return set }}
		s, run := drawTurn(t)
		own := mayUse(r, set, s, run)

		who, _, err := r.Lineage(context.Background(), s, run)
		if err != nil {
			t.Fatal(err)
		}
		child := sessions.Session{Key: sessions.SubagentKey("b", "1"), Agent: "b", SpawnedBy: s.Key, Above: []sessions.AgentID{"a"}}
		task := sessions.Run{ID: "c", Kind: sessions.ChildRun, Key: child.Key, Agent: "b", Chain: &sessions.Chain{Kind: chain.Spawn, Requester: s.Key, From: sessions.OriginOf(s, run).Chat, Owner: who.Owner, People: who.People}}
		below := mayUse(r, set, child, task)
		subset(t, "a sub-agent", below, own)

		who, _, err = r.Lineage(context.Background(), child, task)
		if err != nil {
			t.Fatal(err)
		}
		inner := sessions.Session{Key: sessions.SubagentKey("a", "2"), Agent: "a", SpawnedBy: child.Key, Above: []sessions.AgentID{"b", "a"}}
		deep := sessions.Run{ID: "d", Kind: sessions.ChildRun, Key: inner.Key, Agent: "a", Chain: &sessions.Chain{Kind: chain.Spawn, Requester: child.Key, From: sessions.OriginOf(child, task).Chat, Owner: who.Owner, People: who.People, Parent: task.Chain}}
		subset(t, "a sub-agent's sub-agent", without(mayUse(r, set, inner, deep), "sessions_spawn", "sessions_list"), without(below, "sessions_spawn", "sessions_list"))
		subset(t, "a sub-agent's sub-agent", mayUse(r, set, inner, deep), own)

		asked, through := sessions.Run{ID: "e", Kind: sessions.AskRun, Key: "agent:b:main", Agent: "b", Chain: &sessions.Chain{Kind: chain.Ask, Requester: s.Key}}, sessions.Session{Key: "agent:b:main", Agent: "b"}
		alike := *set
		alike.Agents.List = []agent.Entry{{ID: "a", Default: true}, {ID: "b"}}
		alike.Agents.Defaults.Sandbox.Mode = "off"
		alike.Prepare()
		if err := r.StampOrigin(context.Background(), s, run, asked.Chain); err != nil {
			t.Fatal(err)
		}
		subset(t, "a session that it asks", mayUse(r, &alike, through, asked), mayUse(r, &alike, s, run))
		again := asked
		again.Chain = &sessions.Chain{Kind: chain.Ask, Requester: through.Key}
		if err := r.StampOrigin(context.Background(), through, asked, again.Chain); err != nil {
			t.Fatal(err)
		}
		subset(t, "a session that this one asks", mayUse(r, &alike, through, again), mayUse(r, &alike, through, asked))
		helper := sessions.Session{Key: sessions.SubagentKey("b", "3"), Agent: "b", SpawnedBy: through.Key, Above: []sessions.AgentID{"b"}}
		help := sessions.Run{ID: "f", Kind: sessions.ChildRun, Key: helper.Key, Agent: "b", Chain: &sessions.Chain{Kind: chain.Spawn, Requester: through.Key}}
		if err := r.StampOrigin(context.Background(), through, again, help.Chain); err != nil {
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
		who, _, err = r.Lineage(context.Background(), s, run, other)
		if err != nil {
			t.Fatal(err)
		}
		task.Chain.Owner, task.Chain.People = who.Owner, who.People
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
			tight.Accounts = map[settings.AccountRef]settings.Account{account: {Access: policy.Access{Groups: groups}}}
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
