package main

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"os"
	"parley/cmd/internal/tables"
	"path/filepath"
	"time"

	"parley/channels"
	"parley/gateway/accounts"
	"parley/gateway/api"
	"parley/gateway/config"
	"parley/gateway/configfile"
	"parley/gateway/doctor"
)

type doctorCmd struct {
	asJSON
}

// Run looks for what keeps the host from working; exit code 1 when something does.
func (c doctorCmd) Run(e *env) error {
	d := doctor.Deps{Adapters: tables.Adapters(), Providers: tables.Providers(), Getenv: os.Getenv, Version: version, Now: time.Now,
		Host: func(ctx context.Context) (s api.HostStatus, err error) {
			still := *e
			still.quiet = true // the doctor says by itself what is wrong with the file
			h, err := running(&still)
			if err == nil {
				err = h.callWithin(ctx, 3*time.Second, http.MethodGet, "/api/status", nil, nil, &s)
			}
			if errors.Is(err, errNotRunning) {
				err = doctor.ErrNoHost
			}
			return s, err
		}}
	path, err := e.configFile()
	if err != nil {
		return err
	}
	d.Config, d.Invalid = examined(path)
	if d.Config != nil {
		d.Getenv = configfile.WithEnvFile(d.Config.Path, os.Getenv)
	}
	found := doctor.Run(e.ctx, d)
	if e.ctx.Err() != nil {
		return e.ctx.Err()
	}
	if err := tell(e, c.asJSON, found, findings); err != nil {
		return err
	}
	if n := tally(found, doctor.Failure); n > 0 {
		return failed(exitFailed, "failed", "%s of %d failed", channels.Plural(n, "check"), len(found))
	}
	return nil
}

// examined is load without a word: the doctor says by itself what is wrong.
func examined(path string) (*config.Config, error) {
	table := accounts.Table(tables.Adapters())
	if path == "" {
		return config.Default(table, os.Getenv), nil
	}
	if _, err := configfile.ReadEnv(filepath.Join(filepath.Dir(path), configfile.EnvName)); err != nil {
		return nil, err
	}
	getenv := configfile.WithEnvFile(path, os.Getenv)
	c, _, err := config.Load(path, table, getenv)
	if err != nil {
		if dir, ok := config.StateOf(path, getenv); ok { // something can be looked at
			c = config.Default(table, os.Getenv)
			c.Path, c.State = path, dir
		}
	}
	return c, err
}

var signs = map[doctor.Level]struct {
	sign string
	colour
}{doctor.Fine: {"✓", green}, doctor.Warning: {"!", yellow}, doctor.Failure: {"✗", red}, doctor.Skipped: {"–", faint}}

func findings(p *page, fs []doctor.Finding) {
	for _, f := range fs {
		if p.quiet && (f.Level == doctor.Fine || f.Level == doctor.Skipped) {
			continue
		}
		s := signs[f.Level]
		p.painted(s.colour, s.sign+" "+f.Check+": "+f.Text)
		if f.Fix != "" {
			p.printf("    → %s\n", f.Fix)
		}
	}
	p.note("\n%d ok, %s, %s, %d not checked\n", tally(fs, doctor.Fine), channels.Plural(tally(fs, doctor.Warning), "warning"), channels.Plural(tally(fs, doctor.Failure), "error"), tally(fs, doctor.Skipped))
	p.printf("Next: %s\n", cmp.Or(doctor.FirstStep(fs), "nothing to do"))
}

func tally(fs []doctor.Finding, l doctor.Level) (n int) {
	for _, f := range fs {
		if f.Level == l {
			n++
		}
	}
	return n
}
