package discord_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"parley/channels"
	"parley/channels/discord/discordtest"
)

// loss is one way in which the answer to a message is lost, and what is done about it.
type loss struct {
	name    string
	fault   discordtest.Fault
	cancel  bool // the caller gives up: the process is told to end
	restart bool // another process has to find out
	late    bool // so late that Discord has forgotten the nonce
}

func losses() []loss {
	cut := discordtest.Fault{Cut: true}
	taken := discordtest.Fault{Cut: true, Arrives: true}
	hang := discordtest.Fault{Hang: true, Arrives: true}
	return []loss{
		{name: "cut before", fault: cut},
		{name: "cut after", fault: taken},
		{name: "500 after", fault: discordtest.Fault{Status: http.StatusInternalServerError, Arrives: true}},
		{name: "502 before", fault: discordtest.Fault{Status: http.StatusBadGateway}},
		{name: "bad answer", fault: discordtest.Fault{Status: http.StatusGatewayTimeout, Body: "<html>", Arrives: true}},
		{name: "no answer", fault: hang, cancel: true},
		{name: "cut before, restart", fault: cut, restart: true},
		{name: "cut after, restart", fault: taken, restart: true},
		{name: "no answer, restart", fault: hang, cancel: true, restart: true},
		{name: "cut after, restart after a night", fault: taken, restart: true, late: true},
		{name: "cut before, restart after a night", fault: cut, restart: true, late: true},
		{name: "cut after, same process after a night", fault: taken, late: true},
	}
}

// The platform took a message, or did not, and the answer is lost; then the gate asks (Arrived) and sends again what did not arrive.
// Every message is shown once: none lost, none twice.
func TestFaultDiscordLostAnswer(t *testing.T) {
	t.Parallel()
	n := times(36, 500)
	virtual(t, func(t *testing.T, h *host) {
		h.connected()
		to, list := h.direct(), losses()
		want := make([]string, 0, n)
		for i := range n {
			l := list[i%len(list)]
			out := channels.Outbound{Key: fmt.Sprint("key ", i), To: to, Text: fmt.Sprintf("%d: %s", i, l.name), Plain: "x"}
			if i%3 == 0 {
				out.Files = []channels.File{file("notes.txt", out.Text)}
			}
			want = append(want, out.Text)
			l.lose(h, out)
			if l.late {
				h.srv.ForgetNonces()
			}
			if l.restart {
				h.stop()
				h.start()
			}
			h.deliver(out)
		}
		var got []string
		for _, m := range h.srv.Sent(string(to.Chat)) {
			got = append(got, m.Text)
			if len(m.Pinged) > 0 {
				t.Errorf("%s pinged %q", m.Text, m.Pinged)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d messages are shown, %d were sent: %.400q", len(got), len(want), got)
		}
	})
}

// lose sends a message whose answer is lost.
func (l loss) lose(h *host, out channels.Outbound) {
	h.Helper()
	f := l.fault
	f.Method, f.Route, f.Channel = http.MethodPost, discordtest.RouteMessages, string(out.To.Chat)
	h.srv.Inject(f)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if l.cancel {
		stop := time.AfterFunc(3*time.Second, cancel)
		defer stop.Stop()
	}
	_, err := h.bot.Send(ctx, out)
	if err == nil || channels.Classify(err).Class != channels.Ambiguous {
		h.Errorf("%s: Send gave %v", l.name, err)
	}
}

// deliver does what the gate does with a message that may have arrived.
func (h *host) deliver(out channels.Outbound) {
	h.Helper()
	r, there, err := h.bot.Arrived(h.Context(), out)
	if err == nil && !there {
		r, err = h.bot.Send(h.Context(), out)
	}
	if err != nil || r.ID == "" {
		h.Errorf("%s: %+v, %v", out.Text, r, err)
	}
	h.disk.keep(r)
}

// Within minutes a repeated Send is harmless all by itself: the nonce gives the earlier message back.
func TestFaultDiscordRepeatedSend(t *testing.T) {
	t.Parallel()
	virtual(t, func(t *testing.T, h *host) {
		to := h.direct()
		out := channels.Outbound{Key: "k", To: to, Text: "once", Plain: "once"}
		losses()[1].lose(h, out)
		var first channels.MessageID
		for range 3 {
			r, err := h.bot.Send(t.Context(), out)
			if err != nil || first != "" && r.ID != first {
				t.Errorf("%+v, %v", r, err)
			}
			first = r.ID
		}
		out.Key = "another"
		if r, err := h.bot.Send(t.Context(), out); err != nil || r.ID == first {
			t.Errorf("the same text under another key: %+v, %v", r, err)
		}
		if sent := h.srv.Sent(); len(sent) != 2 || len(sent[0].Nonce) != 25 {
			t.Errorf("%+v", sent)
		}
	})
}

// The gateway tells of the message while the chat is read to find it: it is still the one that was looked for.
func TestFaultDiscordFoundMeanwhile(t *testing.T) {
	t.Parallel()
	virtual(t, func(t *testing.T, h *host) {
		h.connected()
		synctest.Wait()
		out := channels.Outbound{Key: "k", To: h.direct(), Text: "once", Plain: "once"}
		h.srv.Drop()
		losses()[1].lose(h, out)
		h.srv.ForgetNonces()
		h.srv.Inject(discordtest.Fault{Method: http.MethodGet, Route: discordtest.RouteMessages, Delay: 15 * time.Second})
		h.deliver(out)
		if n := len(h.srv.Sent()); n != 1 || h.srv.Stats().Resumed != 1 {
			t.Errorf("%d messages are shown; %+v", n, h.srv.Stats())
		}
	})
}

// Two messages that say the same are two messages: one that did not arrive is not taken for the one before it.
func TestFaultDiscordSameText(t *testing.T) {
	t.Parallel()
	for name, restart := range map[string]bool{"same process": false, "restart": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			virtual(t, func(t *testing.T, h *host) {
				h.connected()
				to := h.direct()
				first := channels.Outbound{Key: "first", To: to, Text: "ok", Plain: "ok"}
				h.deliver(first)
				second := first
				second.Key = "second"
				losses()[0].lose(h, second)
				if restart {
					h.stop()
					h.start()
				}
				h.deliver(second)
				if n := len(h.srv.Sent(string(to.Chat))); n != 2 {
					t.Errorf("%d messages are shown", n)
				}
			})
		})
	}
}
