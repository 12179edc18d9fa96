package config

import (
	"testing"

	"parley/sessions"
)

// Reset rules are about kinds of chat and channels that exist, and an hour that is left out is four in the morning.
func TestResetRules(t *testing.T) {
	t.Parallel()
	for text, key := range map[string]string{
		"session: {reset: {mode: daily}, resetByType: {group: {mode: daily}, thread: {mode: idle}, direct: {mode: none}}}": "",
		"session: {resetByType: {dm: {mode: daily}}}":           "session.resetByType.dm",
		"session: {resetByChannel: {telegramm: {mode: idle}}}":  "session.resetByChannel.telegramm",
		"messages: {queue: {byChannel: {telegramm: {cap: 3}}}}": "messages.queue.byChannel.telegramm",
		"session: {reset: {idleMinutes: 30}}":                   "session.reset.idleMinutes",
		"session: {reset: {mode: weekly}}":                      "session.reset.mode",
	} {
		_, ps, _ := load(text + "\n")
		if bad := len(ps) == 1 && ps[0].Severity == SevereError && ps[0].Key == key; bad != (key != "") || key == "" && len(ps) > 0 {
			t.Errorf("%s: %+v", text, ps)
		}
	}
	c, _, _ := load("session: {reset: {mode: daily}, resetByType: {group: {mode: daily, idleMinutes: 5}}}\n")
	if got := c.Session.ResetByType["group"]; c.Session.Reset.AtHour != 4 || got != (sessions.ResetRule{Mode: "daily", AtHour: 4, IdleMinutes: 5}) {
		t.Errorf("%+v, %+v", c.Session.Reset, got)
	}
}
