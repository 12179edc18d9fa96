package simtest

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"parley/agent"
	"parley/router/chain"
	"parley/router/routertest"
	"parley/sessions"
)

// silent reports whether a run ended without words for others.
func silent(run sessions.Run) bool {
	word := strings.TrimSpace(run.Result)
	return run.Status != sessions.Done || word == "" || word == string(agent.ReplySkip) || word == string(agent.AnnounceSkip) || word == string(agent.NoReply)
}

// judgeExchanges: each exchange goes on in turn until its end, announces once, and passes no session twice (S9, S10, S11, S12).
func (r *rest) judgeExchanges() {
	chains := map[sessions.RunID][]sessions.Run{}
	var roots []sessions.RunID
	for _, run := range r.runs {
		if c := run.Chain; run.IsExchange() {
			if chains[c.Root] == nil {
				roots = append(roots, c.Root)
			}
			chains[c.Root] = append(chains[c.Root], run)
		}
	}
	for _, root := range roots {
		r.judgeExchange(chains[root])
	}
}

func (r *rest) judgeExchange(steps []sessions.Run) {
	w, ask := r.w, steps[0]
	w.tally("exchanges")
	c := ask.Chain
	if ask.Kind != sessions.AskRun || ask.ID != c.Root {
		r.wrong("S9", "an exchange begins with the %s run %s", ask.Kind, ask.ID)
		return
	}
	path := c
	if raw := r.chains[ask.ID]; r.split && raw != nil { // the two sessions of the chat that moved are one here
		path = raw
	}
	if path.Requester == path.Target || slices.Contains(path.Hops, path.Target) {
		r.wrong("S12", "a chain of messages comes back to %s: %v", ask.Key, path.Hops)
	}
	seen := map[sessions.Key]bool{}
	for _, hop := range path.Hops {
		if seen[hop] {
			r.wrong("S12", "a chain of messages passes a session twice: %v", path.Hops)
		}
		seen[hop] = true
	}
	steps = r.judgeFollowUp(steps)
	if ask.Status != sessions.Done {
		if len(steps) > 1 {
			r.wrong("S9", "the ask %s is %s and goes on", ask.ID, ask.Status)
		}
		return
	}
	for i, run := range steps[1:] {
		last, turn := i == len(steps)-2, i+1
		before := steps[i]
		if run.Created.Before(before.Ended) {
			r.wrong("S9", "step %d of exchange %s began before the one before it had ended", turn, ask.ID)
		}
		if last && run.Status == sessions.Stopped {
			if !r.stoppedWith(run) {
				r.wrong("S9", "exchange %s ends with a step that nobody stopped: %q", ask.ID, run.Error)
			}
			w.tally("exchanges stopped")
			return
		}
		if last != (run.Kind == sessions.AnnounceRun) {
			r.wrong("S9", "step %d of %d of exchange %s is %s", turn, len(steps)-1, ask.ID, run.Kind)
			continue
		}
		if !last {
			w.tally("reply steps")
			to := c.Requester
			if turn%2 == 0 {
				to = c.Target
			}
			if run.Key != to || run.Chain.Turn != turn || turn > w.plan.turns {
				r.wrong("S9", "reply step %d of at most %d of exchange %s is in %s, counted as %d", turn, w.plan.turns, ask.ID, run.Key, run.Chain.Turn)
			}
			if silent(before) {
				r.wrong("S9", "exchange %s goes on after %s %q", ask.ID, before.Status, before.Result)
			}
			continue
		}
		if !silent(before) && turn <= w.plan.turns {
			r.wrong("S9", "exchange %s ends after %d of %d reply steps, the last one said %q", ask.ID, turn-1, w.plan.turns, before.Result)
		}
	}
	last := steps[len(steps)-1]
	if last.Kind != sessions.AnnounceRun {
		r.wrong("S10", "exchange %s ends with %s", ask.ID, last.Kind)
		return
	}
	r.judgeAnnounce(ask, last)
}

// judgeAnnounce: what the target announces goes to its own chat, once (S10, S11).
func (r *rest) judgeAnnounce(ask, last sessions.Run) {
	posts, want := r.by[last.ID], 0
	if !silent(last) && !last.Chain.Origin.IsZero() {
		want = 1
	}
	if len(posts) != want {
		r.wrong("S10", "exchange %s announces %q in %d deliveries", ask.ID, last.Result, len(posts))
	}
	for _, d := range posts {
		r.w.tally("announcements")
		if d.Kind != sessions.Announce || d.Session != ask.Key || r.w.keys[d.To] != ask.Key || d.Text != strings.TrimSpace(last.Result) {
			r.wrong("S10", "exchange %s with %s announces %q to %s for %s", ask.ID, ask.Key, d.Text, d.To, d.Session)
		}
	}
	for _, t := range r.w.thoughts {
		if t.Kind != "announce" || t.word == "" || t.word != strings.TrimSpace(last.Result) {
			continue
		}
		for _, word := range []string{last.Chain.Request, last.Chain.Round1, last.Chain.Latest} {
			if !strings.Contains(t.prompt.System, word) {
				r.wrong("S10", "the announce step of exchange %s is not shown %q", ask.ID, word)
			}
		}
	}
}

// judgeReplies: a reply to an ask reaches the requester's context once: as the result of the call, as the message of the first reply
// step, or, where the call broke off, in what that step is told (S13). A step that never came to ask the model may have told nobody.
func (r *rest) judgeReplies() {
	for _, run := range r.runs {
		if run.Kind != sessions.ReplyRun || run.Chain.Turn != 1 {
			continue
		}
		word, where := strings.TrimSpace(run.Chain.Round1), []string{}
		for _, m := range r.texts[run.Chain.Requester] {
			if m.Role != sessions.Assistant && slices.Contains(tokensOf([]string{m.Text()}, "r"), word) {
				where = append(where, string(m.Role))
			}
		}
		told := 0 // of those words that begin such a step: a step may be begun again
		for _, t := range r.w.thoughts {
			if t.Kind == "reply" && t.Turn == 1 {
				told = max(told, strings.Count(t.prompt.System, `"`+word+`"`))
			}
		}
		if n := len(where) + told; n != 1 && (n > 0 || !r.neverAsked(run)) {
			r.wrong("S13", "the reply %q stands in the transcript of its requester %s as %q, and its step is told it %d times", word, run.Chain.Requester, where, told)
		}
	}
}

// neverAsked reports whether a step may have ended before it could ask the model: it was stopped, ran out of time, or failed in the store.
func (r *rest) neverAsked(run sessions.Run) bool {
	if run.Status == sessions.Stopped && run.Attempt == 0 {
		return r.stoppedWith(run)
	}
	asked := slices.ContainsFunc(r.w.thoughts, func(t thought) bool {
		return t.Kind == "reply" && t.Turn == 1 && t.key() == run.Key && !t.began.Before(run.Started)
	})
	return !asked && (run.Status == sessions.TimedOut || run.Status != sessions.Done && (run.Attempt > 1 || strings.Contains(run.Error, "panic")))
}

// judgeChildren: each sub-agent that was accepted has one end, and so has each further task of it (N15).
func (r *rest) judgeChildren() {
	for _, key := range slices.Sorted(maps.Keys(r.children())) {
		r.w.tally("children")
		tasks := 0
		for _, run := range r.runs {
			if run.Key == key && run.Kind == sessions.ChildRun && !routertest.Merged(run) {
				tasks++
			}
		}
		ends := r.ends(key)
		for _, e := range ends {
			r.w.tally("child " + e)
		}
		for _, run := range r.runs {
			if run.Status == sessions.Stopped && (run.Key == key && run.Kind == sessions.ChildRun || reportsOf(run, key)) && !r.mayStop(run) {
				r.wrong("N15", "the sub-agent %s was ended without a cause: %q", key, run.Error)
			}
		}
		if len(ends) != max(tasks, 1) {
			r.wrong("N15", "the %d tasks of the sub-agent %s ended in %d ways: %q", tasks, key, len(ends), ends)
		}
	}
}

// reportsOf reports whether a run words what a sub-agent has found.
func reportsOf(run sessions.Run, key sessions.Key) bool {
	return chain.IsReport(run) && run.Chain.Target == key
}

// mayStop reports whether a run of a chain may have been stopped: nobody was left to hear of it, a person stopped a session that takes part in it,
// or the agent above it has tried to.
func (r *rest) mayStop(run sessions.Run) bool {
	if strings.Contains(run.Error, "not reported: ") {
		return true
	}
	return r.stoppedWith(run) || slices.ContainsFunc(r.w.thoughts, func(t thought) bool {
		return slices.Contains(partners(run), t.key()) && slices.ContainsFunc(sessions.Message{Content: t.answer.Content}.ToolCalls(), func(b sessions.Block) bool { return b.Name == "subagents" })
	})
}

// key is the session that the model was asked in.
func (t thought) key() sessions.Key {
	if t.Session == "main" {
		return sessions.MainKey(t.agent)
	}
	return sessions.Key(t.Session)
}

// children finds the sub-agents that there were: in the store, in what their requesters were told, among those that the model was.
func (r *rest) children() map[sessions.Key]bool {
	out := map[sessions.Key]bool{}
	for _, run := range r.runs {
		if run.Kind == sessions.ChildRun {
			out[run.Key] = true
		}
	}
	for _, msgs := range r.texts {
		for _, m := range msgs {
			var v struct{ ChildSessionKey sessions.Key }
			if m.ToolName == "sessions_spawn" && json.Unmarshal([]byte(m.Text()), &v) == nil && v.ChildSessionKey != "" {
				out[v.ChildSessionKey] = true
			}
		}
	}
	for _, t := range r.w.thoughts {
		if t.Kind == "child" && sessions.IsSubagent(sessions.Key(t.Session)) {
			out[sessions.Key(t.Session)] = true
		}
	}
	return out
}

// ends lists in which ways a sub-agent has ended.
func (r *rest) ends(key sessions.Key) (ends []string) {
	for _, run := range r.runs {
		if run.Chain == nil || run.Chain.Target != key {
			continue
		}
		word := strings.TrimSpace(run.Result)
		switch {
		case run.Kind == sessions.ChildRun && run.Status == sessions.Stopped && run.Error != "":
			ends = append(ends, "failed")
		case reportsOf(run, key) && run.Status == sessions.Stopped && run.Error != "":
			ends = append(ends, "stopped")
		case run.Kind == sessions.ChildRun && strings.Contains(run.Error, "not reported: "): // it began while who asked for it was stopped
			ends = append(ends, "listed")
		case run.Status != sessions.Done:
		case word == string(agent.AnnounceSkip), (word == string(agent.NoReply) || word == string(agent.ReplySkip)) && run.Kind != sessions.ChildRun:
			ends = append(ends, "silent")
		}
	}
	for _, d := range r.deliveries {
		c := r.byID[d.Run].Chain
		if d.Kind != sessions.Announce || c != nil && (c.Kind != "spawn" || c.Target != key) || c == nil && !strings.Contains(d.Text, "sessionKey `"+string(key)+"`") {
			continue
		}
		switch d.State {
		case sessions.Sent:
			ends = append(ends, "announced")
		case sessions.Withheld:
			ends = append(ends, "withheld")
		default:
			ends = append(ends, "listed")
		}
	}
	for _, run := range r.runs { // to the sub-agent that asked for it: what becomes of it there is that one's end
		if p := run.Input.Provenance; run.Kind == sessions.ChildRun && p != nil && p.Source == key && strings.HasPrefix(run.Input.Text(), "Status: ") {
			ends = append(ends, "reported")
		}
	}
	if len(ends) == 0 && r.deleted[key] && r.wantedSilent(key) {
		ends = append(ends, "silent")
	}
	return ends
}

// wantedSilent reports whether a sub-agent's session was deleted by an end that says that somebody wanted its silence. The last end that a
// process was told is on disk says so; of those that crashed before they were told, each may.
func (r *rest) wantedSilent(key sessions.Key) (silent bool) {
	for _, x := range r.w.tries {
		if x.Delete == nil || *x.Delete != key {
			continue
		}
		word := strings.TrimSpace(x.Result)
		silent = word == string(agent.AnnounceSkip) || word == string(agent.NoReply) || word == string(agent.ReplySkip) || silent && !x.done
	}
	return silent
}

// judgeEffects: a tool call has one effect and one result (S14).
func (r *rest) judgeEffects() {
	times := map[string]int{}
	for _, n := range r.notes {
		for _, x := range tokensOf([]string{n.Text}, "f") {
			times[x]++
		}
	}
	for _, d := range r.deliveries {
		if d.Kind == sessions.Posted {
			times[d.Text]++
		}
	}
	for _, run := range r.runs {
		if run.Chain != nil && run.ID == run.Chain.Root {
			times[run.Chain.Request]++
		}
	}
	for word, n := range times {
		if n > 1 {
			r.wrong("S14", "a tool call has %d effects: %s", n, word)
		}
	}
	for key, msgs := range r.texts {
		calls, words := map[string]int{}, map[string]string{}
		for _, m := range msgs {
			for _, c := range m.ToolCalls() {
				calls[string(m.Run)+" "+c.ID]++
				words[string(m.Run)+" "+c.ID] = wordOf(c)
			}
			if m.Role == sessions.ToolResult {
				calls[string(m.Run)+" "+m.ToolCallID] += 10
				r.judgeResult(m)
				if word := words[string(m.Run)+" "+m.ToolCallID]; hasEffect(m) && times[word] == 0 {
					r.wrong("S14", "the call of %s with %s was answered with %s, and nothing came of it", m.ToolName, word, m.Text())
				}
			}
		}
		for id, n := range calls {
			run, _, _ := strings.Cut(id, " ")
			if n == 1 && r.byID[sessions.RunID(run)].Status != sessions.Done {
				continue // it broke off there
			}
			if n != 11 {
				r.wrong("S14", "the tool call %s in %s has %d results, and stands there %d times", id, key, n/10, n%10)
			}
		}
	}
}

// wordOf is the word by which the effect of a tool call is known; "" = it has none of that kind.
func wordOf(c sessions.Block) string {
	var v struct{ Text, Message string }
	_ = json.Unmarshal(c.Arguments, &v) // no JSON, no word
	return v.Text + v.Message
}

// hasEffect reports whether a tool result says that something was posted, noted or sent.
func hasEffect(m sessions.Message) bool {
	switch status := routertest.StatusOf(m.Text()); m.ToolName {
	case "message":
		return status == "queued" || status == "withheld"
	case "remember":
		return status == "ok"
	case "sessions_send":
		return status == "ok" || status == "accepted" || status == "timeout"
	}
	return false
}

// judgeResult counts what tool calls were answered.
func (r *rest) judgeResult(m sessions.Message) {
	switch status := routertest.StatusOf(m.Text()); {
	case m.ToolName == "sessions_send" && status == "timeout":
		r.w.tally("waits in vain")
	case strings.Contains(m.Text(), "has already passed through that session"):
		r.w.tally("loops refused")
	case m.ToolName == "sessions_send":
		r.w.tally("sends " + status)
	}
}

// judgeKeys: no two chats share a session unless they are to, and what people write reaches no other session's model (K8).
func (r *rest) judgeKeys() {
	home := map[string]sessions.Key{}
	for _, l := range r.w.plan.letters {
		home[strings.Fields(l.text)[0]] = r.w.keys[l.to]
	}
	for _, t := range r.w.thoughts {
		key := t.key()
		for _, m := range t.prompt.Messages {
			for _, x := range tokensOf([]string{m.Text()}, "w") {
				if home[x] != key {
					r.wrong("K8", "the model is shown %s of %s in %s", x, home[x], key)
				}
			}
		}
	}
	for _, p := range r.w.platforms {
		for _, x := range p.shown {
			for _, word := range tokensOf([]string{x.out.Text}, "w") {
				if home[word] != r.w.keys[x.out.To] {
					r.wrong("K8", "%s of %s is answered in %s", word, home[word], x.out.To)
				}
			}
		}
	}
}
