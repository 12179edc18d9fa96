package discord

import (
	"strings"
	"testing"
	"time"

	"parley/channels"
)

// T23: hostile events crash nothing, are each listed once, however often they come, and hold up nobody.
func TestFaultDiscordHostileEvents(t *testing.T) {
	const here = `"channel_id":"` + general + `"`
	const by = here + `,"author":{"id":"3","username":"x"}`
	bad := [][2]string{
		{"MESSAGE_CREATE", `null`}, {"MESSAGE_CREATE", `[]`}, {"MESSAGE_CREATE", `5`}, {"MESSAGE_CREATE", `"x"`}, {"MESSAGE_CREATE", `{}`},
		{"MESSAGE_CREATE", `{"id":"5","channel_id":null,"author":{"id":"3"},"content":"x"}`}, {"MESSAGE_CREATE", `{"id":"5","author":{"id":"3"},"content":"x"}`},
		{"MESSAGE_CREATE", `{"id":"5",` + here + `,"content":7}`}, {"MESSAGE_CREATE", `{"id":"5",` + here + `,"content":"nobody"}`},
		{"MESSAGE_CREATE", `{"id":"-5",` + by + `,"content":"x"}`}, {"MESSAGE_CREATE", `{"id":5,` + by + `,"content":"x"}`}, {"MESSAGE_CREATE", `{"id":"99999999999999999999",` + by + `,"content":"x"}`},
		{"MESSAGE_CREATE", `{"id":"5",` + by + `}`}, {"MESSAGE_CREATE", `{"id":"5",` + by + `,"content":"","hologram":{}}`}, {"MESSAGE_CREATE", `{"id":"5",` + by + `,"attachments":{"a":1}}`},
		{"MESSAGE_UPDATE", `[]`}, {"MESSAGE_UPDATE", `{"id":"5",` + here + `,"author":{},"content":"x","edited_timestamp":"2026-01-01T00:00:00Z"}`},
		{"MESSAGE_DELETE", `{}`}, {"MESSAGE_DELETE_BULK", `{"ids":[""],` + here + `}`}, {"MESSAGE_REACTION_ADD", `null`}, {"MESSAGE_REACTION_ADD", `{"message_id":"-1","user_id":"3",` + here + `}`},
		{"INTERACTION_CREATE", `{"id":"5",` + here + `,"type":2,"token":"secret","data":{"type":1,"name":7}}`},
	}
	odd := []string{ // readable all the same
		`{"id":"11",` + by + `,"content":"` + strings.Repeat("x", 1<<20) + `"}`,
		`{"id":"12",` + by + `,"content":"x","attachments":[{"id":"1","filename":"42.zip","url":"https://x/y","size":4503599627370496}]}`,
		`{"id":"13",` + by + `,"content":"x","mentions":[{"id":"-7"}],"timestamp":"never"}`,
		`{"id":"14",` + by + `,"content":"<@99999999999999999999> <#0> <@&-1> \u0000","embeds":[{}]}`,
	}
	inBubble(t, func(h *host) {
		before := len(h.srv.Calls())
		for range 2 {
			for _, b := range bad {
				h.srv.Raw(b[0], b[1])
			}
			for _, kind := range []string{"SOMETHING_NEW", "CHANNEL_UPDATE", "GUILD_MEMBER_ADD", "GUILD_CREATE", ""} { // of no chat
				h.srv.Raw(kind, `[1]`)
			}
		}
		for _, o := range odd {
			h.srv.Raw("MESSAGE_CREATE", o)
		}
		began := time.Now()
		h.srv.Say(general, anna, "after all that")
		var all []channels.Inbound
		for len(all) == 0 || all[len(all)-1].Text != "after all that" {
			if h.after(time.Second); time.Since(began) > 2*time.Minute {
				t.Fatal("held up for two minutes")
			}
			all = append(all, h.taken()...)
		}
		h.settle()
		all = append(all, h.taken()...) // of other chats
		listed, readable := map[channels.MessageID]int{}, map[channels.MessageID]int{}
		for _, in := range all {
			if in.Event != channels.Unreadable {
				readable[in.ID]++
				continue
			}
			listed[in.ID]++
			if in.Reason == "" || len(in.Raw) > channels.MaxRaw || strings.Contains(string(in.Raw), "secret") {
				t.Errorf("%+v", in)
			}
		}
		if len(listed) != len(bad) || len(readable) != len(odd)+1 {
			t.Errorf("%d of %d listed, %d of %d readable", len(listed), len(bad), len(readable), len(odd)+1)
		}
		for id, n := range listed { // a store takes the second for the first, by its id
			if n != 2 {
				t.Errorf("%s was offered %d times, and came twice", id, n)
			}
		}
		for id, n := range readable {
			if n != 1 {
				t.Errorf("%s was offered %d times", id, n)
			}
		}
		if n := len(h.srv.Calls()) - before; n > 0 {
			t.Errorf("%d calls because of them", n)
		}
		t.Logf("%d bad events twice, %d odd ones", len(bad), len(odd))
	})
}
