package chatclient

import (
	"strings"
	"testing"

	"parley/gateway/web"
)

// TestAnswers finds what answers a message: messages in a row have one answer.
func TestAnswers(t *testing.T) {
	t.Parallel()
	lines := []web.Line{
		{Role: web.User, Client: "1"}, {Role: web.Assistant, Text: "a"}, {Role: web.Assistant, Text: "b"},
		{Role: web.User, Client: "2"}, {Role: web.User}, {Role: web.User, Client: "3"}, {Role: web.Assistant, Text: "c", From: "elsewhere"},
		{Role: web.Assistant, Text: "d", Command: true}, {Role: web.Assistant, Text: "e"},
		{Role: web.User, Client: "4"},
	}
	for id, want := range map[string]string{"1": "a b", "2": "e", "3": "e", "4": "", "5": "not there"} {
		got, found := answers(lines, id)
		var words []string
		for _, l := range got {
			words = append(words, l.Text)
		}
		if !found {
			words = []string{"not there"}
		}
		if s := strings.Join(words, " "); s != want {
			t.Errorf("message %s: %q, want %q", id, s, want)
		}
	}
}
