package storetest

import (
	"testing"
	"time"

	"parley/sessions"
)

// A message whose delivery did not arrive says why, and not only which rule had let it go. A try that is made again is no end.
//
// source: https://core.telegram.org/bots/api#making-requests (400 Bad Request: message thread not found)
// proves: T2
func marksSayWhy(_ *testing.T, f *fixture) {
	a := f.accept(message("1", "1", "q"))
	f.claim(key("1"))
	m := assistant("answer")
	d := delivery(key("1"), addr("1"), "answer")
	d.Message = m.ID
	f.finish(a.Run.ID, sessions.Outcome{Messages: []sessions.Message{m}, Deliveries: []sessions.Delivery{d}})
	mark := func() sessions.Mark { return f.tail(a.Session.ID, sessions.TailQuery{Limit: 1})[0].Deliveries[0] }
	f.begin(d.ID)
	f.ok(f.Retry(f.ctx, d.ID, time.Now(), "the platform is away", sessions.NotArrived))
	f.equal(mark(), sessions.Mark{Delivery: d.ID, State: sessions.Pending, To: addr("1").String(), Rule: allowed.Rule})
	f.begin(d.ID)
	f.ok(f.EndDelivery(f.ctx, d.ID, sessions.DeliveryFail, "message thread not found"))
	f.equal(mark(), sessions.Mark{Delivery: d.ID, State: sessions.DeliveryFail, To: addr("1").String(), Rule: allowed.Rule, Error: "message thread not found"})
}
