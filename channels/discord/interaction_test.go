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
		if h.srv.Answered(id) != 0 {
			t.Fatalf("answered with %d before the host wanted that", h.srv.Answered(id))
		}
		for range 2 {
			h.acknowledge(in)
		}
		if h.srv.Answered(id) != discordtest.AnswerDeferred || len(h.srv.Calls("POST "+discordtest.RouteCallback)) != 1 {
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

// acknowledge does what the host does when it has taken a message that will be answered.
func (h *host) acknowledge(in channels.Inbound) {
	h.t.Helper()
	if err := h.ch.Acknowledge(h.t.Context(), in.Address, in.ID); err != nil {
		h.t.Error(err)
	}
}

// Who may not be answered sees nothing, and neither does anybody else: in no chat, however long it takes.
func TestCommandThatNobodyAcknowledges(t *testing.T) {
	inBubble(t, func(h *host) {
		id := h.srv.Invoke(general, bert, "status")
		direct := h.srv.Invoke(h.dm, anna, "status")
		h.after(21 * time.Minute)
		if h.srv.Answered(id) != 0 || h.srv.Answered(direct) != 0 || len(h.srv.Sent(general)) > 0 || len(h.srv.Calls("POST "+discordtest.RouteCallback)) > 0 {
			t.Errorf("%+v", h.srv.Sent(general))
		}
		h.srv.Invoke(general, anna, "status")
		h.after(time.Second)
		if n := len(h.ch.acts.open); n != 1 {
			t.Errorf("%d are kept, not the last alone", n)
		}
		if err := h.ch.Acknowledge(h.t.Context(), room(), "5"); err != nil {
			t.Errorf("a message that is no command: %v", err)
		}
	})
}

// A command waits for what came before it in its chat. When Discord has given it up meanwhile its answer is a message.
func TestCommandBehindWhatWasMissed(t *testing.T) {
	inBubble(t, func(h *host) {
		h.srv.Say(general, anna, "first")
		h.one()
		remove := h.srv.Inject(discordtest.Fault{Method: http.MethodGet, Route: discordtest.RouteMessages, Status: 503, Times: -1})
		h.srv.Expire()
		h.srv.Miss(general, anna, "missed")
		h.srv.Drop()
		h.after(time.Minute)
		id := h.srv.Invoke(general, anna, "status")
		h.after(time.Minute)
		remove()
		h.after(time.Minute)
		list := h.taken()
		if words(list) != "missed,/status" {
			t.Fatalf("%q", words(list))
		}
		_ = h.ch.Acknowledge(h.t.Context(), list[1].Address, list[1].ID) // too late
		if _, err := h.send(channels.Outbound{Key: "k", Text: "fine", ReplyTo: list[1].ID}); err != nil {
			t.Fatal(err)
		}
		if sent := h.srv.Sent(general); len(sent) != 1 || sent[0].Text != "fine" || sent[0].Command != "" || h.srv.Answered(id) != 0 {
			t.Errorf("%+v", sent)
		}
	})
}

// A command that is lost because too many events wait is refused: no promise, and a line in the log.
func TestCommandAmongTooMany(t *testing.T) {
	inBubble(t, func(h *host) {
		h.refuse = func(channels.Inbound) error { return errFull }
		h.srv.Say(general, anna, "refused")
		id := h.srv.Invoke(general, anna, "status")
		for range maxWaiting + 1 {
			h.srv.Say(general, bert, "more")
		}
		h.after(time.Second)
		h.mu.Lock()
		h.refuse = nil
		h.mu.Unlock()
		h.settle()
		if list := h.taken(); len(list) != maxWaiting+2 || strings.Contains(words(list), "/status") || h.srv.Answered(id) != 0 {
			t.Errorf("%d events, answered %d", len(list), h.srv.Answered(id))
		}
		if !strings.Contains(h.logs.String(), "commands=1") {
			t.Error("nothing in the log")
		}
	})
}

// In direct chats answers name no message: they take the place of the oldest command there, part by part.
func TestCommandInADirectChat(t *testing.T) {
	inBubble(t, func(h *host) {
		id := h.srv.Invoke(h.dm, anna, "status")
		in := h.one()
		h.acknowledge(in)
		second := h.srv.Invoke(h.dm, anna, "help")
		h.acknowledge(h.one())
		elsewhere := h.srv.Invoke(general, anna, "status")
		h.acknowledge(h.one())
		first := channels.Outbound{Key: "d.0", To: in.Address, Text: "part one"}
		for _, out := range []channels.Outbound{
			first, first, // the second time is what a gate does that got no answer
			{Key: "d.1", To: in.Address, Text: "part two", Files: []channels.File{file("a.txt", "A")}},
			{Key: "e.0", To: in.Address, Files: []channels.File{file("b.txt", "B")}},
			{Key: "f.0", To: in.Address, Text: "by itself"},
		} {
			if _, err := h.send(out); err != nil {
				t.Fatal(err)
			}
		}
		h.after(14*time.Minute - 30*time.Second)
		if err := h.ch.Fade(h.t.Context(), in.Address, in.ID); err != nil { // it is answered
			t.Error(err)
		}
		got := map[string]discordtest.Sent{}
		for _, m := range h.srv.Sent(h.dm) {
			got[m.Text] = m
			if m.Loading {
				t.Errorf("long after its answer it is still thinking: %+v", m)
			}
		}
		if len(got) != 4 || got["part one"].Command != id || got["part two"].Command != "" || len(got["part two"].Files) != 1 ||
			got[""].Command != second || len(got[""].Files) != 1 || got["by itself"].Command != "" {
			t.Errorf("%+v", got)
		}
		if sent := h.srv.Sent(general); len(sent) != 1 || !sent[0].Loading || sent[0].Command != elsewhere {
			t.Errorf("another chat's command is answered: %+v", sent)
		}
		h.stop()
		h.open()
		if r, there, err := h.ch.Arrived(h.t.Context(), first); !there || err != nil || string(r.ID) != got["part one"].ID {
			t.Errorf("after a restart the answer is not found: %v %v", there, err)
		}
	})
}

// The answer may come before the sign that it will, and the sign may get lost.
func TestCommandIsAnsweredAtOnce(t *testing.T) {
	for name, f := range map[string]discordtest.Fault{
		"no fault":   {Times: 0},
		"cut after":  {Cut: true, Arrives: true},
		"cut before": {Cut: true},
		"no answer":  {Hang: true, Arrives: true},
		"limited":    {Status: http.StatusTooManyRequests, RetryAfter: 500 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(h *host) {
				if f.Method, f.Route = http.MethodPost, discordtest.RouteCallback; name != "no fault" {
					h.srv.Inject(f)
				}
				id := h.srv.Invoke(h.dm, anna, "status")
				in := h.one()
				if _, err := h.send(channels.Outbound{Key: "k", To: in.Address, Text: "fine"}); err != nil {
					h.t.Fatal(err)
				}
				h.acknowledge(in)
				if sent := h.srv.Sent(h.dm); len(sent) != 1 || sent[0].Text != "fine" || sent[0].Command != id || sent[0].Loading {
					h.t.Errorf("%+v", sent)
				}
			})
		})
	}
}

// The adapter says when the sign of a command without an answer is to be taken away, and makes no call by itself: the chat may be denied
// by then. source: contract P4
func TestCommandWithoutAnswer(t *testing.T) {
	inBubble(t, func(h *host) {
		h.srv.Invoke(general, anna, "status")
		in := h.one()
		h.acknowledge(in)
		if after := h.ch.FadeAfter(in.Address, in.ID); after < 13*time.Minute || after > 14*time.Minute {
			t.Errorf("to be taken away after %s", after)
		}
		h.after(14*time.Minute + 30*time.Second)
		if sent := h.srv.Sent(general); len(sent) != 1 || !sent[0].Loading || sent[0].Deleted {
			t.Fatalf("%+v", sent)
		}
		for range 2 {
			if err := h.ch.Fade(h.t.Context(), in.Address, in.ID); err != nil {
				t.Error(err)
			}
		}
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
		h.acknowledge(in)
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
