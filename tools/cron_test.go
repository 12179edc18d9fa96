package tools

import (
	"strings"
	"testing"
	"time"

	"parley/sessions"
)

// proves: S14
func TestCron(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.caller.Owner = true
	tool := Cron(w.deps())
	added := call[cronResult](t, w, tool, `{"action":"add","name":"tea","message":"say that it is tea time","cron":"0 16 * * *","zone":"Europe/London"}`)
	if again := call[cronResult](t, w, tool, `{"action":"add","name":"tea","message":"say that it is tea time","cron":"0 16 * * *","zone":"Europe/London"}`); len(w.jobs) != 1 || added.Job == nil || *again.Job != *added.Job {
		t.Fatalf("the same call twice: %+v, %+v", again, w.jobs)
	}
	j := w.jobs[0]
	if j.From != w.caller.Session.Key || j.Agent != "main" || !j.Owner || j.Message != "say that it is tea time" || added.Status != "added" {
		t.Errorf("%+v", j)
	}
	if want, _ := j.After(noon); !j.Next.Equal(want) || added.Job.Next != want.Format(time.RFC3339) || added.Job.When != "0 16 * * * (Europe/London)" || added.Job.From != "main" {
		t.Errorf("next %s, shown %+v", j.Next, added.Job)
	}
	callAs[cronResult](t, w, tool, "call-2", `{"action":"add","message":"once","in":"90m"}`)
	if j := w.jobs[1]; !j.Next.Equal(noon.Add(90 * time.Minute)) {
		t.Errorf("in 90m: %+v", j)
	}
	callAs[cronResult](t, w, tool, "call-3", `{"action":"add","message":"often","every":"1h30m"}`)
	if j := w.jobs[2]; !j.Next.Equal(noon.Add(90 * time.Minute)) {
		t.Errorf("every 90m: %+v", j)
	}
	d := w.deps()
	d.Zone = func() string { return "Asia/Tokyo" }
	if r := callAs[cronResult](t, w, Cron(d), "call-z", `{"action":"add","message":"x","cron":"0 18 * * *"}`); r.Job == nil || !strings.HasSuffix(r.Job.Next, "T18:00:00+09:00") {
		t.Errorf("the agent's zone: %+v", r.Job)
	}
	w.jobs = w.jobs[:3]
	if r := call[cronResult](t, w, tool, `{"action":"list"}`); len(r.Jobs) != 3 || r.Jobs[0] != *added.Job {
		t.Errorf("list: %+v", r)
	}
	callAs[cronResult](t, w, tool, "call-4", `{"action":"remove","id":"`+j.ID+`"}`)
	if len(w.jobs) != 2 {
		t.Errorf("after remove: %+v", w.jobs)
	}
}

func TestCronRefuses(t *testing.T) {
	t.Parallel()
	w := newWorld()
	tool := Cron(w.deps())
	for args, want := range map[string]string{
		`{"action":"add","every":"1h"}`:                                                        "message is required",
		`{"action":"add","message":"x"}`:                                                       "exactly one of at, in, every and cron",
		`{"action":"add","message":"x","in":"1h","at":"2030-01-01T00:00:00Z"}`:                 "exactly one",
		`{"action":"add","message":"x","in":"1h","every":"1h"}`:                                "exactly one of at, in, every and cron",
		`{"action":"add","message":"x","in":"soon"}`:                                           "not a duration",
		`{"action":"add","message":"x","every":"-1h"}`:                                         "not a duration",
		`{"action":"add","message":"x","every":"10s"}`:                                         "minimum is 1m",
		`{"action":"add","message":"x","at":"tomorrow"}`:                                       "is not a time",
		`{"action":"add","message":"x","at":"2001-01-01T00:00:00Z"}`:                           "is in the past",
		`{"action":"add","message":"x","cron":"0 99 * * *"}`:                                   "cron",
		`{"action":"add","message":"x","cron":"0 9 * * *","zone":"Nowhere"}`:                   "unknown time zone",
		`{"action":"add","message":"` + strings.Repeat("x", maxJobText+1) + `","every":"1h"}`:  "are allowed",
		`{"action":"add","message":"x","name":"` + strings.Repeat("x", 81) + `","every":"1h"}`: "80 characters",
		`{"action":"remove","id":"other"}`:                                                     "no job",
		`{"action":"dance"}`:                                                                   "add, list or remove",
	} {
		if r := call[problem](t, w, tool, args); r.Status != statusError || !strings.Contains(r.Error, want) || len(w.jobs) > 0 {
			t.Errorf("%.60s: %+v", args, r)
		}
	}
	w.caller.Asker = "telegram:2"
	for range maxJobs {
		w.jobs = append(w.jobs, sessions.Job{ID: "j", Agent: "main", From: "agent:main:main", Asker: "telegram:2"})
	}
	if r := call[problem](t, w, tool, `{"action":"add","message":"x","every":"1h"}`); !strings.Contains(r.Error, "100 jobs of the person") {
		t.Errorf("%+v", r)
	}
	w.caller.Asker = "telegram:3" // who writes in the same session
	if r := call[cronResult](t, w, tool, `{"action":"add","message":"x","every":"1h"}`); r.Status != "added" {
		t.Errorf("another person: %+v", r)
	}
	w.caller.Session = w.add(sessions.SubagentKey("main", "c"), spawnedBy("agent:main:main"))
	if r := call[problem](t, w, tool, `{"action":"list"}`); r.Status != statusForbidden {
		t.Errorf("a sub-agent: %+v", r)
	}
}

// proves: V1, V4
func TestCronKeepsToWhatTheCallerSees(t *testing.T) {
	t.Parallel()
	for mode, want := range map[string]int{"self": 1, "tree": 1, "agent": 2, "all": 2} {
		w := newWorld()
		w.rules = sessions.Rules{Mode: mode}
		for _, j := range []sessions.Job{{ID: "mine", From: "agent:main:main"}, {ID: "other", From: "agent:main:telegram:group:1"}} {
			j.Agent = "main"
			w.jobs = append(w.jobs, j)
		}
		w.jobs = append(w.jobs, sessions.Job{ID: "work", Agent: "work", From: "agent:work:main"})
		if r := call[cronResult](t, w, Cron(w.deps()), `{"action":"list"}`); len(r.Jobs) != want {
			t.Errorf("%s: %+v", mode, r.Jobs)
		}
		r := call[cronResult](t, w, Cron(w.deps()), `{"action":"remove","id":"other"}`)
		if removed := r.Status == "removed"; removed != (want == 2) || len(w.jobs) != 3-max(want-1, 0) {
			t.Errorf("%s: %+v, %d jobs", mode, r, len(w.jobs))
		}
	}
}
