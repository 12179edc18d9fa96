package inboxtest

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"parley/channels"
	"parley/sessions"
	"parley/sessions/storetest/fixture"
)

// millisecondsAsSeconds is a date of a platform that counts in milliseconds, read as seconds.
var millisecondsAsSeconds = time.Unix(1_700_000_000_123, 0)

// A time that JSON cannot say stops no chat: not of a message, nor of a receipt, of which the message has left already.
// source: Bot API, Message.date (Unix time in seconds)
func outOfRange(f *fixture.Store) {
	for _, far := range []time.Time{millisecondsAsSeconds, time.Unix(-1_700_000_000_123, 0), time.UnixMilli(-1 << 63), time.UnixMilli(1<<63 - 1)} {
		chat := fixture.NewID()
		a := fixture.NewArrival(chat, "1", "q")
		a.In.Time, a.Change.Run.Input.Time = far, far
		a.Change.Ops = []sessions.Op{sessions.EnqueueDelivery(fixture.NewDelivery("", fixture.Address(chat), "d"))}
		acc := f.MustAccept(a)
		f.MustAccept(sessions.Arrival{In: channels.Inbound{Event: channels.Message, Address: fixture.Address(chat), ID: "2"}, Skip: &sessions.Skip{Reason: "x", Events: []sessions.SkipEvent{sessions.AppendContext{Key: fixture.Key(chat), Sender: "1", Text: "t", Message: "2", Time: far}}}})
		run := f.MustClaim(fixture.Key(chat))
		said := fixture.Assistant("a")
		said.Time = far
		f.OK(f.Record(f.Context(), run.ID, said))
		d := acc.Deliveries[0].ID
		f.MustBeginSend(d)
		f.OK(f.PartSent(f.Context(), d, channels.Receipt{ID: "r", At: far}, false))
		f.OK(f.Retry(f.Context(), d, far, "x", sessions.NotArrived))
		f.MustBeginSend(d)
		f.OK(f.PartSent(f.Context(), d, channels.Receipt{ID: "r2", At: far}, true))
		heard, err := f.ContextLines(f.Context(), fixture.Key(chat))
		f.OK(err)
		if b, err := json.Marshal([]any{acc, run, f.MustGetDelivery(d), f.MustTail(acc.Session.ID, sessions.TailQuery{}), heard, f.MustGet(fixture.Key(chat))}); err != nil {
			f.Fatal(err)
		} else if f.MustGetDelivery(d).State != sessions.Sent {
			f.Errorf("%s", b)
		}
	}
}

// Ids of any length are told apart, and what cannot be stored for the length of its chat's id can be quarantined.
// source: PostgreSQL documentation, 67.4.1 (a B-tree entry has at most a third of a page)
func longIDs(f *fixture.Store) {
	random := func() string {
		b := make([]byte, 10_000)
		_, _ = rand.Read(b) // it never fails
		return hex.EncodeToString(b)
	}
	long := random()
	a := fixture.NewArrival("1", long+"1", "q")
	acc := f.MustAccept(a)
	f.Equal(f.MustAccept(a).Duplicate, true)
	f.Equal(f.MustAccept(fixture.NewArrival("1", long+"2", "q")).Duplicate, false)
	if run, ok, err := f.Asked(f.Context(), fixture.Address("1"), channels.MessageID(long+"1")); err != nil || !ok || run.ID != acc.Run.ID {
		f.Error(run.ID, ok, err)
	}
	d := f.QueueDelivery(fixture.NewDelivery(fixture.Key("1"), fixture.Address("1"), "x"))
	f.MustBeginSend(d.ID)
	f.OK(f.PartSent(f.Context(), d.ID, channels.Receipt{ID: channels.MessageID(long), At: time.Now()}, true))
	for id, want := range map[string]bool{long: true, long + "3": false} {
		if _, own, err := f.OwnMessage(f.Context(), fixture.Address("1"), channels.MessageID(id)); err != nil || own != want {
			f.Error(own, err)
		}
	}
	far := fixture.NewArrival(random()+"\x00\xff", "9", "q")
	if _, err := f.Accept(f.Context(), far); err != nil && !errors.Is(err, sessions.ErrInvalid) {
		f.Errorf("%.300s", err.Error())
	} else if err != nil {
		f.MustAccept(sessions.Arrival{In: far.In, Skip: &sessions.Skip{Reason: sessions.QuarantineReason + ": it is too long", Listed: true}})
		list, err := f.Skipped(f.Context(), 10)
		f.OK(err)
		if len(list) != 1 || !strings.HasPrefix(list[0].Reason, sessions.QuarantineReason) {
			f.Errorf("%d are listed", len(list))
		}
	}
}
