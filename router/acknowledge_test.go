package router

import (
	"slices"
	"testing"
	"testing/synctest"

	"parley/channels"
	"parley/channels/channeltest"
	"parley/policy"
)

// The platform's sign that a message was taken is given for what is answered, once, and to nobody else: not to strangers, not for talk
// that is only overheard, not where the policy lets nothing out.
//
// proves: P4
func TestAcknowledged(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{}, func(s *Settings) {
			a := s.Accounts[account]
			a.Access.DMPolicy, a.Access.AllowFrom = policy.DMAllowlist, []string{guest}
			s.Accounts[account] = a
			s.Session.SendPolicy.Rules = []policy.SendRule{{Action: policy.Deny, Match: policy.SendMatch{To: "quiet"}}}
		})
		g.r.Attach(account, struct {
			*channeltest.Full
			channels.Acknowledger
		}{g.fake.Full(), g.fake.Acknowledger()})
		asked := g.say(direct("a"), guest, "hello")
		g.shown(1)
		told := g.say(direct("a"), owner, "/whoami")
		g.shown(2)
		g.fake.Say(asked) // once more
		g.say(direct("b"), "9999", "a stranger")
		g.talk(groupChat("garden"), guest, "not for the bot")
		g.say(groupChat("quiet"), guest, "nothing leaves here")
		g.deliveries()
		synctest.Wait()
		var got []channels.MessageID
		for _, c := range g.fake.Calls(channeltest.OpAck) {
			got = append(got, c.ID)
		}
		if want := []channels.MessageID{asked.ID, told.ID}; !slices.Equal(got, want) {
			t.Errorf("acknowledged: %v, not %v", got, want)
		}
	})
}
