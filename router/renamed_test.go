package router

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"parley/agent"
	"parley/channels"
	"parley/channels/channeltest"
	"parley/policy"
	"parley/sessions"
)

var renamed = AccountRef{fakeKind, "family"}

// at gives the place of a chat on an account.
func (r AccountRef) at(a channels.Address) channels.Address {
	a.Account = r.Account
	return a
}

// called stops the host and starts it with its one account under another name in the configuration.
func (g *rig) called(ref AccountRef) {
	g.t.Helper()
	g.stop()
	settings := *g.set
	settings.Accounts = map[AccountRef]AccountSettings{ref: g.set.Accounts[g.ref]}
	g.set, g.ref = &settings, ref
	g.start()
}

// renamedRig is a host whose platform says who its account is.
func renamedRig(t *testing.T, tests ...func(*Settings)) *rig {
	g := newRig(t, channeltest.Options{}, tests...)
	g.stop()
	g.login = "42"
	g.start()
	return g
}

// An account of the configuration gets another name: a session that was silenced stays silent, in groups and with people, whatever names it.
//
// source: https://core.telegram.org/bots/api#getme (a bot's id is its own, whatever a program calls it)
func TestRenamedAccountStaysSilenced(t *testing.T) {
	for _, scope := range []sessions.DMScope{"", sessions.DMMain, sessions.PerPeer, sessions.PerChannelPeer, sessions.PerAccountChannelPeer} {
		t.Run(string(scope), func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				g := renamedRig(t, scoped(scope))
				for _, chat := range []channels.Address{direct(guest), groupChat("-5")} {
					g.hear(account.at(chat), guest, "hello")
					was := g.r.Key(channels.Inbound{Address: chat, Sender: person(guest)})
					id := g.session(was).ID
					g.override(was, policy.Deny)
					g.called(renamed)
					g.hear(renamed.at(chat), guest, "and now?")
					g.stop()
					g.start()
					g.hear(renamed.at(chat), guest, "and after a restart?")
					if got := append(g.fake.Texts(account.at(chat)), g.fake.Texts(renamed.at(chat))...); len(got) != 1 {
						t.Errorf("answered %q", got)
					}
					s := g.session(g.r.Key(channels.Inbound{Address: renamed.at(chat), Sender: person(guest)}))
					if s.ID != id || s.Last != renamed.at(chat) || s.Turns != 3 {
						t.Errorf("another session: %+v", s)
					}
					g.override(s.Key, policy.Inherit)
					g.hear(renamed.at(chat), guest, "hello?")
					if got := g.fake.Texts(renamed.at(chat)); len(got) != 1 {
						t.Errorf("answered %q", got)
					}
					g.called(account) // and back, for the other chat
				}
			})
		})
	}
}

// Rules and bindings of the configuration that name the old account hold for it until one names the new account.
func TestRenamedAccountKeepsRules(t *testing.T) {
	deny := func(m policy.SendMatch) func(*Settings) {
		return func(s *Settings) { s.Session.SendPolicy.Rules = []policy.SendRule{{Action: policy.Deny, Match: m}} }
	}
	bind := func(list ...sessions.Binding) func(*Settings) {
		return func(s *Settings) {
			s.Agents.List = []agent.Entry{{ID: "main", Default: true}, {ID: "ops"}, {ID: "third"}}
			s.Bindings = list
		}
	}
	group := groupChat("-5")
	for name, c := range map[string]struct {
		set     func(*Settings)
		answers int
		agent   sessions.AgentID
	}{
		"by the account":         {deny(policy.SendMatch{AccountID: "default"}), 0, "main"},
		"by the address":         {deny(policy.SendMatch{To: group.String()}), 0, "main"},
		"by the key":             {deny(policy.SendMatch{RawKeyPrefix: "agent:main:fake:group:"}), 0, "main"},
		"by the new key":         {deny(policy.SendMatch{RawKeyPrefix: "agent:main:fake:family:group:"}), 0, "main"},
		"by another account":     {deny(policy.SendMatch{AccountID: "other"}), 1, "main"},
		"bound":                  {bind(sessions.Binding{AgentID: "ops", Match: sessions.BindingMatch{Channel: fakeKind}}), 1, "ops"},
		"bound by the new name":  {bind(sessions.Binding{AgentID: "ops", Match: sessions.BindingMatch{Channel: fakeKind}}, sessions.Binding{AgentID: "third", Match: sessions.BindingMatch{Channel: fakeKind, AccountID: "family"}}), 1, "third"},
		"bound whatever account": {bind(sessions.Binding{AgentID: "third", Match: sessions.BindingMatch{Channel: fakeKind, AccountID: "*"}}, sessions.Binding{AgentID: "ops", Match: sessions.BindingMatch{Channel: fakeKind}}), 1, "ops"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				g := renamedRig(t, c.set)
				g.hear(group, guest, "hello")
				g.called(renamed)
				g.hear(renamed.at(group), guest, "hello")
				if got := g.fake.Texts(renamed.at(group)); len(got) != c.answers {
					t.Errorf("answered %q", got)
				}
				if got := g.r.Key(channels.Inbound{Address: renamed.at(group), Sender: person(guest)}).Agent(); got != c.agent {
					t.Errorf("agent %q", got)
				}
			})
		})
	}
}

// What waited for the account when the host stopped leaves by its new name, once: what was pending, what may have been sent, an answer that is
// being written, a job. Who was let in is let in.
func TestRenamedAccountTakesWhatWaits(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := renamedRig(t, byPairing)
		g.say(direct(guest), guest, "hello")
		g.letIn(g.code(direct(guest)))
		<-time.After(time.Minute)
		synctest.Wait()
		before := len(g.fake.Texts(direct(guest)))
		g.r.Attach(account, nil)
		g.hear(direct(guest), guest, "one")
		g.hear(direct(guest), guest, "two")
		g.called(renamed)
		g.hear(renamed.at(direct(guest)), guest, "three")
		if got := g.fake.Texts(direct(guest)); len(got) != before {
			t.Errorf("by the old name: %q", got)
		}
		if got, want := g.fake.Texts(renamed.at(direct(guest))), []string{"echo: one", "echo: two", "echo: three"}; !slices.Equal(got, want) {
			t.Errorf("answered %q, want %q", got, want)
		}
		for _, d := range g.deliveries() {
			if d.State != sessions.Sent {
				t.Errorf("%+v", d)
			}
		}
	})
}

// The configuration is read again while an answer waits for the account under its old name.
func TestRenamedAccountByReload(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := renamedRig(t)
		g.hear(groupChat("-5"), guest, "hello")
		g.r.Attach(account, nil)
		g.hear(groupChat("-5"), guest, "are you there?")
		settings := *g.set
		settings.Accounts = map[AccountRef]AccountSettings{renamed: g.set.Accounts[account]}
		if err := g.r.Apply(t.Context(), &settings); err != nil {
			t.Fatal(err)
		}
		g.r.Attach(renamed, g.fake.Full())
		if err := g.r.Identified(t.Context(), renamed, g.login, []channels.AccountID{"family"}); err != nil {
			t.Fatal(err)
		}
		g.hear(renamed.at(groupChat("-5")), guest, "and now?")
		if got := g.fake.Texts(renamed.at(groupChat("-5"))); len(got) != 2 {
			t.Errorf("answered %q", got)
		}
	})
}

// The configuration is read again while a platform is slow to answer: what it is taking is not cut, nor sent again, and what waits behind it
// keeps its order.
//
// source: https://core.telegram.org/bots/api#sendmessage (a bot cannot ask what became of a message)
func TestRenamedAccountWhileSending(t *testing.T) {
	for name, detached := range map[string]bool{"disconnected before": true, "disconnected after": false} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				g := renamedRig(t)
				group := groupChat("-5")
				g.fake.Script(channeltest.Step{Delay: sendGrace + 10*time.Second, Arrives: true})
				for _, words := range []string{"one", "two"} {
					g.say(group, guest, words)
					<-time.After(2 * time.Second)
				}
				synctest.Wait()
				if detached {
					g.r.Attach(account, nil)
				}
				settings := *g.set
				settings.Accounts = map[AccountRef]AccountSettings{renamed: g.set.Accounts[account]}
				applied := make(chan error, 1)
				go func() { applied <- g.r.Apply(t.Context(), &settings) }() // it waits for what is on its way
				synctest.Wait()
				if got := g.fake.Texts(group); len(got) != 0 {
					t.Fatalf("nothing is on its way when the account has another name: %q has arrived", got)
				}
				g.r.Attach(renamed, g.fake.Full())
				if err := g.r.Identified(t.Context(), renamed, g.login, []channels.AccountID{"family"}); err != nil {
					t.Fatal(err)
				}
				g.r.Attach(account, nil)
				check(t, <-applied)
				g.hear(renamed.at(group), guest, "three")
				<-time.After(time.Minute)
				synctest.Wait()
				if got, want := append(g.fake.Texts(group), g.fake.Texts(renamed.at(group))...), []string{"echo: 2002: one", "echo: 2002: two", "echo: 2002: three"}; !slices.Equal(got, want) {
					t.Errorf("sent %q, want %q", got, want)
				}
				for _, d := range g.deliveries() {
					if d.State != sessions.Sent {
						t.Errorf("%+v", d)
					}
				}
			})
		})
	}
}

// lostIdentify is a store whose first answer about who an account is does not come back.
type lostIdentify struct {
	sessions.Store
	lost *bool
}

func (s lostIdentify) Identify(ctx context.Context, l sessions.Login) (sessions.Identified, error) {
	found, err := s.Store.Identify(ctx, l)
	if err == nil && !*s.lost {
		*s.lost = true
		return sessions.Identified{}, sessions.ErrUncertain
	}
	return found, err
}

// The store has a rename, and its answer is lost: what waits leaves all the same once the account has asked again.
func TestRenamedAccountAskedAgain(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := renamedRig(t)
		g.stop()
		lost := true
		g.wrap = func(s sessions.Store) sessions.Store { return lostIdentify{s, &lost} }
		g.start()
		group := groupChat("-5")
		g.hear(group, guest, "one")
		g.r.Attach(account, nil)
		g.hear(group, guest, "two")
		settings := *g.set
		settings.Accounts = map[AccountRef]AccountSettings{renamed: g.set.Accounts[account]}
		check(t, g.r.Apply(t.Context(), &settings))
		g.r.Attach(renamed, g.fake.Full())
		lost = false
		if err := g.r.Identified(t.Context(), renamed, g.login, []channels.AccountID{"family"}); !errors.Is(err, sessions.ErrUncertain) {
			t.Fatal(err)
		}
		check(t, g.r.Identified(t.Context(), renamed, g.login, []channels.AccountID{"family"}))
		synctest.Wait()
		if got, want := g.fake.Texts(renamed.at(group)), []string{"echo: 2002: two"}; !slices.Equal(got, want) {
			t.Errorf("sent %q, want %q", got, want)
		}
	})
}

// An account that had several names is bound as it was under the newest that has a binding.
func TestRenamedAccountSeveralTimes(t *testing.T) {
	group := groupChat("-5")
	f := newFormer()
	names := []channels.AccountID{"default", "e", "b", "d", "a", "c"}
	for i, was := range names[:len(names)-1] {
		f.rename(AccountRef{fakeKind, names[i+1]}, was)
	}
	f.rename(AccountRef{fakeKind, "c"}, "z")
	var got []channels.AccountID
	for _, a := range f.names(AccountRef{fakeKind, "c"}.at(group)) {
		got = append(got, a.Account)
	}
	if want := []channels.AccountID{"c", "a", "z", "d", "b", "e", "default"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	bind := func(agent sessions.AgentID, account channels.AccountID) sessions.Binding {
		return sessions.Binding{AgentID: agent, Match: sessions.BindingMatch{Channel: fakeKind, AccountID: account}}
	}
	routes := sessions.Routes{Default: "main", Agents: []sessions.AgentID{"first", "second"}, Former: f.names,
		Bindings: []sessions.Binding{bind("first", "default"), bind("second", "d"), bind("first", "e")}}
	if _, agent, _ := routes.Key(channels.Inbound{Address: AccountRef{fakeKind, "c"}.at(group)}); agent != "second" {
		t.Errorf("bound to %q", agent)
	}
}
