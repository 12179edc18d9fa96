package responses

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/agent"
	"parley/agent/lessons"
	"parley/sessions"
)

// reasoned is a step of a model with a reasoning item and a call, and the result of that.
func reasoned(n int, sealed string, at time.Time, from string) []sessions.Message {
	thought, call := thoughtBlock("hm"), callBlock(fmt.Sprint("call_", n), "weather", `{}`)
	thought.Opaque = &sessions.Opaque{From: from, Data: json.RawMessage(fmt.Sprintf(`{"id":"rs_%d","type":"reasoning","summary":[],"encrypted_content":%q}`, n, sealed))}
	call.Opaque = &sessions.Opaque{From: from, Data: json.RawMessage(fmt.Sprintf(`{"id":"fc_%d","type":"function_call"}`, n))}
	a := assistant(thought, call)
	a.Time = at
	return []sessions.Message{a, result(fmt.Sprint("call_", n), "rain")}
}

// TestUnreadableItem: an item that the provider cannot read costs that item, or all that are older than the refusal, and not the
// reasoning of what the model says later. source: openai/codex#13724, openai/openai-agents-python#919
func TestUnreadableItem(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status int
		says   string
		back   string // items that still go back in the same call
	}{
		"named by its id":    {404, refusal("Item with id 'rs_1' not found. Items are not persisted when `store` is set to false.", "input", ""), "rs_2"},
		"named by its ends":  {400, refusal("The encrypted content gAAA...one= could not be verified. Reason: Encrypted content organization_id did not match the target organization.", "", "invalid_encrypted_content"), "rs_2"},
		"without its next":   {400, refusal("Item 'rs_1' of type 'reasoning' was provided without its required following item.", "input", ""), "rs_2"},
		"not named":          {400, refusal("Encrypted content could not be decrypted or parsed.", "", "invalid_encrypted_content"), ""},
		"another's words":    {400, `{"code":"invalid-argument","error":"Could not decrypt the provided encrypted_content."}`, ""},
		"not known by name":  {400, refusal("The encrypted content gAAA...zzz= could not be verified.", "", "invalid_encrypted_content"), ""},
		"more than one left": {400, refusal("The encrypted content for item rs_1 could not be verified.", "", "invalid_encrypted_content"), "rs_2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			book := lessons.NewBook(lessons.Config{})
			m, s := against(t, Config{Lessons: book}, reply{c.status, c.says, nil}, fine)
			from := lessons.Endpoint{Provider: "mock", Address: m.address, Model: "m"}.String()
			old := time.Now().Add(-time.Hour)
			msgs := slices.Concat([]sessions.Message{user("go")}, reasoned(1, "gAAAAone=", old, from), reasoned(2, "gAAAAtwo=", old, from), []sessions.Message{user("and?")})
			if g := ask(t, m, agent.Prompt{Messages: msgs}); g.err != nil || len(s.raw) != 2 {
				t.Fatalf("%v after %d requests", g.err, len(s.raw))
			}
			if raw := s.raw[1]; strings.Contains(raw, "rs_1") || strings.Contains(raw, "fc_1") || strings.Contains(raw, "rs_2") != (c.back != "") {
				t.Errorf("the second request: %s", raw)
			}
			msgs = slices.Concat(msgs, reasoned(3, "gAAAAnew=", time.Now().Add(time.Second), from))
			if g := ask(t, m, agent.Prompt{Messages: msgs}); g.err != nil || len(s.raw) != 3 {
				t.Fatalf("%v after %d requests", g.err, len(s.raw))
			}
			if raw := s.raw[2]; strings.Contains(raw, "rs_1") || !strings.Contains(raw, `"rs_3"`) || !strings.Contains(raw, `"fc_3"`) {
				t.Errorf("the next call: %s", raw)
			}
		})
	}
}
