package sendtest

import (
	"time"

	"parley/sessions"
	"parley/sessions/storetest/fixture"
)

// A message whose delivery did not arrive says why, and not only which rule had let it go. A try that is made again is no end.
//
// source: https://core.telegram.org/bots/api#making-requests (400 Bad Request: message thread not found)
// proves: T2
func marksSayWhy(f *fixture.Store) {
	a := f.MustAccept(fixture.NewArrival("1", "1", "q"))
	f.MustClaim(fixture.Key("1"))
	m := fixture.Assistant("answer")
	d := fixture.NewDelivery(fixture.Key("1"), fixture.Address("1"), "answer")
	d.Message = m.ID
	f.MustFinish(a.Run.ID, sessions.Outcome{Messages: []sessions.Message{m}, Deliveries: []sessions.Delivery{d}})
	mark := func() sessions.Mark { return f.MustTail(a.Session.ID, sessions.TailQuery{Limit: 1})[0].Deliveries()[0] }
	f.MustBeginSend(d.ID)
	f.OK(f.Retry(f.Context(), d.ID, time.Now(), "the platform is away", sessions.NotArrived))
	f.Equal(mark(), sessions.Mark{Delivery: d.ID, State: sessions.Pending, To: fixture.Address("1").String(), Rule: fixture.Allowed.Rule})
	f.MustBeginSend(d.ID)
	f.OK(f.EndDelivery(f.Context(), d.ID, sessions.DeliveryFail, "message thread not found"))
	f.Equal(mark(), sessions.Mark{Delivery: d.ID, State: sessions.DeliveryFail, To: fixture.Address("1").String(), Rule: fixture.Allowed.Rule, Error: "message thread not found"})
}
