package sessions

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// The time of a message is milliseconds as a number, and both that and the text of earlier versions are read. Its words are escaped as whoever
// encodes the whole says.
//
// proves: T3
// source: https://docs.openclaw.ai/reference/session-management-compaction (transcript lines: "timestamp" in milliseconds)
func TestTimeOfAMessage(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 7, 1, 12, 0, 0, 123_456_789, time.UTC)
	b, err := json.Marshal([]Message{{ID: "m", Role: User, Content: TextContent("a"), Time: at}})
	if err != nil || string(b) != `[{"id":"m","role":"user","content":[{"type":"text","text":"a"}],"timestamp":1782907200123}]` {
		t.Errorf("%s, %v", b, err)
	}
	for text, want := range map[string]time.Time{
		`{"id":"m","timestamp":1782907200123}`: at.Truncate(time.Millisecond), `{"id":"m","timestamp":"2026-07-01T12:00:00.123456789Z"}`: at, `{"id":"m"}`: {}, `{"id":"m","timestamp":-62135596800000}`: {},
	} {
		var m Message
		if err := json.Unmarshal([]byte(text), &m); err != nil || !m.Time.Equal(want) || m.ID != "m" || want.IsZero() != m.Time.IsZero() {
			t.Errorf("%s: %+v, %v", text, m, err)
		}
	}
	for _, bad := range []string{`{"timestamp":"noon"}`, `{"timestamp":1.5}`, `{"timestamp":true}`} {
		if err := json.Unmarshal([]byte(bad), new(Message)); err == nil {
			t.Errorf("%s is read", bad)
		}
	}
	var w strings.Builder
	e := json.NewEncoder(&w)
	e.SetEscapeHTML(false)
	if err := e.Encode(Message{Content: TextContent("<b>")}); err != nil || !strings.Contains(w.String(), "<b>") {
		t.Errorf("%s, %v", w.String(), err)
	}
	if b, err := json.Marshal(Message{Content: TextContent("<b>")}); err != nil || strings.Contains(string(b), "<b>") {
		t.Errorf("%s, %v", b, err)
	}
	if b, err := json.Marshal(StoredMessage{Time: at}); err != nil || !strings.Contains(string(b), `"timestamp":"2026-07-01T12:00:00.123456789Z"`) {
		t.Errorf("as stored: %s, %v", b, err)
	}
}
