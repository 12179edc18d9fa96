package sessions

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestJobAfter(t *testing.T) {
	at := func(s string) time.Time {
		v, err := time.Parse(time.RFC3339, s)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	berlin := func(c string) Job { return Job{Cron: c, Zone: "Europe/Berlin"} }
	for name, x := range map[string]struct {
		job  Job
		from string
		want []string
	}{
		"once":                   {Job{At: at("2026-03-01T10:00:00Z")}, "2026-03-01T09:00:00Z", []string{"2026-03-01T10:00:00Z", ""}},
		"once, exactly then":     {Job{At: at("2026-03-01T10:00:00.0005Z")}, "2026-03-01T10:00:00.0001Z", []string{""}},
		"every, to the ns":       {Job{Every: time.Hour, Created: at("2026-03-01T10:20:00.0005Z")}, "2026-03-01T11:20:00Z", []string{"2026-03-01T12:20:00Z"}},
		"every":                  {Job{Every: time.Hour, Created: at("2026-03-01T10:20:00Z")}, "2026-03-01T12:21:00Z", []string{"2026-03-01T13:20:00Z", "2026-03-01T14:20:00Z"}},
		"every, not begun":       {Job{Every: time.Hour, Created: at("2026-03-01T10:20:00Z")}, "2026-03-01T10:20:00Z", []string{"2026-03-01T11:20:00Z"}},
		"daily":                  {berlin("0 9 * * *"), "2026-01-05T09:00:00Z", []string{"2026-01-06T08:00:00Z", "2026-01-07T08:00:00Z"}},
		"the hour that is not":   {berlin("30 2 * * *"), "2026-03-28T12:00:00Z", []string{"2026-03-29T01:30:00Z", "2026-03-30T00:30:00Z"}},
		"the hour that is twice": {berlin("30 2 * * *"), "2026-10-24T12:00:00Z", []string{"2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"}},
		"any hour in autumn":     {berlin("30 * * * *"), "2026-10-25T00:00:00Z", []string{"2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z", "2026-10-25T02:30:00Z"}},
		"any hour in spring":     {berlin("30 * * * *"), "2026-03-29T00:00:00Z", []string{"2026-03-29T00:30:00Z", "2026-03-29T01:30:00Z"}},
		"both hours in spring":   {berlin("30 2,3 * * *"), "2026-03-28T12:00:00Z", []string{"2026-03-29T01:30:00Z", "2026-03-30T00:30:00Z"}},
		"half an hour, Lord Howe": {Job{Cron: "15 2 * * *", Zone: "Australia/Lord_Howe"}, "2026-10-03T00:00:00Z",
			[]string{"2026-10-03T15:45:00Z", "2026-10-04T15:15:00Z"}},
		"south":        {Job{Cron: "30 2 * * *", Zone: "America/Santiago"}, "2026-09-05T12:00:00Z", []string{"2026-09-06T05:30:00Z"}},
		"a leap day":   {Job{Cron: "0 0 29 2 *", Zone: "UTC"}, "2026-03-01T00:00:00Z", []string{"2028-02-29T00:00:00Z"}},
		"sundays":      {Job{Cron: "0 8 * * sun", Zone: "UTC"}, "2026-11-21T00:00:00Z", []string{"2026-11-22T08:00:00Z", "2026-11-29T08:00:00Z"}},
		"every 90 min": {Job{Every: 90 * time.Minute, Created: at("2026-03-01T00:00:00Z")}, "2026-03-01T01:30:00Z", []string{"2026-03-01T03:00:00Z"}},
	} {
		t.Run(name, func(t *testing.T) {
			from := at(x.from)
			for _, want := range x.want {
				next, err := x.job.After(from)
				if err != nil {
					t.Fatal(err)
				}
				got := ""
				if !next.IsZero() {
					got = next.UTC().Format(time.RFC3339)
				}
				if got != want {
					t.Fatalf("after %s: %s, want %s", from.UTC().Format(time.RFC3339), got, want)
				}
				from = next
			}
		})
	}
}

func TestJobWhen(t *testing.T) {
	for want, j := range map[string]Job{
		"every 24h": {Every: 24 * time.Hour}, "every 1h30m": {Every: 90 * time.Minute}, "every 10m": {Every: 10 * time.Minute}, "every 1m30s": {Every: 90 * time.Second},
		"once": {At: time.Unix(1, 0)}, "0 9 * * *": {Cron: "0 9 * * *"}, "0 9 * * * (UTC)": {Cron: "0 9 * * *", Zone: "UTC"},
	} {
		if got := j.When(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestJobAfterWrong(t *testing.T) {
	for want, j := range map[string]Job{
		"exactly one":       {},
		"exactly one of":    {Every: time.Hour, Cron: "* * * * *"},
		"minimum is 1m0s":   {Every: time.Second},
		`cron "nonsense"`:   {Cron: "nonsense"},
		"unknown time zone": {Cron: "0 8 * * *", Zone: "Mars/Base"},
		"time zone in zone": {Cron: "TZ=UTC 0 8 * * *"},
		"matches no date":   {Cron: "0 8 31 2 *", Zone: "UTC"},
	} {
		if _, err := j.After(time.Now()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", j, err, want)
		}
	}
}

// TestJobAfterPasses walks through two years in several zones: each time lies after the one before it, and a daily job comes once
// on each day.
func TestJobAfterPasses(t *testing.T) {
	for _, zone := range []string{"Europe/Berlin", "America/New_York", "America/Santiago", "Australia/Lord_Howe", "Asia/Kolkata", "Africa/Casablanca"} {
		for _, c := range []string{"30 2 * * *", "0 0 * * *", "59 23 * * *", "15 3 * * *"} {
			j, next := Job{Cron: c, Zone: zone}, time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
			first := next
			for n := range 730 {
				at, err := j.After(next)
				if err != nil || !at.After(next) {
					t.Fatalf("%s in %s, after %s: %s, %v", c, zone, next, at, err)
				}
				if n > 0 && (at.Sub(next) < 22*time.Hour || at.Sub(next) > 26*time.Hour) {
					t.Fatalf("%s in %s: %s, and then %s", c, zone, next, at)
				}
				next = at
			}
			if days := next.Sub(first).Hours() / 24; days < 729 || days > 731 {
				t.Errorf("%s in %s: 730 times in %.1f days", c, zone, days)
			}
		}
	}
}

// TestJobNewest: it is the time at which a walk over all of them ends, however long that is.
func TestJobNewest(t *testing.T) {
	t.Parallel()
	exprs := []string{"* * * * *", "*/7 * * * *", "30 * * * *", "0 9 * * 1-5", "30 2,3 * * *", "15 0-4 * * *", "0 0 1 * *", "59 23 * * 0"}
	zones := []string{"UTC", "Europe/Berlin", "Australia/Lord_Howe", "America/Santiago"}
	rapid.Check(t, func(t *rapid.T) {
		began := time.Unix(rapid.Int64Range(1_767_225_600, 1_798_761_600).Draw(t, "began"), 0)
		now := began.Add(time.Duration(rapid.Int64Range(0, int64(30*time.Hour)).Draw(t, "for")))
		j := Job{Created: began, Every: ShortestJob + time.Duration(rapid.Int64Range(0, int64(5*time.Hour)).Draw(t, "every"))}
		if rapid.Bool().Draw(t, "cron") {
			j = Job{Cron: rapid.SampledFrom(exprs).Draw(t, "expression"), Zone: rapid.SampledFrom(zones).Draw(t, "zone")}
		}
		first, err := j.After(began)
		if err != nil {
			t.Fatal(err)
		}
		got, err := j.Newest(first, now)
		want := first
		for next := first; !next.After(now); {
			if want = next; err == nil {
				next, err = j.After(next)
			}
		}
		if err != nil || !got.Equal(want) {
			t.Fatalf("%s from %s to %s: %s, want %s, %v", j.When(), began, now, got, want, err)
		}
	})
	began := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, j := range []Job{{Cron: "* * * * *", Zone: "UTC"}, {Every: time.Minute, Created: began}} { // a walk would take minutes
		if got, err := j.Newest(began, began.AddDate(200, 0, 0)); err != nil || !got.Equal(began.AddDate(200, 0, 0)) {
			t.Errorf("%s: %s, %v", j.When(), got, err)
		}
	}
	once := Job{At: began}
	if got, err := once.Newest(began, began.AddDate(1, 0, 0)); err != nil || !got.Equal(began) {
		t.Errorf("once: %s, %v", got, err)
	}
	if _, err := (Job{Cron: "0 9 * * *", Zone: "Mars/Base"}).Newest(began, began.AddDate(1, 0, 0)); err == nil {
		t.Error("a zone that is none")
	}
}
