package router_test

import (
	"context"
	"slices"
	"strings"
	"sync"
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
	"parley/tools"
)

// rerouted is a host whose guest writes in a direct chat, and what its agent was told besides each message.
type rerouted struct {
	*routertest.Rig
	chat channels.Address
	mu   sync.Mutex
	told map[string][]string // by the words of the message
	free chan struct{}       // the sub-agent, or the slow answer, ends
}

func newRerouted(t *testing.T, fs ...func(*settings.Snapshot)) *rerouted {
	x := &rerouted{chat: routertest.Direct(routertest.Guest), told: map[string][]string{}, free: make(chan struct{})}
	x.Rig = routertest.New(t, channeltest.Options{}, fs...)
	x.Model.Set(func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
		wait := func() error {
			select {
			case <-x.free:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		words := routertest.LastUser(p)
		switch {
		case strings.Contains(p.System, "announce step"):
			return routertest.Text("Result: the door code is 4711"), nil
		case strings.Contains(p.System, "sub-agent"):
			return routertest.Text("4711"), wait()
		case strings.Contains(words, "slowly"):
			return routertest.Text("Done slowly."), wait()
		}
		x.mu.Lock()
		defer x.mu.Unlock()
		x.told[words] = routertest.Told(routertest.Last(p))
		return routertest.Text("echo: " + words), nil
	})
	return x
}

// change has the host go on with other settings, after a restart where that is wanted.
func (x *rerouted) change(restart bool, f func(*settings.Snapshot)) {
	x.T.Helper()
	x.Settings = routertest.SettingsFor(f)
	if restart {
		x.Stop()
		x.Start()
		return
	}
	routertest.Check(x.T, x.Router.Apply(x.T.Context(), x.Settings))
}

// says has the guest write, and gives what the agent was told besides.
func (x *rerouted) says(words string) []string {
	x.T.Helper()
	<-time.After(2 * time.Second)
	synctest.Wait()
	x.Asks(x.chat, routertest.Guest, words)
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.told[words]
}

// key gives the session that the guest's chat writes to.
func (x *rerouted) key() sessions.Key {
	return x.Router.Key(channels.Inbound{Address: x.chat, Sender: routertest.Person(routertest.Guest)})
}

// how a chat comes to write to another session.
var reroutes = map[string]func(*settings.Snapshot){
	"dmScope": routertest.WithDMScope(sessions.DMMain),
	"identityLinks": func(s *settings.Snapshot) {
		s.Session.IdentityLinks = map[string][]string{"gwen": {"fake:" + routertest.Guest}}
	},
	"binding": func(s *settings.Snapshot) {
		s.Agents.List = []agent.Entry{{ID: "main", Default: true}, {ID: "ops"}}
		s.Bindings = []sessions.Binding{{AgentID: "ops", Match: sessions.BindingMatch{Channel: routertest.Kind}}}
	},
	"scope, no group talk": func(s *settings.Snapshot) {
		s.Session.Scope, s.Messages.GroupChat.HistoryLimit = sessions.Global, new(int)
	},
	"owners": func(s *settings.Snapshot) { s.Owners = policy.Owners{"fake:" + routertest.Guest} },
}

// A chat writes to another session since the configuration changed, while a sub-agent of the old one worked: the session that has the person's
// next message knows the report, once, whenever it came, and over a restart.
func TestReportAfterRerouting(t *testing.T) {
	for name, f := range reroutes {
		for _, restart := range []bool{false, true} {
			for _, written := range []bool{false, true} { // before the report came
				t.Run(name+map[bool]string{true: ", restart"}[restart]+map[bool]string{true: ", written"}[written], func(t *testing.T) {
					routertest.Bubble(t, func(t *testing.T) {
						x := newRerouted(t)
						x.says("hello")
						was := x.key()
						x.Spawn(tools.SpawnRequest{Source: "s", From: tools.Caller{Session: x.Session(was)}, Agent: "main", Task: "find the code"})
						x.says("thanks")
						x.change(restart, f)
						if x.key() == was {
							t.Fatalf("it writes to %s still", was)
						}
						shown := 2
						var first []string
						if written {
							first = x.says("and now?")
							shown++
						}
						close(x.free)
						x.Shown(shown + 1)
						if restart {
							x.change(true, f)
						}
						next := x.says("what is it?")
						if !written {
							first, next = next[:min(1, len(next))], next[min(1, len(next)):]
						}
						if name == "owners" && !written { // an owner's conversation moves as it is, with the next message
							moved := slices.ContainsFunc(x.Transcript(x.key()), func(m sessions.Message) bool { return strings.Contains(m.Text(), "4711") })
							if !moved || len(first)+len(next) != 0 {
								t.Errorf("told besides the conversation: %q and %q; it has the report: %v", first, next, moved)
							}
							return
						}
						if len(first) != 1 || !strings.Contains(first[0], "echo: thanks") { // what the person answers to
							t.Errorf("the first message came with %q", first)
						}
						if len(next) != 1 || !strings.HasPrefix(next[0], "Another session wrote here") || !strings.Contains(next[0], "4711") {
							t.Errorf("the next message came with %q", next)
						}
						if more := x.says("and again?"); len(more) != 0 {
							t.Errorf("told again: %q", more)
						}
						if strings.Contains(strings.Join(append(first, next...), ""), string(was)) {
							t.Errorf("%q name the session", next)
						}
					})
				})
			}
		}
	}
}

// What the send policy withholds is told to nobody.
func TestWithheldReportAfterRerouting(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		x := newRerouted(t)
		x.says("hello")
		was := x.key()
		x.Spawn(tools.SpawnRequest{Source: "s", From: tools.Caller{Session: x.Session(was)}, Agent: "main", Task: "find the code"})
		override(x.Rig, was, policy.Deny)
		x.change(false, reroutes["dmScope"])
		x.says("and now?")
		close(x.free)
		x.Until("the report is withheld", func() bool {
			return slices.ContainsFunc(x.Deliveries(), func(d sessions.Delivery) bool { return d.Kind == sessions.Announce && d.State == sessions.Withheld })
		})
		if got := x.says("what is it?"); len(got) != 0 {
			t.Errorf("told %q", got)
		}
	})
}

// An answer that was at work when the configuration changed is told, too; one to a message that came behind it is not told to the old session.
func TestAnswerAfterRerouting(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		x := newRerouted(t)
		x.says("hello")
		x.Say(x.chat, routertest.Guest, "think slowly")
		synctest.Wait()
		x.change(false, reroutes["dmScope"])
		x.says("and now?")
		close(x.free)
		x.Shown(3)
		if got := x.says("what is it?"); len(got) != 1 || !strings.Contains(got[0], "Done slowly.") {
			t.Errorf("told %q", got)
		}
		x.change(false, func(*settings.Snapshot) {})
		if got := x.says("back again"); len(got) != 0 {
			t.Errorf("the old session was told %q", got)
		}
	})
}

// Whatever the old session posts is told, by a job or by the tool message. Its own session is not told of it, nor are the host's own words told.
func TestPostAfterRerouting(t *testing.T) {
	for kind, want := range map[sessions.DeliveryKind]int{sessions.Announce: 1, sessions.Posted: 1, sessions.Notice: 0} {
		t.Run(string(kind), func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				x := newRerouted(t)
				x.says("hello")
				was := x.key()
				post := func(id string) {
					d := sessions.NewDelivery(kind, was, x.chat, "tea "+id, time.Now().Add(time.Hour))
					_, err := x.Router.Committer.Submit(t.Context(), sessions.Change{Ops: []sessions.Op{sessions.EnqueueDelivery(d)}})
					routertest.Check(t, err)
				}
				post("one")
				if got := x.says("thanks"); len(got) != 0 {
					t.Errorf("its own session was told %q", got)
				}
				x.change(false, reroutes["dmScope"])
				x.says("and now?")
				post("two")
				if got := x.says("what was that?"); len(got) != want || want > 0 && !strings.Contains(got[0], "tea two") {
					t.Errorf("told %q", got)
				}
			})
		})
	}
}

// A session that a chat wrote to once, and that others use, is told nothing of what is posted into that chat since.
func TestSharedSessionIsToldNothingOfAChatThatLeftIt(t *testing.T) {
	for _, kind := range []sessions.DeliveryKind{sessions.Announce, sessions.Posted} {
		t.Run(string(kind), func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				x := newRerouted(t, reroutes["dmScope"])
				x.says("hello")
				shared := x.key()
				x.change(false, func(*settings.Snapshot) {})
				x.says("and now?")
				own := x.key()
				d := sessions.NewDelivery(kind, own, x.chat, "a private word", time.Now().Add(time.Hour))
				_, err := x.Router.Committer.Submit(t.Context(), sessions.Change{Ops: []sessions.Op{sessions.EnqueueDelivery(d)}})
				routertest.Check(t, err)
				synctest.Wait()
				lines, err := x.Store.ContextLines(t.Context(), shared)
				routertest.Check(t, err)
				if own == shared || len(lines) > 0 {
					t.Errorf("%s: %s is told %v", own, shared, lines)
				}
			})
		})
	}
}

// A new conversation begins without what was posted before.
//
// proves: X4
func TestNewConversationAfterRerouting(t *testing.T) {
	for name, written := range map[string]bool{"first": false, "written": true} {
		t.Run(name, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				x := newRerouted(t)
				x.says("hello")
				x.Spawn(tools.SpawnRequest{Source: "s", From: tools.Caller{Session: x.Session(x.key())}, Agent: "main", Task: "find the code"})
				x.change(false, reroutes["owners"])
				if written {
					x.says("and now?")
				}
				close(x.free)
				x.Shown(2 + map[bool]int{true: 1}[written])
				x.says("/new")
				if got := x.says("what is it?"); len(got) != 0 {
					t.Errorf("told %q", got)
				}
			})
		})
	}
}
