package killtest

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/agent"
	"parley/channels"
	"parley/router/routertest"
)

// The chats of the scenarios, with threads, so that a part of an address that is lost on the way shows.
var (
	chatB = routertest.Thread(routertest.Group("b"), "9")
)

// The sessions of these chats.
const (
	talkA = "agent:main:fake:group:a:topic:7"
	talkB = "agent:main:fake:group:b:topic:9"
)

// TestKillAtEveryCommit tells each scenario once to its end and takes an image at each commit, before and after it: what SIGKILL
// would leave there. Then it continues from each image with a new process, and holds what comes of it against the contract. The
// images are numbered as they come, so -run 'TestKillAtEveryCommit/name/007' is one of them. The race detector sees every fourth
// commit: it makes the database ten times as slow.
//
// proves: N15, S9, S11, S12, S13, S14, S15, D3, D4
func TestKillAtEveryCommit(t *testing.T) {
	t.Parallel()
	base := beginning(t)
	for _, sc := range slices.Concat(askScenarios(), childScenarios(), belowScenarios()) {
		t.Run(sc.name, func(t *testing.T) {
			t.Parallel()
			images, all, _ := tell(t, sc, base, routertest.Repeats, true)
			t.Logf("%d images, %d of them different", all, len(images))
			for _, im := range images {
				if routertest.Racing && im.n%16 > 0 {
					continue
				}
				t.Run(im.name(), func(t *testing.T) {
					t.Parallel()
					again, all, unclear := tell(t, sc, im, routertest.Repeats, sc.twice)
					if unclear {
						tell(t, sc, im, routertest.Idempotent, false)
						tell(t, sc, im, routertest.Reconciles, false)
						// Where the computer went down, nothing is known of the calls: a message that was being sent may have arrived.
						lost := *im
						lost.calls = nil
						for _, p := range []routertest.Platform{routertest.Repeats, routertest.Idempotent, routertest.Reconciles} {
							tell(t, sc, &lost, p, false)
						}
					}
					if sc.twice {
						t.Logf("%d images of the process that took over, %d of them different", all, len(again))
					}
					for _, im := range again {
						if im.n%3 > 0 { // the simulation kills processes that took over too, at random
							continue
						}
						t.Run(im.name(), func(t *testing.T) {
							t.Parallel()
							tell(t, sc, im, routertest.Repeats, false)
						})
					}
				})
			}
		})
	}
}

// tell continues with a scenario from an image, judges what comes of it, and gives the images that it took on the way.
func tell(t *testing.T, sc *scenario, from *image, p routertest.Platform, record bool) (images []*image, all int, unclear bool) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		l := live(t, sc, from, p, record)
		a := l.look()
		l.stop()
		a.judge()
		if t.Failed() {
			t.Logf("on a platform that %s", p.Name)
			for _, r := range a.runs {
				t.Logf("run %s %s: %s, attempt %d %s", r.Kind, placeOf(r.Key), r.Status, r.Attempt, r.Error)
			}
			for _, d := range a.deliveries {
				t.Logf("delivery %s to %s: %s %q %s", d.Kind, d.To, d.State, d.Text, d.Error)
			}
			for i, life := range a.lives {
				for _, x := range life {
					t.Logf("process %d asked: %s → %s", i+1, x.Step, x.mark)
				}
			}
		}
		images, all = l.distinct()
		unclear = l.unclear
	})
	return images, all, unclear
}

// greeting stands in every chat before a scenario begins.
const greeting = "hello"

// beginning makes the sessions that the scenarios begin with.
func beginning(t *testing.T) *image {
	t.Helper()
	hello := &scenario{
		moves:  []move{{id: "hello-a", to: routertest.ChatA, by: routertest.Guest, text: "hello"}, {id: "hello-b", to: chatB, by: routertest.Guest, text: "hello"}},
		answer: func(context.Context, routertest.Step) (agent.Answer, error) { return routertest.Text(greeting), nil },
	}
	im := &image{at: routertest.Epoch.Add(-down)}
	synctest.Test(t, func(t *testing.T) {
		l := live(t, hello, &image{at: time.Now()}, routertest.Repeats, false)
		a := l.look()
		l.stop()
		a.judge()
		im.shown = a.shown
		var err error
		if im.db, err = os.ReadFile(filepath.Join(l.dir, "parley.db")); err != nil {
			t.Fatal(err)
		}
	})
	return im
}

// TestFaultKilledBesideACall kills a process at each commit around a call to a platform that knows no repeats, and never within one: before it, the commit
// that begins to send is made, behind it, the receipt is not. What the process knew of it the next one knows: the answer is shown once, and nobody is told
// that it might be there twice.
//
// proves: D4
func TestFaultKilledBesideACall(t *testing.T) {
	t.Parallel()
	sc := &scenario{
		name:   "one message",
		moves:  []move{{id: "m", to: routertest.ChatA, by: routertest.Guest, text: "hello"}},
		answer: func(context.Context, routertest.Step) (agent.Answer, error) { return routertest.Text("an answer"), nil },
		want:   want{shows: map[channels.Address][]string{routertest.ChatA: {"an answer"}}},
	}
	images, _, _ := tell(t, sc, beginning(t), routertest.Repeats, true)
	var within []string
	for _, im := range images {
		synctest.Test(t, func(t *testing.T) {
			l := live(t, sc, im, routertest.Repeats, false)
			a := l.look()
			l.stop()
			a.judge()
			if l.unclear {
				within = append(within, strings.TrimLeft(im.name(), "0123456789 "))
			}
			for _, d := range a.deliveries {
				if d.Repeat || d.Ambiguous {
					t.Errorf("killed %s: %q is %s, marked %t, unclear %t: %s", im.name(), d.Text, d.State, d.Repeat, d.Ambiguous, d.Error)
				}
			}
		})
	}
	if want := []string{"Finish+begin after-commit", "PartSent+fake before-commit"}; !slices.Equal(within, want) {
		t.Errorf("killed within a send at %q, want %q", within, want)
	}
}
