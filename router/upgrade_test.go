package router_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/agent"
	"parley/channels"
	"parley/channels/channeltest"
	"parley/router/routertest"
	"parley/sessions"
)

// upgradedRig is a host of today on the database of an earlier one, some time after it was left, and what that one had sent.
func upgradedRig(t *testing.T, file string, after time.Duration) (g *routertest.Rig, sent map[sessions.DeliveryID]bool) {
	t.Helper()
	return upgradedRigWith(t, file, after, saying("this is an answer"))
}

// upgradedRigWith is upgradedRig with another model.
func upgradedRigWith(t *testing.T, file string, after time.Duration, model func(context.Context, agent.Prompt) (agent.Answer, error)) (g *routertest.Rig, sent map[sessions.DeliveryID]bool) {
	t.Helper()
	b, err := os.ReadFile(file)
	routertest.Check(t, err)
	var taken time.Time
	if _, rest, ok := strings.Cut(string(b), "Taken at "); ok {
		taken, err = time.Parse(time.RFC3339, rest[:len("2000-01-01T00:00:00Z")])
		routertest.Check(t, err)
	}
	dir := routertest.Folder(t)
	db, err := sql.Open("sqlite", filepath.Join(dir, "parley.db"))
	routertest.Check(t, err)
	_, err = db.ExecContext(t.Context(), string(b))
	routertest.Check(t, err)
	sent = sentIn(t, db)
	routertest.Check(t, db.Close())
	<-time.After(time.Until(taken.Add(after)))
	set := routertest.SettingsFor(storySettings)
	g = &routertest.Rig{T: t, Dir: dir, Settings: set, Fake: channeltest.NewFake(channeltest.Options{Limits: channels.Limits{Text: 400}}), Model: &routertest.Script{}}
	g.Model.Set(model)
	g.Start()
	return g, sent
}

// sentIn are the deliveries that a database of any version holds as sent.
func sentIn(t *testing.T, db *sql.DB) map[sessions.DeliveryID]bool {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), "SELECT id FROM deliveries WHERE state = 'sent'")
	routertest.Check(t, err)
	defer func() { _ = rows.Close() }()
	sent := map[sessions.DeliveryID]bool{}
	for rows.Next() {
		var id sessions.DeliveryID
		routertest.Check(t, rows.Scan(&id))
		sent[id] = true
	}
	routertest.Check(t, rows.Err())
	if len(sent) == 0 {
		t.Fatal("the database holds nothing that was sent")
	}
	return sent
}

// A host that takes up the work of an earlier one, after seconds, a day or a month: what is in time leaves once, what is not is listed as
// expired or failed with a reason, and nobody begins what they were asked long ago. After a day a sub-agent that was running, as it may be
// for a day, still reports; after a month nothing at all is said.
//
// proves: N15, S11
//
// proves: D8
func TestUpgradeRevivesNothing(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(upgradeDir, "v*.sql"))
	if err != nil || len(files) == 0 {
		t.Fatal("no database of an earlier version is there", err)
	}
	for _, file := range files {
		for _, after := range []time.Duration{20 * time.Second, 25 * time.Hour, 30 * 24 * time.Hour} {
			t.Run(fmt.Sprint(filepath.Base(file), " after ", after), func(t *testing.T) {
				routertest.Bubble(t, func(t *testing.T) {
					g, sent := upgradedRig(t, file, after)
					began := time.Now()
					<-time.After(10 * time.Minute)
					synctest.Wait()
					l := &revival{Rig: g, began: began, after: after, sent: sent, counts: map[string]int{}}
					l.runs()
					l.exchanges()
					l.sends()
					l.accounts()
					t.Logf("%v, the model was asked %d times", l.counts, g.Model.Count())
				})
			})
		}
	}
}

// revival looks at what a host did in its first minutes on the database of another.
type revival struct {
	*routertest.Rig
	began  time.Time
	after  time.Duration
	sent   map[sessions.DeliveryID]bool // by the other host
	list   map[sessions.RunID]sessions.Run
	counts map[string]int
}

// old reports whether a run, or the chain that it belongs to, was begun by the other host.
func (l *revival) old(r sessions.Run) bool {
	if r.Created.Before(l.began) {
		return true
	}
	if r.Chain == nil {
		return false
	}
	root, ok := l.list[r.Chain.Root]
	return ok && root.Created.Before(l.began)
}

// mayRun reports whether work of the other host is still in time.
func (l *revival) mayRun(r sessions.Run) bool {
	switch {
	case l.after < time.Hour, r.Kind == sessions.PostRun: // which only notes in the transcript what was posted
		return true
	case l.after < 48*time.Hour:
		return r.Chain != nil && r.Chain.Kind == "spawn"
	}
	return false
}

// runs says what became of the runs that were queued or at work.
func (l *revival) runs() {
	l.T.Helper()
	list, err := l.Store.ListRuns(l.T.Context(), sessions.RunQuery{Limit: 1000})
	routertest.Check(l.T, err)
	l.list = map[sessions.RunID]sessions.Run{}
	for _, r := range list {
		l.list[r.ID] = r
	}
	for _, r := range list {
		if !l.old(r) || r.Status.Final() && r.Ended.Before(l.began) {
			continue
		}
		l.counts["run "+string(r.Status)]++
		switch {
		case !r.Status.Final():
			l.T.Errorf("a %s run is %s after ten minutes: %s", r.Kind, r.Status, r.Input.Text())
		case r.Status != sessions.Done && r.Error == "":
			l.T.Errorf("a %s run is %s without a reason", r.Kind, r.Status)
		case r.Status != sessions.Failed && !l.mayRun(r):
			l.T.Errorf("a %s run of long ago was taken up and is %s: %s", r.Kind, r.Status, r.Input.Text())
		}
	}
	if most := l.counts["run done"] + l.counts["run timeout"]; l.after > 48*time.Hour && most > 0 {
		l.T.Errorf("%d runs of a month ago were not over", most)
	}
}

// exchanges wants an end of every exchange that was under way: the announce step, a step that failed or was too late, or a follow-up. One that
// was stored without a chat to go back to has no follow-up.
func (l *revival) exchanges() {
	l.T.Helper()
	ends := map[sessions.RunID]bool{}
	for _, r := range l.list {
		if r.Chain == nil || r.Chain.Kind != "ask" || !l.old(r) || r.Ended.Before(l.began) {
			continue
		}
		ends[r.Chain.Root] = ends[r.Chain.Root] || r.Kind == sessions.AnnounceRun || r.Kind == sessions.FollowUpRun || r.Status != sessions.Done
		if r.Kind == sessions.FollowUpRun && r.Chain.Back.IsZero() {
			l.T.Errorf("a follow-up without a chat: %s", r.Input.Text())
		}
	}
	for root, over := range ends {
		if l.counts["exchanges"]++; !over {
			l.T.Errorf("the exchange %s was under way, and has no end", root)
		}
	}
	if l.counts["exchanges"] == 0 {
		l.T.Error("no exchange was under way")
	}
}

// sends says what reached the chats.
func (l *revival) sends() {
	l.T.Helper()
	all, keys, replies := l.Deliveries(), map[string]int{}, map[sessions.RunID]int{}
	for _, c := range l.Fake.Calls(channeltest.OpSend) {
		if c.Err == nil {
			keys[c.Out.Key]++
		}
	}
	for key, n := range keys {
		if id, _, _ := strings.Cut(key, "."); n > 1 {
			l.T.Errorf("%s was sent %d times", key, n)
		} else if l.sent[sessions.DeliveryID(id)] {
			l.T.Errorf("%s was sent before, and is sent again", key)
		}
	}
	announced := map[sessions.RunID]int{}
	for _, d := range all {
		r, known := l.list[d.Run]
		now := !d.Updated.Before(l.began)
		switch {
		case d.State == sessions.Sending, d.State == sessions.Pending && d.Created.Before(l.began) && l.after > time.Hour:
			l.T.Errorf("%s to %s is %s", d.Kind, d.To, d.State)
		case d.State == sessions.Expired && now:
			l.counts["expired"]++
		case d.State != sessions.Sent:
		case now && d.Created.Before(l.began) && d.Expires.Before(l.began):
			l.T.Errorf("%s to %s was sent after its time", d.Kind, d.To)
		case now && known && l.old(r):
			l.counts["sent"]++
			if !l.mayRun(r) {
				l.T.Errorf("said of something long ago: %s to %s %q by a %s run", d.Kind, d.To, d.Text, r.Kind)
			}
		}
		if known && d.Kind == sessions.Announce && r.Chain != nil {
			announced[r.Chain.Root]++
		} else if known && d.Kind == sessions.Reply {
			replies[d.Run]++
		}
	}
	for what, count := range map[string]map[sessions.RunID]int{"announcements of one chain": announced, "answers of one turn": replies} {
		for id, n := range count {
			if n > 1 {
				l.T.Errorf("%d %s: %s", n, what, id)
			}
		}
	}
	if l.after < time.Hour && l.counts["sent"] == 0 {
		l.T.Errorf("what was in time did not leave: %v", l.counts)
	}
	if l.after > time.Hour && l.counts["expired"] == 0 {
		l.T.Errorf("nothing expired: %v", l.counts)
	}
}

// accounts wants an end of every sub-agent.
func (l *revival) accounts() {
	l.T.Helper()
	for _, r := range l.list {
		if r.Kind != sessions.ChildRun {
			continue
		}
		if end, err := l.Router.CommandTable.Reported(l.T.Context(), r); err != nil || end == "" || end == "running" || end == "pending" {
			l.T.Errorf("what became of the sub-agent that was asked %q: %q, %v", r.Input.Text(), end, err)
		} else {
			l.counts["sub-agents"]++
		}
	}
}

// A stop ends what an earlier host was at as well: the turn, the sub-agents below, and the exchanges that the session has begun. Nothing of it
// goes on, after another restart neither.
//
// proves: X1
func TestUpgradedWorkIsStopped(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(upgradeDir, "v*.sql"))
	if err != nil || len(files) == 0 {
		t.Fatal("no database of an earlier version is there", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				g, _ := upgradedRigWith(t, file, 20*time.Second, func(ctx context.Context, _ agent.Prompt) (agent.Answer, error) {
					<-ctx.Done()
					return agent.Answer{}, ctx.Err()
				})
				const bob = sessions.Key("agent:main:fake:direct:5005")
				concerned := func(r sessions.Run) bool {
					return r.Key == bob || r.Chain != nil && (r.Chain.Requester == bob || r.Chain.Target == bob)
				}
				open := func() (kinds map[sessions.RunKind]int) {
					kinds = map[sessions.RunKind]int{}
					for _, r := range g.Runs() {
						if !r.Status.Final() && concerned(r) {
							kinds[r.Kind]++
						}
					}
					return kinds
				}
				<-time.After(10 * time.Second)
				before := open()
				if before[sessions.TurnRun] == 0 || before[sessions.ChildRun] == 0 || before[sessions.AskRun] == 0 {
					t.Fatalf("the earlier host was at %v", before)
				}
				stopped := time.Now()
				g.Say(routertest.Direct("5005"), "5005", "/stop")
				<-time.After(2 * time.Second)
				if left := open(); len(left) > 0 {
					t.Errorf("still at work: %v", left)
				}
				g.Model.Set(saying("this is an answer"))
				g.Stop()
				g.Start()
				<-time.After(10 * time.Minute)
				for _, r := range g.Runs() {
					if concerned(r) && (r.Ended.After(stopped) || !r.Status.Final()) && r.Status != sessions.Stopped {
						t.Errorf("after the stop a %s of %s is %s: %s", r.Kind, r.Key, r.Status, r.Error)
					}
				}
				for _, d := range g.Deliveries() {
					if d.Session == bob && d.Created.After(stopped) && d.Kind != sessions.Notice {
						t.Errorf("after the stop the chat reads %q", d.Text)
					}
				}
			})
		})
	}
}
