package operations

import (
	"testing"
	"time"

	"parley/gateway/api"
	"parley/sessions"
)

// A zone that nothing would be read in is refused, not dropped.
func TestZoneWithoutUse(t *testing.T) {
	t.Parallel()
	at := time.Date(2027, 3, 28, 1, 30, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		job   sessions.Job
		patch api.JobPatch
		bad   bool
	}{
		"every":         {sessions.Job{Every: time.Hour}, api.JobPatch{Zone: api.Some("Europe/Berlin")}, true},
		"becomes every": {sessions.Job{Cron: "0 9 * * *"}, api.JobPatch{Zone: api.Some("Europe/Berlin"), Every: api.Some("1h")}, true},
		"once":          {sessions.Job{At: at}, api.JobPatch{Zone: api.Some("Europe/Berlin")}, true},
		"once, said":    {sessions.Job{At: at}, api.JobPatch{Zone: api.Some("Europe/Berlin"), At: api.Some("2099-01-01 09:00")}, false},
		"cron":          {sessions.Job{Cron: "0 9 * * *"}, api.JobPatch{Zone: api.Some("Europe/Berlin")}, false},
		"taken out":     {sessions.Job{Every: time.Hour, Zone: "Europe/Berlin"}, api.JobPatch{Zone: api.Clear[string]()}, false},
	} {
		if err := (&Jobs{}).patchJob(t.Context(), c.patch, &c.job); (err != nil) != c.bad {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := whenOf(sessions.Job{At: at, Zone: "America/New_York"}); got != "once, 2027-03-27 21:30 America/New_York" {
		t.Error(got)
	}
	if got := whenOf(sessions.Job{Cron: "0 9 * * *", Zone: "Europe/Berlin"}); got != "0 9 * * * (Europe/Berlin)" {
		t.Error(got)
	}
}
