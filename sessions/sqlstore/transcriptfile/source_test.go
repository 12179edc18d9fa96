package transcriptfile

import (
	"encoding/json"
	"testing"
	"time"

	"parley/sessions"
)

// A line is written from the message that is at hand. The same message, read back from the store, has the same line: files that are written
// again do not differ.
func TestLineOfAStoredMessage(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 4, 5, 6, 7, 891_234_567, time.FixedZone("", 7200))
	for name, m := range map[string]sessions.Message{
		"person": {ID: "1", Role: sessions.User, Time: at, Content: sessions.TextContent("<b>a & \u2028</b>"), Provenance: &sessions.Provenance{
			Kind: sessions.InterSession, Sender: "7", Source: sessions.GlobalKey}},
		"answer": {ID: "2", Role: sessions.Assistant, Time: at.UTC(), Usage: &sessions.Usage{Input: 3}, Content: []sessions.Block{
			{Type: sessions.ThinkingBlock, Signature: new("s"), Opaque: &sessions.Opaque{From: "a"}},
			{Type: sessions.ThinkingBlock, Text: "hm", Data: "ZGF0YQ==", Opaque: &sessions.Opaque{From: "a", Data: json.RawMessage(`{"x":1}`)}},
			{Type: sessions.TextBlock, Text: "said", Opaque: &sessions.Opaque{From: "a"}},
			{Type: sessions.ToolCallBlock, ID: "c", Name: "n", Arguments: json.RawMessage(`{ "a" : "<" }`)},
		}},
		"result": {ID: "3", Role: sessions.ToolResult, Time: time.Time{}, ToolCallID: "c", ToolName: "n", IsError: true},
	} {
		readable, err := Readable(m)
		if err != nil {
			t.Fatal(err)
		}
		body, err := json.Marshal(sessions.StoredMessage(m))
		if err != nil {
			t.Fatal(err)
		}
		stored, err := storedLine(Message{Seq: 5, Body: string(body)})
		if err != nil {
			t.Fatal(err)
		}
		if line := MessageLine(1, 5, readable).text; line != stored {
			t.Errorf("%s:\n written %s\n again   %s", name, line, stored)
		}
	}
}
