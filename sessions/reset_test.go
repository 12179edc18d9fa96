package sessions

import (
	"testing"
	"time"

	"parley/channels"
)

// A session starts over at its hour, once a day, also when the clock is changed; after so many idle minutes; whichever comes first.
func TestStale(t *testing.T) {
	t.Parallel()
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	at := func(s string) time.Time {
		x, err := time.ParseInLocation("2006-01-02 15:04", s, berlin)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	utc := func(s string) time.Time {
		x, err := time.Parse("2006-01-02 15:04", s)
		if err != nil {
			t.Fatal(err)
		}
		return x.In(berlin)
	}
	daily := ResetRule{Mode: "daily", AtHour: 4}
	two := ResetRule{Mode: "daily", AtHour: 2}
	both := ResetRule{Mode: "daily", AtHour: 4, IdleMinutes: 120}
	for _, c := range []struct {
		name      string
		rule      ResetRule
		last, now time.Time
		want      bool
	}{
		{"no rule", ResetRule{}, at("2025-01-01 00:00"), at("2026-06-01 12:00"), false},
		{"none", ResetRule{Mode: "none", IdleMinutes: 1}, at("2025-01-01 00:00"), at("2026-06-01 12:00"), false},
		{"a new session", daily, time.Time{}, at("2026-06-01 12:00"), false},
		{"the same day", daily, at("2026-06-01 04:00"), at("2026-06-01 23:59"), false},
		{"after midnight, before the hour", daily, at("2026-06-01 05:00"), at("2026-06-02 03:59"), false},
		{"at the hour", daily, at("2026-06-02 03:59"), at("2026-06-02 04:00"), true},
		{"days later, before the hour", daily, at("2026-06-01 05:00"), at("2026-06-03 03:00"), true},
		{"the last day of a month", daily, at("2026-02-28 22:00"), at("2026-03-01 04:00"), true},
		{"the hour is left out: before it", two, at("2026-03-28 12:00"), at("2026-03-29 00:59"), false},
		{"the hour is left out: after it", two, at("2026-03-28 12:00"), at("2026-03-29 03:30"), true},
		{"the hour is left out: once", two, at("2026-03-29 03:10"), at("2026-03-29 12:00"), false},
		{"the day after", two, at("2026-03-29 12:00"), at("2026-03-30 02:00"), true},
		{"the hour comes twice: after both", two, utc("2026-10-24 20:00"), utc("2026-10-25 02:00"), true},
		{"the hour comes twice: once", two, utc("2026-10-25 01:30"), utc("2026-10-25 12:00"), false},
		{"a long day is one day", daily, utc("2026-10-24 02:30"), utc("2026-10-25 02:30"), false},
		{"idle", ResetRule{Mode: "idle", IdleMinutes: 30}, at("2026-06-01 12:00"), at("2026-06-01 12:31"), true},
		{"not idle for long", ResetRule{Mode: "idle", IdleMinutes: 30}, at("2026-06-01 12:00"), at("2026-06-01 12:30"), false},
		{"idle without minutes", ResetRule{Mode: "idle"}, at("2026-06-01 12:00"), at("2026-06-01 13:01"), true},
		{"idle over the change of the clock", ResetRule{Mode: "idle", IdleMinutes: 90}, at("2026-03-29 01:30"), at("2026-03-29 03:30"), false},
		{"both: idle first", both, at("2026-06-01 12:00"), at("2026-06-01 14:01"), true},
		{"both: the hour first", both, at("2026-06-01 03:30"), at("2026-06-01 04:00"), true},
		{"both: neither", both, at("2026-06-01 04:00"), at("2026-06-01 06:00"), false},
		{"the clock went back", daily, at("2026-06-02 12:00"), at("2026-06-01 12:00"), false},
	} {
		if got := c.rule.Stale(c.now, c.last); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// The rule of a channel goes before that of a kind of chat, and that before the one for all.
func TestResetRuleOfAChat(t *testing.T) {
	t.Parallel()
	c := Config{Reset: ResetRule{Mode: "daily", AtHour: 1}, ResetByType: map[string]ResetRule{ResetGroup: {Mode: "none"}, ResetThread: {Mode: "daily", AtHour: 2}},
		ResetByChannel: map[channels.Kind]ResetRule{"webchat": {Mode: "daily", AtHour: 3}}}
	for _, x := range []struct {
		at   channels.Address
		want ResetRule
	}{
		{channels.Address{Channel: "telegram", Type: channels.Direct}, ResetRule{Mode: "daily", AtHour: 1}},
		{channels.Address{Channel: "telegram", Type: channels.Group}, ResetRule{Mode: "none"}},
		{channels.Address{Channel: "telegram", Type: channels.Group, Thread: "7"}, ResetRule{Mode: "daily", AtHour: 2}},
		{channels.Address{Channel: "webchat", Type: channels.Group, Thread: "7"}, ResetRule{Mode: "daily", AtHour: 3}},
	} {
		if got := c.ResetRule(x.at); got != x.want {
			t.Errorf("%v: %+v", x.at, got)
		}
	}
}
