package main

import (
	"bytes"
	"encoding/base64"
	"testing"

	"parley/agent/modeltest"
	"parley/channels/telegram/telegramtest"
)

// TestPicture: a photo from a chat is in the request that the model gets, and in the next one too, also after a restart.
func TestPicture(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	png := append([]byte("\x89PNG\x0d\x0a\x1a\x0a"), bytes.Repeat([]byte{7}, 3000)...)
	w.tg.AddFile("cat-1280", png)
	w.config("", "")
	p := w.start()
	w.model.Script(func(r modeltest.Request) modeltest.Reply {
		if bytes.Contains(r.Raw, []byte("data:image/png;base64,"+base64.StdEncoding.EncodeToString(png))) {
			return modeltest.Reply{Text: []string{"I see it"}}
		}
		return modeltest.Reply{Text: []string{"I see nothing"}}
	})
	w.tg.Say(owner, owner, "what is this?", telegramtest.Photo("cat"))
	if got := w.sent(owner, 1)[0].Text; got != "I see it" {
		t.Error(got)
	}
	w.quiet()
	p.kill()
	w.start()
	w.tg.Say(owner, owner, "and now?")
	if got := w.sent(owner, 2)[1].Text; got != "I see it" {
		t.Errorf("after a restart: %s", got)
	}
	if n := len(w.tg.Calls("getFile")); n != 1 {
		t.Errorf("fetched %d times", n)
	}
}

// TestReminder: an agent makes a job with its tool; when the time comes its turn is posted into the chat, once, although the host was
// killed meanwhile.
func TestReminder(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.config("", "")
	p := w.start()
	w.model.Script(func(r modeltest.Request) modeltest.Reply {
		switch last := r.Messages[len(r.Messages)-1]; {
		case last.Role == "tool":
			return modeltest.Reply{Text: []string{"I will remind you"}}
		case bytes.Contains(r.Raw, []byte("begun by a scheduled job")):
			return modeltest.Reply{Text: []string{"Tea is ready"}}
		}
		return modeltest.Reply{ToolCalls: []modeltest.ToolCall{{ID: "c1", Name: "cron", Arguments: `{"action":"add","name":"tea","message":"tell about the tea","in":"2s"}`}}}
	})
	w.tg.Say(owner, owner, "remind me")
	if got := w.sent(owner, 1)[0].Text; got != "I will remind you" {
		t.Error(got)
	}
	w.quiet()
	p.kill()
	w.start()
	if got := w.sent(owner, 2)[1].Text; got != "Tea is ready" {
		t.Error(got)
	}
	w.quiet()
	if n := len(w.tg.SentTo(owner)); n != 2 {
		t.Errorf("%d messages", n)
	}
}
