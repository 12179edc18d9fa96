package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"parley/gateway"
	"parley/gateway/config"
	"parley/gateway/openclaw"
	"parley/sessions"
	"parley/sessions/sqlstore"
)

type importCmd struct {
	OpenClaw importOpenClawCmd `cmd:"" name:"openclaw" help:"Take configuration, sessions and transcripts of an OpenClaw over."`
}

type importOpenClawCmd struct {
	Dir       string `arg:"" help:"Its state folder, such as ~/.openclaw."`
	Write     bool   `help:"Do it. Without this nothing is written."`
	ConfigOut string `default:"openclaw-import.yaml" placeholder:"FILE" help:"Where the configuration goes; it must not be there yet."`
	asJSON
}

// imported is what the command answers.
type imported struct {
	openclaw.Report
	Written []string `json:"written"` // files, and the state folder
	Skipped []string `json:"skipped"` // sessions that were there already
}

// Run reads everything, and writes it when told to. Nothing is ever sent.
func (c importOpenClawCmd) Run(e *env) error {
	conf, err := load(e)
	if err != nil {
		return err
	}
	r, err := openclaw.Read(c.Dir, gateway.Table(adapters()), os.Getenv)
	if errors.Is(err, fs.ErrNotExist) {
		return failed(exitMissing, "not_found", "%w", err)
	}
	if err != nil {
		return err
	}
	out := imported{Report: r.Report, Written: []string{}, Skipped: []string{}}
	if c.Write {
		if err := c.write(e, conf, r, &out); err != nil {
			return err
		}
	}
	return tell(e, c.asJSON, out, func(p *page, out imported) { importWords(p, c, out) })
}

func (c importOpenClawCmd) write(e *env, conf *config.Config, r *openclaw.Result, out *imported) error {
	if r.Config != nil {
		if _, err := os.Stat(c.ConfigOut); err == nil {
			return misuse("%s is there already: name another file with --config-out", c.ConfigOut)
		}
	}
	s, err := sqlstore.Open(e.ctx, sqlstore.Config{Dir: conf.State, DSN: conf.Store.DSN.Reveal()})
	if errors.Is(err, sessions.ErrOwned) {
		return failed(exitRefused, "conflict", "an import needs a host that is stopped: %w", err)
	}
	if err != nil {
		return err
	}
	err = importSessions(e.ctx, s, r.Sessions, out)
	if err = errors.Join(err, s.Close()); err != nil {
		return err
	}
	out.Written = append(out.Written, conf.State)
	return c.writeConfig(r, out)
}

func importSessions(ctx context.Context, s *sqlstore.Store, list []openclaw.Imported, out *imported) error {
	for _, x := range list {
		err := s.Import(ctx, x.Session, x.Messages)
		if errors.Is(err, sessions.ErrConflict) {
			out.Skipped = append(out.Skipped, fmt.Sprintf("%s: %v", x.Session.Key, err))
			continue
		}
		if err != nil {
			return fmt.Errorf("session %s: %w (those before it are there; run it again)", x.Session.Key, err)
		}
	}
	return nil
}

// writeConfig writes the configuration, and the secrets beside it.
func (c importOpenClawCmd) writeConfig(r *openclaw.Result, out *imported) error {
	if r.Config == nil {
		return nil
	}
	if len(r.Secrets) > 0 {
		path := filepath.Join(filepath.Dir(c.ConfigOut), config.EnvName)
		have, err := config.ReadEnv(path)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if len(text) > 0 && !strings.HasSuffix(string(text), "\n") {
			text = append(text, '\n')
		}
		for _, name := range slices.Sorted(maps.Keys(r.Secrets)) {
			if old, ok := have[name]; ok && old != r.Secrets[name].Reveal() {
				return failed(exitRefused, "conflict", "%s has another %s: take it out, or write the configuration into another folder with --config-out", path, name)
			} else if !ok {
				text = fmt.Appendf(text, "%s='%s'\n", name, r.Secrets[name].Reveal())
			}
		}
		if err := replaceFile(path, text); err != nil {
			return err
		}
		out.Written = append(out.Written, path)
	}
	out.Written = append(out.Written, c.ConfigOut)
	return replaceFile(c.ConfigOut, r.Config)
}

func importWords(p *page, c importOpenClawCmd, out imported) {
	part := func(title string, items []openclaw.Item) {
		p.printf("%s (%d)\n", title, len(items))
		for _, i := range items {
			p.printf("  %s\n", i.What)
			if i.Why != "" {
				p.printf("      %s\n", i.Why)
			}
		}
		p.printf("\n")
	}
	part("Carried over", out.Carried)
	part("Carried over differently", out.Different)
	part("Not carried over", out.Left)
	p.printf("%d sessions, %d messages.\n", out.Sessions, out.Messages)
	if !c.Write {
		p.printf("Nothing was written: --write does it.\n")
		return
	}
	for _, s := range out.Skipped {
		p.printf("left as it was: %s\n", s)
	}
	p.printf("Written: %s\n", strings.Join(out.Written, ", "))
	p.note("Look through the configuration, name a model in it, then: parley --config %s doctor\n", c.ConfigOut)
}
