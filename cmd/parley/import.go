package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"parley/cmd/internal/tables"
	"slices"
	"strings"
	"time"

	"parley/channels"
	"parley/gateway/accounts"
	"parley/gateway/config"
	"parley/gateway/openclaw"
	"parley/gateway/openclaw/locate"
	"parley/gateway/openclaw/report"
	"parley/sessions"
	"parley/sessions/sqlstore"
)

type importCmd struct {
	OpenClaw importOpenClawCmd `cmd:"" name:"openclaw" help:"Take over the configuration and the sessions of OpenClaw."`
}

type importOpenClawCmd struct {
	Dir          string `arg:"" optional:"" help:"State folder of OpenClaw. Without it: $$OPENCLAW_STATE_DIR, ~/.openclaw and its profiles, ~/.clawdbot, ~/.moltbot."`
	DryRun       bool   `xor:"write,use" help:"Print the report and write nothing (the default)."`
	Write        bool   `xor:"write" help:"Write the sessions to the state folder, and the configuration to a new file."`
	Use          bool   `xor:"use,part" help:"Write, and make the new file the configuration in force. The old file is kept as FILE.bak-TIME."`
	SessionsOnly bool   `xor:"part,half" help:"Import no configuration."`
	ConfigOnly   bool   `xor:"half,jobs" help:"Import no sessions."`
	Jobs         bool   `xor:"jobs" help:"Import the scheduled jobs as well. Without it the report has a command for each."`
	ConfigOut    string `xor:"part,out" placeholder:"FILE" help:"Where --write puts the configuration. Default: openclaw-import.yaml."`
	Verbose      bool   `help:"Print every line of the report."`
	asJSON
}

// importedConfig is where the configuration goes without --config-out.
const importedConfig = "openclaw-import.yaml"

// Help shows examples and the rule that the command follows.
func (importOpenClawCmd) Help() string {
	return `An import changes how parley answers, so the command only reports until you add --write or --use.

Stop OpenClaw first: one bot token works in one program, and Telegram answers 409 to the second; files that change while they are copied may be incomplete. A second run adds the sessions that are new. Nothing is ever sent.

Examples:

  parley import openclaw                        # report: what would change
  parley import openclaw --use                  # do it: sessions, and the configuration in force
  parley import openclaw --use --jobs           # the same, with the scheduled jobs
  parley import openclaw --write                # sessions, and openclaw-import.yaml to look at
  parley import openclaw ~/.openclaw-work --sessions-only --write
  parley import openclaw --config-only --write --config-out work.yaml`
}

// imported is what the command answers.
type imported struct {
	report.Report
	From    string   `json:"from"`              // OpenClaw's state folder
	Running string   `json:"running,omitempty"` // how OpenClaw is known to run: process 12, port 18789, changes in state/openclaw.sqlite
	DryRun  bool     `json:"dryRun"`
	State   string   `json:"state"`            // folder that the sessions go to
	Config  string   `json:"config,omitempty"` // file that the configuration goes to
	InForce bool     `json:"inForce"`          // Config is what parley reads without --config
	Notes   int      `json:"notes"`            // of the agents' memory that were added
	Jobs    int      `json:"jobs"`             // scheduled jobs that were added
	People  int      `json:"people"`           // paired people who were added
	Written []string `json:"written"`          // files, and the state folder
	Kept    []string `json:"kept"`             // copies of replaced files, and files that were left as they are
	New     int      `json:"new"`              // sessions that were added
	Grown   int      `json:"grown"`            // sessions that got the messages since the last import
	Same    int      `json:"same"`             // sessions that had all messages already
	Added   int      `json:"added"`            // messages that were added
	Skipped []string `json:"skipped"`          // sessions that have other messages in parley: left as they were
	Needs   []string `json:"needs"`            // variables that the configuration wants and nothing sets yet

	unread  string              // OpenClaw's configuration file, if it cannot be read and is wanted
	program string              // parley, with the configuration that the command line named
	wanted  map[string][]string // keys of the new configuration by the variable in them
}

// variable is the name of a variable with the keys that it is for.
func (out *imported) variable(name string) string {
	if keys := out.wanted[name]; len(keys) > 0 {
		return name + " (" + strings.Join(keys, ", ") + ")"
	}
	return name
}

// Run reads everything, and writes it when told to. Nothing is ever sent.
func (c importOpenClawCmd) Run(e *env) error {
	to, err := c.destination(e)
	if err != nil {
		return err
	}
	if c.Dir == "" {
		if c.Dir, err = onlyFolder(os.Getenv); err != nil {
			return err
		}
	}
	bar := newProgressBar(e, c.JSON)
	defer bar.end()
	bar.begin("Reading " + c.Dir)
	r, err := openclaw.Read(e.ctx, c.Dir, accounts.Table(tables.Adapters()), os.Getenv, bar.set)
	bar.end()
	if errors.Is(err, fs.ErrNotExist) {
		return failed(exitMissing, "not_found", "%w", err)
	}
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }() // copies in the temporary folder
	out := imported{Report: r.Report, From: c.Dir, State: to.conf.State, DryRun: !c.Write && !c.Use, Written: []string{}, Kept: []string{}, Skipped: []string{}, Needs: []string{}, program: to.program}
	out.Running = r.Running(e.ctx, os.Getenv)
	lost, err := to.replaced(r.Config)
	if err != nil {
		return err
	}
	if !c.SessionsOnly && r.Config != nil {
		out.Config, out.Needs = to.file, to.needs(r)
		if out.wanted, err = variablesOf(r.Config); err != nil {
			return err
		}
	}
	if !out.DryRun {
		if err := c.write(e, to, r, &out, bar); err != nil {
			return err
		}
	}
	out.Report = r.Report
	if n := len(r.Paired); n > 0 && !c.Use && !c.SessionsOnly {
		out.Need("paired people", fmt.Sprintf("OpenClaw let in %d by pairing. --use lets them in here too; without it, use parley pairing approve or allowFrom", n))
	}
	if out.Config != "" {
		out.links(r.Parsed, out.started())
	}
	if len(lost) > 0 && out.Config != "" {
		out.Need("keys of "+to.conf.Path+": "+fewNames(lost), "the new configuration lacks them or has other values. After --use, copy those that must stay, such as a stricter session.sendPolicy, from the .bak file")
	}
	out.person(to.there())
	if !c.SessionsOnly {
		out.unread = r.Unread
	}
	if err := tell(e, c.asJSON, out, func(p *page, out imported) { importWords(p, c, out) }); err != nil || out.unread == "" {
		return err
	}
	return failed(exitFailed, "failed", "%s cannot be read, so there is no new configuration: repair the file and import again, or import without it: %s --sessions-only",
		out.unread, c.line(to.program))
}

// person adds to the report what only a person can do: set variables, and stop OpenClaw. there has the variables that are set already.
func (out *imported) person(there func(string) string) {
	where := "to the file .env beside the configuration"
	if !out.DryRun {
		where = "to " + envBeside(out.Config)
	}
	said := map[string]bool{}
	for i := range out.NeedsYou {
		line := &out.NeedsYou[i]
		if name, ok := strings.CutPrefix(line.What, "variable "); ok && slices.Contains(out.Needs, name) {
			said[name] = true
			line.What, line.Why = out.variable(name), line.Why+". Set it in the environment, or add a line NAME='value' "+where
		}
	}
	out.NeedsYou = slices.DeleteFunc(out.NeedsYou, func(i report.Item) bool {
		name, ok := strings.CutPrefix(i.What, "variable ")
		return ok && (out.Config == "" || there(name) != "")
	})
	for _, name := range out.Needs {
		if !said[name] {
			out.Need(out.variable(name), "no value found. Set it in the environment, or add a line NAME='value' "+where)
		}
	}
	out.Sort()
	if out.Running != "" {
		out.NeedsYou = slices.Insert(out.NeedsYou, 0, report.Item{What: "OpenClaw", Why: "it is running (" + out.Running + "): stop it before you write: " + stopOpenClaw(out.Running)})
	}
}

// stopOpenClaw says how OpenClaw is stopped. sign is the sign that it runs.
func stopOpenClaw(sign string) string {
	if strings.HasPrefix(sign, "port ") {
		return "openclaw gateway stop. If another program listens there, set OPENCLAW_GATEWAY_PORT to the port of OpenClaw's gateway"
	}
	return "openclaw gateway stop"
}

// links adds to the report the accounts whose phone must be linked again.
func (out *imported) links(c *config.Config, program string) {
	if c == nil {
		return
	}
	for _, a := range c.Channels {
		if a.Kind != "whatsapp" {
			continue
		}
		what, command := "channels.whatsapp", program+" login whatsapp"
		if a.ID != channels.DefaultAccount {
			what, command = what+".accounts."+string(a.ID), command+" --account "+string(a.ID)
		}
		out.Need(what, "link the phone again, with the host running: "+command+". OpenClaw keeps the keys of its device for Baileys, parley uses whatsmeow. On the phone, remove OpenClaw under Linked devices")
	}
}

// onlyFolder finds the one state folder of OpenClaw on this machine.
func onlyFolder(getenv func(string) string) (string, error) {
	found, looked := locate.Folders(getenv)
	switch len(found) {
	case 0:
		return "", failed(exitMissing, "not_found", "no state folder of OpenClaw found (looked at %s). Name it: parley import openclaw DIR", strings.Join(looked, ", "))
	case 1:
		return found[0].Path, nil
	}
	var b strings.Builder
	for _, f := range found {
		fmt.Fprintf(&b, "\n  parley import openclaw %s   # changed %s", quoted(f.Path), f.Changed.Format(time.DateTime))
	}
	return "", misuse("OpenClaw has %d state folders here. Name one:%s", len(found), b.String())
}

// write commits sessions and files. The state folder is held meanwhile, so no host runs.
func (c importOpenClawCmd) write(e *env, to destination, r *openclaw.Result, out *imported, bar *progressBar) (err error) {
	if out.Running != "" {
		return failed(exitFailed, "conflict", "OpenClaw is running (%s). One bot token works in one program only, and files that change while they are copied may be incomplete. Stop it first: %s", out.Running, stopOpenClaw(out.Running))
	}
	var files []written
	if out.Config != "" {
		if files, err = to.files(r, out); err != nil { // what cannot be written is said before anything is
			return err
		}
	}
	if c.ConfigOnly && !c.Use {
		return to.write(files, out)
	}
	s, err := sqlstore.Open(e.ctx, sqlstore.Config{Dir: to.conf.State, DSN: to.conf.Store.DSN.Reveal()})
	if err != nil {
		return to.needsStopped(err)
	}
	if !c.ConfigOnly {
		err = c.history(e, to, r, s, out, bar)
	}
	if err == nil {
		err = to.write(files, out) // before the store is closed: no host may start between the two
	}
	if err == nil && c.Use { // only now: the configuration before may admit these people where OpenClaw did not
		out.People, err = r.KeepPaired(e.ctx, s)
	}
	return errors.Join(err, s.Close())
}

// history commits sessions, notes and jobs.
func (c importOpenClawCmd) history(e *env, to destination, r *openclaw.Result, s *sqlstore.Store, out *imported, bar *progressBar) error {
	bar.begin("Writing sessions")
	stored, err := r.Store(e.ctx, s, bar.set)
	bar.end()
	out.New, out.Grown, out.Same, out.Added = stored.New, stored.Extended, stored.Same, stored.Messages
	for _, k := range stored.Left {
		out.Skipped = append(out.Skipped, string(k))
	}
	if err != nil && stored.New+stored.Extended > 0 {
		return fmt.Errorf("%w (%d sessions before it are stored; run the command again)", err, stored.New+stored.Extended)
	}
	if err == nil {
		out.Written = append(out.Written, to.conf.State)
		out.Notes, err = r.StoreNotes(e.ctx, s)
	}
	if err == nil && c.Jobs {
		out.Jobs, err = r.StoreJobs(e.ctx, s, to.agents(r, out.Config != ""), time.Now())
		r.Report.Sort()
	}
	return err
}

// needsStopped says which configuration led to a state folder that cannot be opened, and what to do while a host uses that folder.
func (to destination) needsStopped(err error) error {
	if errors.Is(err, sessions.ErrInUse) {
		return failed(exitFailed, "conflict", "an import needs a stopped host: run `%s stop` first: %w", to.program, err)
	}
	if to.conf.Path != "" {
		return fmt.Errorf("open the store of the configuration %s: %w", to.conf.Path, err)
	}
	return err
}
