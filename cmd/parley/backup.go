package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/term"

	"parley/channels"
	"parley/gateway/backup"
	"parley/gateway/config"
	"parley/gateway/configfile"
	"parley/gateway/filesystem"
	"parley/sessions"
	"parley/sessions/sqlstore"
)

type backupCmd struct {
	File      string `arg:"" optional:"" help:"Path of the backup: a file, a folder, or - for standard output. Default: a new file in the current folder."`
	WithMedia bool   `help:"Include the files that people sent."`
	Force     bool   `help:"Replace an existing file."`
	Keep      int    `placeholder:"N" help:"Keep only the newest N backups in the folder and delete the older ones."`
	asJSON
}

// backupNames are the names that backups get which were not given one. Only such files are ever deleted by --keep.
var backupNames = regexp.MustCompile(`^parley-\d{8}T\d{6}Z\.tar\.gz$`)

// Run asks the host for a backup, or makes one by itself when none runs.
func (c backupCmd) Run(e *env) error {
	conf, err := load(e)
	if err != nil {
		return err
	}
	if c.Keep < 0 {
		return misuse("--keep must be at least 1")
	}
	if c.File == "-" {
		if c.Keep > 0 {
			return misuse("--keep needs a folder instead of -")
		}
		if term.IsTerminal(int(os.Stdout.Fd())) {
			return misuse("a backup is not text: name a file, or pipe the output into another program")
		}
		return c.write(e, conf, os.Stdout)
	}
	path := c.File
	if info, err := os.Stat(cmp.Or(path, ".")); err == nil && info.IsDir() {
		path = filepath.Join(path, time.Now().UTC().Format("parley-20060102T150405Z.tar.gz"))
	}
	if c.Keep > 0 && !backupNames.MatchString(filepath.Base(path)) {
		return misuse("--keep needs an existing folder, and %s is not one: parley names each backup in the folder by its time", path)
	}
	if within(conf.State, filepath.Dir(path)) {
		return misuse("%s is in the state folder, so each backup would contain the one before it: name a path outside the state folder", path)
	}
	if _, err := os.Lstat(path); err == nil && !c.Force {
		return failed(exitFailed, "conflict", "%s exists: name another file, or replace it with --force", path)
	}
	m, size, err := c.toFile(e, conf, path)
	if err != nil {
		return err
	}
	removed, err := rotate(filepath.Dir(path), c.Keep)
	if err != nil {
		return err
	}
	return tell(e, c.asJSON, map[string]any{"file": path, "size": size, "manifest": m, "removed": removed}, func(p *page, _ map[string]any) {
		p.printf("%s\n", path)
		p.note("%s, %s compressed. parley read the backup back: every file matches its hash.\n", channels.Plural(len(m.Files), "file"), bytesOf(size))
		if m.Store != "sqlite" {
			p.note("The backup does not contain the database: %v.\n", sqlstore.ErrElsewhere)
		}
		for _, l := range m.Left {
			p.note("left out: %s\n", l)
		}
		for _, r := range removed {
			p.note("removed: %s\n", r)
		}
		if slices.ContainsFunc(m.Files, func(f backup.File) bool { return f.Path == configfile.EnvName }) {
			p.note("The backup contains the configuration and the %s beside it.\n", configfile.EnvName)
		}
		p.note("The backup contains the tokens of your accounts: keep it where only you can read it.\n")
	})
}

// within reports whether a folder is another one or is in it, whatever links lead there.
func within(outer, folder string) bool {
	top, err := os.Stat(outer)
	if err != nil {
		return false // there is nothing that it could be in
	}
	folder, err = filepath.Abs(folder)
	if real, e := filepath.EvalSymlinks(folder); err == nil && e == nil {
		folder = real
	}
	for ; ; folder = filepath.Dir(folder) {
		if here, err := os.Stat(folder); err == nil && os.SameFile(top, here) {
			return true
		}
		if filepath.Dir(folder) == folder {
			return false
		}
	}
}

// toFile writes a backup beside the file that it becomes, and reads it back first.
func (c backupCmd) toFile(e *env, conf *config.Config, path string) (m backup.Manifest, size int64, err error) {
	f, err := filesystem.Part(path)
	if err != nil {
		return m, 0, err
	}
	part := f.Name()
	defer func() {
		_ = f.Close() // it was synced, or is removed
		if err != nil {
			_ = os.Remove(part)
		}
	}()
	if err := c.write(e, conf, f); err != nil {
		return m, 0, err
	}
	if err := f.Sync(); err != nil {
		return m, 0, err
	}
	if size, err = f.Seek(0, io.SeekCurrent); err != nil {
		return m, 0, err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return m, 0, err
	}
	if m, err = backup.Check(e.ctx, f); err != nil {
		return m, 0, fmt.Errorf("read the new backup back: %w", err)
	}
	return m, size, errors.Join(os.Rename(part, path), backup.SyncFolder(filepath.Dir(path)))
}

func (c backupCmd) write(e *env, conf *config.Config, w io.Writer) error {
	h, err := running(e)
	if err == nil {
		return h.download(e, c.WithMedia, w)
	}
	if !errors.Is(err, errNotRunning) {
		return err
	}
	if _, err := os.Stat(conf.State); err != nil {
		return failed(exitMissing, "not_found", "the state folder %s does not exist: there is nothing to back up", conf.State)
	}
	release, err := sqlstore.Hold(conf.State)
	if err != nil {
		return err
	}
	src := backup.Source{State: conf.State, Config: conf.Path, Media: c.WithMedia, Program: version}
	if conf.Store.DSN.IsZero() {
		src.Database = func(ctx context.Context, to string) error {
			return sqlstore.CopyStopped(ctx, conf.State, to)
		}
	}
	_, err = backup.Write(e.ctx, w, src)
	return errors.Join(err, release())
}

// download streams a backup from the host, for as long as it takes.
func (h *host) download(e *env, media bool, w io.Writer) error {
	path := h.base + "/api/backup"
	if media {
		path += "?media=true"
	}
	req, err := http.NewRequestWithContext(e.ctx, http.MethodGet, path, nil)
	if err != nil {
		return err
	}
	resp, err := h.do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return refusal(resp)
	}
	end := &backup.Tail{}
	if _, err := io.Copy(io.MultiWriter(w, end), resp.Body); err != nil {
		if why := end.Failure(); why != "" {
			return fmt.Errorf("the host cannot make the backup: %s", why)
		}
		return fmt.Errorf("read the backup from the host: %w (for the cause, run `parley logs`)", err)
	}
	return nil
}

// rotate removes all but the newest backups of a folder; 0 keeps all.
func rotate(folder string, keep int) (removed []string, err error) {
	removed = []string{}
	if keep == 0 {
		return removed, nil
	}
	list, err := os.ReadDir(folder)
	if err != nil {
		return removed, err
	}
	var names []string
	for _, e := range list {
		if e.Type().IsRegular() && backupNames.MatchString(e.Name()) {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names) // by their time
	for _, n := range names[:max(0, len(names)-keep)] {
		if err := os.Remove(filepath.Join(folder, n)); err != nil {
			return removed, err
		}
		removed = append(removed, filepath.Join(folder, n))
	}
	return removed, nil
}

type restoreCmd struct {
	File    string `arg:"" help:"The backup file, or - for standard input."`
	DryRun  bool   `help:"Check everything, change nothing."`
	MaxSize int64  `placeholder:"MIB" help:"Maximum unpacked size in MiB. Default: 64 GiB, and at most 256 MiB plus 100 times the size of the backup."`
	asJSON
}

// Run puts a backup in the place of the state of a host that does not run.
func (c restoreCmd) Run(e *env) error {
	if c.MaxSize < 0 || c.MaxSize > 1<<40 {
		return misuse("--max-size %d is out of range: name a number of MiB", c.MaxSize)
	}
	conf, err := load(e)
	if err != nil {
		return err
	}
	in := os.Stdin
	if c.File != "-" {
		switch in, err = filesystem.Open(c.File); {
		case errors.Is(err, syscall.EISDIR):
			return misuse("%s is a folder: name the file in it that `parley backup` wrote", c.File)
		case errors.Is(err, filesystem.ErrNotRegular):
			return misuse("open the backup: %w (name a file that `parley backup` wrote, or read a pipe with `parley restore - < PIPE`)", err)
		case err != nil:
			return failed(exitMissing, "not_found", "open the backup: %w (name a file that `parley backup` wrote, or - for standard input)", err)
		}
		defer func() { _ = in.Close() }() // it is only read
	}
	r, err := backup.Restore(e.ctx, in, backup.Options{State: conf.State, Active: conf.Path, Server: !conf.Store.DSN.IsZero(), DryRun: c.DryRun, Now: time.Now(), MaxBytes: c.MaxSize << 20})
	if err != nil {
		if _, refused := errors.AsType[*backup.RefusedError](err); refused {
			err = fmt.Errorf("%s: %w; the state is unchanged", c.File, err)
		} else if errors.Is(err, sessions.ErrInUse) {
			err = failed(exitFailed, "conflict", "%w; the state is unchanged", err)
		}
		return err
	}
	return tell(e, c.asJSON, r, func(p *page, r backup.Report) { restoreWords(p, conf, r) })
}

func restoreWords(p *page, conf *config.Config, r backup.Report) {
	p.printf("The backup of %s (parley %s, %s) is complete: every file matches its hash", p.stamp(r.Manifest.Made), r.Manifest.Program, channels.Plural(len(r.Manifest.Files), "file"))
	if r.Backup != nil {
		p.printf(", and the database passed its check.\nThe backup has %s and %s, the newest from %s.\n", channels.Plural(r.Backup.Sessions, "session"), channels.Plural(r.Backup.Messages, "message"), p.stamp(r.Backup.Last))
	} else {
		p.printf(". The database is on its PostgreSQL server: restore the database with pg_restore.\n")
	}
	if r.Before != nil {
		p.printf("The state before the restore has %s and %s, the newest from %s.\n", channels.Plural(r.Before.Sessions, "session"), channels.Plural(r.Before.Messages, "message"), p.stamp(r.Before.Last))
	}
	if r.DryRun {
		p.printf("The dry run changed nothing. Without --dry-run the restore replaces in %s: %s\n", conf.State, cmp.Or(strings.Join(r.Replaced, ", "), "nothing"))
		return
	}
	p.printf("\nThe backup is restored to %s. ", conf.State)
	if len(r.Replaced) > 0 {
		p.printf("The files that it replaced are in\n  %s\n", r.Aside)
	} else {
		p.printf("No file was replaced.\n")
	}
	if len(r.Kept) > 0 {
		p.printf("Not in the backup and unchanged: %s\n", strings.Join(r.Kept, ", "))
	}
	notInForce(p, conf, r)
	p.printf("\nThe host continues from its state of %s.\n", p.stamp(r.Manifest.Made))
	p.printf("- Later messages, settings and jobs are missing, and platforms may not deliver those messages again.\n")
	if r.Backup != nil && r.Backup.Unsent+r.Backup.Queued > 0 {
		p.printf("- At that time the host had %s and %s. When the host starts, it continues those that have not expired,\n  even if it finished them after the backup. `parley deliveries list` shows the messages.\n", channels.Plural(r.Backup.Unsent, "unsent message"), channels.Plural(r.Backup.Queued, "open run"))
	}
	p.printf("- Linked accounts (WhatsApp) continue with the keys of that time. If messages cannot be read, link the account again.\n")
}

// notInForce says where the configuration of the backup is and its secrets are, and how they come into force.
func notInForce(p *page, conf *config.Config, r backup.Report) {
	if r.Config == "" && r.Env == "" {
		return
	}
	path := conf.Path
	if path == "" {
		path = usualConfig()
		p.printf("This host has no configuration. To use the one of the backup, run\n  mkdir -p %s\n", quoted(filepath.Dir(path)))
	} else {
		p.printf("The configuration in force is unchanged. To use the one of the backup, run\n")
	}
	if r.Config != "" {
		p.printf("  cp %s %s\n", quoted(r.Config), quoted(path))
	}
	if r.Env != "" {
		p.printf("  cp %s %s   # the secrets that the configuration names\n", quoted(r.Env), quoted(filepath.Join(filepath.Dir(path), configfile.EnvName)))
	}
}

// quoted is a path as a shell reads it.
func quoted(path string) string {
	if !strings.ContainsAny(path, " \t'\"\\$&;()<>|*?[]#~`") {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}

// bytesOf is a size for people.
func bytesOf(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d bytes", n)
	case n < 1e6:
		return fmt.Sprintf("%d kB", (n+500)/1000)
	case n < 1e9:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%.1f GB", float64(n)/1e9)
}
