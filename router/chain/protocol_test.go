package chain

import (
	"slices"
	"strings"
	"testing"

	"parley/agent"
	"parley/channels"
	"parley/sessions"
)

const (
	asker        = sessions.Key("agent:main:main")
	asked        = sessions.Key("agent:clerk:main")
	sub          = sessions.Key("agent:main:subagent:x")
	agentOutside = sessions.Key("agent:main:mcp:desk")
	cronJob      = sessions.Key("agent:main:cron:j")
)

var chat = channels.Address{Channel: "fake", Account: "default", Chat: "a", Type: channels.Direct}

// said makes what an agent said.
func said(text string) agent.Outcome { return agent.Outcome{Text: text} }

// word makes an end in silence.
func word(w agent.Control) agent.Outcome { return agent.Outcome{Control: w} }

// at makes the facts of a run of an exchange or a sub-agent; with changes them.
func at(kind sessions.RunKind, c sessions.Chain, out agent.Outcome, with ...func(*Facts)) Facts {
	key := c.Target
	if kind == sessions.ResultRun || kind == sessions.ReplyRun && c.Turn%2 == 1 {
		key = c.Requester
	}
	f := Facts{Run: sessions.Run{ID: "r", Kind: kind, Key: key, Agent: key.Agent(), Chain: &c, Source: "tool:q:call", Model: "m/1", Input: sessions.Message{Content: sessions.TextContent("the input")}},
		Said: out, Status: sessions.Done, Last: "last", MaxTurns: 5, MaxTurnsPerHour: 120, Other: &sessions.Session{Key: asker, Agent: "main"}, Speaking: sessions.Session{Key: asker, Agent: "main"}}
	for _, w := range with {
		w(&f)
	}
	return f
}

// sketch tells a step in one line.
func sketch(s Step) string {
	var out []string
	if s.Unreported != "" {
		out = append(out, "unreported")
	}
	if s.Next != nil {
		in := s.Next.Run.Input
		line := string(s.Next.Run.Kind) + " in " + string(s.Next.Run.Key) + ": " + strings.ReplaceAll(in.Text(), "\n", " ")
		if p := in.Provenance; p != nil {
			line += " (" + string(p.Source) + ", " + p.Tool + ")"
		}
		out = append(out, line)
	}
	if s.Message != nil {
		out = append(out, "message: "+strings.ReplaceAll(s.Message.Text(), "\n", " "))
	}
	if d := s.Post; d != nil {
		out = append(out, "post of "+string(d.Session)+" with "+d.Message+": "+strings.ReplaceAll(d.Text, "\n", " "))
	}
	if s.Delete {
		out = append(out, "delete")
	}
	return strings.Join(out, "; ")
}

// Every rule of the protocol has a case in which it decides, and what follows is what it says.
//
// proves: S9, S10, S12, S13, S15, N10, N11, N13, N14, N15, N16
func TestProtocol(t *testing.T) {
	t.Parallel()
	ex := sessions.Chain{Kind: Ask, Requester: asker, Target: asked, Request: "q", Origin: chat, Waited: true, Latest: "before"}
	exchange := func(change func(*sessions.Chain)) sessions.Chain { c := ex; change(&c); return c }
	task := sessions.Chain{Kind: Spawn, Requester: asker, Target: sub, Request: "q", Origin: chat, Latest: "stored", Status: sessions.Done}
	spawn := func(change func(*sessions.Chain)) sessions.Chain { c := task; change(&c); return c }
	deleted := spawn(func(c *sessions.Chain) { c.Cleanup = "delete" })
	below := spawn(func(c *sessions.Chain) { c.Requester, c.Parent = "agent:main:subagent:up", &task })
	job := sessions.Chain{Kind: Job, Requester: asker, Target: cronJob, Origin: chat}
	relay := sessions.Chain{Kind: Relay, Requester: asker, Target: asked, Origin: chat}
	failed := func(f *Facts) { f.Status, f.Error, f.Notice = sessions.Failed, "why", "It broke." }
	outdated := func(f *Facts) { failed(f); f.Expired = true }
	alone := func(f *Facts) { f.Other = nil }
	ended := func(f *Facts) { f.CallEnded = true }
	late := func(f *Facts) {
		f.CallEnded, f.Asker = true, &sessions.Session{Key: asker}
		f.Run.Chain.Back = chat
	}
	const announced, report = "announce in agent:clerk:main: Announce step. (agent:main:main, announce)", "Notes: - (none)  Stats: `q` • runtime 0s • tokens 0 (in 0 / out 0) • sessionKey `agent:main:subagent:x` • sessionId ``"
	const posted = "Status: success  Result: words  " + report
	const hostSays, hostFails = "`agent:clerk:main` answered after I had written to you:  before", "`agent:clerk:main` did not answer my question: It broke. Ask me again to retry."
	const stored = "Status: success  Result: stored  " + report
	seen := []string{}
	for _, c := range []struct {
		rule  string
		facts Facts
		want  string
	}{
		{"outdated", at(sessions.AskRun, ex, said(""), outdated), ""},
		{"outdated", at(sessions.ChildRun, task, said(""), outdated), ""},
		{"outdated, deleted", at(sessions.AnnounceRun, deleted, said(""), outdated), "post of agent:main:main with : " + stored + "; delete"},

		{"ask failed", at(sessions.AskRun, ex, said("half"), failed), ""},
		{"ask failed", at(sessions.AskRun, ex, said(""), failed, func(f *Facts) { f.Asker, f.Run.Chain.Back = &sessions.Session{}, chat }), ""},
		{"ask failed", at(sessions.AskRun, ex, said(""), failed, late, func(f *Facts) { f.CallTold = true }), ""},
		{"ask failed", at(sessions.AskRun, ex, said(""), failed, late, func(f *Facts) { f.Status = sessions.Stopped }), ""},
		{"ask failed", at(sessions.AskRun, ex, said(""), failed, late, func(f *Facts) { f.AskerStopped = true }), ""},
		{"ask failed", at(sessions.AskRun, ex, said(""), failed, late, func(f *Facts) { f.Asker.Archived = true }), ""},
		{"ask failed", at(sessions.AskRun, ex, said(""), failed, late, func(f *Facts) { f.Asker = nil }), ""},
		{"ask failed", at(sessions.AskRun, ex, said(""), failed, late, func(f *Facts) { f.Run.Chain.Back = channels.Address{} }), ""},
		{"ask failed", at(sessions.AskRun, ex, said(""), failed, late, func(f *Facts) { f.AskerTurns = 120 }), ""},
		{"ask failed", at(sessions.AskRun, ex, said(""), failed, late, func(f *Facts) { f.Run.Chain.Back = channels.Address{} }), ""},
		{"late failure", at(sessions.AskRun, ex, said(""), failed, late), "follow-up in agent:main:main: Your sessions_send call has no reply: It broke. (agent:clerk:main, sessions_send)"},
		{"no requester", at(sessions.AskRun, exchange(func(c *sessions.Chain) { c.Requester = "" }), said("words")), "announce in agent:clerk:main: Announce step. (, announce)"},
		{"replies used up", at(sessions.AskRun, ex, said("words"), func(f *Facts) { f.MaxTurns = 0 }), announced},
		{"replies used up", at(sessions.ReplyRun, exchange(func(c *sessions.Chain) { c.Turn = 5 }), said("words")), announced},
		{"nothing said", at(sessions.AskRun, ex, word(agent.NoReply)), announced},
		{"nothing said", at(sessions.AskRun, ex, said("")), announced},
		{"other side gone", at(sessions.AskRun, ex, said("words"), alone), announced},
		{"reply to an external agent", at(sessions.AskRun, exchange(func(c *sessions.Chain) { c.Requester = agentOutside }), said("words")),
			"post in agent:main:mcp:desk: words (agent:clerk:main, sessions_send)"},
		{"too many turns by agents", at(sessions.AskRun, ex, said("words"), func(f *Facts) { f.ByAgents = 120 }), announced},
		{"reply to a waiting call", at(sessions.AskRun, ex, said("words")), "reply in agent:main:main: " + inlineReply + " (agent:clerk:main, sessions_send)"},
		{"reply", at(sessions.AskRun, ex, said("words"), ended), "reply in agent:main:main: words (agent:clerk:main, sessions_send)"},
		{"reply", at(sessions.ReplyRun, exchange(func(c *sessions.Chain) { c.Turn = 1 }), said("words")), "reply in agent:clerk:main: words (agent:main:main, sessions_send)"},
		{"reply", at(sessions.ReplyRun, exchange(func(c *sessions.Chain) { c.Turn = 2 }), said("words")), "reply in agent:main:main: words (agent:clerk:main, sessions_send)"},
		{"last reply", at(sessions.ReplyRun, ex, word(agent.ReplySkip)), announced},
		{"last reply", at(sessions.ReplyRun, ex, said("half"), failed), announced},
		{"external agent has the reply", at(sessions.PostRun, ex, agent.Outcome{}), announced},
		{"announced", at(sessions.AnnounceRun, ex, said("words")), "post of agent:clerk:main with last: words"},
		{"announced after a late reply", at(sessions.AnnounceRun, ex, said("words"), late),
			"follow-up in agent:main:main: The exchange is over. (agent:clerk:main, sessions_send); post of agent:clerk:main with last: words"},
		{"late reply", at(sessions.AnnounceRun, exchange(func(c *sessions.Chain) { c.Unread = true }), word(agent.AnnounceSkip), late), "follow-up in agent:main:main: before (agent:clerk:main, sessions_send)"},
		{"late reply", at(sessions.AnnounceRun, ex, said("half"), failed, late), "follow-up in agent:main:main: The exchange is over. (agent:clerk:main, sessions_send)"},
		{"announced", at(sessions.AnnounceRun, ex, said("words"), late, func(f *Facts) { f.CallTold = true }), "post of agent:clerk:main with last: words"},
		{"follow-up silent", at(sessions.FollowUpRun, ex, word(agent.NoReply), late), ""},
		{"followed up", at(sessions.FollowUpRun, ex, said("words"), late), "post of agent:main:main with last: words"},
		{"followed up by the host", at(sessions.FollowUpRun, ex, said("half"), late, failed), "message: " + hostSays + "  (It broke.); post of agent:main:main with : " + hostSays + "  (It broke.)"},
		{"followed up by the host", at(sessions.FollowUpRun, ex, said(""), late), "message: " + hostSays + "; post of agent:main:main with : " + hostSays},
		{"followed up by the host", at(sessions.FollowUpRun, exchange(func(c *sessions.Chain) { c.Status, c.Error = sessions.Failed, "It broke." }), said(""), late), "message: " + hostFails + "; post of agent:main:main with : " + hostFails},
		{"followed up by the host", at(sessions.FollowUpRun, exchange(func(c *sessions.Chain) { c.Error = "stopped by a person" }), said(""), late),
			"message: " + hostSays + "  Then it was stopped by a person.; post of agent:main:main with : " + hostSays + "  Then it was stopped by a person."},
		{"followed up", at(sessions.FollowUpRun, exchange(func(c *sessions.Chain) { c.Requester = cronJob }), said("words"), late), "post in agent:main:main: words; post of agent:main:main with : words"},
		{"nothing to announce", at(sessions.AnnounceRun, ex, word(agent.AnnounceSkip)), ""},
		{"nothing to announce", at(sessions.AnnounceRun, ex, said("words"), failed), ""},
		{"nothing to announce", at(sessions.AnnounceRun, exchange(func(c *sessions.Chain) { c.Origin = channels.Address{} }), said("words")), ""},

		{"child silent", at(sessions.ChildRun, deleted, word(agent.AnnounceSkip)), "delete"},
		{"parent gone", at(sessions.ChildRun, below, said("words"), alone), "unreported"},
		{"parent stopped", at(sessions.ChildRun, below, said("words"), func(f *Facts) { f.ParentStopped = true }), "unreported"},
		{"result for a parent", at(sessions.ChildRun, below, said("words")), "child in agent:main:subagent:up: " + posted + " (agent:main:subagent:x, sessions_spawn)"},
		{"result for an external agent", at(sessions.ChildRun, spawn(func(c *sessions.Chain) { c.Requester = agentOutside }), said("words")),
			"post in agent:main:mcp:desk: " + posted + " (agent:main:subagent:x, sessions_spawn)"},
		{"result for the requester", at(sessions.ChildRun, task, said("words"), func(f *Facts) { f.ToRequester = true }), "result in agent:main:main: " + posted + " (agent:main:subagent:x, sessions_spawn)"},
		{"result for the requester", at(sessions.ChildRun, spawn(func(c *sessions.Chain) { c.Origin = channels.Address{} }), word(agent.NoReply), func(f *Facts) { f.Said.Newest = "words" }),
			"result in agent:main:main: " + posted + " (agent:main:subagent:x, sessions_spawn)"},
		{"no chat to report to", at(sessions.ChildRun, spawn(func(c *sessions.Chain) { c.Origin = channels.Address{} }), said("words"), alone), "unreported"},
		{"result for people", at(sessions.ChildRun, task, said("words")), "announce in agent:main:subagent:x: Announce step. (agent:main:main, announce)"},
		{"result for people", at(sessions.ChildRun, task, said("words"), failed), "announce in agent:main:subagent:x: Announce step. (agent:main:main, announce)"},
		{"report silent", at(sessions.AnnounceRun, deleted, word(agent.AnnounceSkip)), "delete"},
		{"report silent", at(sessions.AnnounceRun, deleted, word(agent.NoReply), func(f *Facts) { f.BusyBelow = true }), ""},
		{"report silent", at(sessions.AnnounceRun, deleted, word(agent.NoReply), func(f *Facts) { f.ChildAborted = true }), ""},
		{"stored result posted", at(sessions.AnnounceRun, task, said("half"), failed), "post in agent:main:main: " + stored + " (agent:main:subagent:x, sessions_spawn); post of agent:main:main with : " + stored},
		{"stored result posted", at(sessions.AnnounceRun, task, said(""), alone), "post of agent:main:main with last: " + stored},
		{"report posted", at(sessions.AnnounceRun, task, said("words")), "post in agent:main:main: " + posted + " (agent:main:subagent:x, sessions_spawn); post of agent:main:main with : " + posted},
		{"update silent", at(sessions.ResultRun, task, word(agent.NoReply)), ""},
		{"update silent", at(sessions.ResultRun, spawn(func(c *sessions.Chain) { c.Origin = channels.Address{} }), said("words")), ""},
		{"update posted", at(sessions.ResultRun, task, said("words")), "post of agent:main:main with last: words"},
		{"update posted", at(sessions.ResultRun, spawn(func(c *sessions.Chain) { c.Requester = cronJob }), said("words")), "post in agent:main:main: words; post of agent:main:main with : words"},
		{"report posted for the requester", at(sessions.ResultRun, task, said("half"), failed), "message: the input; post of agent:main:main with : the input"},

		{"nothing to post", at(sessions.JobRun, job, word(agent.NoReply)), ""},
		{"nothing to post", at(sessions.TurnRun, relay, said("")), ""},
		{"chat gone", at(sessions.TurnRun, relay, said("words"), alone), ""},
		{"answer posted", at(sessions.TurnRun, relay, said("words"), func(f *Facts) { f.Speaking.Key = asked }), "post in agent:main:main: words; post of agent:clerk:main with : words"},
		{"answer posted", at(sessions.TurnRun, relay, said("half"), failed), "post in agent:main:main: It broke.; post of agent:main:main with : It broke."},
		{"job without a chat", at(sessions.JobRun, job, said("words"), func(f *Facts) { f.Speaking.Key = "" }), ""},
		{"job posted", at(sessions.JobRun, job, said("words")), "post in agent:main:main: words (agent:main:cron:j, cron); post of agent:main:main with : words"},
		{"job posted", at(sessions.JobRun, job, said("half"), failed, func(f *Facts) { f.Speaking.Key = cronJob }), "post of agent:main:cron:j with last: ⏰ A scheduled job: It broke."},
	} {
		seen = append(seen, c.rule)
		if s := Advance(c.facts); s.Rule != c.rule || sketch(s) != c.want {
			t.Errorf("%s: %s\n got %s\nwant %s", c.rule, s.Rule, sketch(s), c.want)
		}
	}
	for _, r := range Protocol() {
		if !slices.Contains(seen, r.Name) {
			t.Errorf("no case for the rule %q", r.Name)
		}
	}
}

// What a run adds to its chain goes with it to the next one.
//
// proves: S10, S13, N12, N13
func TestWhatAChainCarries(t *testing.T) {
	t.Parallel()
	ex := sessions.Chain{Kind: Ask, Requester: asker, Target: asked, Round1: "one", Latest: "two", Turn: 1}
	ex0, ex2 := ex, ex
	ex0.Turn, ex2.Turn = 0, 2
	task := sessions.Chain{Kind: Spawn, Requester: asker, Target: sub, Request: "q", Origin: chat}
	for name, c := range map[string]struct {
		facts Facts
		fits  func(sessions.Chain) bool
	}{
		"first reply":   {at(sessions.AskRun, ex, said("a")), func(c sessions.Chain) bool { return c.Round1 == "a" && c.Latest == "a" && c.Turn == 2 }},
		"later reply":   {at(sessions.ReplyRun, ex, said("a")), func(c sessions.Chain) bool { return c.Round1 == "one" && c.Latest == "a" }},
		"unread":        {at(sessions.AskRun, ex, said("a"), func(f *Facts) { f.MaxTurns = 0 }), func(c sessions.Chain) bool { return c.Unread }},
		"read by then":  {at(sessions.AskRun, ex0, said("a")), func(c sessions.Chain) bool { return !c.Unread }},
		"unread later":  {at(sessions.ReplyRun, ex2, said("a"), func(f *Facts) { f.MaxTurns = 2 }), func(c sessions.Chain) bool { return c.Unread }},
		"one's own":     {at(sessions.ReplyRun, ex, said("a"), func(f *Facts) { f.MaxTurns = 1 }), func(c sessions.Chain) bool { return !c.Unread }},
		"beside a word": {at(sessions.ReplyRun, ex, agent.Outcome{Control: agent.ReplySkip, Text: "a"}), func(c sessions.Chain) bool { return c.Latest == "a" }},
		"silent reply":  {at(sessions.ReplyRun, ex, word(agent.ReplySkip)), func(c sessions.Chain) bool { return c.Latest == "two" }},
		"child": {at(sessions.ChildRun, task, said("a"), func(f *Facts) { f.Usage.Input, f.StartedMs, f.EndedMs = 7, 1, 2 }), func(c sessions.Chain) bool {
			return c.Latest == "a" && c.Status == sessions.Done && c.Usage.Input == 7 && c.StartedMs == 1 && c.EndedMs == 2
		}},
		"its tool":     {at(sessions.ChildRun, task, agent.Outcome{Newest: "n"}), func(c sessions.Chain) bool { return c.Latest == "n" }},
		"words first":  {at(sessions.ChildRun, task, agent.Outcome{Text: "a", Newest: "n"}), func(c sessions.Chain) bool { return c.Latest == "a" }},
		"refused":      {at(sessions.ChildRun, task, said("a"), func(f *Facts) { f.Refused = true }), func(c sessions.Chain) bool { return c.Request == refusedRequest }},
		"child failed": {at(sessions.ChildRun, task, said("a"), func(f *Facts) { f.Status, f.Notice = sessions.TimedOut, "late" }), func(c sessions.Chain) bool { return c.Status == sessions.TimedOut && c.Error == "late" }},
	} {
		if s := Advance(c.facts); s.Next == nil || !c.fits(*s.Next.Run.Chain) {
			t.Errorf("%s: %+v", name, s.Next)
		}
	}
}
