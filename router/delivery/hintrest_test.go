package delivery_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"parley/channels"
	"parley/channels/channeltest"
	"parley/router/routertest"
)

// Where drafts or typing fail they come rarely, answer after answer; other chats are shown theirs, and after a success all is as before.
// source: https://core.telegram.org/bots/api#sendmessagedraft, which servers before 9.3 answer with 404
func TestFailedHintsComeRarely(t *testing.T) {
	no := &channels.Error{Class: channels.Unsupported, Err: errors.New("404 Not Found: method not found")}
	away := &channels.Error{Class: channels.Transient, Err: errors.New("502 Bad Gateway")}
	for name, c := range map[string]struct {
		err  error
		most int // calls during twenty answers of ten seconds
	}{"refused": {no, 2}, "away": {away, 6}} {
		t.Run(name, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				g := routertest.Writes(t, routertest.TenSeconds(), channeltest.Options{})
				g.Fake.Script(channeltest.Step{Op: channeltest.OpDraft, Chat: "a", Err: c.err, Times: -1},
					channeltest.Step{Op: channeltest.OpTyping, Chat: "a", Err: c.err, Times: -1})
				n := 0
				answer := func(chat string) (drafts, typing int) {
					g.Say(routertest.Direct(chat), routertest.Guest, "write")
					n++
					g.Ended(n)
					synctest.Wait()
					return count(g, channeltest.OpDraft, chat), count(g, channeltest.OpTyping, chat)
				}
				for range 20 {
					answer("a")
				}
				if drafts, typing := count(g, channeltest.OpDraft, "a"), count(g, channeltest.OpTyping, "a"); drafts > c.most || typing > c.most || drafts == 0 || typing == 0 {
					t.Errorf("%d drafts, typing %d times", drafts, typing)
				}
				if drafts, typing := answer("b"); drafts < 5 || typing < 2 {
					t.Errorf("another chat: %d drafts, typing %d times", drafts, typing)
				}
				g.Fake.Script(channeltest.Step{Op: channeltest.OpDraft, Chat: "c", Err: c.err})
				if drafts, _ := answer("c"); drafts != 1 && errors.Is(c.err, no) {
					t.Errorf("one refusal: %d drafts", drafts)
				}
				<-time.After(time.Hour) // virtual time
				if drafts, _ := answer("c"); drafts < 5 {
					t.Errorf("an hour after the refusal: %d drafts", drafts)
				}
			})
		})
	}
}

func count(g *routertest.Rig, op channeltest.Op, chat string) (n int) {
	for _, c := range g.Fake.Calls(op) {
		if string(c.To.Chat) == chat {
			n++
		}
	}
	return n
}
