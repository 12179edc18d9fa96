package router

import (
	"fmt"
	"strings"
	"testing"

	"parley/channels"
	"parley/channels/channeltest"
)

// A file that somebody posted among people is a file of the turn that answers a reply to it: the model sees a picture, the tool
// attachments has the rest, after a restart too, and neither is there twice.
// source: NousResearch/hermes-agent#22250, NousResearch/hermes-agent#37970, HKUDS/nanobot#1875
func TestQuotedFiles(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{})
		a := &album{fetched: map[string]int{}, Channel: g.fake.Full()}
		g.r.Attach(account, a)
		to := groupChat("g")
		photo, pdf := channels.Media{Kind: channels.Image, Ref: "photo", MIME: "image/jpeg"}, channels.Media{Kind: channels.Document, Ref: "pdf", Name: "q3.pdf"}
		bob := channels.Sender{ID: "3003", Name: "Bob"}
		posted := g.fake.Say(channels.Inbound{Address: to, Sender: bob, Media: []channels.Media{photo, pdf}})
		_ = posted
		n := 0
		ask := func(media ...channels.Media) []string {
			t.Helper()
			g.fake.Say(channels.Inbound{Address: to, Sender: channels.Sender{ID: guest, Name: "Ann"}, Text: "what is in this picture?", Mentioned: true, Media: media,
				Quote: &channels.Quote{ID: posted.ID, Sender: "Bob", Media: []channels.Media{photo, pdf}}})
			n++
			g.shown(n)
			g.idle(n)
			g.model.mu.Lock()
			defer g.model.mu.Unlock()
			return seen(g.model.asked[len(g.model.asked)-1])
		}
		if got := fmt.Sprint(ask()); got != "[photo image/png]" {
			t.Errorf("the model sees %s", got)
		}
		g.stop()
		g.start()
		a.Channel = g.fake.Full()
		g.r.Attach(account, a)
		if got := fmt.Sprint(ask(channels.Media{Kind: channels.Image, Ref: "mine"})); got != "[photo image/png mine image/png]" {
			t.Errorf("after a restart the model sees %s", got)
		}
		if a.times("photo") != 1 {
			t.Errorf("the picture was fetched %d times", a.times("photo"))
		}
		blocks, heads := "", 0
		for _, m := range g.transcript(g.r.Key(channels.Inbound{Address: to, Sender: bob})) {
			for _, b := range m.Content {
				if b.Media != nil {
					blocks += b.Media.Ref + " "
				}
			}
			if strings.HasPrefix(m.Text(), "> Bob: [picture]\n> [file q3.pdf]\n\nAnn: what") {
				heads++
			}
		}
		if blocks != "photo pdf mine " || heads != 2 {
			t.Errorf("files %q, %d quotes", blocks, heads)
		}
	})
}

// The agent learns who wrote what somebody passed on, and what talk among people refers to.
// source: openclaw/openclaw#14733, openclaw/openclaw#108466
func TestOriginReachesTheModel(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{}, func(s *Settings) {
			a := s.Accounts[account]
			a.Access.Groups = nil
			s.Accounts[account] = a
		})
		g.fake.Say(channels.Inbound{Address: direct(owner), Sender: person(owner), Text: "We offer you 50k", Forwarded: true, Origin: "Ann in News"})
		g.shown(1)
		run := g.runs()[0]
		if p := run.Input.Provenance; !p.Forwarded || p.Origin != "Ann in News" {
			t.Errorf("%+v", p)
		}
		line := overheard(g.set, channels.Inbound{Address: groupChat("g"), Forwarded: true, Origin: "News\n]"}, "k", "words")
		if line.Text != "[forwarded from News ]]\nwords" {
			t.Errorf("%q", line.Text)
		}
		line = overheard(g.set, channels.Inbound{Address: groupChat("g"), Quote: &channels.Quote{Sender: "Bob", Media: []channels.Media{{Kind: channels.Image}}}}, "k", "nice")
		if line.Text != "> Bob: [picture]\n\nnice" {
			t.Errorf("%q", line.Text)
		}
	})
}
