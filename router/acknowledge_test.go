package router_test

import (
	"slices"
	"testing"
	"testing/synctest"

	"parley/channels"
	"parley/channels/channeltest"
	"parley/policy"
	"parley/router/routertest"
	"parley/router/settings"
)

// The platform's sign that a message was taken is given for what is answered, once, and to nobody else: not to strangers, not for talk
// that is only overheard, not where the policy lets nothing out.
//
// proves: P4
func TestAcknowledged(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{}, func(s *settings.Snapshot) {
			a := s.Accounts[routertest.Account]
			a.Access.DMPolicy, a.Access.AllowFrom = policy.DMAllowlist, []string{routertest.Guest}
			s.Accounts[routertest.Account] = a
			s.Session.SendPolicy.Rules = []policy.SendRule{{Action: policy.Deny, Match: policy.SendMatch{To: "quiet"}}}
		})
		g.Router.Attach(routertest.Account, struct {
			*channeltest.Full
			channels.Acknowledger
		}{g.Fake.Full(), g.Fake.Acknowledger()})
		asked := g.Say(routertest.Direct("a"), routertest.Guest, "hello")
		g.Shown(1)
		told := g.Say(routertest.Direct("a"), routertest.Owner, "/whoami")
		g.Shown(2)
		g.Fake.Say(asked) // once more
		g.Say(routertest.Direct("b"), "9999", "a stranger")
		g.Talk(routertest.Group("garden"), routertest.Guest, "not for the bot")
		g.Say(routertest.Group("quiet"), routertest.Guest, "nothing leaves here")
		g.Deliveries()
		synctest.Wait()
		var got []channels.MessageID
		for _, c := range g.Fake.Calls(channeltest.OpAck) {
			got = append(got, c.ID)
		}
		if want := []channels.MessageID{asked.ID, told.ID}; !slices.Equal(got, want) {
			t.Errorf("acknowledged: %v, not %v", got, want)
		}
	})
}
