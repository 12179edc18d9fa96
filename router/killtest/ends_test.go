package killtest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"parley/channels"
	"parley/channels/channeltest"
	"parley/router/routertest"
	"parley/sessions"
)

// judgeDeliveries: each delivery ended; what was sent is shown where it belongs, once, or more often where the platform does not
// know repeats, and then the row says so; each chat shows them in their order; nothing else is shown (S11).
func (a *aftermath) judgeDeliveries() {
	a.Helper()
	rows := map[string]sessions.Delivery{}
	for _, d := range a.deliveries {
		rows[string(d.ID)+".0"] = d
		if !d.State.Final() {
			a.Errorf("the %s to %s is %s for ever", d.Kind, d.To, d.State)
		}
		if d.Repeat && a.platform.Name != routertest.Repeats.Name {
			a.Errorf("the %s to %s counts as a repeat on a platform that knows repeats", d.Kind, d.To)
		}
	}
	times := map[string]int{}
	newest := map[channels.ChatID]sessions.Delivery{}
	have := map[channels.Address][]string{}
	for _, c := range a.shown {
		d, ok := rows[c.Out.Key]
		if !ok || d.To != c.To {
			a.Errorf("%s shows %q, which is to go to %q", c.To, c.Out.Text, d.To)
			continue
		}
		if times[c.Out.Key]++; times[c.Out.Key] > 1 {
			continue
		}
		// What two sessions say at the same instant may come in either order.
		if last := newest[d.To.Chat]; last.Seq > d.Seq && (d.Created.Before(last.Created) || a.lane(d) == a.lane(last) && a.lane(d) != "") {
			a.Errorf("chat %s shows %q behind %q", d.To.Chat, d.Text, last.Text)
		}
		newest[d.To.Chat] = d
		if text, _, _ := strings.Cut(c.Out.Text, "\n\nStats: "); text != greeting {
			have[c.To] = append(have[c.To], text)
		}
	}
	for key, d := range rows {
		switch n := times[key]; {
		case n > 1 && !d.Repeat:
			a.Errorf("%s shows %q %d times, and the delivery is not marked as a repeat", d.To, d.Text, n)
		case (n > 0) != (d.State == sessions.Sent):
			a.Errorf("the %s %q to %s is %s and shown %d times", d.Kind, d.Text, d.To, d.State, n)
		}
	}
	a.judgeSilence()
	for to, texts := range a.sc.want.shows {
		a.same("chat "+to.String(), have[to], texts)
		delete(have, to)
	}
	for to, texts := range have {
		a.Errorf("nothing belongs into %s: %q", to, texts)
	}
}

// lane is the session whose run made a delivery.
func (a *aftermath) lane(d sessions.Delivery) sessions.Key {
	for _, r := range a.runs {
		if r.ID == d.Run {
			return r.Key
		}
	}
	return ""
}

// judgeSilence: after the answer to /send off nothing reaches a chat, not even that somebody types (P4, P7).
func (a *aftermath) judgeSilence() {
	a.Helper()
	off := map[channels.ChatID]bool{}
	for _, c := range a.calls {
		switch {
		case c.Op == channeltest.OpSend && c.Out.Text == flip:
			off[c.To.Chat] = true
		case off[c.To.Chat]:
			a.Errorf("%s %q reaches %s after /send off", c.Op, c.Out.Text, c.To)
		}
	}
}

// judgeReplies: a reply to an ask reaches the requester's context once: as the result of the call, or as the message of the first
// reply step, which is shown it once (S13).
func (a *aftermath) judgeReplies() {
	a.Helper()
	for _, r := range a.runs {
		if r.Kind != sessions.ReplyRun || r.Chain.Turn != 1 {
			continue
		}
		var where []string
		for _, m := range a.texts[r.Chain.Requester] {
			if m.Role != sessions.Assistant && strings.Contains(m.Text(), r.Chain.Round1) {
				where = append(where, string(m.Role))
			}
		}
		if len(where) != 1 {
			a.Errorf("the reply %q stands in the requester's transcript %d times: %q", r.Chain.Round1, len(where), where)
		}
	}
	for _, x := range slices.Concat(a.lives...) {
		if x.Kind != "reply" || x.Turn != 1 {
			continue
		}
		n := strings.Count(x.prompt.System, roundOne)
		for _, m := range x.prompt.Messages {
			if m.Role != sessions.Assistant {
				n += strings.Count(m.Text(), roundOne)
			}
		}
		if n != 1 {
			a.Errorf("the first reply step is shown the reply %d times", n)
		}
	}
}

// judgeChildren: each child that was accepted ended in exactly one way, and so did each further task that it was given (N15); each
// accepted call made one child (S14).
func (a *aftermath) judgeChildren() {
	a.Helper()
	accepted := map[sessions.Key]int{}
	for _, msgs := range a.texts {
		for _, m := range msgs {
			var v struct{ ChildSessionKey sessions.Key }
			if m.ToolName == "sessions_spawn" && json.Unmarshal([]byte(m.Text()), &v) == nil && v.ChildSessionKey != "" {
				accepted[v.ChildSessionKey]++
			}
		}
	}
	for _, r := range a.runs {
		if r.Kind == sessions.ChildRun && accepted[r.Key] == 0 {
			a.Errorf("nobody was told of the child %s", r.Key)
		}
	}
	var have []string
	for key, n := range accepted {
		if n != 1 {
			a.Errorf("%d calls were answered with the child %s", n, key)
		}
		tasks := 0
		for _, r := range a.runs {
			if r.Key == key && r.Kind == sessions.ChildRun && !routertest.Merged(r) {
				tasks++
			}
		}
		ends := a.ends(key)
		if len(ends) != max(tasks, 1) { // a deleted one has left no runs
			a.Errorf("the %d tasks of the child %s ended in %d ways: %q", tasks, key, len(ends), ends)
		}
		have = append(have, ends...)
	}
	a.same("the children", have, a.sc.want.children)
}

// ends lists in which ways a child has ended.
func (a *aftermath) ends(key sessions.Key) (ends []string) {
	of := map[sessions.RunID]sessions.Run{}
	for _, r := range a.runs {
		if of[r.ID] = r; r.Chain == nil || r.Chain.Target != key {
			continue
		}
		switch {
		case r.Status == sessions.Stopped && r.Error != "":
			ends = append(ends, "failed")
		case r.Kind == sessions.ResultRun && r.Result == "NO_REPLY":
			ends = append(ends, "silent")
		}
	}
	for _, d := range a.deliveries {
		if c := of[d.Run].Chain; d.Kind != sessions.Announce || !strings.Contains(d.Text, string(key)) && (c == nil || c.Target != key) {
			continue
		}
		switch {
		case d.State == sessions.Sent:
			ends = append(ends, "announced")
		case d.State == sessions.Withheld && d.Verdict != nil:
			ends = append(ends, "withheld")
		case d.Error != "":
			ends = append(ends, "failed")
		default:
			ends = append(ends, fmt.Sprintf("%s without a reason", d.State))
		}
		known := 0 // to the requester's agent
		for _, m := range a.texts[d.Session] {
			if m.Role == sessions.Assistant && m.Text() == d.Text {
				known++
			}
		}
		if known != 1 {
			a.Errorf("what was posted for the child %s stands in the requester's transcript %d times", key, known)
		}
	}
	for at, msgs := range a.texts {
		for _, m := range msgs {
			if sessions.IsSubagent(at) && m.Role == sessions.User && m.Provenance != nil && m.Provenance.Source == key && strings.HasPrefix(m.Text(), "Status: ") {
				ends = append(ends, "reported")
			}
		}
	}
	skipped := routertest.Mark(string(key), sessions.Message{Content: sessions.TextContent("ANNOUNCE_SKIP")})
	if slices.ContainsFunc(slices.Concat(a.lives...), func(x asked) bool { return x.mark == skipped }) {
		ends = append(ends, "silent")
	}
	return ends
}
