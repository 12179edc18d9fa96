package sessions

import (
	"time"

	"parley/channels"
)

// The kinds of chat that session.resetByType names.
const (
	ResetDirect = "direct"
	ResetGroup  = "group"
	ResetThread = "thread"
)

// defaultIdle is taken where a rule is idle and names no minutes.
const defaultIdle = 60

// ResetRule gives the rule of a chat: its channel's, otherwise that of its kind of chat, otherwise the one for all.
func (c Config) ResetRule(at channels.Address) ResetRule {
	if rule, ok := c.ResetByChannel[at.Channel]; ok {
		return rule
	}
	kind := ResetDirect
	switch {
	case at.Thread != "":
		kind = ResetThread
	case at.Type.Several():
		kind = ResetGroup
	}
	if rule, ok := c.ResetByType[kind]; ok {
		return rule
	}
	return c.Reset
}

// Stale reports whether a session whose last message is from last starts over with the one that comes now. The day begins again at
// AtHour in now's zone, once each day, also where the clock leaves that hour out or has it twice.
func (r ResetRule) Stale(now, last time.Time) bool {
	if last.IsZero() {
		return false
	}
	idle := r.IdleMinutes
	switch r.Mode {
	case "daily":
		y, m, d := now.Date()
		began := time.Date(y, m, d, r.AtHour, 0, 0, 0, now.Location())
		if began.After(now) {
			began = time.Date(y, m, d-1, r.AtHour, 0, 0, 0, now.Location())
		}
		if last.Before(began) {
			return true
		}
	case "idle":
		if idle <= 0 {
			idle = defaultIdle
		}
	default:
		return false
	}
	return idle > 0 && now.Sub(last) > time.Duration(idle)*time.Minute
}
