package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"

	"parley/gateway/prooftest"
)

// What cannot be is refused by the name of the flag and what is allowed, before anything is built.
func TestRefused(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	over, stop := context.WithCancel(t.Context()) // what is not refused ends soon
	stop()
	for args, want := range map[string]string{
		"kill --program FILE --overlay FILE":                  "use --program or --overlay, not both",
		"soak --program FILE --overlay FILE":                  "the program is built already",
		"kill --kills=-1":                                     "--kills -1: use at least 1",
		"kill --messages 0":                                   "--messages 0: use at least 1",
		"kill --spawns=-5":                                    "--spawns -5: use at least 0",
		"kill --messages 10 --spawns 500":                     "--spawns 500: use at most 40, as a message asks for 4 at most",
		"soak --for 0":                                        "--for 0s: use more than 0",
		"soak --for=-5m":                                      "--for -5m0s: use more than 0",
		"soak --for 5m --window=-1s":                          "--window -1s: use at least 0s",
		"soak --for 5m --window 1m":                           "--for 5m0s: the time after the warm-up is too short for 10 windows of 1m0s",
		"soak --for 79s":                                      "use a longer --for or a shorter --window",
		"soak --rate 0":                                       "--rate 0: use at least 0.01",
		"soak --mark-p99=-1s":                                 "--mark-p99 -1s: use more than 0",
		"soak --mark-rss NaN":                                 "--mark-rss NaN: use more than 0",
		"soak --mark-rss +Inf":                                "--mark-rss +Inf: use at most",
		"soak --rate NaN":                                     "--rate NaN: use at least 0.01",
		"soak --warm-rate 1e9":                                "--warm-rate 1e+09: use at most 1000",
		"simulate --jobs=-3":                                  "--jobs -3: use at least 0",
		"simulate --limit 0":                                  "--limit 0s: use more than 0",
		"simulate --seed 7 --json":                            "use --seed 7 or --json, not both",
		"faults --limit 0":                                    "--limit 0s: use more than 0",
		"upgrade --limit=-1s":                                 "--limit -1s: use more than 0",
		"peers --starts 0 --silence 0":                        "--starts 0: use at least 1\n--silence 0s: use more than 0",
		"peers --messages 0 --burst 0 --chats 0":              "--messages 0: use at least 1\n--burst 0: use at least 1\n--chats 0: use at least 1",
		"peers --flight=-1 --sessions 0":                      "--flight -1: use at least 1\n--sessions 0: use at least 1",
		"kill --kills 1 --messages 1 --at nowhere --spawns 4": "matches no fail-point",
		"kill --kills 1 --messages 10 --at nowhere":           "matches no fail-point",
		"soak --for 5m --dir /" + strings.Repeat("x", 100):    "use a shorter one",
	} {
		var c cli
		parser, err := kong.New(&c, inHelp(), kong.BindTo(over, (*context.Context)(nil)))
		if err != nil {
			t.Fatal(err)
		}
		k, err := parser.Parse(strings.Fields(strings.ReplaceAll(args, "FILE", file)))
		if err == nil && strings.Contains(args, "--dir") { // what a folder is like is known when it is used
			err = k.Run()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", args, err, want)
		}
	}
}

// A run that did less than it was asked for fails by the name of that.
func TestLessThanAskedFor(t *testing.T) {
	t.Parallel()
	f := killed{Asked: goals{Kills: 2, Messages: 10, Spawns: 3}, AtPoints: 1, Random: 1, Messages: 10, Spawns: 3, Verdict: &prooftest.Verdict{}}
	if bad := f.faults(); len(bad) > 0 {
		t.Errorf("%q", bad)
	}
	f.Random, f.Messages, f.Spawns = 0, 9, 2
	want := "1 of the 2 kills that were asked for; 9 of the 10 messages that were asked for; 2 of the 3 sub-agents that were asked for"
	if bad := strings.Join(f.faults(), "; "); bad != want {
		t.Errorf("%q, want %q", bad, want)
	}
}

// A run fails when more is marked on a platform than kills were within a send there; at fail-points that somebody named each kill leaves several sends unclear.
func TestMoreMarkedThanKills(t *testing.T) {
	t.Parallel()
	f := killed{Windows: map[string]int{"telegram": 1}, Verdict: &prooftest.Verdict{}, Ambiguous: []ambiguous{{Platform: "telegram", Marked: true}, {Platform: "telegram"}, {Platform: "discord"}}}
	if bad := f.faults(); len(bad) > 0 {
		t.Errorf("%q", bad)
	}
	f.Ambiguous[1].Marked = true
	if bad := strings.Join(f.faults(), "; "); bad != "2 deliveries of telegram are marked, and 1 kills were within a send there" {
		t.Errorf("%q", bad)
	}
	if f.At = map[string]int{}; len(f.faults()) > 0 {
		t.Error("so it does at a named fail-point")
	}
}

// A simulation that did not come to its end says why, and of how many seeds its figures are; a seed that failed is a missed mark all the same.
func TestSimulationStopped(t *testing.T) {
	t.Parallel()
	limit, stop := context.WithTimeout(t.Context(), 0)
	defer stop()
	interrupted, stop := context.WithCancel(t.Context())
	stop()
	for _, c := range []struct {
		ctx    context.Context
		failed []uint64
		want   string
	}{
		{limit, nil, "gave up after 5s (--limit), not all of it was tried: 3 of 9 seeds, 0 failed"},
		{interrupted, nil, "not all of it was tried: 3 of 9 seeds, 0 failed"},
		{interrupted, []uint64{7}, "a mark is missed: 3 of 9 seeds, 1 failed: [7]"},
	} {
		s := &simulation{simulateCmd: simulateCmd{Seeds: 9, Limit: 5 * time.Second}, lived: 3, failed: c.failed}
		if err := s.judge(c.ctx); err == nil || err.Error() != c.want {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}
