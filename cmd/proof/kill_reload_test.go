package main

import (
	"context"
	"math/rand/v2"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"
)

// A host at work reads its file again in each of the ways that there are: it lets go of an account that is switched off, and takes it up
// again; it refuses a file with an error; and one that is killed meanwhile leaves the file as it is.
//
// proves: D1
func TestReloads(t *testing.T) {
	t.Parallel()
	w := testWorld(t, worldConfig{Logs: true})
	p := launch(t, w)
	x := &reloads{dice: rand.New(rand.NewPCG(1, 4))}
	made := func(c *reload) {
		c.asked, c.writes, c.pauses = make(chan struct{}), w.places, rand.New(rand.NewPCG(1, 1))
		<-x.make(t.Context(), w, p, c)
	}
	connected := func(account string) {
		if err := until(t.Context(), 30*time.Second, account+" is connected", func() bool { return w.connected(account) }); err != nil {
			t.Fatal(err)
		}
	}
	want := reloaded{}
	for _, account := range []string{"telegram/one", "telegram/two", "discord/default", "whatsapp/default"} {
		connected(account)
		made(&reload{way: offAndOn, account: account})
		connected(account)
		want.Off, want.On = want.Off+1, want.On+1
	}
	made(&reload{way: nothingNew})
	made(&reload{way: withError})
	x.last(t.Context(), &run{w: w, crowd: newCrowd(w)}, p)
	want.Off, want.On, want.Same, want.Refused = want.Off+lastTimes, want.On+lastTimes, 1, 1
	if x.fig != want || len(x.problems) > 0 || !reflect.DeepEqual(w.says, settings{}) {
		t.Fatalf("%s\n%q\n%+v", x.fig, x.problems, w.says)
	}
	w.says.off = []string{"discord/default"}
	made(&reload{way: onAgain})
	if want.On++; x.fig != want || len(w.says.off) > 0 {
		t.Errorf("%s\n%+v", x.fig, w.says)
	}
	p.kill()
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if want.Cut++; x.read(over, w, p, settings{off: []string{"telegram/one"}}) || x.fig != want || len(w.says.off) != 1 {
		t.Errorf("%s\n%+v", x.fig, w.says)
	}
}

// A host that takes a file with an error, refuses a good one, keeps an account that is off, or is silent, fails the run.
func TestReloadProblems(t *testing.T) {
	t.Parallel()
	x := &reloads{}
	for range 2 {
		if got := x.judge(true); len(got) != 1 || !strings.HasPrefix(got[0], "not every kind of reload was made: 0 switched an account off") {
			t.Errorf("%q", got)
		}
	}
	x.fig = reloaded{1, 1, 1, 1, 1}
	if got := x.judge(true); len(got) > 0 {
		t.Errorf("%q", got)
	}
	x.failed(os.ErrPermission)
	x.problem(&process{Life: 3}, "%s", "what")
	if got := x.judge(false); len(got) != 2 || got[1] != "reload in life 3: what" {
		t.Errorf("%q", got)
	}
}

// An account that a kill left off is off in the file until a reload switches it on, or a life that wants all of the host begins; an error
// is mended before any.
func TestReloadDrawn(t *testing.T) {
	t.Parallel()
	r := silent(t)
	r.plans.places = r.w.places
	r.reloads.dice = rand.New(rand.NewPCG(1, 4))
	seen := map[way]int{}
	for range 400 {
		if c := r.reloads.draw(r, kind{}); c != nil {
			seen[c.way]++
			for _, at := range c.writes {
				if c.way == offAndOn && at.account() != c.account {
					t.Fatalf("%s is switched off, and people write to %s", c.account, at.account())
				}
			}
		}
	}
	if n := seen[offAndOn] + seen[nothingNew] + seen[withError]; n < 150 || n > 250 || seen[offAndOn] < seen[nothingNew] || seen[nothingNew]*seen[withError] == 0 || seen[onAgain] > 0 {
		t.Errorf("%v", seen)
	}
	said := func() string {
		if err := r.silence(true); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(r.w.config())
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	r.w.says = settings{off: []string{"telegram/two"}, wrong: true}
	if c := r.reloads.draw(r, kind{}); c == nil || c.way != onAgain {
		t.Errorf("%+v", c)
	}
	if got := said(); strings.Count(got, "enabled: false") != 1 || strings.Contains(got, "nonsense") {
		t.Error(got)
	}
	if c := r.reloads.draw(r, kindOf("Fire before-commit")); c != nil {
		t.Errorf("%+v", c)
	}
	if got := said(); strings.Contains(got, "enabled: false") {
		t.Error(got)
	}
}
