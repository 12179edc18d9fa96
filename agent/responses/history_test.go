package responses

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"parley/agent"
	"parley/agent/lessons"
	"parley/sessions"
	"parley/tools"
)

// kept gives a message as a store gives it back: what the provider wants back is kept beside it.
func kept(t *testing.T, m sessions.Message) sessions.Message {
	t.Helper()
	raw, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	var out sessions.Message
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatal(err)
	}
	for i, b := range m.Content {
		if b.Opaque != nil {
			out.Content[i].Opaque = &sessions.Opaque{From: b.Opaque.From, Data: json.RawMessage(string(b.Opaque.Data))}
		}
	}
	return out
}

func said(g got) sessions.Message {
	return sessions.Message{Role: sessions.Assistant, Content: g.answer.Content, Model: "mock/m", Time: time.Now()}
}

// turn is a request that has tools.
func turn(msgs ...sessions.Message) agent.Prompt {
	return agent.Prompt{Messages: msgs, Tools: []tools.Spec{{Name: "weather", Schema: json.RawMessage(`{"type":"object"}`)}}}
}

const commentary = `{"id":"msg_7","type":"message","status":"completed","role":"assistant","phase":"commentary","content":[{"type":"output_text","text":"One moment.","annotations":[]}]}`

// TestItemsGoBack: the items of an answer go back as they came, in their order, also after a restart.
// source: platform.openai.com/docs/guides/reasoning (encrypted reasoning items), openrouter.ai/docs (phase), docs.x.ai (troubleshooting reasoning)
func TestItemsGoBack(t *testing.T) {
	t.Parallel()
	first := `{"id":"rs_1", "type":"reasoning","summary":[],"encrypted_content":"gA<&>A=="}`
	second := `{"id":"rs_2","type":"reasoning","summary":[],"encrypted_content":"hB","status":null,"content":null}`
	called := strings.Replace(weather, `"status"`, `"extra_content":{"google":{"thought_signature":"CpQB"}},"status"`, 1)
	m, s := against(t, Config{}, reply{body: events(completed(first, commentary, second, called))}, fine)
	g := ask(t, m, turn(user("go")))
	if g.err != nil || g.answer.Stop != agent.StopToolUse || g.text != "One moment." {
		t.Fatalf("%+v", g)
	}
	history := []sessions.Message{user("go"), said(g), result("call_1", "rain")}
	ask(t, m, turn(history...))
	wantKinds(t, s.bodies[1], "message:user", "reasoning", "message:assistant", "reasoning", "function_call", "function_call_output")
	for _, want := range []string{
		first, `{"encrypted_content":"hB","id":"rs_2","summary":[],"type":"reasoning"}`,
		`"id":"msg_7","phase":"commentary"}`, `"extra_content":{"google":{"thought_signature":"CpQB"}},"id":"fc_1"}`,
	} {
		if !strings.Contains(s.raw[1], want) {
			t.Errorf("no %s in\n%s", want, s.raw[1])
		}
	}
	history[1] = kept(t, history[1])
	again := New(Config{Name: "mock", BaseURL: strings.TrimSuffix(m.url.String(), "/responses"), HTTPClient: m.wire.HTTP()})
	again.wire = m.wire
	ask(t, again, turn(history...))
	if s.raw[1] != s.raw[2] {
		t.Errorf("after a restart:\n%s\nbefore:\n%s", s.raw[2], s.raw[1])
	}
}

// TestLongItemIDs: ids that are too long to be taken back are left out, and all else of their items goes back.
// source: NousResearch/hermes-agent#27038
func TestLongItemIDs(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 400)
	lengthen := func(item, id string) string { return strings.Replace(item, `"id":"`+id+`"`, `"id":"`+id+long+`"`, 1) }
	m, s := against(t, Config{}, reply{body: events(completed(`{"id":"rs_1`+long+`","type":"reasoning","summary":[],"encrypted_content":"gA=="}`, lengthen(commentary, "msg_7"), lengthen(weather, "fc_1")))}, fine)
	g := ask(t, m, turn(user("go")))
	if g.err != nil || g.answer.Stop != agent.StopToolUse {
		t.Fatalf("%+v", g)
	}
	ask(t, m, turn(user("go"), said(g), result("call_1", "rain")))
	wantKinds(t, s.bodies[1], "message:user", "reasoning", "message:assistant", "function_call", "function_call_output")
	if raw := s.raw[1]; strings.Contains(raw, long) || !strings.Contains(raw, `{"encrypted_content":"gA==","summary":[],"type":"reasoning"}`) || !strings.Contains(raw, `"phase":"commentary"`) {
		t.Errorf("sent %s", raw)
	}
}

// TestItemsOfOthers: what another model made goes without reasoning and without the ids of its items.
// source: badlogic/pi-mono (ids of items are checked against the reasoning that they came with)
func TestItemsOfOthers(t *testing.T) {
	t.Parallel()
	m, s := against(t, Config{}, reply{body: events(completed(thinking, commentary, weather))}, fine)
	a := said(ask(t, m, turn(user("go"))))
	a.Model = "other/m"
	for i := range a.Content {
		a.Content[i].Opaque.From = "other https://other.test/v1 m"
	}
	ask(t, m, turn(user("go"), a, result("call_1", "rain"), user("and?")))
	wantKinds(t, s.bodies[1], "message:user", "message:assistant", "function_call", "function_call_output", "message:user")
	if id, _ := itemAt(s.bodies[1], 1)["id"].(string); !strings.HasPrefix(id, "msg_") || id == "msg_7" || len(id) > maxID {
		t.Errorf("the id of another's text is %q", id)
	}
	if itemAt(s.bodies[1], 2)["id"] != nil || strings.Contains(s.raw[1], "gAAAA") || strings.Contains(s.raw[1], "commentary") {
		t.Errorf("another's items went out: %s", s.raw[1])
	}
}

// TestItemsOfChatCompletions: what another protocol kept at the same address is no item.
func TestItemsOfChatCompletions(t *testing.T) {
	t.Parallel()
	m, s := against(t, Config{}, fine)
	from := lessons.Endpoint{Provider: "mock", Address: m.address, Model: "m"}.String()
	a := assistant(thoughtBlock("hm"), callBlock("call_1", "weather", "{}"))
	a.Content[0].Opaque = &sessions.Opaque{From: from, Data: json.RawMessage(`{"field":"reasoning_content"}`)}
	a.Content[1].Opaque = &sessions.Opaque{From: from, Data: json.RawMessage(`{"call_extra_content":{}}`)}
	ask(t, m, turn(user("go"), a, result("call_1", "rain")))
	wantKinds(t, s.bodies[0], "message:user", "function_call", "function_call_output")
	if strings.Contains(s.raw[0], "extra_content") || strings.Contains(s.raw[0], "reasoning_content") || itemAt(s.bodies[0], 1)["call_id"] != "call_1" {
		t.Error(s.raw[0])
	}
}

// TestNothingIsCut: what is too much is dropped whole, and what is left is valid.
func TestNothingIsCut(t *testing.T) {
	t.Parallel()
	huge := strings.Replace(thinking, "gAAAA", strings.Repeat("g", sessions.MaxOpaque), 1)
	m, s := against(t, Config{}, reply{body: events(completed(huge, commentary, weather))}, fine)
	a := said(ask(t, m, turn(user("go"))))
	for _, b := range a.Content {
		if b.Opaque == nil || b.Opaque.From == "" || b.Opaque.Data != nil {
			t.Errorf("%s: %.200v", b.Type, b.Opaque)
		}
	}
	ask(t, m, turn(user("go"), a, result("call_1", "rain")))
	wantKinds(t, s.bodies[1], "message:user", "message:assistant", "function_call", "function_call_output")
	if itemAt(s.bodies[1], 2)["id"] != nil {
		t.Error("a call's id went out without its reasoning")
	}
}

// TestWhatCannotGoBack: reasoning that the provider would have to look up is not sent, and neither are the ids that came with it.
// source: vercel/ai#7543, openai/openai-agents-python#919, openclaw/openclaw#73053
func TestWhatCannotGoBack(t *testing.T) {
	t.Parallel()
	for name, item := range map[string]string{
		"no content":   `{"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":null}`,
		"not complete": `{"id":"rs_1","type":"reasoning","status":"incomplete","summary":[],"encrypted_content":"gAAAA"}`,
	} {
		m, s := against(t, Config{}, reply{body: events(completed(item, commentary, weather))}, fine)
		a := said(ask(t, m, turn(user("go"))))
		ask(t, m, turn(user("go"), a, result("call_1", "rain")))
		wantKinds(t, s.bodies[1], "message:user", "message:assistant", "function_call", "function_call_output")
		if strings.Contains(s.raw[1], `"msg_7"`) || strings.Contains(s.raw[1], `"fc_1"`) || !strings.Contains(s.raw[1], `"phase":"commentary"`) {
			t.Errorf("%s: %s", name, s.raw[1])
		}
	}
	// An answer that was thought and never said has nothing to go with.
	m, s := against(t, Config{}, reply{body: events(`{"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"output":[` + thinking + `]}}`)}, fine)
	a := said(ask(t, m, turn(user("go"))))
	ask(t, m, turn(user("go"), a, user("well?")))
	wantKinds(t, s.bodies[1], "message:user")
}

// TestSameItemTwice: a request never has an item twice, whatever the transcript has.
func TestSameItemTwice(t *testing.T) {
	t.Parallel()
	m, s := against(t, Config{}, reply{body: events(completed(thinking, hello))}, fine)
	a := said(ask(t, m, turn(user("go"))))
	ask(t, m, turn(user("go"), a, user("again"), a, user("well?")))
	wantKinds(t, s.bodies[1], "message:user", "reasoning", "message:assistant", "message:user", "message:assistant", "message:user")
	if strings.Count(s.raw[1], `"msg_1"`) != 1 || strings.Count(s.raw[1], `"rs_1"`) != 1 {
		t.Error(s.raw[1])
	}
	same := sessions.Message{Role: sessions.Assistant, Content: sessions.TextContent("yes"), Model: "other/m"}
	ask(t, m, turn(user("a"), same, user("b"), same, user("c")))
	if one, two := itemAt(s.bodies[2], 1)["id"], itemAt(s.bodies[2], 3)["id"]; one == nil || one == two {
		t.Errorf("ids %v and %v", one, two)
	}
}

// TestItemsNumberedFromTheStart: a server that numbers the items of each answer from the start gets all of its reasoning back, and no id twice.
// source: platform.openai.com/docs/guides/reasoning (encrypted reasoning items), vllm-project/vllm#28248
func TestItemsNumberedFromTheStart(t *testing.T) {
	t.Parallel()
	thought := func(sealed string) string {
		return `{"id":"rs_0","type":"reasoning","summary":[],"encrypted_content":"` + sealed + `"}`
	}
	call := strings.ReplaceAll(strings.ReplaceAll(weather, "fc_1", "fc_0"), "call_1", "call_0")
	m, s := against(t, Config{}, reply{body: events(completed(thought("gA"), call))}, reply{body: events(completed(thought("gB"), call))}, fine)
	history := []sessions.Message{user("go")}
	for range 2 {
		history = append(history, said(ask(t, m, turn(history...))), result("call_0", "rain"))
	}
	ask(t, m, turn(history...))
	wantKinds(t, s.bodies[2], "message:user", "reasoning", "function_call", "function_call_output", "reasoning", "function_call", "function_call_output")
	for _, want := range []string{`"gA"`, `"gB"`} {
		if strings.Count(s.raw[2], want) != 1 {
			t.Errorf("%s: %s", want, s.raw[2])
		}
	}
	for _, id := range []string{`"rs_0"`, `"fc_0"`} {
		if strings.Count(s.raw[2], id) > 1 {
			t.Errorf("%s: %s", id, s.raw[2])
		}
	}
	if one, two := itemAt(s.bodies[2], 2)["call_id"], itemAt(s.bodies[2], 5)["call_id"]; one == two {
		t.Errorf("both calls have the id %v", one)
	}
}

// TestPictures: where pictures of people and of tools go.
// source: openai/openai-agents-python#1850 (pictures in outputs), llama.cpp (an output has texts only)
func TestPictures(t *testing.T) {
	t.Parallel()
	picture := sessions.Block{Type: sessions.ImageBlock, MIME: "image/png", Data: "aGk="}
	call := assistant(callBlock("call00001", "weather", "{}"))
	res := result("call00001", "rain")
	res.Content = append(res.Content, picture)
	var raw string
	hosted := New(Config{Name: "openai", HTTPClient: recorder(t, &raw)})
	ask(t, hosted, turn(user("go"), call, res))
	if !strings.Contains(raw, `"output":[{"type":"input_text","text":"rain"},{"type":"input_image","detail":"auto","image_url":"data:image/png;base64,aGk="}]`) {
		t.Error(raw)
	}
	local := New(Config{Name: "local", BaseURL: "http://127.0.0.1:8080/v1", HTTPClient: recorder(t, &raw)})
	ask(t, local, turn(user("go"), call, res))
	if !strings.Contains(raw, `"output":"rain"},{"type":"message","role":"user","content":[{"type":"input_text"`) || !strings.Contains(raw, "input_image") {
		t.Error(raw)
	}
	off := New(Config{Name: "local", HTTPClient: recorder(t, &raw), Settings: func(string) agent.ModelSettings { return agent.ModelSettings{Images: "off", Tools: "off"} }})
	ask(t, off, turn(user("go"), call, res, sessions.Message{Role: sessions.User, Content: []sessions.Block{picture}}))
	if strings.Contains(raw, "input_image") || strings.Contains(raw, "function_call") || strings.Contains(raw, `"tools"`) || !strings.Contains(raw, "rain") {
		t.Error(raw)
	}
}

// TestSendBack: the configuration says what becomes of reasoning, whatever was learned.
func TestSendBack(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		set, learned string
		want         bool
	}{{"", "", true}, {"off", "", false}, {"", lessons.OmitReasoning, false}, {"on", lessons.OmitReasoning, true}} {
		book := lessons.NewBook(lessons.Config{})
		set := agent.ModelSettings{Reasoning: agent.Reasoning{SendBack: c.set}}
		m, s := against(t, Config{Lessons: book, Settings: func(string) agent.ModelSettings { return set }}, reply{body: events(completed(thinking, hello))}, fine)
		a := said(ask(t, m, turn(user("go"))))
		if c.learned != "" {
			book.Load([]sessions.Lesson{{Provider: "mock", Address: m.address, Model: "m", Kind: lessons.Reasoning, Use: c.learned, At: time.Now()}})
		}
		ask(t, m, turn(user("go"), a, user("and?")))
		if got := strings.Contains(s.raw[1], "gAAAA"); got != c.want {
			t.Errorf("%+v: %s", c, s.raw[1])
		}
	}
}
