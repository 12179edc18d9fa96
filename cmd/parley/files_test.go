package main

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"parley/agent/modeltest"
	"parley/channels/telegram/telegramtest"
	"parley/sessions"
)

var fileLine = regexp.MustCompile(`\[file ([a-z0-9]{8}): figures\.csv, text/csv, 12 bytes`)

// filing is a model that saves the file that it is sent, posts it back, and tells long stories slowly.
func filing(r modeltest.Request) modeltest.Reply {
	call := func(name, args string) modeltest.Reply {
		return modeltest.Reply{ToolCalls: []modeltest.ToolCall{{ID: name, Name: name, Arguments: args}}}
	}
	last := r.Messages[len(r.Messages)-1]
	switch id := fileLine.FindStringSubmatch(r.LastUserText()); {
	case strings.Contains(r.LastUserText(), "a story"):
		return modeltest.Reply{Text: strings.SplitAfter(strings.TrimSpace(strings.Repeat("once upon a time ", 12)), " "), Between: 100 * time.Millisecond}
	case id == nil:
		return modeltest.Reply{Text: []string{"no file"}}
	case last.Role == "user":
		return call("attachments", `{"action":"save","id":"`+id[1]+`","path":"in/figures.csv"}`)
	case strings.Contains(last.Text, `"path":"in/figures.csv"`):
		return call("message", `{"to":"current","text":"back to you","files":["in/figures.csv"]}`)
	}
	return modeltest.Reply{Text: []string{"done"}}
}

// TestFilesBothWaysAndStreaming runs a host on Telegram: a file that a person sends gets into the workspace and back into the chat, and
// an answer in a group is one message that grew.
func TestFilesBothWaysAndStreaming(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.tg.AddGroup(group, "Garden")
	w.tg.AddFile("f1", []byte("a,b\n1,2\n3,4\n"))
	w.model.Script(filing)
	w.config("    groupPolicy: open\n    streaming: {direct: \"off\", group: edit}\n", "")
	w.start()
	w.tg.Say(owner, owner, "keep this", telegramtest.Document("f1", "../figures.csv", "text/csv", 12))
	got := w.sent(owner, 2)
	if f := got[0].Files; len(f) != 1 || f[0].As != "document" || f[0].Name != "figures.csv" || string(f[0].Data) != "a,b\n1,2\n3,4\n" || got[0].Text != "back to you" || got[1].Text != "done" {
		t.Errorf("%+v", got)
	}
	w.quiet()
	posts := fromCLI[[]sessions.Delivery](w, "deliveries", "list")
	if out, code := w.cli("deliveries", "show", string(posts[1].ID)); code != 0 || !strings.Contains(out, "file figures.csv, text/csv, 12 bytes") {
		t.Errorf("exit code %d: %s", code, out)
	}
	w.tg.Say(group, owner, "@"+telegramtest.BotUsername+" a story")
	w.sent(group, 1)
	w.quiet()
	if story := w.tg.SentTo(group); len(story) != 1 || story[0].Edits < 1 || story[0].Text != strings.TrimSpace(strings.Repeat("once upon a time ", 12)) {
		t.Errorf("%d messages: %+v", len(story), story)
	}
}
