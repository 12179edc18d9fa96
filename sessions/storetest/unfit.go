package storetest

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"parley/channels"
	"parley/sessions"
)

// milliseconds is a date of a platform that counts in milliseconds, read as seconds.
var milliseconds = time.Unix(1_700_000_000_123, 0)

// A time that JSON cannot say stops no chat: not of a message, nor of a receipt, of which the message has left already.
// source: Bot API, Message.date (Unix time in seconds)
func outOfRange(_ *testing.T, f *fixture) {
	for _, far := range []time.Time{milliseconds, time.Unix(-1_700_000_000_123, 0), time.UnixMilli(-1 << 63), time.UnixMilli(1<<63 - 1)} {
		chat := id()
		a := message(chat, "1", "q")
		a.In.Time, a.Change.Run.Input.Time = far, far
		a.Change.Ops = []sessions.Op{sessions.EnqueueDelivery(delivery("", addr(chat), "d"))}
		acc := f.accept(a)
		f.accept(sessions.Arrival{In: channels.Inbound{Event: channels.Message, Address: addr(chat), ID: "2"}, Skip: &sessions.Skip{Reason: "x", Events: []sessions.SkipEvent{sessions.AppendContext{Key: key(chat), Sender: "1", Text: "t", Message: "2", Time: far}}}})
		run := f.claim(key(chat))
		said := assistant("a")
		said.Time = far
		f.ok(f.Record(f.ctx, run.ID, said))
		d := acc.Deliveries[0].ID
		f.begin(d)
		f.ok(f.PartSent(f.ctx, d, channels.Receipt{ID: "r", At: far}, false))
		f.ok(f.Retry(f.ctx, d, far, "x", sessions.NotArrived))
		f.begin(d)
		f.ok(f.PartSent(f.ctx, d, channels.Receipt{ID: "r2", At: far}, true))
		heard, err := f.Store.ContextLines(f.ctx, key(chat))
		f.ok(err)
		if b, err := json.Marshal([]any{acc, run, f.delivery(d), f.tail(acc.Session.ID, sessions.TailQuery{}), heard, f.get(key(chat))}); err != nil {
			f.t.Fatal(err)
		} else if f.delivery(d).State != sessions.Sent {
			f.t.Errorf("%s", b)
		}
	}
}

// Ids of any length are told apart, and what cannot be stored for the length of its chat's id can be quarantined.
// source: PostgreSQL documentation, 67.4.1 (a B-tree entry has at most a third of a page)
func longIDs(_ *testing.T, f *fixture) {
	random := func() string {
		b := make([]byte, 10_000)
		_, _ = rand.Read(b) // it never fails
		return hex.EncodeToString(b)
	}
	long := random()
	a := message("1", long+"1", "q")
	acc := f.accept(a)
	f.equal(f.accept(a).Duplicate, true)
	f.equal(f.accept(message("1", long+"2", "q")).Duplicate, false)
	if run, ok, err := f.Store.Asked(f.ctx, addr("1"), channels.MessageID(long+"1")); err != nil || !ok || run.ID != acc.Run.ID {
		f.t.Error(run.ID, ok, err)
	}
	d := f.post(delivery(key("1"), addr("1"), "x"))
	f.begin(d.ID)
	f.ok(f.PartSent(f.ctx, d.ID, channels.Receipt{ID: channels.MessageID(long), At: time.Now()}, true))
	for id, want := range map[string]bool{long: true, long + "3": false} {
		if _, own, err := f.Store.OwnMessage(f.ctx, addr("1"), channels.MessageID(id)); err != nil || own != want {
			f.t.Error(own, err)
		}
	}
	far := message(random()+"\x00\xff", "9", "q")
	if _, err := f.Accept(f.ctx, far); err != nil && !errors.Is(err, sessions.ErrInvalid) {
		f.t.Errorf("%.300s", err.Error())
	} else if err != nil {
		f.accept(sessions.Arrival{In: far.In, Skip: &sessions.Skip{Reason: sessions.QuarantineReason + ": it is too long", Listed: true}})
		list, err := f.Store.Skipped(f.ctx, 10)
		f.ok(err)
		if len(list) != 1 || !strings.HasPrefix(list[0].Reason, sessions.QuarantineReason) {
			f.t.Errorf("%d are listed", len(list))
		}
	}
}
