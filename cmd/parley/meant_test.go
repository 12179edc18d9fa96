package main

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"

	"parley/gateway/api"
	"parley/sessions"
)

// A command that is nearly right is told, also where another one is the default; a word that is near nothing is not.
func TestMeant(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"sessions histroy main": `did you mean "history"?`, "cron updat x": `did you mean "update"?`, "sessons": `did you mean "sessions"?`, "sessions qqqqqqq": "",
	} {
		_, err := grammar(&cli{}).Parse(strings.Fields(line))
		if err == nil {
			t.Fatal(line, "is taken")
		}
		if got := meant(err).Error(); !strings.Contains(got, want) || want == "" && strings.Contains(got, "did you mean") {
			t.Errorf("%s: %s", line, got)
		}
	}
}

// The usage below a mistyped command is that of its group, not of the group's default command.
func TestMeantUsage(t *testing.T) {
	t.Parallel()
	for _, group := range []string{"pairing", "sessions"} {
		_, err := grammar(&cli{}).Parse([]string{group, "lisst"})
		p, ok := errors.AsType[*kong.ParseError](meant(err))
		if !ok || p.Context.Selected() == nil || p.Context.Selected().Name != group {
			t.Errorf("%s: %v", group, err)
		}
	}
}

// A missing argument is named with what it is and an example, of every command that needs one.
func TestMissingArgument(t *testing.T) {
	t.Parallel()
	_, err := grammar(&cli{}).Parse([]string{"completion"})
	if got, want := fmt.Sprint(meant(err)), `expected "<shell>" (bash, zsh or fish); for example: parley completion bash > `; !strings.HasPrefix(got, want) {
		t.Error(got)
	}
	for _, leaf := range grammar(&cli{}).Model.Leaves(true) {
		if len(leaf.Positional) == 0 || !leaf.Positional[0].Required {
			continue
		}
		_, err := grammar(&cli{}).Parse(strings.Fields(strings.TrimPrefix(leaf.Path(), "parley ")))
		if got := fmt.Sprint(meant(err)); !strings.HasPrefix(got, `expected "<`) || !strings.Contains(got, "; for example: parley ") {
			t.Errorf("%s: %s", leaf.Path(), got)
		}
	}
}

// The next times of a job are told in its zone, by name.
func TestStampIn(t *testing.T) {
	t.Parallel()
	at := time.Date(2027, 1, 1, 8, 0, 0, 0, time.UTC)
	if got := (&page{}).stampIn(at, "Europe/Berlin"); got != "2027-01-01 09:00:00 Europe/Berlin" {
		t.Error(got)
	}
	if got := (&page{utc: true}).stampIn(at, "Europe/Berlin"); got != "2027-01-01T08:00:00Z" {
		t.Error(got)
	}
}

// What is "other" for a filter is said by what it is.
func TestKindOf(t *testing.T) {
	t.Parallel()
	for key, want := range map[sessions.Key]string{
		"agent:a:main": "main", "agent:a:main:thread:1": "thread", "agent:a:telegram:direct:1": "person", "agent:a:subagent:x": "sub-agent", "agent:a:openai:x": "openai",
		"agent:a:cron:x": "cron", "unknown": "other",
	} {
		if got := kindOf(api.Session{Key: key, Kind: key.Kind()}); got != want {
			t.Errorf("%s: %s, want %s", key, got, want)
		}
	}
	if got := nameOf(api.Session{SpawnedBy: "agent:a:main"}); got != "of agent:a:main" {
		t.Error(got)
	}
}
