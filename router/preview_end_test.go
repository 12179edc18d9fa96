package router

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"parley/channels"
	"parley/channels/channeltest"
	"parley/sessions"
)

// onlyTheAnswer fails unless the chat shows the answer of the run, once, and nothing is left of what came before it.
func onlyTheAnswer(g *rig) {
	g.t.Helper()
	<-time.After(time.Hour)
	synctest.Wait()
	d := g.deliveries()[0]
	if got := g.fake.Texts(direct("a")); d.State != sessions.Sent || d.Repeat || len(got) != 1 || got[0] != d.Text {
		g.t.Errorf("%s, marked %v, shown %q", d.State, d.Repeat, got)
	}
	g.noPreviews()
}

// TestRetriedAnswerStays: an answer expires while its account is away, so its first words are to go; a person has it sent again before
// they could: it is not taken away.
func TestRetriedAnswerStays(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := writes(t, tenSeconds(), channeltest.Options{}, edits)
		g.say(direct("a"), guest, "write")
		g.shown(1)
		<-time.After(3 * time.Second)
		g.r.Attach(account, nil)
		<-time.After(2 * time.Hour)
		d := g.deliveries()[0]
		if d.State != sessions.Expired {
			t.Fatalf("%+v", d)
		}
		if _, err := g.r.RetryDelivery(t.Context(), d.ID); err != nil {
			t.Fatal(err)
		}
		g.r.Attach(account, g.fake.Full())
		onlyTheAnswer(g)
	})
}

// TestAnswerBetweenTries: the same while taking them back has to wait for another try.
func TestAnswerBetweenTries(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := writes(t, tenSeconds(), channeltest.Options{}, edits)
		g.say(direct("a"), guest, "write")
		g.shown(1)
		<-time.After(3 * time.Second)
		g.r.Attach(account, nil)
		<-time.After(2 * time.Hour)
		g.fake.Script(channeltest.Step{Op: channeltest.OpRemove, Err: &channels.Error{Class: channels.Limited, RetryAfter: time.Minute, Err: errors.New("wait")}})
		g.r.Attach(account, g.fake.Full())
		g.until("a try", func() bool { return len(g.fake.Calls(channeltest.OpRemove)) == 1 })
		if _, err := g.r.RetryDelivery(t.Context(), g.deliveries()[0].ID); err != nil {
			t.Fatal(err)
		}
		onlyTheAnswer(g)
	})
}

// TestAnswerOfADeletedSessionStays: a session is deleted while its answer waits.
func TestAnswerOfADeletedSessionStays(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := writes(t, tenSeconds(), channeltest.Options{}, edits)
		g.say(direct("a"), guest, "write")
		g.shown(1)
		<-time.After(3 * time.Second)
		g.r.Attach(account, nil)
		<-time.After(30 * time.Second)
		if err := g.store.Delete(t.Context(), "agent:main:fake:direct:"+guest); err != nil {
			t.Fatal(err)
		}
		<-time.After(20 * time.Minute)
		g.r.Attach(account, g.fake.Full())
		onlyTheAnswer(g)
	})
}

// TestFirstWordsGoAfterAnOutage: what cannot be taken back while the platform is away is, once it is there again.
func TestFirstWordsGoAfterAnOutage(t *testing.T) {
	for _, c := range []channels.Class{channels.Transient, channels.Limited, channels.Unauthorized} {
		t.Run(string(c), func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := tenSeconds()
				w.fails = errors.New("broken")
				g := writes(t, w, channeltest.Options{}, edits)
				g.say(direct("a"), guest, "write")
				g.shown(1)
				<-time.After(5 * time.Second)
				down := class(c)
				g.fake.Script(channeltest.Step{Op: channeltest.OpRemove, Times: 3 * removeTries, Err: down}, channeltest.Step{Op: channeltest.OpEdit, Times: -1, Err: down})
				<-time.After(2 * time.Hour)
				if got := g.fake.Texts(direct("a")); len(got) != 1 || got[0] == w.answer {
					t.Errorf("%q; %d tries", got, len(g.fake.Calls(channeltest.OpRemove)))
				}
				g.noPreviews()
			})
		})
	}
}
