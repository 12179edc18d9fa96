package chattest

import (
	"strings"

	"parley/sessions"
	"parley/sessions/storetest/fixture"
)

// Of a chat that writes to two sessions one after the other, each knows what the other one has posted there, once; what did not arrive is told to
// neither.
func postedElsewhere(f *fixture.Store) {
	was, now, chat := fixture.Key("1"), sessions.Key("agent:main:main"), fixture.Address("1")
	arrival := func(key sessions.Key, id string) sessions.Run {
		a := fixture.NewArrival("1", id, id)
		a.Change.Session.Key, a.Change.Run.Key = key, key
		return f.MustAccept(a).Run
	}
	post := func(text string, arrives bool) {
		d := fixture.NewDelivery(was, chat, text)
		d.Kind = sessions.Announce
		if d = f.QueueDelivery(d); arrives {
			f.Deliver(d.ID)
		}
	}
	told := func(run sessions.Run) string {
		var texts []string
		for _, b := range f.MustGetRun(run.ID).Input.Content {
			for _, l := range b.ContextLines() {
				texts = append(texts, string(l.Event)+" "+l.Text)
			}
		}
		return strings.Join(texts, ", ")
	}
	f.Equal(told(arrival(was, "m1")), "")
	post("report", true)
	post("waits", false)
	f.Equal(told(arrival(now, "m2")), "posted report")
	f.Equal(f.ContextTexts(now), []string(nil))
	post("another", true)
	f.Equal(f.ContextTexts(now), []string{"another"})
	f.Equal(f.ContextTexts(was), []string(nil))
	f.Equal(told(arrival(now, "m3")), "")
}
