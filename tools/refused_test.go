package tools

import (
	"fmt"
	"strings"
	"testing"

	"parley/sessions"
)

// What a provider refused is not read back by another way: a mark stands in its place, on a page that the notice is not on too.
func TestHistoryWithoutRefused(t *testing.T) {
	t.Parallel()
	w := newWorld()
	of := func(run string, m sessions.Message) sessions.Message { m.Run = sessions.RunID(run); return m }
	notice := of("2", text("assistant", "I was refused."))
	notice.SetRefused("")
	notice.Model = sessions.NoticeModel
	w.messages[id(0)] = []sessions.Message{
		of("1", text("user", "hello")), of("1", text("assistant", "hi")),
		of("2", text("user", "poison")), of("2", toolCall("poison")), of("2", toolResult("poison", "poison")), notice,
		of("3", text("user", "and now?")),
	}
	for args, want := range map[string]string{
		`{"sessionKey":"main"}`:                                          "hello|hi|[MARK]|[MARK]|I was refused. (MARK)|and now?",
		`{"sessionKey":"main","includeTools":true}`:                      "hello|hi|[MARK]|[MARK]|I was refused. (MARK)|and now?",
		`{"sessionKey":"main","offset":2,"limit":2}`:                     "[MARK]|[MARK]",
		`{"sessionKey":"main","offset":4,"limit":1}`:                     "hi",
		`{"sessionKey":"main","offset":2,"includeTools":true}`:           "hello|hi|[MARK]|[MARK]",
		`{"sessionKey":"main","offset":1,"limit":1,"includeTools":true}`: "I was refused. (MARK)",
	} {
		r := call[historyResult](t, w, SessionsHistory(w.deps()), args)
		var got []string
		for _, m := range r.Messages {
			got = append(got, strings.ReplaceAll(m.Text(), sessions.RefusedMark, "MARK"))
		}
		if g := strings.Join(got, "|"); g != want || strings.Contains(fmt.Sprintf("%+v", r.Messages), "poison") {
			t.Errorf("%s:\n%s\nwant\n%s", args, g, want)
		}
	}
}
