package delivery_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"parley/channels"
	"parley/channels/channeltest"
	"parley/router/routertest"
	"parley/sessions"
)

// onlyTheAnswer fails unless the chat shows the answer of the run, once, and nothing is left of what came before it.
func onlyTheAnswer(g *routertest.Rig) {
	g.T.Helper()
	<-time.After(time.Hour)
	synctest.Wait()
	d := g.Deliveries()[0]
	if got := g.Fake.Texts(routertest.Direct("a")); d.State != sessions.Sent || d.Repeat || len(got) != 1 || got[0] != d.Text {
		g.T.Errorf("%s, marked %v, shown %q", d.State, d.Repeat, got)
	}
	noPreviews(g)
}

// TestRetriedAnswerStays: an answer expires while its account is away, so its first words are to go; a person has it sent again before
// they could: it is not taken away.
func TestRetriedAnswerStays(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.Writes(t, routertest.TenSeconds(), channeltest.Options{}, routertest.Edits)
		g.Say(routertest.Direct("a"), routertest.Guest, "write")
		g.Shown(1)
		<-time.After(3 * time.Second)
		g.Router.Attach(routertest.Account, nil)
		<-time.After(2 * time.Hour)
		d := g.Deliveries()[0]
		if d.State != sessions.Expired {
			t.Fatalf("%+v", d)
		}
		if _, err := g.Router.RetryDelivery(t.Context(), d.ID); err != nil {
			t.Fatal(err)
		}
		g.Router.Attach(routertest.Account, g.Fake.Full())
		onlyTheAnswer(g)
	})
}

// TestAnswerBetweenTries: the same while taking them back has to wait for another try.
func TestAnswerBetweenTries(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.Writes(t, routertest.TenSeconds(), channeltest.Options{}, routertest.Edits)
		g.Say(routertest.Direct("a"), routertest.Guest, "write")
		g.Shown(1)
		<-time.After(3 * time.Second)
		g.Router.Attach(routertest.Account, nil)
		<-time.After(2 * time.Hour)
		g.Fake.Script(channeltest.Step{Op: channeltest.OpRemove, Err: &channels.Error{Class: channels.Limited, RetryAfter: time.Minute, Err: errors.New("wait")}})
		g.Router.Attach(routertest.Account, g.Fake.Full())
		g.Until("a try", func() bool { return len(g.Fake.Calls(channeltest.OpRemove)) == 1 })
		if _, err := g.Router.RetryDelivery(t.Context(), g.Deliveries()[0].ID); err != nil {
			t.Fatal(err)
		}
		onlyTheAnswer(g)
	})
}

// TestAnswerOfADeletedSessionStays: a session is deleted while its answer waits.
func TestAnswerOfADeletedSessionStays(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.Writes(t, routertest.TenSeconds(), channeltest.Options{}, routertest.Edits)
		g.Say(routertest.Direct("a"), routertest.Guest, "write")
		g.Shown(1)
		<-time.After(3 * time.Second)
		g.Router.Attach(routertest.Account, nil)
		<-time.After(30 * time.Second)
		if err := g.Store.Delete(t.Context(), "agent:main:fake:direct:"+routertest.Guest); err != nil {
			t.Fatal(err)
		}
		<-time.After(20 * time.Minute)
		g.Router.Attach(routertest.Account, g.Fake.Full())
		onlyTheAnswer(g)
	})
}

// TestFirstWordsGoAfterAnOutage: what cannot be taken back while the platform is away is, once it is there again.
func TestFirstWordsGoAfterAnOutage(t *testing.T) {
	for _, c := range []channels.Class{channels.Transient, channels.Limited, channels.Unauthorized} {
		t.Run(string(c), func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				w := routertest.TenSeconds()
				w.Fails = errors.New("broken")
				g := routertest.Writes(t, w, channeltest.Options{}, routertest.Edits)
				g.Say(routertest.Direct("a"), routertest.Guest, "write")
				g.Shown(1)
				<-time.After(5 * time.Second)
				down := routertest.Class(c)
				g.Fake.Script(channeltest.Step{Op: channeltest.OpRemove, Times: 3 * removeTries, Err: down}, channeltest.Step{Op: channeltest.OpEdit, Times: -1, Err: down})
				<-time.After(2 * time.Hour)
				if got := g.Fake.Texts(routertest.Direct("a")); len(got) != 1 || got[0] == w.Answer {
					t.Errorf("%q; %d tries", got, len(g.Fake.Calls(channeltest.OpRemove)))
				}
				noPreviews(g)
			})
		})
	}
}

// TestDraftEnds: the draft of an answer goes out of the chat when the turn is stopped, and stays for the answer when there is one.
func TestDraftEnds(t *testing.T) {
	for name, stop := range map[string]bool{"stopped": true, "answered": false} {
		t.Run(name, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				g := routertest.Writes(t, routertest.TenSeconds(), channeltest.Options{}, routertest.WithStreaming(channels.Streaming{Direct: channels.StreamDraft}))
				g.Say(routertest.Direct("a"), routertest.Guest, "write")
				g.Until("a draft", func() bool { return len(g.Fake.Calls(channeltest.OpDraft)) > 0 })
				if stop {
					g.Say(routertest.Direct("a"), routertest.Guest, "/stop")
				}
				<-time.After(time.Minute)
				synctest.Wait()
				drafts := g.Fake.Calls(channeltest.OpDraft)
				if ended := drafts[len(drafts)-1].Text == ""; ended != stop {
					t.Errorf("the last draft is %q", drafts[len(drafts)-1].Text)
				}
			})
		})
	}
}
