package main

import (
	"strings"
	"testing"
)

// The host's own command line is read without all the others: only when it is right, asks for nothing else, and with the same outcome.
func TestHostLine(t *testing.T) {
	for _, line := range []string{"", "run", "-c /x/y.yaml", "--config=/x/y.yaml run", "run -c /x/y.yaml", "--utc run -q", "-q"} {
		var c common
		var full cli
		if hostAlone(strings.Fields(line), &c) == nil {
			t.Errorf("%q: all commands are read", line)
		}
		k, err := grammar(&full).Parse(strings.Fields(line))
		if err != nil || k.Command() != "run" || c != full.common {
			t.Errorf("%q: %+v, want %+v (%v)", line, c, full.common, err)
		}
	}
	for _, line := range []string{"--help", "run --help", "status", "sessions list", "run x", "rum", "-c", "--bogus", "run --json"} {
		if k := hostAlone(strings.Fields(line), &common{}); k != nil {
			t.Errorf("%q: starts a host", line)
		}
	}
}

// Reading the line allocates a small part of what reading all commands does.
func TestHostLineIsLight(t *testing.T) {
	few := testing.AllocsPerRun(3, func() { hostAlone([]string{"run"}, &common{}) })
	all := testing.AllocsPerRun(3, func() { _, _ = grammar(&cli{}).Parse([]string{"run"}) })
	if t.Logf("%v of %v", few, all); 10*few > all {
		t.Errorf("%v allocations, all commands take %v", few, all)
	}
}
