package discord

import (
	"slices"
	"strings"
	"testing"

	"parley/channels"
	"parley/channels/discord/discordtest"
)

// People of the chat who are called by name are notified, exactly those: no role, not everyone, nobody of another chat, no bot, no name
// that two people have, nothing in code or addresses.
// source: zeroclaw-labs/zeroclaw#10976 (the kind); Discord documentation, Allowed mentions object
func TestMentionsNotify(t *testing.T) {
	const (
		carl  = "200000000000000003"
		carla = "200000000000000004"
		other = "200000000000000005"
	)
	inBubble(t, func(h *host) {
		h.srv.AddUser(discordtest.User{ID: carl, Name: "car_l", Display: "Chris"})
		h.srv.AddUser(discordtest.User{ID: carla, Name: "carla", Display: "chris"})
		h.srv.AddUser(discordtest.User{ID: other, Name: "olga"})
		for _, who := range []string{anna, bert, carl, carla} {
			h.srv.Say(general, who, "hello")
		}
		h.srv.Say(side, other, "hello")
		h.srv.Say(general, "900000000000000001", "hello", discordtest.ByWebhook("900000000000000001", "CI"))
		h.settle()
		h.taken()
		for text, want := range map[string]struct {
			shown  string
			pinged []string
		}{
			"@anna look":                          {"<@" + anna + "> look", []string{anna}},
			"thanks, @Anna A.!":                   {"thanks, <@" + anna + ">!", []string{anna}},
			"(@BERT) and @anna, @anna":            {"(<@" + bert + ">) and <@" + anna + ">, <@" + anna + ">", []string{anna, bert}},
			`ask @car\_l`:                         {"ask <@" + carl + ">", []string{carl}},
			"**@bert**":                           {"**<@" + bert + ">**", []string{bert}},
			"@bert's":                             {"@bert's", nil},
			"@Chris":                              {"@Chris", nil},
			"@annabel, x@anna, @anna.b, @@anna":   {"@annabel, x@anna, @anna.b, @@anna", nil},
			"@everyone @here <@&" + helpers + ">": {"@everyone @here <@&" + helpers + ">", nil},
			"@olga @CI @parley_test":              {"@olga @CI @parley_test", nil},
			"<@" + other + ">":                    {"<@" + other + ">", nil},
			`\<@` + anna + `> \<@!` + anna + `> \<#` + general + ">": {"<@" + anna + "> <@!" + anna + "> <#" + general + ">", nil},
			`\<@` + other + `> \<@123> \<#5> \<#900000000000000009>`: {`\<@` + other + `> \<@123> \<#5> \<#900000000000000009>`, nil},
			"`\\<@" + anna + ">`":              {"`\\<@" + anna + ">`", nil},
			"`@anna`\n```\n@bert\n```":         {"`@anna`\n```\n@bert\n```", nil},
			"https://x.example/@anna":          {"https://x.example/@anna", nil},
			"[@anna](https://x.example/@anna)": {"[<@" + anna + ">](https://x.example/@anna)", []string{anna}},
		} {
			out := channels.Outbound{Key: text, Text: text}
			if _, err := h.send(out); err != nil {
				t.Fatal(err)
			}
			all := h.srv.Sent(general)
			got := all[len(all)-1]
			slices.Sort(got.Pinged)
			if got.Text != want.shown || !slices.Equal(got.Pinged, want.pinged) {
				t.Errorf("%q: shown %q, notified %q", text, got.Text, got.Pinged)
			}
			h.srv.ForgetNonces()
			again, _ := New(h.cfg, Deps{Client: h.srv.Client()})
			out.To = room()
			if r, there, err := again.Arrived(h.t.Context(), out); err != nil || !there || string(r.ID) != got.ID {
				t.Errorf("%q is not found again: %v %v", text, there, err)
			}
		}
		long := strings.Repeat("x", textLimit-6) + " @anna"
		if _, err := h.send(channels.Outbound{Key: "long", Text: long}); err != nil {
			t.Errorf("a mention that makes a message too long: %v", err)
		}
	})
}
