package web

import (
	"fmt"
	"testing"

	"parley/sessions"
)

// The page of a session marks what the model is not shown any more, and shows no thinking without text.
func TestUtterancesOfARefusedRun(t *testing.T) {
	t.Parallel()
	ms := []sessions.Message{
		{ID: "1", Run: "a", Role: sessions.User, Content: sessions.TextContent("hello")},
		{ID: "2", Run: "a", Role: sessions.Assistant, Model: "m", Content: []sessions.Block{{Type: sessions.ThinkingBlock}, {Type: sessions.TextBlock, Text: "hi"}}},
		{ID: "3", Run: "b", Role: sessions.User, Content: sessions.TextContent("poison")},
		{ID: "4", Run: "b", Role: sessions.Assistant, Model: sessions.NoticeModel, MessageExtras: &sessions.MessageExtras{Refused: true}, Content: sessions.TextContent("refused")},
		{ID: "5", Run: "c", Role: sessions.User, Content: sessions.TextContent("and now?")},
	}
	got := ""
	for _, u := range utterances(ms, false) {
		got += fmt.Sprintf("%s %t %q;", u.ID, u.Refused == sessions.RefusedMark, u.Thinking)
	}
	if want := `1 false "";2 false "";3 true "";4 true "";5 false "";`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
