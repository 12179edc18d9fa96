package router_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/agent"
	"parley/channels/channeltest"
	"parley/policy"
	"parley/router/event"
	"parley/router/routertest"
	"parley/sessions"
)

// line words an event without its ids.
func lineOf(e event.Event) string {
	out := e.Kind
	for _, s := range []string{e.Phase, string(e.Status), string(e.State), e.Tool, e.Text, e.Rule} {
		if s != "" {
			out += " " + s
		}
	}
	return out
}

// drain reads what has happened until nothing does any more.
func drainEvents(events <-chan event.Event) (lines []string) {
	for {
		synctest.Wait()
		select {
		case e, more := <-events:
			if !more {
				return append(lines, "closed")
			}
			lines = append(lines, lineOf(e))
		default:
			return lines
		}
	}
}

// A turn that no chat sees is told step by step; so is what is done to its session.
func TestWatch(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{})
		g.Model.Set(func(_ context.Context, p agent.Prompt) (agent.Answer, error) {
			if routertest.Last(p).Role == sessions.ToolResult {
				return routertest.Text("done"), nil
			}
			a := routertest.Call("c1", "agents_list", map[string]any{})
			a.Content = append(sessions.TextContent("Let me see."), a.Content...)
			return a, nil
		})
		events, cancel := g.Router.Watch(event.Filter{Session: routertest.HookKey})
		defer cancel()
		run := g.Answered(g.Told(routertest.Me(true)))
		if _, err := g.Router.Patch(t.Context(), routertest.HookKey, sessions.Patch{Model: new("mock/m")}); err != nil {
			t.Fatal(err)
		}
		if _, _, err := g.Router.Reset(t.Context(), "", routertest.HookKey); err != nil {
			t.Fatal(err)
		}
		if _, err := g.Router.Archive(t.Context(), "", routertest.HookKey); err != nil {
			t.Fatal(err)
		}
		if err := g.Router.Delete(t.Context(), "", routertest.HookKey); err != nil {
			t.Fatal(err)
		}
		want := []string{"session new", "run queued", "run running", "message", "text Let me see.", "message", "tool begin agents_list", "tool end agents_list", "message",
			"text done", "message", "run done", "session patched", "session reset", "session archived", "session deleted"}
		if got := drainEvents(events); !slices.Equal(got, want) {
			t.Errorf("got  %s\nwant %s", strings.Join(got, ", "), strings.Join(want, ", "))
		}
		if run.Status != sessions.Done {
			t.Error(run.Error)
		}
	})
}

// Each state of a delivery is told, with the rule that held it back. One that begins with the commit that makes it never waits.
func TestWatchDeliveries(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{})
		events, cancel := g.Router.Watch(event.Filter{Kinds: []string{event.KindDelivery}})
		defer cancel()
		g.Say(routertest.Direct(routertest.Owner), routertest.Owner, "hi")
		g.Shown(1)
		g.Idle(1)
		if got, want := drainEvents(events), []string{"delivery sending session.sendPolicy.default", "delivery sent session.sendPolicy.default"}; !slices.Equal(got, want) {
			t.Errorf("%v", got)
		}
		if _, err := g.Router.Patch(t.Context(), "agent:main:main", sessions.Patch{SendPolicy: new(policy.Deny)}); err != nil {
			t.Fatal(err)
		}
		g.Say(routertest.Direct(routertest.Owner), routertest.Owner, "and now?")
		g.Idle(2)
		if got, want := drainEvents(events), []string{"delivery withheld session override"}; !slices.Equal(got, want) {
			t.Errorf("%v", got)
		}
	})
}

// Who watches something sees nothing else, and nothing after cancel.
func TestWatchSelects(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{})
		all := map[string]event.Filter{"run": {Run: "r1"}, "session": {Session: "s1"}, "kind": {Kinds: []string{event.KindText, event.KindJob}}, "both": {Run: "r1", Kinds: []string{event.KindText}}, "all": {}}
		got := map[string]<-chan event.Event{}
		for name, w := range all {
			events, cancel := g.Router.Watch(w)
			defer cancel()
			got[name] = events
		}
		gone, cancel := g.Router.Watch(event.Filter{})
		cancel()
		cancel()
		for _, e := range []event.Event{{Kind: event.KindRun, Run: "r1", Session: "s2", Phase: "1"}, {Kind: event.KindText, Run: "r1", Session: "s1", Phase: "2"}, {Kind: event.KindText, Run: "r2", Session: "s1", Phase: "3"}, {Kind: event.KindJob, Phase: "4"}} {
			g.Router.Tell(e)
		}
		for name, want := range map[string]string{"run": "run 1,text 2", "session": "text 2,text 3", "kind": "text 2,text 3,job 4", "both": "text 2", "all": "run 1,text 2,text 3,job 4"} {
			if lines := drainEvents(got[name]); strings.Join(lines, ",") != want {
				t.Errorf("%s: %v, want %s", name, lines, want)
			}
		}
		if lines := drainEvents(gone); !slices.Equal(lines, []string{"closed"}) {
			t.Errorf("after cancel: %v", lines)
		}
	})
}

// A slow reader gets the newest text of each run and nothing twice; what happened in between keeps its place.
func TestWatchCoalesces(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{})
		events, cancel := g.Router.Watch(event.Filter{})
		defer cancel()
		g.Router.Tell(event.Event{Kind: event.KindJob}) // the one that waits for the reader
		synctest.Wait()
		for i := range 2 * 1000 {
			for _, run := range []sessions.RunID{"a", "b"} {
				g.Router.Tell(event.Event{Kind: event.KindText, Run: run, Text: fmt.Sprint(run, i)})
			}
		}
		g.Router.Tell(event.Event{Kind: event.KindTool, Run: "a"})
		g.Router.Tell(event.Event{Kind: event.KindText, Run: "a", Text: "a again"})
		g.Router.Tell(event.Event{Kind: event.KindText, Run: "b", Text: "b again"})
		if got, want := strings.Join(drainEvents(events), ","), "job,text a1999,text b again,tool,text a again"; got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	})
}

// The end of the host ends every watch.
func TestWatchEndsWithTheHost(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{})
		events, cancel := g.Router.Watch(event.Filter{})
		r := g.Router
		g.Stop()
		if got := drainEvents(events); !slices.Equal(got, []string{"closed"}) {
			t.Errorf("%v", got)
		}
		cancel()
		after, cancel := r.Watch(event.Filter{})
		defer cancel()
		if got := drainEvents(after); !slices.Equal(got, []string{"closed"}) {
			t.Errorf("%v", got)
		}
	})
}

// Who watches since a position is told first that something happened meanwhile, when it is something that it wants, or may be.
func TestWatchSince(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		r := new(event.Bus)
		first := func(w event.Filter) string {
			events, cancel := r.Watch(w)
			defer cancel()
			got := drainEvents(events)
			r.Publish(event.Event{Kind: event.KindJob, Session: "s1"})
			if next := drainEvents(events); len(next) > 0 {
				got = append(got, next...)
			}
			return strings.Join(got, ", ")
		}
		start := r.Position()
		if got := first(event.Filter{Since: start}); got != "job" {
			t.Errorf("nothing had happened: %s", got)
		}
		r.Publish(event.Event{Kind: event.KindRun, Session: "s1", Run: "r1"})
		now := r.Position()
		r.Publish(event.Event{Kind: event.KindText, Session: "s1", Run: "r1"})
		for want, all := range map[string][]event.Filter{
			"reload, job": {{Since: start}, {Since: event.Unknown}, {Since: now + 1000}},
			"job":         {{}, {Since: now}},
			"reload":      {{Since: start, Kinds: []string{event.KindRun}}, {Since: start, Run: "r1"}},
			"":            {{Since: start, Kinds: []string{event.KindTool}}, {Since: now, Run: "r1"}, {Since: start, Session: "s2"}},
		} {
			for _, w := range all {
				if w.Since == now {
					w.Since = r.Position()
				}
				if got := first(w); got != want {
					t.Errorf("%+v: %q, want %q", w, got, want)
				}
			}
		}
		place := r.Position()
		for range 1000 {
			r.Publish(event.Event{Kind: event.KindJob})
		}
		if got := first(event.Filter{Since: place, Session: "s2"}); got != "" {
			t.Errorf("%s: nothing of it in all that is known", got)
		}
		if got := first(event.Filter{Since: place, Session: "s2"}); got != "reload" {
			t.Errorf("%q: what is not known any more may be anything", got)
		}
		events, cancel := r.Watch(event.Filter{Since: event.Unknown})
		defer cancel()
		if e := <-events; e.At != r.Position() {
			t.Errorf("%d", e.At)
		}
		r.Publish(event.Event{Kind: event.KindJob})
		if e := <-events; e.At != r.Position() {
			t.Errorf("%d", e.At)
		}
	})
}

// How runs end that never began, or in another's turn, is told too.
func TestWatchEnds(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{})
		release := g.Blocked()
		first := g.Told(routertest.Me(true))
		g.Until("it is at work", func() bool { return g.Model.Count() > 0 })
		second, third, fourth := g.Told(routertest.Me(true)), g.Told(routertest.Me(true)), g.Told(routertest.Me(true))
		ended := map[sessions.RunID]event.Event{}
		events, cancel := g.Router.Watch(event.Filter{Kinds: []string{event.KindRun}})
		defer cancel()
		go func() {
			for e := range events {
				if e.Status.Final() {
					ended[e.Run] = e
				}
			}
		}()
		if _, _, err := g.Router.CancelRun(t.Context(), "", second.Run.ID); err != nil {
			t.Fatal(err)
		}
		if _, _, err := g.Router.CancelRun(t.Context(), "", first.Run.ID); err != nil {
			t.Fatal(err)
		}
		release()
		g.Idle(4)
		<-time.After(time.Second)
		for id, want := range map[sessions.RunID]event.Event{first.Run.ID: {Status: sessions.Stopped}, second.Run.ID: {Status: sessions.Stopped}, third.Run.ID: {Status: sessions.Done}, fourth.Run.ID: {Status: sessions.Done, Batch: third.Run.ID}} {
			if e := ended[id]; e.Status != want.Status || e.Batch != want.Batch {
				t.Errorf("%s: %+v, want %+v", id, e, want)
			}
		}
	})
}
