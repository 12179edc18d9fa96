package web

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"parley/sessions"
)

// A story of hundreds of steps, and one of long texts, is shown with its beginning and its end, in a page of a bounded size.
func TestAbridged(t *testing.T) {
	t.Parallel()
	at := time.Now()
	run := &sessions.Run{ID: "r", Key: "agent:main:main", Status: sessions.Done, Created: at, Started: at, Ended: at}
	var steps []sessions.Message
	for i := range 150 {
		id := fmt.Sprint("c", i)
		steps = append(steps, sessions.Message{Role: sessions.Assistant, Time: run.Started, Content: []sessions.Block{{Type: sessions.TextBlock, Text: strings.Repeat("word ", 200)}, {Type: sessions.ToolCallBlock, ID: id, Name: id, Arguments: []byte(`{"a":"b"}`)}}},
			sessions.Message{Role: sessions.ToolResult, ToolCallID: id, Content: sessions.TextContent(strings.Repeat("x", 9000))})
	}
	all := story(sessions.Trace{Run: run, Steps: steps}, names{})
	for _, stories := range []int{1, 100} {
		got := abridged(all, stories)
		size, gaps := 0, 0
		for _, m := range got {
			size += len(m.Text) + len(m.HTML)
			if m.Tool != nil {
				size += len(m.Tool.Arguments) + len(m.Tool.Result)
			}
			if strings.Contains(m.Title, "left out") {
				gaps++
			}
		}
		if want := max(storyShown/stories, 8); len(got) != want+1 || gaps != 1 || size > storyText/stories+want*500 {
			t.Errorf("%d stories: %d moments of %d bytes, %d gaps", stories, len(got), size, gaps)
		}
		if last := got[len(got)-1]; got[0].Kind != "accepted" || last.Kind != "ended" || len(all) != 303 {
			t.Errorf("from %s to %s of %d", got[0].Kind, last.Kind, len(all))
		}
		if use := all[len(all)-2].Tool; use == nil || len(use.Result) < maxShown {
			t.Error("the story itself was cut")
		}
	}
	few := story(sessions.Trace{Run: run}, names{})
	if got := abridged(few, 1); len(got) != len(few) {
		t.Errorf("%d of %d", len(got), len(few))
	}
}
