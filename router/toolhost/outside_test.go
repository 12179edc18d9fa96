package toolhost_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"parley/agent"
	"parley/channels"
	"parley/channels/channeltest"
	"parley/policy"
	"parley/router/routertest"
	"parley/router/settings"
	"parley/router/toolhost"
	"parley/sessions"
	"parley/tools"
)

// outsiders is a rig whose session tools external agents call.
type outsiders struct {
	*routertest.Rig
	n int
}

func newOutsiders(t *testing.T, tests ...func(*settings.Snapshot)) *outsiders {
	t.Helper()
	return &outsiders{Rig: routertest.New(t, channeltest.Options{}, tests...)}
}

// calls makes a tool call and gives what its result says.
func (o *outsiders) calls(by toolhost.ExternalAgent, id, tool, args string) (m map[string]any, text string) {
	o.T.Helper()
	if id == "" {
		o.n++
		id = fmt.Sprint("call-", o.n)
	}
	res, err := o.Router.ToolHost.CallExternal(o.T.Context(), toolhost.ExternalCall{By: by, Conn: "conn", ID: id, Tool: tool, Args: json.RawMessage(args)})
	if err != nil {
		o.T.Fatalf("%s %s: %v", tool, args, err)
	}
	_ = json.Unmarshal([]byte(res.Text), &m)
	return m, res.Text
}

var desk, other = toolhost.ExternalAgent{Name: "desk", Owner: true}, toolhost.ExternalAgent{Name: "other"}

// chat makes a session with a chat.
func (o *outsiders) chat(id channels.ChatID) (channels.Address, sessions.Key) {
	at := channels.Address{Channel: routertest.Kind, Account: channels.DefaultAccount, Chat: id, Type: channels.Group}
	if err := o.Router.Receiver.Accept(o.T.Context(), o.Say(at, routertest.Guest, "hello from "+string(id))); err != nil {
		o.T.Fatal(err)
	}
	key := o.Router.Key(channels.Inbound{Address: at, Sender: channels.Sender{ID: routertest.Guest}})
	o.Until("it was answered", func() bool {
		runs, err := o.Store.ListRuns(o.T.Context(), sessions.RunQuery{Key: key})
		return err == nil && len(runs) == 1 && runs[0].Status.Final()
	})
	return at, key
}

// kept gives the texts of a session's transcript.
func (o *outsiders) kept(key sessions.Key) (out []string) {
	s, err := o.Store.Get(o.T.Context(), key)
	if err != nil {
		return nil
	}
	msgs, err := o.Store.Tail(o.T.Context(), s.ID, sessions.TailQuery{Limit: 100})
	if err != nil {
		o.T.Fatal(err)
	}
	for _, m := range msgs {
		out = append(out, string(m.Role)+": "+m.Text())
	}
	return out
}

// TestOutsideSend has an external agent ask another session: it gets the reply, its transcript has it too, no reply step talks for it, and the
// same call again asks nothing again.
//
// proves: S3, S9, S10, S14
func TestOutsideSend(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		o := newOutsiders(t)
		_, key := o.chat("g1")
		args := fmt.Sprintf(`{"sessionKey":%q,"message":"what is new?"}`, key)
		m, text := o.calls(desk, "7", "sessions_send", args)
		if m["status"] != "ok" || m["reply"] != "echo: what is new?" {
			t.Fatalf("it got %s", text)
		}
		own := toolhost.OutsideKey(o.Router.Settings(), "desk")
		o.Until("the exchange is over", func() bool {
			runs, err := o.Store.ListRuns(t.Context(), sessions.RunQuery{Key: key})
			return err == nil && len(runs) == 3 && runs[0].Kind == sessions.AnnounceRun && runs[0].Status.Final()
		})
		if got := o.kept(own); len(got) != 1 || got[0] != "user: echo: what is new?" {
			t.Errorf("its transcript has %q", got)
		}
		asked := o.Model.Count()
		if again, text := o.calls(desk, "7", "sessions_send", args); again["runId"] != m["runId"] || again["reply"] != m["reply"] {
			t.Errorf("the same call again got %s", text)
		}
		if n := o.Model.Count(); n != asked {
			t.Errorf("the same call again asked the model %d times", n-asked)
		}
		if another, _ := o.calls(desk, "8", "sessions_send", args); another["runId"] == m["runId"] {
			t.Error("another call with the same words was taken for the first")
		}
	})
}

// TestOutsideWait ends the wait for a reply: the run continues, and its reply is in the caller's transcript.
//
// proves: S4
func TestOutsideWait(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		o := newOutsiders(t)
		_, key := o.chat("g1")
		o.Model.Set(func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
			if channels.Sleep(ctx, time.Minute); ctx.Err() != nil {
				return agent.Answer{}, ctx.Err()
			}
			return routertest.Text("late: " + routertest.LastUser(p)), nil
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := o.Router.ToolHost.CallExternal(ctx, toolhost.ExternalCall{By: desk, Conn: "c", ID: "1", Tool: "sessions_send", Args: json.RawMessage(fmt.Sprintf(`{"sessionKey":%q,"message":"slowly"}`, key))})
		if err == nil {
			t.Fatal("the wait went on")
		}
		own := toolhost.OutsideKey(o.Router.Settings(), "desk")
		o.Until("the reply is there", func() bool { return strings.Contains(strings.Join(o.kept(own), "\n"), "late: slowly") })
	})
}

// TestOutsideSpawn starts a sub-agent: its report is in the caller's transcript, without a turn that words it, and sessions_history shows it.
//
// proves: N5, N11, N15
func TestOutsideSpawn(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		o := newOutsiders(t)
		m, text := o.calls(desk, "1", "sessions_spawn", `{"task":"count to ten","cleanup":"delete"}`)
		if m["status"] != "accepted" {
			t.Fatalf("it got %s", text)
		}
		o.Until("the report is there", func() bool {
			_, text := o.calls(desk, "", "sessions_history", `{"sessionKey":"current"}`)
			return strings.Contains(text, "Status: success") && strings.Contains(text, "echo: count to ten")
		})
		if n := o.Model.Count(); n != 1 {
			t.Errorf("the model was asked %d times", n)
		}
		if _, err := o.Store.Get(t.Context(), sessions.Key(m["childSessionKey"].(string))); err == nil {
			t.Error("the sub-agent's session is still there")
		}
		if again, text := o.calls(desk, "1", "sessions_spawn", `{"task":"count to ten","cleanup":"delete"}`); again["runId"] != m["runId"] {
			t.Errorf("the same call again got %s", text)
		}
		if n := o.Model.Count(); n != 1 {
			t.Errorf("the same call again started something: the model was asked %d times", n)
		}
	})
}

// TestOutsideHostile: what an external agent may not see or do, it does not.
//
// proves: V1, V4, P4
func TestOutsideHostile(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		o := newOutsiders(t, func(s *settings.Snapshot) {
			s.Tools.BySender = map[tools.Sender]tools.Rights{tools.FromOther: {Deny: []string{"sessions_spawn"}}}
		})
		at, key := o.chat("g1")
		history := fmt.Sprintf(`{"sessionKey":%q}`, key)

		// By an owner's or another's word the rights differ, and a name is no other's session.
		if m, text := o.calls(other, "", "sessions_spawn", `{"task":"x"}`); m["status"] != "forbidden" {
			t.Errorf("somebody else's spawn got %s", text)
		}
		specs, err := o.Router.ToolHost.ExternalTools(t.Context(), other)
		if err != nil || len(specs) != len(toolhost.OfferedTools)-1 {
			t.Errorf("somebody else is shown %d tools (%v)", len(specs), err)
		}
		if m, text := o.calls(other, "", "sessions_history", history); m["messages"] == nil {
			t.Errorf("with visibility agent history got %s", text)
		}
		for _, tool := range []string{"files", "fetch", "cron", "subagents", "remember", "no_such"} {
			if m, text := o.calls(desk, "", tool, `{}`); m["status"] != "forbidden" {
				t.Errorf("%s got %s", tool, text)
			}
		}
		for _, args := range []string{"", "null"} {
			if m, text := o.calls(desk, "", "agents_list", args); m["requester"] != "main" {
				t.Errorf("without arguments agents_list got %s", text)
			}
		}
		if m, text := o.calls(desk, "", "sessions_send", `{"sessionKey":"no-such","message":"x","as":"agent:main:main"}`); m["status"] != "error" || !strings.Contains(text, `"ignored":["as"]`) {
			t.Errorf("an argument that is none got %s", text)
		}
		for _, args := range []string{`[]`, `{`, `"x"`, `{"sessionKey":5}`} {
			if _, text := o.calls(desk, "", "sessions_send", args); !strings.Contains(text, "do not fit its schema") {
				t.Errorf("the arguments %s got %s", args, text)
			}
		}

		// A deny holds: of the chat's session, and of the caller's own.
		o.Shown(1) // the answer to its hello
		before := len(o.Fake.Calls())
		deny := policy.Deny
		if _, err := o.Router.Patch(t.Context(), key, sessions.Patch{SendPolicy: &deny}); err != nil {
			t.Fatal(err)
		}
		post := fmt.Sprintf(`{"to":%q,"text":"psst"}`, at)
		if m, text := o.calls(desk, "", "message", post); m["status"] != "withheld" {
			t.Errorf("a post past a deny got %s", text)
		}
		o.Deliveries() // the gate has looked
		allow := policy.Allow
		if _, err := o.Router.Patch(t.Context(), key, sessions.Patch{SendPolicy: &allow}); err != nil {
			t.Fatal(err)
		}
		if _, err := o.Router.Patch(t.Context(), toolhost.OutsideKey(o.Router.Settings(), "desk"), sessions.Patch{SendPolicy: &deny}); err != nil {
			t.Fatal(err)
		}
		if m, text := o.calls(desk, "", "message", post); m["status"] != "forbidden" {
			t.Errorf("a post past a deny of its own got %s", text)
		}
		o.Deliveries()
		if n := len(o.Fake.Calls()); n != before {
			t.Errorf("%d calls reached the platform", n-before)
		}
		if m, text := o.calls(other, "", "message", post); m["status"] != "queued" {
			t.Errorf("a post that is allowed got %s", text)
		}

		// With tree it sees what it spawned, and nothing else.
		set := *o.Settings
		set.Tools.Sessions.Visibility = tools.VisibleTree
		if err := o.Router.Apply(t.Context(), &set); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct{ tool, args string }{{"sessions_history", history}, {"session_status", history}, {"message", fmt.Sprintf(`{"to":%q,"text":"x"}`, key)},
			{"sessions_send", fmt.Sprintf(`{"sessionKey":%q,"message":"x"}`, key)}, {"sessions_history", `{"sessionKey":"agent:main:mcp:other"}`}} {
			if m, text := o.calls(desk, "", c.tool, c.args); m["status"] != "forbidden" {
				t.Errorf("%s %s got %s", c.tool, c.args, text)
			}
		}
		if _, text := o.calls(desk, "", "sessions_list", `{}`); strings.Contains(text, string(key)) || strings.Contains(text, "mcp:other") {
			t.Errorf("the list shows %s", text)
		}
		if _, text := o.calls(desk, "", "sessions_search", `{"query":"hello"}`); strings.Contains(text, string(key)) {
			t.Errorf("the search shows %s", text)
		}
	})
}
