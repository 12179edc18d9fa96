package tools

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"parley/channels"
	"parley/policy"
	"parley/sessions"
)

func chat(kind channels.Kind, id channels.ChatID, t channels.ChatType) channels.Address {
	return channels.Address{Channel: kind, Account: "default", Chat: id, Type: t}
}

// Where a post may go is the rule that every session tool asks; an address counts by the sessions that it has written to.
//
// proves: K9, V1, V2, V4
func TestMessageGoesWhereTheCallerSees(t *testing.T) {
	t.Parallel()
	dm, grp := chat("telegram", "7", "direct"), chat("telegram", "-1001", "group")
	topic := grp
	topic.Thread = "a/b 7"
	for _, c := range []struct {
		name, mode, to string
		reply          channels.Address // what the turn answers
		session        sessions.Key     // posted on behalf of
		at             channels.Address
		status, says   string
	}{
		{"this chat", "self", "current", dm, "agent:main:main", dm, "queued", ""},
		{"of several chats the one being answered", "self", "main", topic, "agent:main:main", topic, "queued", ""},
		{"nobody is being answered", "self", "current", channels.Address{}, "agent:main:main", chat("webchat", "w", "direct"), "queued", ""},
		{"another session", "agent", "agent:main:telegram:group:-1001", dm, "agent:main:telegram:group:-1001", grp, "queued", ""},
		{"another session by id", "agent", string(id(1)), dm, "agent:main:telegram:group:-1001", grp, "queued", ""},
		{"a hidden session", "tree", "agent:main:telegram:group:-1001", dm, "", dm, "forbidden", "tools.sessions.visibility is tree"},
		{"a hidden id looks unknown", "tree", string(id(1)), dm, "", dm, "error", "Session not found"},
		{"an unknown session", "agent", "agent:main:telegram:group:-9", dm, "", dm, "error", "Session not found"},
		{"a session without a chat", "agent", "cron:daily", dm, "", dm, "error", "cron:daily has no chat"},
		{"an address", "agent", grp.String(), dm, "agent:main:telegram:group:-1001", grp, "queued", ""},
		{"an address with a thread", "agent", topic.String(), dm, "agent:main:telegram:group:-1001", topic, "queued", ""},
		{"an address that only others see", "tree", grp.String(), dm, "", dm, "error", "No session that you can see has a message from telegram/default/group/-1001"},
		{"one that nobody knows", "agent", chat("telegram", "999", "direct").String(), dm, "", dm, "error", "No session that you can see has a message from telegram/default/direct/999"},
		{"one of another agent", "all", chat("discord", "5", "channel").String(), dm, "", dm, "error", "No session that you can see"},
		{"one whose session is gone", "agent", chat("discord", "6", "channel").String(), dm, "", dm, "error", "No session that you can see"},
		{"half an address", "agent", "telegram/default/group", dm, "", dm, "error", "neither a session key nor a session id"},
	} {
		w := family()
		w.rules, w.caller.Run.Reply = sessions.Rules{Mode: c.mode}, c.reply
		at("webchat", "w", "direct")(&w.sessions[0])
		w.caller.Session = w.sessions[0]
		w.heard = map[channels.Address][]sessions.Key{grp: {"agent:work:main", "agent:main:telegram:group:-1001"}, topic: {"agent:main:telegram:group:-1001"},
			chat("discord", "5", "channel"): {"agent:work:main"}, chat("discord", "6", "channel"): {"agent:main:discord:channel:6"}}
		w.post = PostResult{Delivery: "d-1", Verdict: policy.Verdict{Action: policy.Allow, Rule: "default"}}
		r := call[messageResult](t, w, Message(w.deps()), fmt.Sprintf(`{"to":%q,"text":"**hi**"}`, c.to))
		if r.Status != c.status || !strings.Contains(r.Error, c.says) || (len(w.posted) > 0) != (c.session != "") {
			t.Errorf("%s: %+v, posted %+v; want %s …%s…", c.name, r, w.posted, c.status, c.says)
			continue
		}
		if c.session == "" {
			continue
		}
		if q := w.posted[0]; q.Session != c.session || q.To != c.at || q.Text != "**hi**" || q.Source != "tool:run-1:call-1" || q.From.Session.Key != "agent:main:main" {
			t.Errorf("%s: posted %+v", c.name, q)
		}
		if r.To != c.at.String() || r.DeliveryID != "d-1" || r.Rule != "" {
			t.Errorf("%s: %+v", c.name, r)
		}
	}
}

// proves: P4, P5
func TestMessageSaysWhatThePolicySays(t *testing.T) {
	t.Parallel()
	deny := policy.Verdict{Action: policy.Deny, Rule: "session.sendPolicy.rules[0]", Reason: "groups are closed"}
	for _, c := range []struct {
		made    PostResult
		want    string
		isError bool
	}{
		{PostResult{"d", policy.Verdict{Action: policy.Allow, Rule: "session.sendPolicy.default"}}, `{"status":"queued","to":"telegram/default/direct/7","deliveryId":"d"}`, false},
		{PostResult{"d", deny}, `{"status":"withheld","to":"telegram/default/direct/7","deliveryId":"d","rule":"session.sendPolicy.rules[0]","error":"The message is recorded but not sent, because of the send policy of that session: groups are closed"}`, false},
		{PostResult{"", deny}, `{"status":"forbidden","to":"telegram/default/direct/7","rule":"session.sendPolicy.rules[0]","error":"The send policy of this session does not allow messages to that chat: groups are closed"}`, true},
	} {
		w := newWorld()
		w.caller.Run.Reply, w.post = chat("telegram", "7", "direct"), c.made
		r, err := Message(w.deps()).Call(t.Context(), Call{Args: json.RawMessage(`{"to":"current","text":"x"}`), Caller: w.caller})
		if err != nil || r.Text != c.want || r.IsError != c.isError {
			t.Errorf("%s (error %v), %v; want %s", r.Text, r.IsError, err, c.want)
		}
	}
}

func TestMessageRefuses(t *testing.T) {
	t.Parallel()
	for args, says := range map[string]string{
		`{}`:                                "to is required",
		`{"to":" ","text":"x"}`:             "to is required",
		`{"to":"current","text":" \n"}`:     "text is required",
		`{"to":"current","text":"x","x":1}`: "to, text",
		`{"to":"current","text":"` + strings.Repeat("x", maxText+1) + `"}`: "65536 are allowed",
	} {
		w := newWorld()
		w.caller.Run.Reply = chat("telegram", "7", "direct")
		if r := call[problem](t, w, Message(w.deps()), args); r.Status != "error" || !strings.Contains(r.Error, says) || len(w.posted) > 0 {
			t.Errorf("%.60s: %+v", args, r)
		}
	}
	w := newWorld()
	w.caller.Run.Reply, w.refuse = chat("telegram", "7", "direct"), &Refused{"closed"}
	if r := call[problem](t, w, Message(w.deps()), `{"to":"current","text":"x"}`); r.Status != "forbidden" || r.Error != "closed" {
		t.Errorf("the host says no: %+v", r)
	}
}

// TestMessageFiles: files of the workspace are handed on unopened; what leads out of it, is no plain file or may not be read is not.
func TestMessageFiles(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.workspace, w.caller.Run.Reply = t.TempDir(), chat("telegram", "7", "direct")
	if err := os.WriteFile(filepath.Join(w.workspace, "a.txt"), []byte("hello"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(w.workspace, "dir"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc/hostname", filepath.Join(w.workspace, "link")); err != nil {
		t.Fatal(err)
	}
	call[messageResult](t, w, Message(w.deps()), `{"to":"current","files":["a.txt","./dir","link","gone"]}`)
	if len(w.posted) != 1 || len(w.posted[0].Files) != 4 || w.posted[0].Files[1].Name != "dir" {
		t.Fatalf("%+v", w.posted)
	}
	for i, want := range []string{"hello", "the path is a folder", "leads out of", "the file does not exist"} {
		f, err := w.posted[0].Files[i].Open()
		if err == nil {
			b, _ := io.ReadAll(f)
			_ = f.Close()
			err = errors.New(string(b))
		}
		w.refuse = err
		says := err.Error()
		if i > 0 {
			says = call[problem](t, w, Message(w.deps()), `{"to":"current","files":["a.txt"]}`).Error
		}
		if !strings.Contains(says, want) || strings.Contains(says, w.workspace) {
			t.Errorf("%d: %s, want %s", i, says, want)
		}
	}
	w.refuse = nil
	posted := len(w.posted)
	for args, says := range map[string]string{
		`{"to":"current","text":"x","files":["../a.txt"]}`:                       "not inside the workspace",
		`{"to":"current","text":"x","files":["/etc/passwd"]}`:                    "not inside the workspace",
		`{"to":"current","files":[""]}`:                                          "path is required",
		`{"to":"current","files":["` + strings.Repeat(`a","`, maxPosted) + `"]}`: "for one message is 10",
	} {
		if r := call[problem](t, w, Message(w.deps()), args); !strings.Contains(r.Error, says) {
			t.Errorf("%.60s: %+v", args, r)
		}
	}
	w.caller.May = func(tool string) bool { return tool != "files" }
	if r := call[problem](t, w, Message(w.deps()), `{"to":"current","text":"x","files":["a.txt"]}`); r.Status != "forbidden" || len(w.posted) != posted {
		t.Errorf("without the right to files: %+v", r)
	}
}
