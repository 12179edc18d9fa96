package offline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"parley/agent"
	"parley/sessions"
	"parley/tools"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func fixed() model {
	m := New().(model)
	m.now = func() time.Time { return noon }
	return m
}

func user(text string) sessions.Message {
	return sessions.Message{ID: "0198c0de-0000-7000-8000-0000c0ffee42", Role: sessions.User, Content: sessions.TextContent(text), Provenance: &sessions.Provenance{Kind: sessions.ExternalUser, Name: "Ann"}}
}

func from(kind string, text string) sessions.Message {
	m := user(text)
	m.Provenance = &sessions.Provenance{Kind: kind, Source: "agent:main:main"}
	return m
}

func assistant(text string) sessions.Message {
	return sessions.Message{Role: sessions.Assistant, Content: sessions.TextContent(text)}
}

func result(tool, text string) sessions.Message {
	return sessions.Message{Role: sessions.ToolResult, ToolName: tool, Content: sessions.TextContent(text), IsError: strings.Contains(text, `"status":"error"`) || strings.Contains(text, `"forbidden"`)}
}

// every offers all tools that the model knows.
func every() []tools.Spec {
	var out []tools.Spec
	for _, n := range []string{"sessions_list", "sessions_history", "sessions_send", "sessions_spawn", "agents_list", "remember", "recall"} {
		out = append(out, tools.Spec{Name: n})
	}
	return out
}

// read drains a stream and checks that its pieces are the answer.
func read(t *testing.T, m agent.Model, p agent.Prompt) agent.Answer {
	t.Helper()
	var text strings.Builder
	var final *agent.Answer
	for d, err := range m.Stream(t.Context(), p) {
		if err != nil {
			t.Fatal(err)
		}
		if final != nil {
			t.Fatal("a piece after the final one")
		}
		text.WriteString(d.Text)
		final = d.Final
	}
	if final == nil {
		t.Fatal("no final answer")
	}
	msg := sessions.Message{Content: final.Content}
	if msg.Text() != text.String() {
		t.Errorf("streamed %q, final %q", text.String(), msg.Text())
	}
	if (len(msg.ToolCalls()) > 0) != (final.Stop == agent.StopToolUse) || len(final.Content) == 0 {
		t.Errorf("stop %s with content %+v", final.Stop, final.Content)
	}
	return *final
}

func TestCalls(t *testing.T) {
	t.Parallel()
	const found = `{"count":1,"sessions":[{"key":"agent:main:telegram:group:-1001","kind":"group","displayName":"Family"}]}`
	for _, c := range []struct {
		text    string
		results []sessions.Message
		tool    string
		args    string
	}{
		{"list my sessions", nil, "sessions_list", `{}`},
		{"show the history of main", nil, "sessions_history", `{"limit":20,"sessionKey":"main"}`},
		{"show the history of this chat", nil, "sessions_history", `{"limit":20,"sessionKey":"current"}`},
		{"show history with tools", nil, "sessions_history", `{"includeTools":true,"limit":20,"sessionKey":"current"}`},
		{"history of agent:main:cron:daily", nil, "sessions_history", `{"limit":20,"sessionKey":"agent:main:cron:daily"}`},
		{"history of 0198C0DE-0000-7000-8000-0000c0ffee42", nil, "sessions_history", `{"limit":20,"sessionKey":"0198C0DE-0000-7000-8000-0000c0ffee42"}`},
		{"show the history of the Family group", nil, "sessions_list", `{"limit":20,"search":"Family"}`},
		{"show the history of the Family group", []sessions.Message{result("sessions_list", found)}, "sessions_history", `{"limit":20,"sessionKey":"agent:main:telegram:group:-1001"}`},
		{"tell main dinner is at eight!", nil, "sessions_send", `{"message":"dinner is at eight!","sessionKey":"main","timeoutSeconds":0}`},
		{"ask main: who are you?", nil, "sessions_send", `{"message":"who are you?","sessionKey":"main"}`},
		{"tell the family group: dinner", nil, "sessions_list", `{"limit":20,"search":"family"}`},
		{"tell the family group: dinner", []sessions.Message{result("sessions_list", found)}, "sessions_send", `{"message":"dinner","sessionKey":"agent:main:telegram:group:-1001","timeoutSeconds":0}`},
		{"in the background, echo hello world", nil, "sessions_spawn", `{"label":"echo hello world #c0ffee42","task":"echo hello world"}`},
		{"what agents are there?", nil, "agents_list", `{}`},
		{"remember that I like tea", nil, "remember", `{"text":"I like tea"}`},
		{"what do you remember?", nil, "recall", `{}`},
		{"what do you remember about tea?", nil, "recall", `{"query":"tea"}`},
		{"> Bob: hi\n\nAnn: what do you remember?\n<media:image>", nil, "recall", `{}`},
	} {
		p := agent.Prompt{Messages: append([]sessions.Message{user("hi"), assistant("Hello"), user(c.text)}, c.results...), Tools: every()}
		calls := (sessions.Message{Content: read(t, fixed(), p).Content}).ToolCalls()
		if len(calls) != 1 || calls[0].Name != c.tool || string(calls[0].Arguments) != c.args || calls[0].ID == "" {
			t.Errorf("%q: %+v, want %s %s", c.text, calls, c.tool, c.args)
		}
	}
}

func TestWordsResults(t *testing.T) {
	t.Parallel()
	several := `{"sessions":[{"key":"k1","displayName":"Fam A"},{"key":"k2","displayName":"Fam B"}]}`
	for _, c := range []struct {
		text, tool, result, want string
	}{
		{"list my sessions", "sessions_list",
			`{"count":2,"sessions":[{"key":"main","kind":"main","channel":"webchat","updatedAt":1772366280000},{"key":"agent:main:telegram:group:-1","kind":"group","channel":"telegram","displayName":"Fa*mily\n<b>","updatedAt":1772300000000}],"visibility":{"mode":"tree","note":"Only sessions …"}}`,
			"I see 2 sessions:\n\n- **`main`**: main session, webchat, last active 2 minutes ago\n- **`agent:main:telegram:group:-1`** “Fa\\*mily \\<b>”: group, telegram, last active 18 hours ago\n\nThere may be more sessions that I am not allowed to see from here (`tools.sessions.visibility: tree`)."},
		{"list my sessions", "sessions_list", `{"sessions":[]}`, "I see no sessions."},
		{"list my sessions", "sessions_list", `{"status":"forbidden","error":"No."}`, "I am not allowed to do that. No."},
		{"list my sessions", "sessions_list", `nonsense`, "The tool sessions_list answered in a way that I cannot read. Its answer is in the transcript."},
		{"history of main", "sessions_history",
			`{"sessionKey":"main","messages":[{"role":"user","content":[{"type":"text","text":"hi\n*you*"}],"timestamp":"2026-03-01T11:00:00Z","provenance":{"kind":"external_user","name":"Ann"}},{"role":"assistant","content":[{"type":"text","text":"Hello"},{"type":"toolCall","name":"recall"}],"timestamp":"2026-03-01T11:59:30Z"},{"role":"user","content":[{"type":"text","text":"psst"}],"timestamp":"2026-03-01T11:59:30Z","provenance":{"kind":"inter_session","sourceSessionKey":"cron:x"}}],"hasMore":true}`,
			"The latest messages in `main`:\n\n- **Ann**, 1 hour ago: hi you\n- **Agent**, just now: Hello\n- **Session `cron:x`**, just now: psst"},
		{"history of main with tools", "sessions_history", `{"sessionKey":"main","messages":[{"role":"assistant","content":[{"type":"toolCall","name":"recall"}]},{"role":"toolResult","toolName":"recall","content":[{"type":"text","text":"{\"notes\":[]}"}]}]}`,
			"All messages in `main`:\n\n- **Agent**: (used `recall`)\n- **Tool `recall`**: {\"notes\":\\[\\]}"},
		{"history of main", "sessions_history", `{"sessionKey":"main","messages":[]}`, "Nothing has been said in `main` yet."},
		{"history of fam", "sessions_list", several, "Several sessions have that name. Which one? Please use its key:\n\n- `k1` “Fam A”\n- `k2` “Fam B”"},
		{"tell bob hi", "sessions_list", `{"sessions":[]}`, "I see no session with that name. *List my sessions* shows the sessions that I see, with their keys and names."},
		{"tell main hi", "sessions_send", `{"runId":"r","status":"accepted","sessionKey":"main"}`, "Sent to `main`."},
		{"ask main: who?", "sessions_send", `{"runId":"r","status":"ok","sessionKey":"main","reply":"me\nmyself"}`, "`main` answered:\n\n> me\n> myself"},
		{"ask main: who?", "sessions_send", `{"runId":"r","status":"ok","sessionKey":"main","reply":""}`, "`main` is done and had nothing to say."},
		{"ask main: who?", "sessions_send", `{"runId":"r","status":"timeout","sessionKey":"main","error":"No reply"}`, "`main` has not answered yet. It is still working. Try *show the history of main* later."},
		{"ask main: who?", "sessions_send", `{"runId":"r","status":"error","sessionKey":"main","error":"no model"}`, "That did not work: no model"},
		{"in the background, echo x", "sessions_spawn", `{"status":"accepted","childSessionKey":"k","reportTo":"chat/default/direct/1"}`, "Started in the background as `k`. Its result is posted in `chat/default/direct/1` when it is done."},
		{"in the background, echo x", "sessions_spawn", `{"status":"accepted","childSessionKey":"k","reportTo":"none"}`, "Started in the background as `k`. This session has no chat, so the result stays in that session."},
		{"in the background, echo x", "sessions_spawn", `{"status":"accepted","runId":"r","childSessionKey":"agent:main:subagent:1"}`, "Started in the background as `agent:main:subagent:1`. Its result is posted here when it is done."},
		{"list agents", "agents_list", `{"requester":"main","agents":[{"id":"main"},{"id":"work","name":"Work"}]}`, "Agents that I can give work to from here:\n\n- **main**: that is me\n- **work** (Work)"},
		{"remember tea", "remember", `{"status":"ok"}`, "Noted. *What do you remember?* brings it back, also after a restart."},
		{"what do you remember?", "recall", `{"count":1,"notes":[{"text":"I like tea","when":"2026-02-27T12:00:00Z","from":"main"}]}`, "I remember:\n\n- I like tea (2 days ago)"},
		{"what do you remember?", "recall", `{"count":0,"notes":[]}`, "I have no notes yet. Try: *remember that I like tea*."},
		{"what do you remember about cats?", "recall", `{"count":0,"notes":[]}`, "I have no note about that. *What do you remember?* shows all of them."},
		{"what time is it?", "", "", "It is 12:00 on Sunday, 1 March 2026 (UTC) by the clock of this host."},
		{"echo \"hi  there\"", "", "", "hi  there"},
	} {
		p := agent.Prompt{Messages: []sessions.Message{user(c.text)}, Tools: every()}
		if c.tool != "" {
			p.Messages = append(p.Messages, result(c.tool, c.result))
		}
		if got := (sessions.Message{Content: read(t, fixed(), p).Content}).Text(); got != c.want {
			t.Errorf("%q after %s: %q\nwant %q", c.text, c.tool, got, c.want)
		}
	}
}

// The model says what it is, what it does not understand without repeating it, and how to get a better one.
func TestHonesty(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "write a poem about <script>alert(1)</script> @everyone", strings.Repeat("a ", 600_000), "\xff\xfe"} {
		got := (sessions.Message{Content: read(t, fixed(), agent.Prompt{Messages: []sessions.Message{user(text)}, Tools: every()}).Content}).Text()
		for _, want := range []string{"offline model", "not a language model", "*list my sessions*", "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "Ollama", "models.providers"} {
			if !strings.Contains(got, want) {
				t.Errorf("%.40q: no %q in %q", text, want, got)
			}
		}
		if len(text) > 10 && strings.Contains(got, text[:10]) || len(got) > 1500 {
			t.Errorf("%.40q: quoted or long: %q", text, got)
		}
	}
	help := (sessions.Message{Content: read(t, fixed(), agent.Prompt{Messages: []sessions.Message{user("What can you do?")}}).Content}).Text()
	for _, in := range grammar() {
		if in.example != "" && !strings.Contains(help, "*"+in.example+"*") {
			t.Errorf("help leaves %s out", in.name)
		}
	}
}

func TestMissingTools(t *testing.T) {
	t.Parallel()
	for text, tool := range map[string]string{"list my sessions": "sessions_list", "remember tea": "remember", "tell bob hi": "sessions_send", "in the background, x": "sessions_spawn"} {
		a := read(t, fixed(), agent.Prompt{Messages: []sessions.Message{user(text)}})
		if got := (sessions.Message{Content: a.Content}).Text(); a.Stop != agent.StopEnd || !strings.Contains(got, "`"+tool+"`") || !strings.Contains(got, "tools.subagents.tools.allow") {
			t.Errorf("%q: %s %q", text, a.Stop, got)
		}
	}
}

func TestChainSteps(t *testing.T) {
	t.Parallel()
	const reply = "This is a reply step between two sessions, turn %d of at most 5.\nTo end the exchange, write exactly `REPLY_SKIP`."
	const plainReply = "To end it, write exactly REPLY_SKIP."
	const ask = "- Original request: \"what time is it?\"\n- Round 1 reply: \"It is noon.\"\n- Latest reply: \"Thank you.\"\n\nTo post nothing, write exactly `ANNOUNCE_SKIP`."
	const report = "- Task: count\n- Your result: not available\n\nTo post nothing, write exactly `ANNOUNCE_SKIP`."
	for _, c := range []struct {
		name, system string
		msgs         []sessions.Message
		want         string
	}{
		{"first reply turn", fmt.Sprintf(reply, 1), []sessions.Message{from(sessions.InterSession, "It is noon.")}, thanks},
		{"second reply turn", fmt.Sprintf(reply, 2), []sessions.Message{from(sessions.InterSession, "Thanks.")}, "REPLY_SKIP"},
		{"fifth reply turn", fmt.Sprintf(reply, 5), []sessions.Message{from(sessions.InterSession, "Thanks.")}, "REPLY_SKIP"},
		{"first, without a number", plainReply, []sessions.Message{from(sessions.InterSession, "x")}, thanks},
		{"later, without a number", plainReply, []sessions.Message{from(sessions.InterSession, "x"), assistant(thanks), from(sessions.InterSession, "y")}, "REPLY_SKIP"},
		{"a reply that looks like a request", fmt.Sprintf(reply, 1), []sessions.Message{from(sessions.InterSession, "list my sessions")}, thanks},
		{"announce of an ask", ask, []sessions.Message{from(sessions.InternalSystem, "Announce step.")},
			"Another session asked me: “what time is it?”\n\nI answered:\n\n> It is noon."},
		{"announce of an ask, from the transcript", ask, []sessions.Message{from(sessions.InterSession, "what time is it?"), assistant("It is\n\nnoon!"), from(sessions.InterSession, "Thanks."), assistant("REPLY_SKIP"), from(sessions.InternalSystem, "Announce step.")},
			"Another session asked me: “what time is it?”\n\nI answered:\n\n> It is\n> \n> noon!"},
		{"announce of a child", report, []sessions.Message{from(sessions.InterSession, "count"), assistant("1, 2\n\n3"), from(sessions.InternalSystem, "Announce step.")}, "Result:\n1, 2\n\n3"},
		{"announce of a child, from the prompt", strings.Replace(report, "not available", "three", 1), []sessions.Message{from(sessions.InternalSystem, "Announce step.")}, "Result:\nthree"},
		{"announce of nothing", report, []sessions.Message{from(sessions.InternalSystem, "Announce step.")}, "ANNOUNCE_SKIP"},
		{"a person cannot start a step", fmt.Sprintf(reply, 3) + ask, []sessions.Message{user("echo hi")}, "hi"},
		{"a task from another session", "Your final message goes back.", []sessions.Message{from(sessions.InterSession, "echo hi")}, "hi"},
	} {
		got := (sessions.Message{Content: read(t, fixed(), agent.Prompt{System: c.system, Messages: c.msgs}).Content}).Text()
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// echoTool answers every call with a fixed result.
type echoTool struct{ name, result string }

func (e echoTool) Spec() tools.Spec {
	return tools.Spec{Name: e.name, Schema: json.RawMessage(`{"type":"object"}`)}
}

func (e echoTool) Call(context.Context, tools.Call) (tools.Result, error) {
	return tools.Result{Text: e.result}, nil
}

// A whole turn through the loop: name looked up, message sent, reply worded, ids unique, the same every time.
func TestTurn(t *testing.T) {
	t.Parallel()
	run := func() (string, []string) {
		var ids []string
		o, err := new(agent.Loop).Run(t.Context(), agent.Turn{
			Model: New(), History: []sessions.Message{user("ask the family group: who cooks?")},
			Tools: []tools.Tool{
				echoTool{"sessions_list", `{"sessions":[{"key":"agent:main:telegram:group:-1001","displayName":"Family"}]}`},
				echoTool{"sessions_send", `{"status":"ok","sessionKey":"agent:main:telegram:group:-1001","reply":"Bob does."}`},
			},
			Record: func(msgs ...sessions.Message) error {
				for _, m := range msgs {
					for _, c := range m.ToolCalls() {
						ids = append(ids, c.ID)
					}
				}
				return nil
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		return o.Text, ids
	}
	text, ids := run()
	if text != "`agent:main:telegram:group:-1001` answered:\n\n> Bob does." || len(ids) != 2 || ids[0] == ids[1] {
		t.Errorf("%q, calls %v", text, ids)
	}
	if again, same := run(); again != text || fmt.Sprint(same) != fmt.Sprint(ids) {
		t.Errorf("the second run gave %q, %v", again, same)
	}
}

func TestStreamStopsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	n := 0
	for d, err := range New().Stream(ctx, agent.Prompt{Messages: []sessions.Message{user("help")}}) {
		stop()
		if n++; n == 1 && (err != nil || d.Text == "") {
			t.Fatalf("first piece %+v, %v", d, err)
		}
		if n == 2 && !errors.Is(err, context.Canceled) {
			t.Fatalf("after the end of the context: %+v, %v", d, err)
		}
	}
	if n != 2 {
		t.Errorf("%d deltas, want a piece and the error", n)
	}
	for _, err := range New().Stream(t.Context(), agent.Prompt{Messages: []sessions.Message{user("help")}}) {
		if err != nil {
			t.Error(err)
		}
		break // must not panic
	}
}

func TestUsageCountsWords(t *testing.T) {
	t.Parallel()
	a := read(t, fixed(), agent.Prompt{System: "a b", Messages: []sessions.Message{user("echo one two three")}})
	if a.Usage.Input != 6 || a.Usage.Output != 3 || a.Model != Name {
		t.Errorf("%+v", a)
	}
}

// FuzzStream: no panic, an end, and text that every store takes.
func FuzzStream(f *testing.F) {
	f.Add("list my sessions", "", "", "external_user", true)
	f.Add("tell the family group: hi", "REPLY_SKIP turn 1", `{"sessions":[{"key":"k"}]}`, "inter_session", true)
	f.Add("Announce step.", "ANNOUNCE_SKIP\nOriginal request: x\n\nRound 1 reply: y", `[]`, "internal_system", false)
	f.Add("history of main", "", `{"messages":[{"role":"user","timestamp":"2026-01-01T00:00:00Z"}]}`, "external_user", true)
	f.Add("what do you remember", "", `{"notes":[{"text":"x","when":"2026-01-01T00:00:00Z"}]}`, "external_user", true)
	m := fixed()
	f.Fuzz(func(t *testing.T, text, system, res, provenance string, offered bool) {
		p := agent.Prompt{System: system, Messages: []sessions.Message{user("hi"), assistant(res), user(text)}}
		p.Messages[2].Provenance.Kind = provenance
		if offered {
			p.Tools = every()
		}
		for step := 0; ; step++ {
			next := sessions.Message{Role: sessions.Assistant, Content: read(t, m, p).Content}
			if !utf8.ValidString(next.Text()) {
				t.Fatalf("invalid text %q", next.Text())
			}
			if len(next.ToolCalls()) == 0 {
				return
			}
			if step > maxCalls || !json.Valid(next.ToolCalls()[0].Arguments) {
				t.Fatalf("step %d: %+v", step, next.ToolCalls())
			}
			p.Messages = append(p.Messages, next, result(next.ToolCalls()[0].Name, res))
		}
	})
}
