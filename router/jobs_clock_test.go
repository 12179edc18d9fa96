package router_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"parley/channels/channeltest"
	"parley/router/routertest"
	"parley/sessions"
)

// setClock is a scheduler's clock that may be set while it runs.
type setClock struct{ by atomic.Int64 }

func (c *setClock) now() time.Time         { return time.Now().Round(0).Add(time.Duration(c.by.Load())) }
func (c *setClock) set(at time.Time)       { c.by.Store(int64(time.Until(at))) }
func (c *setClock) turn(by time.Duration)  { c.by.Add(int64(by)) }
func clockAt(at string) (time.Time, error) { return time.Parse(time.RFC3339, at) }

// clocked is a rig whose scheduler's clock is set.
func clocked(t *testing.T, at string) (*routertest.Rig, *setClock) {
	t.Helper()
	when, err := clockAt(at)
	if err != nil {
		t.Fatal(err)
	}
	c := &setClock{}
	c.set(when)
	g := &routertest.Rig{T: t, Dir: routertest.Folder(t), Settings: routertest.SettingsFor(), Fake: channeltest.NewFake(channeltest.Options{}), Model: &routertest.Script{}, Clock: c.now}
	g.Start()
	return g, c
}

// TestJobAndSummerTime: a time of the clock that the night skips comes as much later, one that comes twice counts once, and a job of any
// hour follows the time that passes.
func TestJobAndSummerTime(t *testing.T) {
	for name, x := range map[string]struct {
		from, cron string
		hours      time.Duration
		want       string
	}{
		"the hour that is not":   {"2026-03-28T12:00:00Z", "30 2 * * *", 40, "03-29T01:30 03-30T00:30"},
		"the hour that is twice": {"2026-10-24T12:00:00Z", "30 2 * * *", 40, "10-25T00:30 10-26T01:30"},
		"any hour in spring":     {"2026-03-28T23:45:00Z", "30 * * * *", 4, "03-29T00:30 03-29T01:30 03-29T02:30 03-29T03:30"},
		"any hour in autumn":     {"2026-10-24T23:45:00Z", "30 * * * *", 4, "10-25T00:30 10-25T01:30 10-25T02:30 10-25T03:30"},
	} {
		t.Run(name, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				g, _ := clocked(t, x.from)
				j := g.Make(sessions.Job{Cron: x.cron, Zone: "Europe/Berlin"})
				<-time.After(x.hours * time.Hour)
				g.Same(g.Begun(j.ID), x.want)
			})
		})
	}
}

// TestJobAndTheClock: the clock is set back and forth around the times of a job, and each counts once, by the clock.
func TestJobAndTheClock(t *testing.T) {
	for name, x := range map[string]struct {
		turns []time.Duration // one every five minutes, beginning half a minute after the first time
		want  string
	}{
		"five minutes back, again and again": {slices.Repeat([]time.Duration{-5 * time.Minute}, 10), "06-01T10:00 06-01T11:00"},
		"an hour back":                       {[]time.Duration{-time.Hour}, "06-01T10:00 06-01T11:00"},
		"an hour on":                         {[]time.Duration{time.Hour}, "06-01T10:00 06-01T11:00 06-01T12:00"},
		"an hour on and back":                {[]time.Duration{time.Hour, -time.Hour}, "06-01T10:00 06-01T11:00"},
		"a year on and back":                 {[]time.Duration{365 * 24 * time.Hour, -365 * 24 * time.Hour}, "06-01T10:00 06-01T10:00 06-01T11:00"},
	} {
		t.Run(name, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				g, c := clocked(t, "2026-06-01T09:59:30Z")
				j := g.Make(sessions.Job{Cron: "0 * * * *", Zone: "UTC"})
				<-time.After(time.Minute)
				for _, by := range x.turns {
					c.turn(by)
					<-time.After(5 * time.Minute)
				}
				end, err := clockAt(map[bool]string{false: "2026-06-01T11:30:00Z", true: "2026-06-01T12:01:00Z"}[name == "an hour on"])
				if err != nil {
					t.Fatal(err)
				}
				<-time.After(end.Sub(c.now()))
				var begun []string
				for _, o := range g.History(j.ID) {
					if o.Skipped == "" {
						begun = append(begun, o.Due.UTC().Format("01-02T15:04"))
					}
				}
				g.Same(begun, x.want)
				if name != "a year on and back" {
					g.Begun(j.ID) // of a year the test shows no more than the day
				}
			})
		})
	}
}

// TestJobAfterADay: the host stands still for 25 hours. What was missed is made up for once, by its newest time; what it missed is told.
func TestJobAfterADay(t *testing.T) {
	for name, x := range map[string]struct{ cron, want, skipped string }{
		"every hour": {"0 * * * *", "06-02T10:00", "06-01T10:00"},
		"once a day": {"0 10 * * *", "06-02T10:00", "06-01T10:00"},
		"at noon":    {"0 12 * * *", "", "06-01T12:00"}, // 22 hours ago
		"on Sundays": {"0 10 * * 0", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				g, _ := clocked(t, "2026-06-01T09:30:00Z") // a Monday
				j := g.Make(sessions.Job{Cron: x.cron, Zone: "UTC"})
				g.Stop()
				<-time.After(25 * time.Hour)
				g.Start()
				<-time.After(time.Minute)
				g.Same(g.Begun(j.ID), x.want)
				var skipped []string
				for _, o := range g.History(j.ID) {
					if o.Skipped != "" {
						skipped = append(skipped, o.Due.UTC().Format("01-02T15:04"))
					}
				}
				if got := strings.Join(skipped, " "); got != x.skipped {
					t.Errorf("left out: %s, want %s", got, x.skipped)
				}
			})
		})
	}
}

// TestJobKilledAtEveryCommit: a process that is killed around a job's time, before or after any commit, leaves one turn and one answer.
func TestJobKilledAtEveryCommit(t *testing.T) {
	type image struct {
		name    string
		db, log []byte
	}
	var images []image
	dir := ""
	t.Run("images", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			g := routertest.New(t, channeltest.Options{})
			g.Say(routertest.Group("a"), routertest.Guest, "hello")
			g.Shown(1)
			g.Idle(1)
			g.Make(sessions.Job{At: time.Now().Add(time.Hour), To: routertest.Group("a")})
			synctest.Wait()
			dir = g.Dir
			g.Look(func(op, phase string) {
				var im image
				var err error
				if im.db, err = os.ReadFile(filepath.Join(dir, "parley.db")); err == nil {
					im.log, err = os.ReadFile(filepath.Join(dir, "parley.db-wal"))
				}
				if err != nil {
					t.Error(err)
				}
				if im.name = op + " " + phase; op != "Expire" && op != "Forget" {
					images = append(images, im)
				}
			})
			<-time.After(time.Hour + time.Minute)
			g.Shown(2)
			synctest.Wait()
		})
	})
	fired := false
	for _, im := range images {
		fired = fired || strings.HasPrefix(im.name, "Fire")
		t.Run(im.name, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				<-time.After(time.Hour + 2*time.Minute)
				g := &routertest.Rig{T: t, Dir: routertest.Folder(t), Settings: routertest.SettingsFor(), Fake: channeltest.NewFake(channeltest.Options{}), Model: &routertest.Script{}}
				for name, b := range map[string][]byte{"parley.db": im.db, "parley.db-wal": im.log} {
					if err := os.WriteFile(filepath.Join(g.Dir, name), b, 0o600); err != nil {
						t.Fatal(err)
					}
				}
				g.Start()
				<-time.After(10 * time.Minute)
				list, err := g.Store.Occurrences(t.Context(), "", 0)
				if err != nil || len(list) != 1 || list[0].Skipped != "" {
					t.Fatalf("%+v, %v", list, err)
				}
				if begun := g.Begun(list[0].Job); len(begun) != 1 {
					t.Errorf("%v", begun)
				}
				said := 0
				for _, d := range g.Deliveries()[1:] {
					if said++; d.State != sessions.Sent || d.Text != "echo: look" {
						t.Errorf("%+v", d)
					}
				}
				if said != 1 {
					t.Errorf("%d answers", said)
				}
			})
		})
	}
	if !fired || len(images) < 10 {
		t.Errorf("%d images", len(images))
	}
}
