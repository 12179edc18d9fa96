package router_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/channels"
	"parley/channels/channeltest"
	"parley/policy"
	"parley/router/routertest"
	"parley/router/settings"
	"parley/sessions"
	"parley/tools"
)

// unowned is a configuration that names no owner and asks strangers for a code.
func unowned(s *settings.Snapshot) {
	s.Accounts[routertest.Account] = settings.Account{Access: policy.Access{DMPolicy: policy.DMPairing, GroupPolicy: policy.GroupOpen}}
	s.Owners, s.Unowned = nil, true
}

// approve lets a person in by the code that they were given.
func approve(g *routertest.Rig, user string, owner sessions.Ownership) sessions.Approval {
	g.T.Helper()
	g.Say(routertest.Direct(user), user, "hi")
	a, err := g.Router.Admission.LetIn(g.T.Context(), routertest.Kind, g.Code(routertest.Direct(user)), owner)
	if err != nil {
		g.T.Fatal(err)
	}
	return a
}

// The first approval makes the owner, at once and after a restart; later ones do not unless that is asked for; what is taken back is over at once.
func TestFirstApprovalMakesTheOwner(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{}, unowned)
		ann, bo := routertest.Direct("ann"), routertest.Direct("bo")
		a := approve(g, "ann", sessions.FirstOwner)
		if !a.Owner || !a.First || !strings.Contains(a.AboutOwner(), "is now the owner") || strings.Contains(a.AboutOwner(), "conversation") {
			t.Errorf("%+v: %s", a, a.AboutOwner())
		}
		b := approve(g, "bo", sessions.FirstOwner)
		if b.Owner || !strings.Contains(b.AboutOwner(), "`parley pairing approve fake bo --owner`") {
			t.Errorf("%+v: %s", b, b.AboutOwner())
		}
		if got := g.Asks(ann, "ann", "/whoami"); !strings.Contains(got, "one of my owners") {
			t.Errorf("ann: %q", got)
		}
		if got := g.Asks(bo, "bo", "/send off"); !strings.Contains(got, "run `parley pairing approve fake bo --owner`") {
			t.Errorf("bo: %q", got)
		}
		g.Stop()
		g.Start()
		if got := g.Asks(ann, "ann", "/whoami"); !strings.Contains(got, "one of my owners") {
			t.Errorf("after a restart: %q", got)
		}
		if err := g.Router.Apply(t.Context(), g.Settings); err != nil { // a reload
			t.Fatal(err)
		}
		if got := g.Asks(ann, "ann", "/whoami"); !strings.Contains(got, "one of my owners") {
			t.Errorf("after a reload: %q", got)
		}
		if _, err := g.Router.Admission.Unpair(t.Context(), routertest.Kind, "", "ann"); err != nil {
			t.Fatal(err)
		}
		if g.Router.Settings().Owners.Is(routertest.Kind, routertest.Person("ann")) {
			t.Error("ann is an owner after that was taken back")
		}
		if c := approve(g, "cy", sessions.FirstOwner); c.Owner {
			t.Error("nobody is left, and the next one became the owner")
		}
	})
}

// Where somebody is named by the configuration, or it cannot say one person, the first approval makes no owner.
func TestNoFirstOwner(t *testing.T) {
	for name, f := range map[string]func(*settings.Snapshot){
		"an owner is configured": func(s *settings.Snapshot) { unowned(s); s.Unowned = false },
		"--no-owner":             unowned,
	} {
		t.Run(name, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				g := routertest.New(t, channeltest.Options{}, f)
				want := sessions.FirstOwner
				if name == "--no-owner" {
					want = sessions.NoOwner
				}
				if a := approve(g, "ann", want); a.Owner {
					t.Error("an owner")
				}
				if a := approve(g, "bo", sessions.FirstOwner); a.Owner {
					t.Error("the second one is an owner")
				}
			})
		})
	}
	for _, id := range []channels.UserID{"", "*", "@ann", " ann"} {
		if e, ok := policy.OwnerEntry(routertest.Kind, id); ok {
			t.Errorf("%q makes the owner entry %q", id, e)
		}
	}
}

// A person who was let in before becomes an owner by their id, and their conversation is the owner's session's; the answer says where it is.
func TestOwnerAfterAConversation(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{}, unowned)
		ann, bo := routertest.Direct("ann"), routertest.Direct("bo")
		approve(g, "ann", sessions.NoOwner)
		approve(g, "bo", sessions.NoOwner)
		g.Talk(ann, "ann", "apples")
		g.Talk(bo, "bo", "pears")
		g.Idle(2)
		if _, err := g.Router.Admission.LetIn(t.Context(), routertest.Kind, "ann", sessions.FirstOwner); !errors.Is(err, sessions.ErrNotFound) {
			t.Errorf("an id instead of a code: %v", err)
		}
		a, err := g.Router.Admission.LetIn(t.Context(), routertest.Kind, "ann", sessions.AnyOwner)
		if err != nil || !a.Owner || a.Moved != sessions.MovedNow || !strings.Contains(a.AboutOwner(), "continues in `agent:main:main`") {
			t.Fatalf("%+v, %v: %s", a, err, a.AboutOwner())
		}
		main := sessions.MainKey("main")
		if got := texts(g.Transcript(main)); !strings.Contains(got, "apples") {
			t.Errorf("the main session has %s", got)
		}
		g.Talk(ann, "ann", "plums")
		g.Idle(3)
		if got := texts(g.Transcript(main)); !strings.Contains(got, "apples") || !strings.Contains(got, "plums") {
			t.Errorf("the main session has %s", got)
		}
		if got := strings.Join(g.LastPrompt(), " "); !strings.Contains(got, "apples") {
			t.Errorf("the model is shown %s", got)
		}
		b, err := g.Router.Admission.LetIn(t.Context(), routertest.Kind, "bo", sessions.AnyOwner)
		if err != nil || b.Moved != sessions.MovedNever || !strings.Contains(b.AboutOwner(), "was not moved and stays in `agent:main:fake:direct:bo`") {
			t.Errorf("%+v, %v: %s", b, err, b.AboutOwner())
		}
	})
}

// The deny of a new owner's own session does not apply to the owner's session that has messages: the approval says so and how to set it again, and
// the explanation is about the session that is named.
func TestOwnerWhoWasMuted(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{}, unowned)
		approve(g, "ann", sessions.FirstOwner)
		g.Talk(routertest.Direct("ann"), "ann", "apples")
		approve(g, "bo", sessions.NoOwner)
		g.Talk(routertest.Direct("bo"), "bo", "pears")
		g.Idle(2)
		if _, err := g.Router.Patch(t.Context(), "agent:main:fake:direct:bo", sessions.Patch{SendPolicy: new(policy.Deny)}); err != nil {
			t.Fatal(err)
		}
		b, err := g.Router.Admission.LetIn(t.Context(), routertest.Kind, "bo", sessions.AnyOwner)
		if err != nil || b.Moved != sessions.MovedLoud || !strings.Contains(b.AboutOwner(), "no longer applies to this chat") || !strings.Contains(b.AboutOwner(), "`parley sessions patch agent:main:main --send-policy deny`") {
			t.Errorf("%+v, %v: %s", b, err, b.AboutOwner())
		}
		main := sessions.MainKey("main")
		for range 2 { // also before the first message as an owner
			x, err := g.Router.Explain(t.Context(), main, routertest.Direct("bo"))
			if err != nil || x.Session != main || !x.Verdict.Allowed() || x.Steps[0].Rule != "sessions of the chat" || !strings.Contains(x.Steps[0].Why, "agent:main:fake:direct:bo") {
				t.Errorf("%+v, %v", x, err)
			}
			if x, err := g.Router.Explain(t.Context(), "", routertest.Direct("bo")); err != nil || x.Verdict.Allowed() { // from elsewhere
				t.Errorf("%+v, %v", x, err)
			}
			g.Talk(routertest.Direct("bo"), "bo", "plums")
		}
	})
}

// An owner whom the configuration names since a reload goes on with the conversation that they had.
func TestOwnerByAReload(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{}, unowned)
		ann := routertest.Direct("ann")
		approve(g, "ann", sessions.NoOwner)
		g.Talk(ann, "ann", "apples")
		g.Idle(1)
		next := *g.Router.Settings()
		named := &settings.Snapshot{Session: next.Session, Agents: next.Agents, Tools: next.Tools, Messages: next.Messages, Model: next.Model, Accounts: next.Accounts, Delivery: next.Delivery, Owners: policy.Owners{"fake:ann"}}
		if err := g.Router.Apply(t.Context(), named); err != nil {
			t.Fatal(err)
		}
		g.Talk(ann, "ann", "plums")
		g.Idle(2)
		if got := texts(g.Transcript(sessions.MainKey("main"))); !strings.Contains(got, "apples") || !strings.Contains(got, "plums") {
			t.Errorf("the main session has %s", got)
		}
	})
}

func texts(list []sessions.Message) string {
	var b strings.Builder
	for _, m := range list {
		fmt.Fprintf(&b, "%s: %s; ", m.Role, m.Text())
	}
	return b.String()
}

// A kill at any moment of the commit leaves both, the owner and the conversation in the owner's session, or neither.
func TestFaultOwnerKilled(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{}, unowned)
		ann := routertest.Direct("ann")
		approve(g, "ann", sessions.NoOwner)
		g.Talk(ann, "ann", "apples")
		g.Idle(1)
		var images []string
		g.Look(func(op, phase string) {
			if strings.Contains(op, "grant") {
				images = append(images, g.Image())
			}
		})
		if _, err := g.Router.Admission.LetIn(t.Context(), routertest.Kind, "ann", sessions.AnyOwner); err != nil {
			t.Fatal(err)
		}
		g.Look(func(string, string) {})
		g.Stop()
		owned := []bool{}
		for _, dir := range append(images, g.Dir) {
			g.Dir = dir
			g.Start()
			people, err := g.Store.Admitted(t.Context())
			_, none := g.Store.Get(t.Context(), sessions.MainKey("main"))
			if err != nil || len(people) != 1 {
				t.Fatal(people, err)
			}
			if moved := none == nil; moved != people[0].Owner || moved != g.Router.Settings().Owners.Is(routertest.Kind, routertest.Person("ann")) {
				t.Errorf("an owner: %t, the conversation was moved: %t", people[0].Owner, moved)
			}
			owned = append(owned, people[0].Owner)
			g.Stop()
		}
		if fmt.Sprint(owned) != "[false true true]" {
			t.Errorf("an owner: %v", owned)
		}
	})
}

// Whoever is no owner any more has no rights of one, also in what waits since they were.
func TestFormerOwnersQueue(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{}, unowned, func(s *settings.Snapshot) {
			s.Tools.BySender = map[tools.Sender]tools.Rights{tools.FromOther: {Deny: []string{"remember"}}}
		})
		ann := routertest.Direct("ann")
		approve(g, "ann", sessions.AnyOwner)
		rest := g.Busy(ann, "ann")
		g.Say(ann, "ann", "and remember that")
		g.Until("it waits", func() bool { return len(g.Runs()) == 2 })
		main := g.Session(sessions.MainKey("main"))
		has := func() (out []bool) {
			for _, run := range g.Runs() {
				out = append(out, slices.ContainsFunc(g.ToolsFor(main, run), func(x tools.Tool) bool { return x.Spec().Name == "remember" }))
			}
			return out
		}
		if got := has(); len(got) != 2 || !got[0] || !got[1] {
			t.Fatalf("as an owner: %v", got)
		}
		if _, err := g.Router.Admission.Unpair(t.Context(), routertest.Kind, "", "ann"); err != nil {
			t.Fatal(err)
		}
		if got := has(); len(got) != 2 || got[0] || got[1] {
			t.Errorf("as a former owner: %v", got)
		}
		rest()
		g.Idle(2)
	})
}

// What is taken back on one account leaves an owner by another account an owner, and the answer says so; /pair says who is one.
func TestOwnerOnTwoAccounts(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{}, routertest.WithPairing)
		boss := routertest.Direct(routertest.Owner)
		approve(g, "ann", sessions.AnyOwner)
		again := func() {
			now := time.Now()
			if _, err := g.Store.PutPairing(t.Context(), sessions.Pairing{Channel: routertest.Kind, Account: "second", User: "ann", Hash: "h", Created: now, Expires: now.Add(time.Hour)}, 3); err != nil {
				t.Fatal(err)
			}
			if _, err := g.Router.Committer.Submit(t.Context(), sessions.Change{Ops: []sessions.Op{sessions.DecidePairing{Channel: routertest.Kind, Hash: "h", Approve: true, Time: now}}}); err != nil {
				t.Fatal(err)
			}
		}
		again()
		if got := g.Asks(boss, routertest.Owner, "/pair"); strings.Count(got, ", an owner") != 1 {
			t.Errorf("%q", got)
		}
		if p, err := g.Router.Admission.Unpair(t.Context(), routertest.Kind, "second", "ann"); err != nil || !p.Owner {
			t.Errorf("%+v, %v", p, err)
		}
		again()
		if got := g.Asks(boss, routertest.Owner, "/pair remove ann second"); !strings.HasSuffix(got, "still an owner, by `commands.ownerAllowFrom` or by another account.") {
			t.Errorf("%q", got)
		}
		if p, err := g.Router.Admission.Unpair(t.Context(), routertest.Kind, "", "ann"); err != nil || p.Owner {
			t.Errorf("%+v, %v", p, err)
		}
	})
}

// Who cannot become an owner now is named with the reason, and with the command that helps; who was let in by a code reads the command that makes an
// owner of them, and others read the key of the configuration.
func TestOwnerWhoIsNotLetIn(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{}, routertest.WithPairing, func(s *settings.Snapshot) {
			a := s.Accounts[routertest.Account]
			a.Access.AllowFrom = append(a.Access.AllowFrom, "di")
			s.Accounts[routertest.Account] = a
		})
		boss := routertest.Direct(routertest.Owner)
		refuse := func(word string, owner sessions.Ownership, kind error, want string) {
			t.Helper()
			if _, err := g.Router.Admission.LetIn(t.Context(), routertest.Kind, word, owner); !errors.Is(err, kind) || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v", word, err)
			}
		}
		g.Say(routertest.Direct("ann"), "ann", "hi")
		code := g.Code(routertest.Direct("ann"))
		refuse("ann", sessions.AnyOwner, sessions.ErrConflict, "fake:ann still waits for approval; approve the code that the bot gave this person: parley pairing approve fake CODE --owner")
		refuse("ann", sessions.FirstOwner, sessions.ErrConflict, "approve the code that the bot gave this person: parley pairing approve fake CODE")
		refuse("bo", sessions.AnyOwner, sessions.ErrNotFound, "no person on fake has this code or this id; let the person write to the bot, then approve the code that the bot gives: parley pairing approve fake CODE --owner")
		if got := g.Fake.Texts(routertest.Direct("ann")); !strings.Contains(strings.Join(got, ""), "To make you an owner, they run that command with --owner.") {
			t.Errorf("%q", got)
		}
		refuse("di", sessions.AnyOwner, sessions.ErrConflict, "the bot gives fake:di no code, because allowFrom lets this person in; to make this person an owner, add fake:di to commands.ownerAllowFrom and run: parley reload")
		refuse(routertest.Owner, sessions.AnyOwner, sessions.ErrConflict, "is an owner already, by commands.ownerAllowFrom")
		for user, by := range map[channels.UserID]string{"di": "allowFrom of the account ", routertest.Owner: "commands.ownerAllowFrom"} {
			if _, err := g.Router.Admission.Unpair(t.Context(), routertest.Kind, "", user); !errors.Is(err, sessions.ErrNotFound) || !strings.Contains(err.Error(), "was not let in by a code but by "+by) {
				t.Errorf("%s: %v", user, err)
			}
		}
		refuse("NOTACODE", sessions.FirstOwner, sessions.ErrNotFound, "no pairing on fake is waiting for this code")
		g.Asks(boss, routertest.Owner, "/pair reject "+code)
		refuse("ann", sessions.AnyOwner, sessions.ErrConflict, "fake:ann was turned down; to let this person ask again: parley pairing remove fake ann")
		approve(g, "cy", sessions.NoOwner)
		refuse("cy", sessions.FirstOwner, sessions.ErrNotFound, "fake:cy was let in already; to make this person an owner: parley pairing approve fake cy --owner")
		if got := g.Asks(routertest.Direct("cy"), "cy", "/whoami"); !strings.HasSuffix(got, "To become an owner, run `parley pairing approve fake cy --owner` on the host.") {
			t.Errorf("%q", got)
		}
		if a, err := g.Router.Admission.LetIn(t.Context(), routertest.Kind, "cy", sessions.AnyOwner); err != nil || !a.Owner {
			t.Errorf("%+v, %v", a, err)
		}
		if got := g.Asks(routertest.Direct("cy"), "cy", "/whoami"); strings.Contains(got, "To become") {
			t.Errorf("%q", got)
		}
	})
}

// A code of parley init that arrives at the host is answered without the model; a /start alone, or with the word of another link, is the greeting.
// source: core.telegram.org/bots/features#deep-linking
func TestStartWithACode(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{})
		for who, want := range map[string]string{routertest.Owner: "You are one of my owners. Write to me as you would to a person.",
			routertest.Guest: "`parley init` takes its code only while it waits for one. You are not my owner. To become one, add `fake:2002`"} {
			for _, text := range []string{"/start ABCDEFG2", "/start: ABCDEFG2"} {
				if got := g.Asks(routertest.Direct(who), who, text); !strings.HasPrefix(got, want) {
					t.Errorf("%s: %q", text, got)
				}
			}
			for _, text := range []string{"/start", "/start from_the_website", "/start settings", "/help"} {
				if got := g.Asks(routertest.Direct(who), who, text); !strings.HasPrefix(got, "Write to me as you would to a person.") {
					t.Errorf("%s: %q", text, got)
				}
			}
		}
		if n := g.Model.Count(); n != 0 {
			t.Errorf("%d calls of the model", n)
		}
	})
}
