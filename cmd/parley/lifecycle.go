package main

import (
	"errors"
	"time"

	"parley/channels"
	"parley/gateway/api"
	"parley/sessions"
	"parley/sessions/sqlstore"
)

type reloadCmd struct {
	asJSON
}

// Help shows examples.
func (reloadCmd) Help() string {
	return "The host reads its configuration and .env again. An invalid file changes nothing: exit code 2, and the last valid configuration stays in force.\n\nExamples:\n\n  parley reload\n  parley check && parley reload --json | jq .changes"
}

// Run has the host reload its configuration.
func (c reloadCmd) Run(e *env) error {
	done, err := request[api.Reloaded](e, "POST /api/reload", api.None{})
	if err != nil {
		return err
	}
	return tell(e, c.asJSON, done, func(p *page, r api.Reloaded) {
		if len(r.Changes) == 0 {
			p.printf("Reloaded %s: nothing changed.\n", r.Config)
			return
		}
		p.printf("Reloaded %s: %s.\n", r.Config, channels.Plural(len(r.Changes), "change"))
		restart := 0
		for _, change := range r.Changes {
			p.printf("  %s%s\n", change.Key, mark(change.Restart, " (needs a restart)"))
			if change.Restart {
				restart++
			}
		}
		if restart > 0 {
			p.note("Restart the host to apply %s.\n", channels.Plural(restart, "change"))
		}
	})
}

type stopCmd struct {
	Timeout time.Duration `default:"30s" help:"Maximum wait for the host to end." placeholder:"DURATION"`
	asJSON
}

// Help shows examples.
func (stopCmd) Help() string {
	return "The command waits until the host has ended. The host hands unfinished work over to its next start. Use systemctl to stop a host that systemd started.\n\nExamples:\n\n  parley stop\n  parley stop --timeout 1m && parley restore backup.tar.gz"
}

// stopInterval is the time between two looks at whether the host has ended.
const stopInterval = 50 * time.Millisecond

// Run stops the host and waits for its end.
func (c stopCmd) Run(e *env) error {
	s, err := request[api.HostStatus](e, "GET /api/status", api.None{})
	if err != nil {
		return err
	}
	if p := s.Process; p.Unit != "" {
		return failed(exitRefused, "managed", "systemd started this host and would start it again: run `%s stop %s`", systemctl(p), p.Unit)
	}
	stopping, err := request[api.Stopping](e, "POST /api/stop", api.None{})
	if err != nil {
		return err
	}
	for end := time.Now().Add(c.Timeout); ; {
		if _, err := sqlstore.ReadOwner(e.found.state); errors.Is(err, sessions.ErrNotFound) {
			return tell(e, c.asJSON, stopping, func(p *page, s api.Stopping) { p.note("The host (process %d) has stopped.\n", s.PID) })
		}
		if time.Now().After(end) {
			return failed(exitTimeout, "timeout", "the host (process %d) has not stopped within %s; to end it at once, run `kill -9 %d`", stopping.PID, c.Timeout, stopping.PID)
		}
		if !channels.Sleep(e.ctx, stopInterval) {
			return interrupted("the host continues to stop")
		}
	}
}

// systemctl returns the command that controls the unit of a host.
func systemctl(p api.Process) string {
	if p.User {
		return "systemctl --user"
	}
	return "sudo systemctl"
}
