package router_test

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
	"parley/router/routertest"
	"parley/router/settings"
	"parley/sessions"
	"parley/sessions/route"
)

var renamed = settings.AccountRef{Channel: routertest.Kind, Account: "family"}

// at gives the place of a chat on an account.
func atAccount(r settings.AccountRef, a channels.Address) channels.Address {
	a.Account = r.Account
	return a
}

// called stops the host and starts it with its one account under another name in the configuration.
func called(g *routertest.Rig, ref settings.AccountRef) {
	g.T.Helper()
	g.Stop()
	set := *g.Settings
	set.Accounts = map[settings.AccountRef]settings.Account{ref: g.Settings.Accounts[g.Ref]}
	g.Settings, g.Ref = &set, ref
	g.Start()
}

// renamedRig is a host whose platform says who its account is.
func renamedRig(t *testing.T, tests ...func(*settings.Snapshot)) *routertest.Rig {
	g := routertest.New(t, channeltest.Options{}, tests...)
	g.Stop()
	g.Login = "42"
	g.Start()
	return g
}

// An account of the configuration gets another name: a session that was silenced stays silent, in groups and with people, whatever names it.
//
// source: https://core.telegram.org/bots/api#getme (a bot's id is its own, whatever a program calls it)
func TestRenamedAccountStaysSilenced(t *testing.T) {
	for _, scope := range []sessions.DMScope{"", sessions.DMMain, sessions.PerPeer, sessions.PerChannelPeer, sessions.PerAccountChannelPeer} {
		t.Run(string(scope), func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				g := renamedRig(t, routertest.WithDMScope(scope))
				for _, chat := range []channels.Address{routertest.Direct(routertest.Guest), routertest.Group("-5")} {
					hear(g, atAccount(routertest.Account, chat), routertest.Guest, "hello")
					was := g.Router.Key(channels.Inbound{Address: chat, Sender: routertest.Person(routertest.Guest)})
					id := g.Session(was).ID
					override(g, was, policy.Deny)
					called(g, renamed)
					hear(g, atAccount(renamed, chat), routertest.Guest, "and now?")
					g.Stop()
					g.Start()
					hear(g, atAccount(renamed, chat), routertest.Guest, "and after a restart?")
					if got := append(g.Fake.Texts(atAccount(routertest.Account, chat)), g.Fake.Texts(atAccount(renamed, chat))...); len(got) != 1 {
						t.Errorf("answered %q", got)
					}
					s := g.Session(g.Router.Key(channels.Inbound{Address: atAccount(renamed, chat), Sender: routertest.Person(routertest.Guest)}))
					if s.ID != id || s.Last != atAccount(renamed, chat) || s.Turns != 3 {
						t.Errorf("another session: %+v", s)
					}
					override(g, s.Key, policy.Inherit)
					hear(g, atAccount(renamed, chat), routertest.Guest, "hello?")
					if got := g.Fake.Texts(atAccount(renamed, chat)); len(got) != 1 {
						t.Errorf("answered %q", got)
					}
					called(g, routertest.Account) // and back, for the other chat
				}
			})
		})
	}
}

// Rules and bindings of the configuration that name the old account hold for it until one names the new account.
func TestRenamedAccountKeepsRules(t *testing.T) {
	deny := func(m policy.SendMatch) func(*settings.Snapshot) {
		return func(s *settings.Snapshot) {
			s.Session.SendPolicy.Rules = []policy.SendRule{{Action: policy.Deny, Match: m}}
		}
	}
	bind := func(list ...sessions.Binding) func(*settings.Snapshot) {
		return func(s *settings.Snapshot) {
			s.Agents.List = []agent.Entry{{ID: "main", Default: true}, {ID: "ops"}, {ID: "third"}}
			s.Bindings = list
		}
	}
	group := routertest.Group("-5")
	for name, c := range map[string]struct {
		set     func(*settings.Snapshot)
		answers int
		agent   sessions.AgentID
	}{
		"by the account":         {deny(policy.SendMatch{AccountID: "default"}), 0, "main"},
		"by the address":         {deny(policy.SendMatch{To: group.String()}), 0, "main"},
		"by the key":             {deny(policy.SendMatch{RawKeyPrefix: "agent:main:fake:group:"}), 0, "main"},
		"by the new key":         {deny(policy.SendMatch{RawKeyPrefix: "agent:main:fake:family:group:"}), 0, "main"},
		"by another account":     {deny(policy.SendMatch{AccountID: "other"}), 1, "main"},
		"bound":                  {bind(sessions.Binding{AgentID: "ops", Match: sessions.BindingMatch{Channel: routertest.Kind}}), 1, "ops"},
		"bound by the new name":  {bind(sessions.Binding{AgentID: "ops", Match: sessions.BindingMatch{Channel: routertest.Kind}}, sessions.Binding{AgentID: "third", Match: sessions.BindingMatch{Channel: routertest.Kind, AccountID: "family"}}), 1, "third"},
		"bound whatever account": {bind(sessions.Binding{AgentID: "third", Match: sessions.BindingMatch{Channel: routertest.Kind, AccountID: "*"}}, sessions.Binding{AgentID: "ops", Match: sessions.BindingMatch{Channel: routertest.Kind}}), 1, "ops"},
	} {
		t.Run(name, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				g := renamedRig(t, c.set)
				hear(g, group, routertest.Guest, "hello")
				called(g, renamed)
				hear(g, atAccount(renamed, group), routertest.Guest, "hello")
				if got := g.Fake.Texts(atAccount(renamed, group)); len(got) != c.answers {
					t.Errorf("answered %q", got)
				}
				if got := g.Router.Key(channels.Inbound{Address: atAccount(renamed, group), Sender: routertest.Person(routertest.Guest)}).Agent(); got != c.agent {
					t.Errorf("agent %q", got)
				}
			})
		})
	}
}

// What waited for the account when the host stopped leaves by its new name, once: what was pending, what may have been sent, an answer that is
// being written, a job. Who was let in is let in.
func TestRenamedAccountTakesWhatWaits(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := renamedRig(t, byPairing)
		g.Say(routertest.Direct(routertest.Guest), routertest.Guest, "hello")
		letIn(g, g.Code(routertest.Direct(routertest.Guest)))
		<-time.After(time.Minute)
		synctest.Wait()
		before := len(g.Fake.Texts(routertest.Direct(routertest.Guest)))
		g.Router.Attach(routertest.Account, nil)
		hear(g, routertest.Direct(routertest.Guest), routertest.Guest, "one")
		hear(g, routertest.Direct(routertest.Guest), routertest.Guest, "two")
		called(g, renamed)
		hear(g, atAccount(renamed, routertest.Direct(routertest.Guest)), routertest.Guest, "three")
		if got := g.Fake.Texts(routertest.Direct(routertest.Guest)); len(got) != before {
			t.Errorf("by the old name: %q", got)
		}
		if got, want := g.Fake.Texts(atAccount(renamed, routertest.Direct(routertest.Guest))), []string{"echo: one", "echo: two", "echo: three"}; !slices.Equal(got, want) {
			t.Errorf("answered %q, want %q", got, want)
		}
		for _, d := range g.Deliveries() {
			if d.State != sessions.Sent {
				t.Errorf("%+v", d)
			}
		}
	})
}

// The configuration is read again while an answer waits for the account under its old name.
func TestRenamedAccountByReload(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := renamedRig(t)
		hear(g, routertest.Group("-5"), routertest.Guest, "hello")
		g.Router.Attach(routertest.Account, nil)
		hear(g, routertest.Group("-5"), routertest.Guest, "are you there?")
		set := *g.Settings
		set.Accounts = map[settings.AccountRef]settings.Account{renamed: g.Settings.Accounts[routertest.Account]}
		if err := g.Router.Apply(t.Context(), &set); err != nil {
			t.Fatal(err)
		}
		g.Router.Attach(renamed, g.Fake.Full())
		if err := g.Router.Identified(t.Context(), renamed, g.Login, []channels.AccountID{"family"}); err != nil {
			t.Fatal(err)
		}
		hear(g, atAccount(renamed, routertest.Group("-5")), routertest.Guest, "and now?")
		if got := g.Fake.Texts(atAccount(renamed, routertest.Group("-5"))); len(got) != 2 {
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
			routertest.Bubble(t, func(t *testing.T) {
				g := renamedRig(t)
				group := routertest.Group("-5")
				g.Fake.Script(channeltest.Step{Delay: sendGrace + 10*time.Second, Arrives: true})
				for _, words := range []string{"one", "two"} {
					g.Say(group, routertest.Guest, words)
					<-time.After(2 * time.Second)
				}
				synctest.Wait()
				if detached {
					g.Router.Attach(routertest.Account, nil)
				}
				set := *g.Settings
				set.Accounts = map[settings.AccountRef]settings.Account{renamed: g.Settings.Accounts[routertest.Account]}
				applied := make(chan error, 1)
				go func() { applied <- g.Router.Apply(t.Context(), &set) }() // it waits for what is on its way
				synctest.Wait()
				if got := g.Fake.Texts(group); len(got) != 0 {
					t.Fatalf("nothing is on its way when the account has another name: %q has arrived", got)
				}
				g.Router.Attach(renamed, g.Fake.Full())
				if err := g.Router.Identified(t.Context(), renamed, g.Login, []channels.AccountID{"family"}); err != nil {
					t.Fatal(err)
				}
				g.Router.Attach(routertest.Account, nil)
				routertest.Check(t, <-applied)
				hear(g, atAccount(renamed, group), routertest.Guest, "three")
				<-time.After(time.Minute)
				synctest.Wait()
				if got, want := append(g.Fake.Texts(group), g.Fake.Texts(atAccount(renamed, group))...), []string{"echo: 2002: one", "echo: 2002: two", "echo: 2002: three"}; !slices.Equal(got, want) {
					t.Errorf("sent %q, want %q", got, want)
				}
				for _, d := range g.Deliveries() {
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
	routertest.Bubble(t, func(t *testing.T) {
		g := renamedRig(t)
		g.Stop()
		lost := true
		g.Wrap = func(s sessions.Store) sessions.Store { return lostIdentify{s, &lost} }
		g.Start()
		group := routertest.Group("-5")
		hear(g, group, routertest.Guest, "one")
		g.Router.Attach(routertest.Account, nil)
		hear(g, group, routertest.Guest, "two")
		set := *g.Settings
		set.Accounts = map[settings.AccountRef]settings.Account{renamed: g.Settings.Accounts[routertest.Account]}
		routertest.Check(t, g.Router.Apply(t.Context(), &set))
		g.Router.Attach(renamed, g.Fake.Full())
		lost = false
		if err := g.Router.Identified(t.Context(), renamed, g.Login, []channels.AccountID{"family"}); !errors.Is(err, sessions.ErrUncertain) {
			t.Fatal(err)
		}
		routertest.Check(t, g.Router.Identified(t.Context(), renamed, g.Login, []channels.AccountID{"family"}))
		synctest.Wait()
		if got, want := g.Fake.Texts(atAccount(renamed, group)), []string{"echo: 2002: two"}; !slices.Equal(got, want) {
			t.Errorf("sent %q, want %q", got, want)
		}
	})
}

// An account that had several names is bound as it was under the newest that has a binding.
func TestRenamedAccountSeveralTimes(t *testing.T) {
	group := routertest.Group("-5")
	f := settings.NewMovedChats()
	called := []channels.AccountID{"default", "e", "b", "d", "a", "c"}
	for i, was := range called[:len(called)-1] {
		f.Rename(settings.AccountRef{Channel: routertest.Kind, Account: called[i+1]}, was)
	}
	f.Rename(settings.AccountRef{Channel: routertest.Kind, Account: "c"}, "z")
	names := (&settings.Snapshot{Moved: f}).Prepare().Routes.Former
	var got []channels.AccountID
	for _, a := range names(atAccount(settings.AccountRef{Channel: routertest.Kind, Account: "c"}, group)) {
		got = append(got, a.Account)
	}
	if want := []channels.AccountID{"c", "a", "z", "d", "b", "e", "default"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	bind := func(agent sessions.AgentID, account channels.AccountID) sessions.Binding {
		return sessions.Binding{AgentID: agent, Match: sessions.BindingMatch{Channel: routertest.Kind, AccountID: account}}
	}
	routes := route.Table{Default: "main", Agents: []sessions.AgentID{"first", "second"}, Former: names,
		Bindings: []sessions.Binding{bind("first", "default"), bind("second", "d"), bind("first", "e")}}
	if _, agent, _ := routes.Key(channels.Inbound{Address: atAccount(settings.AccountRef{Channel: routertest.Kind, Account: "c"}, group)}); agent != "second" {
		t.Errorf("bound to %q", agent)
	}
}
