package command

import (
	"errors"
	"strings"
	"testing"

	"parley/agent"
)

// A model is meant by its whole name, or by a part that only one has; what several have is told.
func TestModelMeant(t *testing.T) {
	t.Parallel()
	r := &Table{
		names: func() []string { return []string{"slow/slow-1", "quick/one", "quick/once"} },
		model: func(name string) (c agent.Candidate, err error) {
			if !strings.Contains(name, "/") {
				err = errors.New("unknown")
			}
			return c, err
		},
	}
	for word, want := range map[string]string{"slow/slow-1": "slow/slow-1", "slow-1": "slow/slow-1", "SLOW": "slow/slow-1", "one": "quick/one", "quick/new": "quick/new", "quick": "", "none": ""} {
		if got, err := r.ModelMeant(word); got != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q, %v", word, got, err)
		}
	}
	if _, err := r.ModelMeant("quick"); err == nil || !strings.Contains(err.Error(), "quick/one, quick/once") {
		t.Error(err)
	}
}
