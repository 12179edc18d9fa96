package cron

import (
	"errors"
	"testing"

	"parley/sessions"
)

// A second job cannot have the name of another: commands find jobs by it. A job keeps its own, and many have none.
func TestJobNames(t *testing.T) {
	t.Parallel()
	all := []sessions.Job{{ID: "1", Name: "disks"}, {ID: "2"}}
	for _, c := range []struct {
		job   sessions.Job
		taken bool
	}{{sessions.Job{ID: "3", Name: "Disks"}, true}, {sessions.Job{ID: "1", Name: "disks"}, false}, {sessions.Job{ID: "3"}, false}, {sessions.Job{ID: "3", Name: "disk"}, false}} {
		if err := nameFree(all, c.job); errors.Is(err, sessions.ErrConflict) != c.taken {
			t.Errorf("%+v: %v", c.job, err)
		}
	}
}
