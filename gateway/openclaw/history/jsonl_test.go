package history

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"parley/channels"
	"parley/sessions"
)

// told is a transcript that began on a day.
func told(day int, id string, messages ...string) string {
	return strings.ReplaceAll(jsonl(id, messages...), "2023-11-14", fmt.Sprintf("2023-11-%02d", day))
}

// The files of a session from before its daily resets are one history with the current one, oldest first: those that its entry names, those
// that OpenClaw renamed, and those that older versions left without a name.
// source: openclaw/openclaw src/config/sessions/types.ts (005a4316, usageFamilySessionIds), artifacts.ts (08495516)
func TestDailyResets(t *testing.T) {
	t.Parallel()
	s := newState(t)
	s.write("agents/main/sessions/sessions.json", `{"agent:main:main":{"sessionId":"s5","updatedAt":5,"usageFamilySessionIds":["s1","s2","s5"]},"agent:main:cron:j":{"sessionId":"c1"}}`)
	s.write("agents/main/sessions/s2.jsonl.reset.2023-11-12T04-00-00.000Z", told(12, "s2", "user Day two"))
	s.write("agents/main/sessions/s1.jsonl", told(11, "s1", "user Day one"))
	s.write("agents/main/sessions/s3.jsonl", told(13, "s3", "user [Telegram Olga id:1001] Day three"))
	s.write("agents/main/sessions/s4.jsonl.reset.2023-11-14T04-00-00.000Z.zst", string(pack(t, told(14, "s4", "user [Telegram Olga id:1001] Day four"))))
	s.write("agents/main/sessions/s5.jsonl", told(15, "s5", "user Day five"))
	s.write("agents/main/sessions/c1.jsonl", told(15, "c1", "user [cron:j] Work"))
	s.write("agents/main/sessions/c0.jsonl", told(11, "c0", "user [cron:j] Work"))                                              // an earlier run
	s.write("agents/main/sessions/g0.jsonl", told(11, "g0", "user [Telegram Garden id:-100500 2023-11-11 22:13 UTC] Olga: hi")) // a group without a session
	s.write("agents/main/sessions/m0.jsonl", told(11, "m0", "user no wrapping"))                                                // unclear: it may be the job's
	s.write("agents/main/sessions/d0.jsonl.deleted.2023-11-12T04-00-00.000Z", told(11, "d0", "user deleted"))
	s.write("agents/main/sessions/s5.trajectory.jsonl", "{}")
	s.write("agents/main/sessions/s5.checkpoint.00000000-0000-4000-8000-000000000000.jsonl", told(15, "s5", "user copy"))
	s.write("agents/main/sessions/sessions.json.bak.1700000000000", "{}")
	h, r := s.read()
	if diff := cmp.Diff([]string{"user Day one", "user Day two", "user Day three", "user Day four", "user Day five"}, s.story(h, "agent:main:main")); diff != "" {
		t.Error(diff)
	}
	has(t, r.Carried, "agent:main:main, 5 messages of 5 conversations", "")
	has(t, r.Left, "transcripts of sessions that were reset or deleted (3)", "")
	has(t, r.Also, "agents/main/sessions (1)", "transcripts of deleted sessions")
	has(t, r.Also, "agents/main/sessions (1)", "copies from before a summary")
	has(t, r.Also, "agents/main/sessions (1)", "records of model calls")
	has(t, r.Also, "agents/main/sessions (1)", "backups")
}

// A transcript without a name goes to the chat that its messages name, and to no other: with sessions of each person none goes to the main one.
func TestAdopted(t *testing.T) {
	t.Parallel()
	direct := "user [Telegram Olga id:1001] hello"
	group := "user [Telegram Garden id:-100500 2023-11-14 22:13 UTC] Olga: hello"
	for name, c := range map[string]struct {
		store, old string
		of         sessions.Key
	}{
		"its person":       {`"agent:main:main":{"sessionId":"a"},"agent:main:telegram:direct:1001":{"sessionId":"b"}`, direct, "agent:main:telegram:direct:1001"},
		"another person":   {`"agent:main:main":{"sessionId":"a"},"agent:main:telegram:direct:2002":{"sessionId":"b"}`, direct, ""},
		"another channel":  {`"agent:main:whatsapp:direct:1001":{"sessionId":"b"}`, direct, ""},
		"two sessions":     {`"agent:main:telegram:direct:1001":{"sessionId":"a"},"agent:main:telegram:work:direct:1001":{"sessionId":"b"}`, direct, ""},
		"its group":        {`"agent:main:main":{"sessionId":"a"},"agent:main:telegram:group:-100500":{"sessionId":"b"}`, group, "agent:main:telegram:group:-100500"},
		"a group, no main": {`"agent:main:main":{"sessionId":"a"}`, group, ""},
		"main":             {`"agent:main:main":{"sessionId":"a"},"agent:main:telegram:group:-100500":{"sessionId":"b"}`, direct, "agent:main:main"},
		"the only one":     {`"agent:main:main":{"sessionId":"a"}`, "user hello", "agent:main:main"},
		"one of two":       {`"agent:main:main":{"sessionId":"a"},"agent:main:telegram:group:-1":{"sessionId":"b"}`, "user hello", ""},
		"a heartbeat":      {`"agent:main:main":{"sessionId":"a"}`, "user Read HEARTBEAT.md if it exists", ""},
	} {
		s := newState(t)
		s.write("agents/main/sessions/sessions.json", "{"+c.store+"}")
		for _, id := range []string{"a", "b"} {
			if strings.Contains(c.store, `"`+id+`"`) {
				s.write("agents/main/sessions/"+id+".jsonl", jsonl(id, "user now"))
			}
		}
		s.write("agents/main/sessions/old.jsonl", jsonl("old", c.old))
		h, r := s.read()
		var of sessions.Key
		for _, x := range h.Sessions {
			if x.Count > 1 {
				of = x.Session.Key
			}
		}
		if of != c.of {
			t.Errorf("%s: it went to %q", name, of)
		}
		if c.of == "" {
			has(t, r.Left, "reset or deleted (1)", "")
		}
	}
}

// The sessions of 2025 are in the root, without an agent and often without a channel.
func TestRootSessions(t *testing.T) {
	t.Parallel()
	s := newState(t)
	s.write("sessions/sessions.json", `{"main":{"sessionId":"a","updatedAt":1},"+4915112345":{"sessionId":"b"},"group:120@g.us":{"sessionId":"c"},"telegram:1001":{"sessionId":"d"},"group:-5":{"sessionId":"e","lastChannel":"telegram"}}`)
	for _, id := range []string{"a", "b", "c", "d", "e"} {
		s.write("sessions/"+id+".jsonl", jsonl(id, "user I am "+id))
	}
	h, r := s.read()
	for key, id := range map[sessions.Key]string{"agent:main:main": "a", "agent:main:whatsapp:direct:+4915112345": "b", "agent:main:whatsapp:group:120@g.us": "c", "agent:main:telegram:direct:1001": "d", "agent:main:telegram:group:-5": "e"} {
		if diff := cmp.Diff([]string{"user I am " + id}, s.story(h, key)); diff != "" {
			t.Errorf("%s: %s", key, diff)
		}
	}
	if r.Sessions != 5 || len(r.Left) > 0 || len(r.Also) > 0 {
		t.Errorf("%+v", r)
	}
}

// A history that is too large to be kept is read again, with the same messages. Message ids stay the same when a session is reset.
func TestReadAgain(t *testing.T) {
	t.Parallel()
	s := newState(t)
	s.write("agents/main/sessions/sessions.json", `{"agent:main:main":{"sessionId":"a","usageFamilySessionIds":["b"]}}`)
	s.write("agents/main/sessions/a.jsonl", told(12, "a", "user one", "assistant two"))
	h, _ := s.read()
	x := h.Sessions[0]
	first, err := x.Messages(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	x.kept = nil
	again, err := x.Messages(t.Context())
	if diff := cmp.Diff(first, again); diff != "" || err != nil {
		t.Error(diff, err)
	}
	s.write("agents/main/sessions/sessions.json", `{"agent:main:main":{"sessionId":"b","usageFamilySessionIds":["a"]}}`)
	s.write("agents/main/sessions/b.jsonl", told(13, "b", "user three"))
	h, _ = s.read()
	later, err := h.Sessions[0].Messages(t.Context())
	if err != nil || len(later) != 3 || !cmp.Equal(first, later[:2]) {
		t.Errorf("%+v, %v", later, err)
	}
}

// Where the main conversation is the owners', it does not begin with the address of another person. Progress is told session by session.
func TestMainOfOwners(t *testing.T) {
	t.Parallel()
	for who, want := range map[string]string{"1001": "telegram/default/direct/1001", "2002": ""} {
		s := newState(t)
		s.write("agents/main/sessions/sessions.json", `{"agent:main:main":{"sessionId":"a","lastChannel":"telegram","lastTo":"telegram:`+who+`"},"agent:main:telegram:direct:2002":{"sessionId":"b","lastChannel":"telegram","lastTo":"2002"}}`)
		s.write("agents/main/sessions/a.jsonl", jsonl("a", "user hello"))
		done := []int{}
		h, _ := s.read(func(f *Folder) {
			f.IsOwner = func(a channels.Address) bool { return a.Chat == "1001" }
			f.Progress = func(n, total int) { done = append(done, n, total) }
		})
		for _, x := range h.Sessions {
			switch x.Session.Key {
			case mainSession:
				if got := x.Session.Last; got.IsZero() != (want == "") || !got.IsZero() && got.String() != want {
					t.Errorf("%s: %v", who, got)
				}
			default:
				if x.Session.Last.Chat != "2002" {
					t.Errorf("a session of a person: %v", x.Session.Last)
				}
			}
		}
		if !cmp.Equal(done, []int{1, 2, 2, 2}) {
			t.Errorf("progress %v", done)
		}
	}
}

// Everything in the folder is read, or named with what it is, one line a kind.
// source: openclaw/openclaw docs/gateway/doctor/state-and-sessions.md (0ae28995)
func TestAlsoInThisFolder(t *testing.T) {
	t.Parallel()
	s := newState(t)
	s.write("agents/main/sessions/sessions.json", `{}`)
	for _, name := range []string{"openclaw.json", ".env", "credentials/telegram-default-allowFrom.json", "cron/jobs.json", "workspace/AGENTS.md", "workspace-work/SOUL.md", "agents/main/agent/auth-profiles.json", "agents/main/agent/models.json", "agent/auth.json", "state/openclaw.sqlite.bak"} {
		s.write(name, "x")
	}
	named := map[string]string{
		"credentials/telegram-pairing.json": "pairing requests", "credentials/oauth.json": "subscriptions", "credentials/whatsapp/default/creds.json": "linked phone", "credentials/other.json": "credentials",
		"telegram/update-offset-default.json": "positions", "memory/main.sqlite": "memory index", "extensions/x/index.js": "plugins", "exec-approvals.json": "approvals", "devices/paired.json": "devices",
		"identity/device.json": "identity", "delivery-queue/1.json": "waited", "media/inbound/1.jpg": "files that people sent", "subagents/runs.json": "sub-agents", "hooks/x.js": "hooks", "skills/x/SKILL.md": "skills",
		"agents/main/agent/auth-state.json": "subscriptions", "agents/main/qmd/x": "other state", "state/memory/shared-0000000000000000.sqlite": "shared", "cron/runs/j.jsonl": "past runs", "something.txt": "does not know", "openclaw.log": "logs",
		"session-sqlite-import-archive/x.jsonl": "moved into its database", "jobs.json.migrated": "backups",
	}
	for name := range named {
		s.write(name, "x")
	}
	_, r := s.read()
	for name, kind := range named {
		has(t, r.Also, strings.Split(name, "/")[0], kind)
	}
	for _, i := range r.Also {
		for _, read := range []string{"openclaw.json", ".env", "allowFrom", "workspace", "auth-profiles", "models.json", "/auth.json", "jobs.json,"} {
			if strings.Contains(i.What, read) {
				t.Errorf("%s is read, and named: %+v", read, i)
			}
		}
	}
}

// What somebody else read in the folder is not called unknown; what lies beside it is.
func TestReadElsewhere(t *testing.T) {
	t.Parallel()
	s := newState(t)
	for _, name := range []string{"base.json5", "parts/a.json", "parts/b.json", "parts/deep/c.json", "mine/AGENTS.md"} {
		s.write(name, "x")
	}
	h, r := s.read()
	r.Also = nil
	h.Rest("base.json5", "parts/a.json", "mine")
	if len(r.Also) != 1 || r.Also[0].What != "parts/b.json, parts/deep" {
		t.Errorf("%+v", r.Also)
	}
}

// FuzzTranscript: whatever the events of a window are, providers take what comes out: each call has its result, and each id is there once.
func FuzzTranscript(f *testing.F) {
	f.Add([]byte(jsonl("a", "user x", "assistant y", "toolResult z")))
	f.Add([]byte(`{"type":"leaf","id":"l","targetId":"l"}` + "\n" + `{"type":"message","id":"l","parentId":"l","message":{"role":"assistant","content":[{"type":"toolCall","id":"c","name":"n"}]}}`))
	f.Add([]byte(`{"message":{"role":"user","content":"` + "[[[Telegram x id:1]" + `"}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		tr := transcript{id: "00000000-0000-4000-8000-000000000000", key: func(string) sessions.Key { return "" }}
		if err := lines(bytes.NewReader(text), tr.add); err != nil {
			t.Fatal(err)
		}
		open, ids := map[string]bool{}, map[string]bool{}
		for _, m := range tr.finish() {
			if m.Role == sessions.ToolResult {
				if !open[m.ToolCallID] {
					t.Fatalf("a result without a call: %+v", m)
				}
				delete(open, m.ToolCallID)
			} else if len(open) > 0 {
				t.Fatalf("calls without results: %v", open)
			}
			for _, c := range m.ToolCalls() {
				open[c.ID] = true
			}
			if m.ID == "" || ids[m.ID] {
				t.Errorf("the id %q is there twice, or none", m.ID)
			}
			ids[m.ID] = true
		}
		if len(open) > 0 {
			t.Errorf("calls without results: %v", open)
		}
	})
}

// FuzzArchive: whatever an archive is, it is read within its bounds, or refused.
func FuzzArchive(f *testing.F) {
	data, _, _ := packedArchive(f, "w1", "user x")
	f.Add(data, int64(2))
	f.Add(pack(f, "{}"), int64(0))
	f.Fuzz(func(t *testing.T, data []byte, events int64) {
		c := cold{session: "w1", events: events, bytes: int64(len(data)), sum: sum(data)}
		got := int64(0)
		if err := c.read(data, func(raw []byte, broken bool) { got++ }); err == nil && got < events {
			t.Errorf("%d of %d events", got, events)
		}
		if d, err := newDecoder(nil, maxFrame); err == nil {
			if out, err := inflate(d, data, events); err == nil && int64(len(out)) != events {
				t.Errorf("%d of %d bytes", len(out), events)
			}
			d.Close()
		}
	})
}
