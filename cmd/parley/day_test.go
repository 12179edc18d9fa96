package main

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"parley/gateway/api"
	"parley/sessions"
)

// TestOneDay is a day of one person with one host on three platforms: they talk to their agent wherever they are, in one session; a
// stranger is let in; in groups the agent is asked things, its reports are switched off and on.
//
// proves: K7, P3, P7, S11
func TestOneDay(t *testing.T) {
	t.Parallel()
	x := newThree(t)
	x.words = reports("The figures are in.")
	x.start()

	// The owner, here and there: one session, answers where each message came from.
	dm := x.dc.AddDM(olgaOnDiscord)
	own := []corner{x.whatsapp(x.olga.Phone, ""), x.telegram(owner, ""), x.discord(dm, "")}
	own[0].tell = func(text string) { x.olga.Say(x.bot, text) }
	for i, c := range own {
		c.tell(fmt.Sprintf("thought %d from %s", i, c.name))
		if got := x.shows(c, 1); len(got) != 1 || !strings.Contains(got[0], fmt.Sprintf("thought %d", i)) {
			t.Fatalf("%s shows %q", c.name, got)
		}
	}
	requests := x.model.Requests()
	prompt := fmt.Sprint(requests[len(requests)-1].Messages)
	for i, c := range own {
		if !strings.Contains(prompt, fmt.Sprintf("thought %d from %s", i, c.name)) {
			t.Errorf("what was said on %s is not known on Discord", c.name)
		}
	}
	if list := fromAPI[[]api.Session](x.world, "/api/sessions", nil); len(list) != 1 || list[0].Key != "agent:main:main" {
		t.Errorf("sessions: %+v", list)
	}

	x.stranger(own[1])
	for _, c := range x.groups() {
		x.dayInGroup(c)
	}
	x.quiet()
	for i, c := range own {
		if n := len(c.texts()); n != []int{1, 3, 1}[i] {
			t.Errorf("%s: the owner's chat shows %d messages: %q", c.name, n, c.texts())
		}
	}
	if seen := x.bot.Lookups(); len(seen) > 0 {
		t.Errorf("the host looked up people who never wrote: %q", seen)
	}
}

// stranger has somebody write who is not known, and the owner let them in.
func (x *three) stranger(own corner) {
	t := x.t
	t.Helper()
	theirs := x.whatsapp(x.gustav.Phone, "")
	asked := len(x.model.Requests())
	x.gustav.Say(x.bot, "let me in")
	notice := x.shows(theirs, 1)[0]
	code := regexp.MustCompile(`[A-HJ-NP-Z2-9]{8}`).FindString(notice)
	if code == "" {
		t.Fatalf("the notice has no code: %q", notice)
	}
	own.tell("/pair approve " + strings.ToLower(code))
	x.shows(own, 2)
	if told := x.shows(theirs, 2); len(told) != 2 {
		t.Errorf("the stranger reads %q", told)
	}
	if n := len(x.model.Requests()); n != asked {
		t.Errorf("a stranger caused %d model calls", n-asked)
	}
	x.gustav.Say(x.bot, say("welcome"))
	if got := x.shows(theirs, 3); last(got) != "welcome" {
		t.Errorf("the stranger, let in, reads %q", got)
	}
	own.tell("/pair approve " + code)
	if got := last(x.shows(own, 3)); !strings.Contains(got, "There is no request with this code") {
		t.Errorf("a code that was used up: %q", got)
	}
}

// dayInGroup has a group ask for work twice; the owner keeps the first report out of it.
func (x *three) dayInGroup(c corner) {
	t := x.t
	t.Helper()
	gate := c.name + " may report"
	c.talk(say("nobody asked"))
	c.ask(program(spawn(program(hold(gate), say("42"))), say("I am on it")))
	if got := x.shows(c, 1); got[0] != "I am on it" {
		t.Fatalf("%s: the group reads %q", c.name, got)
	}
	c.tell("/send off")
	if got := x.shows(c, 2)[1]; !strings.Contains(got, "Send policy set to off") {
		t.Fatalf("%s: the group reads %q", c.name, got)
	}
	x.free(gate)
	x.until(patience, "a report is held back", func() bool { return x.announced(c, sessions.Withheld) == 1 })
	c.tell("/send on")
	if got := x.shows(c, 3)[2]; !strings.Contains(got, "Send policy set to on") {
		t.Fatalf("%s: the group reads %q", c.name, got)
	}
	c.ask(program(spawn(say("43")), say("once more")))
	got := x.shows(c, 5)
	if all := strings.Join(got[3:], "\n"); len(got) != 5 || !strings.Contains(all, "once more") || !strings.Contains(all, "The figures are in.") {
		t.Errorf("%s: the group reads %q", c.name, got)
	}
	none(t, got, "nobody asked")
	x.quiet()
	if sent, held := x.announced(c, sessions.Sent), x.announced(c, sessions.Withheld); sent != 1 || held != 1 {
		t.Errorf("%s: %d reports were sent, %d held back", c.name, sent, held)
	}
}

// announced counts the reports of a corner's session in a state.
func (x *three) announced(c corner, state sessions.DeliveryState) (n int) {
	for _, d := range fromAPI[[]sessions.Delivery](x.world, "/api/deliveries?limit=1000", nil) {
		if d.Kind == sessions.Announce && d.State == state && string(d.Session) == c.key {
			n++
		}
	}
	return n
}
