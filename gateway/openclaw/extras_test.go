package openclaw

import (
	"slices"
	"strings"
	"testing"
	"time"

	"parley/channels"
	"parley/gateway/openclaw/history"
	"parley/gateway/openclaw/report"
	"parley/sessions"
	"parley/sessions/sqlstore"
)

// Jobs are stored as parley cron add would make them, once. Those that cannot be stay in the report, with the reason; the others leave it.
func TestStoreJobs(t *testing.T) {
	t.Parallel()
	s, err := sqlstore.Open(t.Context(), sqlstore.Config{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	last := channels.Address{Channel: "telegram", Account: "default", Chat: "1001", Type: channels.Direct}
	now := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	jobs := []Job{
		{What: "job a", Name: "a", Message: "Water", Cron: "0 7 * * *", Zone: "Europe/Berlin", To: "telegram/default/direct/1001"},
		{What: "job b", Name: "b", Message: "Look", Every: time.Hour, To: "last", Off: true},
		{What: "job c", Message: "Late", At: "2026-01-01T00:00:00Z"},
		{What: "job d", Message: "Whose?", Every: time.Hour, Agent: "nobody"},
		{What: "job e", Message: "Where?", Every: time.Hour, To: "last", Agent: "helper"},
	}
	fresh := func() *Result {
		r := &Result{Jobs: jobs, Sessions: []history.Imported{{Session: sessions.Session{Key: sessions.MainKey("main"), Last: last}}}}
		for _, j := range jobs {
			r.Report.Need(j.What, "make it: "+j.Command())
		}
		return r
	}
	agents := []sessions.AgentID{"main", "helper"}
	r := fresh()
	if n, err := r.StoreJobs(t.Context(), s, agents, now); n != 2 || err != nil {
		t.Fatalf("%d, %v", n, err)
	}
	if n, err := fresh().StoreJobs(t.Context(), s, agents, now.Add(time.Hour)); n != 0 || err != nil {
		t.Errorf("once more: %d, %v", n, err)
	}
	r.Report.Sort()
	var left []string
	for _, i := range r.Report.NeedsYou {
		left = append(left, i.What)
	}
	if got := slices.Compact(left); !slices.Equal(got, []string{"job c", "job d", "job e"}) {
		t.Errorf("the report has %q", got)
	}
	for what, why := range map[string]string{"job c": "past", "job d": "no agent nobody", "job e": "not known"} {
		if !slices.ContainsFunc(r.Report.NeedsYou, func(i report.Item) bool { return i.What == what && strings.Contains(i.Why, why) }) {
			t.Errorf("%s: no reason with %q in %v", what, why, r.Report.NeedsYou)
		}
	}
	all, err := s.ListJobs(t.Context(), "")
	if err != nil || len(all) != 2 {
		t.Fatalf("%v, %v", all, err)
	}
	for _, j := range all {
		switch j.Name {
		case "a":
			if j.Off || !j.Next.Equal(time.Date(2026, 11, 28, 6, 0, 0, 0, time.UTC)) || j.To != last || !j.Owner {
				t.Errorf("%+v", j)
			}
		case "b":
			if !j.Off || !j.Next.IsZero() || j.To != last {
				t.Errorf("%+v", j)
			}
		default:
			t.Errorf("%+v", j)
		}
	}
}

// Notes are stored once, however often the import runs.
func TestStoreNotes(t *testing.T) {
	t.Parallel()
	s, err := sqlstore.Open(t.Context(), sqlstore.Config{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	r := &Result{}
	for _, text := range []string{"The key is under the pot.", "Beans were planted.", "The key is under the pot."} {
		r.Notes = append(r.Notes, sessions.AddNote{Agent: "main", Key: sessions.MainKey("main"), Text: text})
	}
	for _, want := range []int{2, 0} {
		if n, err := r.StoreNotes(t.Context(), s); n != want || err != nil {
			t.Errorf("%d, %v; want %d", n, err, want)
		}
	}
	if list, err := s.Notes(t.Context(), sessions.NoteQuery{Agent: "main", Text: "beans"}); len(list) != 1 || err != nil {
		t.Errorf("%v, %v", list, err)
	}
}

// Jobs of different agents, or at different times, may have one name. A job that a person made keeps its place.
func TestJobsWithOneName(t *testing.T) {
	t.Parallel()
	s, err := sqlstore.Open(t.Context(), sqlstore.Config{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	now := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	r := &Result{Jobs: []Job{
		{What: "job heartbeat of main", Name: "heartbeat", Message: "Look", Every: time.Hour},
		{What: "job heartbeat of helper", Name: "heartbeat", Message: "Look", Every: time.Hour, Agent: "helper"},
		{What: "job pill", Name: "pill", Message: "Take it", Cron: "0 8 * * *"}, {What: "job pill", Name: "pill", Message: "Take it", Cron: "0 20 * * *"},
		{What: "job mine", Name: "mine", Message: "x", Every: time.Hour},
	}}
	own := sessions.Job{ID: sessions.IDFor("own", "job"), Name: "Mine", Agent: "main", Message: "y", Every: time.Hour, Next: now, Created: now}
	if _, err := s.Submit(t.Context(), sessions.Change{Ops: []sessions.Op{sessions.PutJob(own)}}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []int{4, 0} {
		if n, err := r.StoreJobs(t.Context(), s, []sessions.AgentID{"main", "helper"}, now); n != want || err != nil {
			t.Errorf("%d, %v; want %d", n, err, want)
		}
	}
}
