package discord

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"parley/channels"
	"parley/channels/discord/discordtest"
)

func TestCommandIsAnsweredInPlace(t *testing.T) {
	inBubble(t, func(h *host) {
		id := h.srv.Invoke(side, anna, "send", discordtest.Choice{Name: "args", Value: " off "})
		in := h.one()
		if in.Event != channels.Message || in.Text != "/send off" || !in.Mentioned || string(in.ID) != id || in.Parent != general || len(in.Roles) != 1 || in.Sender.ID != anna {
			t.Errorf("%+v", in)
		}
		if h.srv.Answered(id) != discordtest.AnswerDeferred {
			t.Fatalf("answered with %d", h.srv.Answered(id))
		}
		out := channels.Outbound{Key: "d.0", To: in.Address, Text: "done", ReplyTo: in.ID}
		for range 2 { // the second time is what a gate does that got no answer
			if _, err := h.send(out); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := h.send(channels.Outbound{Key: "d.1", To: in.Address, Text: "and more", ReplyTo: in.ID}); err != nil {
			t.Fatal(err)
		}
		sent := h.srv.Sent(side)
		if len(sent) != 2 || sent[0].Text != "done" || sent[0].Command != id || sent[0].Ephemeral || sent[0].Loading || sent[1].Text != "and more" {
			t.Errorf("%+v", sent)
		}
		h.stop()
		h.open()
		r, there, err := h.ch.Arrived(h.t.Context(), out)
		if !there || err != nil || string(r.ID) != sent[0].ID {
			t.Errorf("after a restart the answer is not found: %v %v", there, err)
		}
	})
}

func TestCommandIsAcknowledgedInTime(t *testing.T) {
	inBubble(t, func(h *host) {
		h.refuse = func(channels.Inbound) error { return errFull }
		id := h.srv.Invoke(general, anna, "status")
		h.after(1900 * time.Millisecond)
		if h.srv.Answered(id) != 0 {
			t.Error("acknowledged before it is on disk, though there was time")
		}
		h.after(600 * time.Millisecond)
		if h.srv.Answered(id) != discordtest.AnswerDeferred {
			t.Error("not acknowledged in time")
		}
		h.mu.Lock()
		h.refuse = nil
		h.mu.Unlock()
		h.settle()
		if got := words(h.taken()); got != "/status" {
			t.Error(got)
		}
	})
}

func TestCommandWithoutAnswer(t *testing.T) {
	inBubble(t, func(h *host) {
		h.srv.Invoke(general, anna, "status")
		in := h.one()
		h.after(13 * time.Minute)
		if sent := h.srv.Sent(general); len(sent) != 1 || !sent[0].Loading || sent[0].Deleted {
			t.Fatalf("%+v", sent)
		}
		h.after(90 * time.Second)
		if sent := h.srv.Sent(general); !sent[0].Deleted {
			t.Errorf("it still looks as if an answer would come: %+v", sent)
		}
		if _, err := h.send(channels.Outbound{Key: "late", Text: "late", ReplyTo: in.ID}); err != nil {
			t.Fatal(err)
		}
		if sent := h.srv.Sent(general); len(sent) != 2 || sent[1].Text != "late" || sent[1].Command != "" {
			t.Errorf("%+v", sent)
		}
	})
}

func TestCommandAfterARestart(t *testing.T) {
	inBubble(t, func(h *host) {
		h.srv.Invoke(general, anna, "status")
		in := h.one()
		h.stop()
		h.open()
		if _, err := h.send(channels.Outbound{Key: "k", Text: "fine", ReplyTo: in.ID}); err != nil {
			t.Fatal(err)
		}
		sent := h.srv.Sent(general)
		if last := sent[len(sent)-1]; last.Text != "fine" || last.Command != "" {
			t.Errorf("%+v", sent)
		}
	})
}

func TestCommandThatCannotBeAcknowledged(t *testing.T) {
	inBubble(t, func(h *host) {
		h.srv.Inject(discordtest.Fault{Method: http.MethodPost, Route: discordtest.RouteCallback, Status: 404, Code: codeUnknownInteraction})
		h.srv.Invoke(general, anna, "status")
		in := h.one()
		if _, err := h.send(channels.Outbound{Key: "k", Text: "fine", ReplyTo: in.ID}); err != nil {
			t.Fatal(err)
		}
		if sent := h.srv.Sent(general); len(sent) != 1 || sent[0].Text != "fine" || sent[0].Command != "" {
			t.Errorf("%+v", sent)
		}
		if n := len(h.srv.Calls("PATCH " + discordtest.RouteOriginal)); n > 0 {
			t.Errorf("%d answers to what was never acknowledged", n)
		}
		if strings.Contains(h.logs.String(), "aW50ZXJhY3Rpb246") {
			t.Errorf("the token of a command is in the log:\n%s", h.logs)
		}
	})
}

func TestPublish(t *testing.T) {
	inBubble(t, func(h *host) {
		cmds := []channels.Command{{Name: "status", Description: "How things are"}, {Name: "new", Description: "Begin anew"}, {Name: "Not allowed", Description: "x"}}
		const put = "PUT " + discordtest.RouteCommands
		for range 2 {
			if err := h.ch.Publish(h.t.Context(), cmds); err != nil {
				t.Fatal(err)
			}
		}
		h.open()
		if err := h.ch.Publish(h.t.Context(), cmds); err != nil { // before Run has connected
			t.Fatal(err)
		}
		if n := len(h.srv.Calls(put)); n != 1 || len(h.srv.Commands("")) != 2 {
			t.Errorf("written %d times: %+v", n, h.srv.Commands(""))
		}
		cmds[0].Description = "Another text"
		if err := h.ch.Publish(h.t.Context(), cmds); err != nil || len(h.srv.Calls(put)) != 2 {
			t.Errorf("a change is not published: %v", err)
		}
	})
}
