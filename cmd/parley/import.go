package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"parley/cmd/internal/tables"
	"path/filepath"
	"slices"
	"strings"

	"parley/gateway/accounts"
	"parley/gateway/config"
	"parley/gateway/configfile"
	"parley/gateway/filesystem"
	"parley/gateway/openclaw"
	"parley/gateway/openclaw/report"
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
	report.Report
	Written []string `json:"written"` // files, and the state folder
	Skipped []string `json:"skipped"` // sessions that were there already
	Needs   []string `json:"needs"`   // variables that the configuration wants and nothing sets yet
}

// Run reads everything, and writes it when told to. Nothing is ever sent.
func (c importOpenClawCmd) Run(e *env) error {
	conf, err := load(e)
	if err != nil {
		return err
	}
	r, err := openclaw.Read(c.Dir, accounts.Table(tables.Adapters()), os.Getenv)
	if errors.Is(err, fs.ErrNotExist) {
		return failed(exitMissing, "not_found", "%w", err)
	}
	if err != nil {
		return err
	}
	out := imported{Report: r.Report, Written: []string{}, Skipped: []string{}, Needs: []string{}}
	there := configfile.WithEnvFile(c.ConfigOut, os.Getenv)
	for _, name := range r.Needs {
		if there(name) == "" {
			out.Needs = append(out.Needs, name)
		}
	}
	if c.Write {
		if err := c.write(e, conf, r, &out); err != nil {
			return err
		}
	}
	return tell(e, c.asJSON, out, func(p *page, out imported) { importWords(p, c, out) })
}

func (c importOpenClawCmd) write(e *env, conf *config.Config, r *openclaw.Result, out *imported) error {
	files, err := c.files(r) // what cannot be written is said before anything is
	if err != nil {
		return err
	}
	s, err := sqlstore.Open(e.ctx, sqlstore.Config{Dir: conf.State, DSN: conf.Store.DSN.Reveal()})
	if errors.Is(err, sessions.ErrInUse) {
		return failed(exitRefused, "conflict", "an import needs a host that is stopped: %w", err)
	}
	if err != nil {
		return err
	}
	err = importSessions(e.ctx, s, r.Sessions, out)
	if err == nil {
		_, err = r.KeepPaired(e.ctx, s)
	}
	if err = errors.Join(err, s.Close()); err != nil {
		return err
	}
	out.Written = append(out.Written, conf.State)
	for _, f := range files {
		if err := replaceFile(f.path, f.text); err != nil {
			return err
		}
		out.Written = append(out.Written, f.path)
	}
	return nil
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

// written is a file to write.
type written struct {
	path string
	text []byte
}

// files are the configuration, and the secrets beside it.
func (c importOpenClawCmd) files(r *openclaw.Result) ([]written, error) {
	if r.Config == nil {
		return nil, nil
	}
	if _, err := os.Lstat(c.ConfigOut); err == nil {
		return nil, misuse("%s is there already: name another file with --config-out", c.ConfigOut)
	}
	if info, err := os.Stat(filepath.Dir(c.ConfigOut)); err != nil || !info.IsDir() {
		return nil, misuse("%s is no folder: name a file in one with --config-out", filepath.Dir(c.ConfigOut))
	}
	configuration := written{c.ConfigOut, r.Config}
	if len(r.Secrets) == 0 {
		return []written{configuration}, nil
	}
	path := filepath.Join(filepath.Dir(c.ConfigOut), configfile.EnvName)
	have, err := configfile.ReadEnv(path)
	if err != nil {
		return nil, err
	}
	old, err := filesystem.Read(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if len(old) > 0 && !strings.HasSuffix(string(old), "\n") {
		old = append(old, '\n')
	}
	for _, name := range slices.Sorted(maps.Keys(r.Secrets)) {
		if v, ok := have[name]; ok && v != r.Secrets[name].Reveal() {
			return nil, failed(exitRefused, "conflict", "%s has another %s: take it out, or write the configuration into another folder with --config-out", path, name)
		} else if !ok {
			line, ok := configfile.EnvLine(name, r.Secrets[name])
			if !ok {
				return nil, failed(exitFailed, "failed", "the value of %s has both kinds of quotes or several lines in it: put ${%s} in its place in the configuration that is imported, and set that in the environment", name, name)
			}
			old = append(old, line...)
		}
	}
	return []written{{path, old}, configuration}, nil
}

func importWords(p *page, c importOpenClawCmd, out imported) {
	part := func(title string, items []report.Item) {
		p.printf("%s (%d)\n", title, len(items))
		for _, i := range items {
			p.printf("  %s\n", i.What)
			if i.Why != "" {
				p.printf("      %s\n", i.Why)
			}
		}
		p.printf("\n")
	}
	part("Needs you", out.NeedsYou)
	part("Open to more people than before (should be empty)", out.OpenToMore)
	part("Different now", out.Different)
	part("Left out", out.Left)
	part("Also in this folder", out.Also)
	part("Carried over", out.Carried)
	p.printf("%d sessions, %d messages.\n", out.Sessions, out.Messages)
	if !c.Write {
		p.printf("Nothing was written: --write does it.\n")
		return
	}
	for _, s := range out.Skipped {
		p.printf("left as it was: %s\n", s)
	}
	p.printf("Written: %s\n", strings.Join(out.Written, ", "))
	if len(out.Needs) > 0 {
		p.printf("Set these first, in the environment or as lines NAME='…' in %s: %s\n", filepath.Join(filepath.Dir(c.ConfigOut), configfile.EnvName), strings.Join(out.Needs, ", "))
	}
	p.note("Look through the configuration, then: parley --config %s doctor\n", quoted(c.ConfigOut))
}
