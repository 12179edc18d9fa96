package web

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"parley/gateway/api"
	"parley/sessions"
)

func drawn(groups []*runGroup, depth int) string {
	var b strings.Builder
	for _, g := range groups {
		for i, s := range g.Steps {
			fmt.Fprintf(&b, "%s%s%s\n", strings.Repeat("  ", depth), map[bool]string{true: "+", false: ""}[i > 0], s.ID)
			for _, p := range s.Posts {
				fmt.Fprintf(&b, "%s  posted %s\n", strings.Repeat("  ", depth), p.ID)
			}
			b.WriteString(drawn(s.Below, depth+1))
		}
	}
	return b.String()
}

// A chain stands below the run that was at work in the requester's session when it began, its steps in order, the newest on top; what
// began outside of the list is at the top itself.
func TestRunTree(t *testing.T) {
	t.Parallel()
	zero := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	at := func(s int) time.Time {
		if s < 0 {
			return time.Time{}
		}
		return zero.Add(time.Duration(s) * time.Second)
	}
	run := func(id, key string, created, started, ended int, more func(*api.Run)) api.Run {
		r := api.Run{ID: sessions.RunID(id), Key: sessions.Key(key), Status: sessions.Done, Attempt: 1, Created: at(created), Started: at(started), Ended: at(ended)}
		if more != nil {
			more(&r)
		}
		return r
	}
	chain := func(root, requester string) func(*api.Run) {
		return func(r *api.Run) {
			r.Chain, r.Root, r.Requester = "spawn", sessions.RunID(root), sessions.Key(requester)
		}
	}
	list := []api.Run{
		run("later", "main", 90, 91, 92, nil),
		run("announce", "sub1", 41, 42, 43, chain("child", "main")),
		run("deep", "sub2", 25, 26, 39, chain("deep", "sub1")),
		run("child", "sub1", 15, 20, 40, chain("child", "main")),
		run("turn", "main", 10, 11, 30, nil),
		run("stray", "sub8", 8, 9, 10, chain("stray", "idle")),
		run("idle", "idle", 4, 6, 7, nil),
		run("orphan", "sub9", 5, 6, 7, chain("orphan", "gone")),
		run("before", "main", 1, 2, 9, nil),
	}
	want := "later\nturn\n  child\n    deep\n  +announce\nstray\norphan\nidle\nbefore\n"
	if got := drawn(runTree(list, at(99), names{}), 0); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	// Started is of the newest attempt; the parent of a chain by a sub-agent is named.
	again := []api.Run{
		run("sub", "a", 12, 13, 14, chain("sub", "main")),
		run("named", "b", 8, 9, 10, func(r *api.Run) { chain("named", "elsewhere")(r); r.Parent = "first" }),
		run("turn", "main", 5, 20, -1, func(r *api.Run) { r.Attempt = 2 }),
		run("first", "c", 1, 2, 3, nil),
	}
	if got, want := drawn(runTree(again, at(99), names{}), 0), "turn\n  sub\nfirst\n  named\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	// A post stands at the run that made it: by its cause, by what was at work in the session whose words it has, or alone.
	post := func(source, from string) func(*api.Run) {
		return func(r *api.Run) {
			r.Kind, r.Source, r.From = sessions.PostRun, source, sessions.Key(from)
		}
	}
	posts := []api.Run{
		run("alone", "main", 60, 61, 61, post("k", "")),
		run("unknown", "main", 59, 60, 60, post("other", "gone")),
		run("report", "main", 43, 44, 44, post("call 7", "sub1")),
		run("announce", "sub1", 41, 42, 43, func(r *api.Run) { chain("child", "main")(r); r.Source = "call 7" }),
		run("child", "sub1", 15, 20, 40, func(r *api.Run) { chain("child", "main")(r); r.Source = "call 7" }),
		run("message", "club", 12, 13, 13, post("call 6", "main")),
		run("turn", "main", 10, 11, 30, func(r *api.Run) { r.Source = "7" }),
	}
	want = "alone\nunknown\nturn\n  posted message\n  child\n  +announce\n    posted report\n"
	if got := drawn(runTree(posts, at(99), names{}), 0); got != want {
		t.Errorf("posts: got\n%swant\n%s", got, want)
	}
}
