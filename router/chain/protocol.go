package chain

import (
	"cmp"

	"parley/agent"
	"parley/sessions"
)

// The chain kinds.
const (
	Ask   = "ask"   // an exchange: one session asks another
	Spawn = "spawn" // a sub-agent
	Job   = "job"   // a scheduled job's turn: its result goes into the chat of the session that made it, or where the person who made it said
	Relay = "said"  // a turn whose answer goes into the chat of another session
)

// The ends that a chain continues from.
const (
	fromAny      = "any"
	fromAsk      = "ask"       // an exchange: the target's first turn
	fromReply    = "reply"     // an exchange: a reply step, of the requester and the target in turn
	fromPost     = "post"      // an exchange: an external agent has the reply in its transcript
	fromAnnounce = "announce"  // an exchange: the announce step in the target
	fromFollowUp = "follow-up" // an exchange: the requester's turn that tells its chat
	fromChild    = "child"     // a sub-agent's turn
	fromReport   = "report"    // a sub-agent's announce step
	fromResult   = "result"    // the requester's turn about a sub-agent's result
	fromJob      = "job"
	fromRelay    = "said"
)

// Rule is one line of the protocol.
type Rule struct {
	From []string // the ends that it is for
	Name string
	When string
	Then string

	holds func(*ending) bool
	then  func(*ending) Step
}

// Protocol says what follows on a run of a chain: the first rule that holds. What an external agent asked for comes back into its session's
// transcript, in the place of reply steps and of a result's turn.
func Protocol() []Rule { //nolint:funlen // one table, to be read on one page
	talk := []string{fromAsk, fromReply}
	return []Rule{
		{[]string{fromAny}, "outdated, deleted", "the run expired, and the host must delete the sub-agent's session", "a report that expires at once; the session is deleted",
			func(e *ending) bool {
				return e.Expired && e.c.Kind == Spawn && e.c.Cleanup == "delete" && !e.c.Origin.IsZero()
			},
			func(e *ending) Step { return e.cleanup(Step{Post: e.post(e.report("")), Lasts: noTime}) }},
		{[]string{fromAny}, "outdated", "the run expired", "the end: its text would be too late",
			func(e *ending) bool { return e.Expired }, endStep},

		{[]string{fromAsk}, "late failure", "the run failed after the requester's call had answered", "the follow-up in the requester",
			func(e *ending) bool { return failed(e) && e.late() }, func(e *ending) Step { return Step{Next: e.followUp()} }},
		{[]string{fromAsk}, "ask failed", "it failed otherwise", "the end: the tool result tells the requester", failed, endStep},
		{[]string{fromReply}, "last reply", "it failed, is empty or is a control word", "the announce step, with the words that it has",
			func(e *ending) bool { return failed(e) || !spoke(e.Said) }, (*ending).announce},
		{talk, "no requester", "no session asked", "the announce step", func(e *ending) bool { return e.c.Requester == "" }, (*ending).announce},
		{talk, "replies used up", "there were `maxPingPongTurns` replies", "the announce step",
			func(e *ending) bool { return e.c.Turn >= e.MaxTurns }, (*ending).announce},
		{talk, "nothing said", "it is empty or a control word", "the announce step", func(e *ending) bool { return !spoke(e.Said) }, (*ending).announce},
		{talk, "other side gone", "the session that would reply next is deleted", "the announce step", isOtherGone, (*ending).announce},
		{talk, "reply to an external agent", "an external agent asked", "the reply goes into its transcript", toExternal,
			func(e *ending) Step { return e.toExternal(e.c.Latest, e.toOther()) }},
		{talk, "too many turns by agents", "the session that would reply next had `maxTurnsPerHour` turns by agents", "the announce step",
			func(e *ending) bool { return e.ByAgents >= e.MaxTurnsPerHour },
			func(e *ending) Step {
				s := e.announce()
				s.warn("exchange ended early: too many turns", keyRun, e.Run.ID, keySession, e.to, "turns", e.ByAgents)
				return s
			}},
		{talk, "reply to a waiting call", "it is the first reply, and the requester's call waits for it", "a reply step in the requester that refers to the call's result",
			func(e *ending) bool { return e.c.Waited && e.c.Turn == 0 && !e.CallEnded },
			func(e *ending) Step { return e.reply(true) }},
		{talk, "reply", "otherwise", "a reply step in the other session that has the reply as its message", always, func(e *ending) Step { return e.reply(false) }},
		{[]string{fromPost}, "external agent has the reply", "always", "the announce step", always, (*ending).announce},
		{[]string{fromAnnounce}, "announced after a late reply", "it says something, the target has a chat, and the requester's call had answered without the reply",
			"the host posts its text there; the follow-up in the requester", func(e *ending) bool { return e.announces() && e.late() },
			func(e *ending) Step { return Step{Post: e.says(e.Said.Text), Next: e.followUp()} }},
		{[]string{fromAnnounce}, "late reply", "the requester's call had answered without the reply", "the follow-up in the requester", (*ending).late,
			func(e *ending) Step { return Step{Next: e.followUp()} }},
		{[]string{fromAnnounce}, "announced", "it says something, and the target has a chat", "the host posts its text there",
			(*ending).announces, func(e *ending) Step { return Step{Post: e.says(e.Said.Text)} }},
		{[]string{fromAnnounce}, "nothing to announce", "otherwise", "the end", always, endStep},

		{[]string{fromFollowUp}, "follow-up silent", "it is a control word", "the end", func(e *ending) bool { return e.Said.Control != agent.Speak }, endStep},
		{[]string{fromFollowUp}, "followed up", "it says something", "the host posts its text into the requester's chat",
			func(e *ending) bool { return !failed(e) && spoke(e.Said) }, (*ending).tell},
		{[]string{fromFollowUp}, "followed up by the host", "otherwise", "the host posts the late reply there, or why there is none", always, (*ending).tell},

		{[]string{fromChild}, "child silent", "its whole answer is `ANNOUNCE_SKIP`", "the end", func(e *ending) bool { return e.Said.Control == agent.AnnounceSkip }, cleanupStep},
		{[]string{fromChild}, "parent gone", "the sub-agent that started it is deleted", "listed as not reported",
			func(e *ending) bool { return e.c.Parent != nil && e.Other == nil },
			func(e *ending) Step { return e.unreported("the sub-agent that asked for it no longer exists") }},
		{[]string{fromChild}, "parent stopped", "the sub-agent that started it was stopped, and has no new work", "listed as not reported",
			func(e *ending) bool { return e.c.Parent != nil && e.ParentStopped },
			func(e *ending) Step { return e.unreported("the sub-agent that asked for it was stopped") }},
		{[]string{fromChild}, "result for a parent", "a sub-agent started it", "its running turn merges the result, or a new turn starts",
			func(e *ending) bool { return e.c.Parent != nil }, (*ending).toParent},
		{[]string{fromChild}, "result for an external agent", "an external agent started it", "the report goes into its transcript",
			func(e *ending) bool { return e.Other != nil && isExternal(e.c.Requester) },
			func(e *ending) Step { return e.cleanup(e.toExternal(e.report(e.c.Latest), e.fromChild())) }},
		{[]string{fromChild}, "result for the requester", "`announce: requester`, or there is no chat", "a result turn in the requester",
			func(e *ending) bool { return e.Other != nil && (e.c.Origin.IsZero() || e.ToRequester) }, (*ending).result},
		{[]string{fromChild}, "no chat to report to", "its requester is deleted, and there is no chat", "listed as not reported",
			func(e *ending) bool { return e.c.Origin.IsZero() },
			func(e *ending) Step {
				return e.unreported("the session that asked for it no longer exists, and there is no chat to report to")
			}},
		{[]string{fromChild}, "result for people", "otherwise", "the announce step in the sub-agent", always, (*ending).announce},
		{[]string{fromReport}, "report silent", "it is a control word", "the end", func(e *ending) bool { return e.Said.Control != agent.Speak }, cleanupStep},
		{[]string{fromReport}, "stored result posted", "it failed, or is empty", "the host posts the stored result",
			func(e *ending) bool { return failed(e) || e.Said.Text == "" }, func(e *ending) Step { return e.cleanup(e.postReport("")) }},
		{[]string{fromReport}, "report posted", "otherwise", "the report is posted", always, func(e *ending) Step { return e.cleanup(e.postReport(e.Said.Text)) }},
		{[]string{fromResult}, "update silent", "it is a control word, or there is no chat", "the end",
			func(e *ending) bool { return e.c.Origin.IsZero() || e.Said.Control != agent.Speak }, cleanupStep},
		{[]string{fromResult}, "update posted", "it says something", "the host posts its text",
			func(e *ending) bool { return !failed(e) && spoke(e.Said) },
			func(e *ending) Step { return e.cleanup(e.inVoice(Step{Post: e.says(e.Said.Text)})) }},
		{[]string{fromResult}, "report posted for the requester", "otherwise", "the host posts the report", always,
			func(e *ending) Step {
				msg := &sessions.Message{Content: sessions.TextContent(e.Run.Input.Text())}
				return e.cleanup(e.inVoice(Step{Message: msg, Post: e.post(msg.Text())}))
			}},

		{[]string{fromJob, fromRelay}, "nothing to post", "it is empty or a control word", "the end", func(e *ending) bool { return !failed(e) && !spoke(e.Said) }, endStep},
		{[]string{fromRelay}, "chat gone", "the session of the chat is deleted", "the end", isOtherGone,
			func(e *ending) (s Step) {
				s.warn("chat of an answer has no session anymore", keyRun, e.Run.ID, keySession, e.c.Requester)
				return s
			}},
		{[]string{fromRelay}, "answer posted", "otherwise", "the host posts the answer, or the notice of a failure", always,
			func(e *ending) Step {
				s := e.inTranscript(e.post(e.saidOr(e.Notice)), *e.Other, "")
				s.Post.Session = e.Speaking.Key
				return s
			}},
		{[]string{fromJob}, "job without a chat", "there is no chat, or the session that made it is deleted", "the end",
			func(e *ending) bool { return e.c.Origin.IsZero() || e.Speaking.Key == "" },
			func(e *ending) (s Step) {
				if e.c.Requester != "" {
					s.warn("scheduled job has no chat to report to", keyRun, e.Run.ID, keySession, e.Run.Key)
				}
				return s
			}},
		{[]string{fromJob}, "job posted", "otherwise", "the host posts its text, or the notice of a failure", always,
			func(e *ending) Step {
				s := Step{Post: e.says(e.saidOr("⏰ " + cmp.Or(e.Run.Label, "A scheduled job") + ": " + e.Notice))}
				if s.Post.Session = e.Speaking.Key; e.Speaking.Key != e.Run.Key { // otherwise its own transcript has it
					s = e.inTranscript(s.Post, e.Speaking, "cron")
				}
				s.Lasts = jobTime
				return s
			}},
	}
}
