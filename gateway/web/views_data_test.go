package web_test

import (
	"encoding/json"
	"time"

	"parley/channels"
	"parley/gateway/api"
	"parley/policy"
	"parley/sessions"
	"parley/tools/mcp"
)

func address(text string) channels.Address {
	a, err := channels.ParseAddress(text)
	if err != nil {
		panic(err)
	}
	return a
}

const (
	garden = "agent:main:telegram:group:-1001"
	anna   = "agent:main:main"
)

// household is what a host of a household might show: nobody in it is real.
func household(w *works) {
	ago := func(d time.Duration) time.Time { return w.now.Add(-d) }
	w.sessions = []api.Session{
		{Key: anna, ID: "s1", Title: "Anna", Last: "telegram/default/direct/4711"},
		{Key: garden, ID: "s2", Title: "Garden club", Last: "telegram/default/group/-1001", SendPolicy: policy.Deny},
		{Key: "agent:main:discord:channel:42", ID: "s3", Title: "#parents", Last: "discord/default/channel/42"},
	}
	w.rules = policy.SendPolicy{Default: policy.Allow, Rules: []policy.SendRule{
		{Match: policy.SendMatch{Channel: "whatsapp", ChatType: "group"}, Action: policy.Deny},
		{Match: policy.SendMatch{KeyPrefix: "cron:"}, Action: policy.Deny},
		{Match: policy.SendMatch{Channel: "discord"}, Action: policy.Allow},
	}}
	w.status.Accounts = []api.Account{
		{Channel: "telegram", Account: "default", State: channels.Connected, Live: true, Name: "@garden_bot", LastSeen: w.now},
		{Channel: "discord", Account: "default", State: channels.Connected, Live: true, Name: "garden"},
		{Channel: "whatsapp", Account: "default", State: channels.LoggedOut, Detail: "no phone is linked", Todo: "link it on the Channels page", CanLink: true},
		{Channel: "webchat", Account: "default", State: channels.Connected, Live: true},
	}
	w.status.Working, w.status.Waiting = []sessions.Key{anna}, 1
	w.status.Servers = []mcp.Status{{Name: "calendar", State: mcp.Running, Tools: 6}, {Name: "weather", State: mcp.Running, Tools: 2}}
	w.asking = []sessions.Pairing{
		{Channel: "telegram", Account: "default", User: "815", Name: "Bo", Created: ago(4 * time.Minute), Expires: w.now.Add(56 * time.Minute)},
	}
	w.admitted = []sessions.Admitted{{Channel: "telegram", Account: "default", User: "4712", Name: "Cleo", Since: ago(30 * 24 * time.Hour)}, {Channel: "discord", Account: "default", User: "9001", Name: "Dan", Since: ago(3 * 24 * time.Hour)}}
	w.jobs = []api.Job{
		{ID: "j1", Name: "Morning", Agent: "main", Key: "agent:main:cron:j1", When: "cron 0 8 * * 1-5 (Europe/Berlin)", Message: "Say what is on today, and whether it rains.", To: "telegram/default/direct/4711", Next: w.now.Add(9 * time.Hour), Last: ago(15 * time.Hour), Status: "done", Created: ago(900 * time.Hour)},
		{ID: "j2", Name: "Bins", Agent: "main", Key: "agent:main:cron:j2", When: "cron 0 19 * * 1", Message: "Remind us of the bins.", Next: w.now.Add(50 * time.Hour), Last: ago(118 * time.Hour), Status: "failed", Created: ago(700 * time.Hour)},
		{ID: "j3", Name: "Holiday watering", Agent: "main", Key: "agent:main:cron:j3", When: "every 24h", Message: "Ask who waters today.", Off: true, Created: ago(800 * time.Hour)},
	}
	w.history["j1"] = []api.JobRun{
		{Due: ago(15 * time.Hour), At: ago(15 * time.Hour), Status: "done", Run: "r1", Result: "Good morning! Dentist at ten, and it stays dry."},
		{Due: ago(39 * time.Hour), At: ago(39 * time.Hour), Status: "skipped", Skipped: "the one before was still at work"},
	}
	w.runs = householdRuns(ago)
	householdTraces(w, ago)
	householdDeliveries(w, ago)
	for d := range 60 {
		day := w.now.UTC().AddDate(0, 0, -d).Format(time.DateOnly)
		for i, a := range []sessions.AgentID{"main", "research", "family"} {
			n := (d*d*7+i*13+d*5)%23 + 3 - i*2
			if n <= 0 || (d+i)%6 == 5 {
				continue
			}
			model := []string{"anthropic/claude-sonnet", "anthropic/claude-opus", "openai/gpt-mini"}[i]
			w.usage = append(w.usage, api.UsageRow{Day: day, Agent: a, Model: model, UsageSum: api.UsageSum{Calls: n, Input: n * 9100, Output: n * 700, CacheRead: n * 5200, Cost: int64(n) * int64(38000+i*21000)}})
		}
	}
}

func householdRuns(ago func(time.Duration) time.Time) []api.Run {
	return []api.Run{
		{ID: "r9", Kind: sessions.TurnRun, Key: anna, Agent: "main", Status: sessions.Running, Request: "Find us a weekend in June when nobody is away, and a hut that still has room", Attempt: 1, Created: ago(70 * time.Second), Started: ago(68 * time.Second)},
		{ID: "r8", Kind: sessions.ChildRun, Key: "agent:research:subagent:7c1d", Agent: "research", Status: sessions.Running, Label: "huts with room", Request: "Look for mountain huts within three hours by train that have six beds on a weekend in June.", Chain: "spawn", Root: "r8", Requester: anna, Attempt: 1, Created: ago(50 * time.Second), Started: ago(49 * time.Second)},
		{ID: "r7", Kind: sessions.ChildRun, Key: "agent:main:subagent:02aa", Agent: "main", Status: sessions.Done, Label: "free weekends", Request: "Read the family calendar for June and list weekends on which nobody is away.", Result: "Free: 5 to 7 June and 19 to 21 June.", Chain: "spawn", Root: "r7", Requester: anna, Attempt: 1, Created: ago(52 * time.Second), Started: ago(51 * time.Second), Ended: ago(20 * time.Second), Usage: sessions.Usage{Input: 8200, Output: 310, Cost: 31000}},
		{ID: "r6", Kind: sessions.AnnounceRun, Key: "agent:main:subagent:02aa", Agent: "main", Status: sessions.Done, Result: "Two weekends in June are free for everybody: the 5th to the 7th, and the 19th to the 21st.", Chain: "spawn", Root: "r7", Requester: anna, Attempt: 1, Created: ago(20 * time.Second), Started: ago(19 * time.Second), Ended: ago(14 * time.Second), Usage: sessions.Usage{Input: 3100, Output: 60, Cost: 9000}},
		{ID: "r5", Kind: sessions.TurnRun, Key: garden, Agent: "main", Status: sessions.Done, Request: "@garden_bot who has the key to the shed?", Result: "Cleo took it on Thursday and said that she brings it back on Sunday.", Attempt: 1, Created: ago(41 * time.Minute), Started: ago(41 * time.Minute), Ended: ago(41*time.Minute - 4300*time.Millisecond), Usage: sessions.Usage{Input: 12400, Output: 210, Cost: 41000}},
		{ID: "r4", Kind: sessions.AskRun, Key: anna, Agent: "main", Status: sessions.Done, Request: "The garden club asks whether Anna can bring the key on Sunday.", Result: "She can, if it is before noon.", Chain: "ask", Root: "r4", Requester: garden, Attempt: 1, Created: ago(41*time.Minute - 2*time.Second), Started: ago(41*time.Minute - 2*time.Second), Ended: ago(41*time.Minute - 4*time.Second), Usage: sessions.Usage{Input: 4100, Output: 40}},
		{ID: "r3", Kind: sessions.JobRun, Key: "agent:main:cron:j2", Agent: "main", Status: sessions.Failed, Label: "Bins", Request: "Remind us of the bins.", Error: "no provider answered: anthropic is overloaded (529), openai timed out after 60s", Attempt: 3, Created: ago(118 * time.Hour), Started: ago(118 * time.Hour), Ended: ago(118*time.Hour - 190*time.Second)},
	}
}

func householdTraces(w *works, ago func(time.Duration) time.Time) {
	chat := address("telegram/default/direct/4711")
	turn := sessions.Run{ID: "r9", Kind: sessions.TurnRun, Key: anna, Agent: "main", Status: sessions.Running, Attempt: 1, Created: ago(70 * time.Second), Started: ago(68 * time.Second), Reply: chat,
		Input: sessions.Message{Role: sessions.User, Content: sessions.TextContent(w.runs[0].Request), Provenance: &sessions.Provenance{Kind: sessions.ExternalUser, Name: "Anna", Address: chat}}}
	call := func(id, name, args string) sessions.Block {
		return sessions.Block{Type: sessions.ToolCallBlock, ID: id, Name: name, Arguments: json.RawMessage(args)}
	}
	w.traces["r9"] = []sessions.Trace{{Accepted: ago(70 * time.Second), Address: chat, Run: &turn, Steps: []sessions.Message{
		{Role: sessions.Assistant, Time: ago(52 * time.Second), Content: []sessions.Block{{Type: sessions.TextBlock, Text: "I ask two helpers at once: one for the **calendar**, one for the *huts*."},
			call("c1", "sessions_spawn", `{"label":"free weekends","task":"Read the family calendar for June."}`), call("c2", "sessions_spawn", `{"label":"huts with room","task":"Look for huts."}`), call("c3", "calendar_read", `{"month":"June"}`)}},
		{Role: sessions.ToolResult, Time: ago(51 * time.Second), ToolCallID: "c1", Content: sessions.TextContent(`{"status":"accepted","runId":"r7"}`)},
		{Role: sessions.ToolResult, Time: ago(50 * time.Second), ToolCallID: "c2", Content: sessions.TextContent(`{"status":"accepted","runId":"r8"}`)},
	}, Deliveries: []sessions.Delivery{{ID: "d9", Kind: sessions.Reply, Session: anna, Run: "r9", To: chat, State: sessions.Sent, Created: ago(30 * time.Second), Receipts: []channels.Receipt{{ID: "8841", At: ago(29 * time.Second)}}}}}}
}

func householdDeliveries(w *works, ago func(time.Duration) time.Time) {
	rule := func(a policy.Action, rule, why string) *policy.Verdict {
		return &policy.Verdict{Action: a, Rule: rule, Reason: why}
	}
	ok := rule(policy.Allow, "session.sendPolicy.default", "no rule matches, and the default is allow")
	list := []sessions.Delivery{
		{ID: "d9", Kind: sessions.Announce, Session: anna, Run: "r6", To: address("telegram/default/direct/4711"), Text: "Two weekends in June are free for everybody: the 5th to the 7th, and the 19th to the 21st.", State: sessions.Sent, Part: 1, Attempt: 1, Verdict: ok, Receipts: []channels.Receipt{{ID: "8841", At: ago(12 * time.Second)}}, Created: ago(14 * time.Second)},
		{ID: "d8", Kind: sessions.Reply, Session: garden, Run: "r5", To: address("telegram/default/group/-1001"), Text: "Cleo took it on Thursday and said that she brings it back on Sunday.", State: sessions.Withheld, Verdict: rule(policy.Deny, "session override", "this session's own send policy is deny"), Created: ago(41 * time.Minute)},
		{ID: "d7", Kind: sessions.Posted, Session: anna, Run: "r4", To: address("discord/default/channel/42"), Text: "The parents' evening is on **Thursday** at seven.\n\n- bring the forms\n- there is tea", State: sessions.DeliveryFail, Attempt: 3, Verdict: ok, Error: "discord refused it: the bot may not write in this channel (50013); give it the right Send Messages", Created: ago(3 * time.Hour), Updated: ago(2 * time.Hour)},
		{ID: "d6", Kind: sessions.Reply, Session: anna, To: address("whatsapp/default/direct/4915100000"), Text: "I have put milk on the list.", State: sessions.Held, Attempt: 1, Verdict: ok, Error: "it is not known whether it arrived: the host stopped while it was being sent", Created: ago(26 * time.Hour)},
		{ID: "d5", Kind: sessions.Reply, Session: anna, To: address("whatsapp/default/direct/4915100000"), Text: "Shall I order the same as last week?", State: sessions.Pending, Attempt: 2, NotBefore: w.now.Add(4 * time.Minute), Expires: w.now.Add(50 * time.Minute), Verdict: ok, Error: "no phone is linked", Created: ago(10 * time.Minute)},
	}
	for i := range list {
		list[i].Seq = int64(100 - i)
	}
	w.deliveries = list
}
