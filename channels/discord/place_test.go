package discord

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"parley/channels"
	"parley/channels/discord/discordtest"
)

// A thread that no event has named is no channel of its own because Discord does not say what it is: an answer that does not say it is
// asked for again, and where Discord refuses it, what is heard is offered and nothing is sent.
// source: https://docs.discord.com/developers/resources/channel#get-channel
func TestThreadThatDiscordDoesNotDescribe(t *testing.T) {
	const thread = "600000000000000098"
	is := func(id, rest string) string {
		return fmt.Sprintf(`{"id":%q,"guild_id":%q,"name":"thr"%s}`, id, town, rest)
	}
	for name, c := range map[string]struct {
		fault discordtest.Fault
		waits bool // it is asked until it says it
	}{
		"no access":            {discordtest.Fault{Status: 403, Code: 50001, Message: "Missing Access"}, false},
		"gone":                 {discordtest.Fault{Status: 404, Code: 10003, Message: "Unknown Channel"}, false},
		"a new type":           {discordtest.Fault{Status: 200, Body: is(thread, `,"type":99,"parent_id":"`+general+`"`)}, false},
		"nothing":              {discordtest.Fault{Status: 200, Body: `{}`}, true},
		"null":                 {discordtest.Fault{Status: 200, Body: `null`}, true},
		"another channel":      {discordtest.Fault{Status: 200, Body: is("1", `,"type":0`)}, true},
		"no type":              {discordtest.Fault{Status: 200, Body: is(thread, "")}, true},
		"no id":                {discordtest.Fault{Status: 200, Body: `{"type":0}`}, true},
		"a thread of nothing":  {discordtest.Fault{Status: 200, Body: is(thread, `,"type":11,"parent_id":null`)}, true},
		"a list":               {discordtest.Fault{Status: 200, Body: `[]`}, true},
		"its server is faulty": {discordtest.Fault{Status: 500}, true},
	} {
		inBubbleNamed(t, name, func(h *host) {
			f := c.fault
			f.Method, f.Channel, f.Times = http.MethodGet, thread, -1
			remove := h.srv.Inject(f)
			say := func(id, words string) {
				h.srv.Raw("MESSAGE_CREATE", fmt.Sprintf(`{"id":%q,"type":0,"channel_id":%q,"guild_id":%q,"content":%q,"author":{"id":%q,"username":"anna"},"member":{"roles":[]},"timestamp":"2026-01-01T00:00:00Z"}`, id, thread, town, words, anna))
			}
			to := channels.Address{Channel: Kind, Account: h.ch.account, Chat: thread, Type: channels.Room}
			say("1600000000000000001", "one")
			h.after(2 * time.Minute)
			got := h.taken()
			if c.waits {
				if len(got) != 0 {
					h.t.Fatalf("offered before it is known where it was written: %+v", got)
				}
			} else {
				if words(got) != "one" {
					h.t.Fatalf("offered %q", words(got))
				}
				h.getsNothing(to)
				h.stop()
				h.open() // another process knows nothing of the refusal
				h.start()
				h.settle()
				h.getsNothing(to)
				h.taken()
			}
			remove()
			h.srv.AddThread(general, thread, "thr", anna)
			say("1600000000000000002", "two")
			h.after(2 * time.Minute)
			got = h.taken()
			if len(got) == 0 || got[len(got)-1].Text != "two" || got[0].Parent != general {
				h.t.Fatalf("when Discord says it: %+v", got)
			}
			if _, err := h.ch.Send(h.t.Context(), channels.Outbound{Key: "l", To: to, Text: "x"}); err != nil {
				h.t.Error(err)
			}
		})
	}
}

// getsNothing fails unless everything that would be shown in a place is refused, and nothing of it reaches the platform.
func (h *host) getsNothing(to channels.Address) {
	h.t.Helper()
	_, sent := h.ch.Send(h.t.Context(), channels.Outbound{Key: "k", To: to, Text: "x"})
	for what, err := range map[string]error{
		"send": sent, "edit": h.ch.Edit(h.t.Context(), "7", channels.Outbound{To: to, Text: "x"}),
		"type": h.ch.Typing(h.t.Context(), to), "react": h.ch.React(h.t.Context(), to, "7", "👍"),
	} {
		if err == nil || channels.Classify(err).Class != channels.Rejected || !strings.Contains(err.Error(), "hides this channel's type") {
			h.t.Errorf("%s: %v", what, err)
		}
	}
	for _, call := range h.srv.Calls() {
		if call.Method != http.MethodGet && strings.Contains(call.Path, string(to.Chat)) {
			h.t.Errorf("sent %+v", call)
		}
	}
}
