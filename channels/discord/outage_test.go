package discord

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/channels"
	"parley/channels/discord/discordtest"
)

// Messages that cannot be read for a while, though the gateway works, are read when they can be: nothing later is offered before them,
// more than a line keeps included. What is refused for good holds nothing up.
func TestMissedMessagesOutliveAnOutage(t *testing.T) {
	for name, c := range map[string]struct {
		fault discordtest.Fault
		later int
		given bool
	}{
		"503":          {discordtest.Fault{Status: 503}, 3, true},
		"cut":          {discordtest.Fault{Cut: true}, 3, true},
		"a proxy's":    {discordtest.Fault{Status: 403, Body: "<html>blocked</html>"}, 3, true},
		"a full line":  {discordtest.Fault{Status: 503}, maxWaiting + 20, true},
		"not allowed":  {discordtest.Fault{Status: 403, Code: 50001}, 3, false},
		"chat is gone": {discordtest.Fault{Status: 404, Code: 10003}, 3, false},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(h *host) {
				h.srv.Say(general, anna, "first")
				h.one()
				c.fault.Method, c.fault.Route, c.fault.Channel, c.fault.Times = http.MethodGet, discordtest.RouteMessages, general, -1
				remove := h.srv.Inject(c.fault)
				h.srv.Expire()
				h.srv.Miss(general, anna, "missed")
				h.srv.Drop()
				h.after(20 * time.Minute)
				var want []string
				if c.given {
					want = append(want, "missed")
				}
				for i := range c.later {
					want = append(want, fmt.Sprint("live ", i))
					h.srv.Say(general, anna, want[len(want)-1])
				}
				h.after(40 * time.Minute)
				early := h.taken()
				if c.given && len(early) > 0 {
					h.t.Errorf("offered before what was missed: %q", words(early))
				}
				remove()
				h.after(90 * time.Second)
				got := append(early, h.taken()...)
				var once []channels.Inbound
				for _, in := range got { // what the line could not keep may come twice, which is harmless
					if !slices.ContainsFunc(once, func(old channels.Inbound) bool { return old.ID == in.ID }) {
						once = append(once, in)
					}
				}
				if text := words(once); text != strings.Join(want, ",") {
					h.t.Errorf("%d events, %d were written: %.300q", len(once), len(want), text)
				}
			})
		})
	}
}
