package main

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
)

// A host that ends before it has asked for anything is not waited for.
func TestPeersSeeAHostEnd(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]string{"echo boom; exit 3": "it has ended: exit status 3\nboom", "exit 0": "it has ended: as if it had been asked to"} {
		p, err := newPair(filepath.Join(t.TempDir(), "home"), []string{"/bin/sh", "-c", script}, "", "config")
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := p.polling(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", script, err)
		}
		p.close()
	}
}

// parley is judged by what became of messages and sub-agents; another host is not.
func TestPeersJudge(t *testing.T) {
	t.Parallel()
	good := tally{own: 3}
	for _, bad := range []tally{{own: 2, lost: 1}, {own: 2, folded: 1}, {own: 2, doubled: 1}, {own: 3, other: 1}, {own: 3, disorder: 1}, {own: 2}} {
		for _, own := range []bool{true, false} {
			c := &comparison{own: own}
			c.judge(good, 3)
			c.judgeReports("without a kill", 1)
			if err := c.verdict(); err != nil {
				t.Errorf("%s: %v", good, err)
			}
			if c.judge(bad, 3); errors.Is(c.verdict(), errMark) != own {
				t.Errorf("%s of parley (%t): %v", bad, own, c.verdict())
			}
		}
	}
	for _, n := range []int{0, 2} {
		c := &comparison{own: true}
		if c.judgeReports("without a kill", n); !errors.Is(c.verdict(), errMark) {
			t.Errorf("%d reports: %v", n, c.verdict())
		}
	}
}
