package doctor

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"time"

	"parley/channels"
	"parley/gateway/backup"
	"parley/gateway/config"
	"parley/gateway/filesystem"
	"parley/sessions"
	"parley/sessions/sqlstore"
)

// plainSecret finds a secret that is written out in a configuration file, instead of ${NAME}.
var plainSecret = regexp.MustCompile(`(?m)^[^#\n]*\b(?:token|apiKey|dsn|secret|password)["']?\s*:\s*["']?([^\s"'$#{}\[\],][^\s"'#]*)`)

func (x *exam) configuration() (out []Finding) {
	const check = "config"
	if x.Invalid != nil {
		invalid, ok := errors.AsType[*config.Invalid](x.Invalid)
		if !ok {
			return []Finding{wrong(check, "name the file with --config, or give the user that runs parley read access", "cannot read the configuration: %v", x.Invalid)}
		}
		return problemLines(invalid.Problems)
	}
	path := x.Config.Path
	if path == "" {
		for _, p := range backup.Asides(x.Config.State) {
			if files := backup.Waiting(p); len(files) > 0 {
				out = append(out, warn(check, "check it, then copy it to ~/.config/parley/config.yaml (env-of-the-backup to .env beside it) and start the host",
					"parley uses its defaults: the configuration of the restored backup is only in %s; keep that folder", strings.Join(files, " and ")))
			}
		}
		if len(out) > 0 {
			return out
		}
		return []Finding{fine(check, "there is no configuration file; parley uses its defaults (parley init writes one)")}
	}
	problems, err := x.Config.ForHost()
	if err == nil {
		out = append(out, fine(check, "%s is valid", path))
	}
	out = append(out, problemLines(problems)...)
	out = append(out, private(check, path, true)...)
	for _, name := range []string{".env"} {
		out = append(out, private(check, filepath.Join(filepath.Dir(path), name), false)...)
	}
	return out
}

func problemLines(ps []config.Problem) (out []Finding) {
	for _, p := range ps {
		f := wrong("config", p.Hint, "%s", bare(p))
		f.About = p.Key
		if p.Severity != config.SevereError {
			f.Level = Warning
		}
		out = append(out, f)
	}
	return out
}

// bare is a problem without what to do about it.
func bare(p config.Problem) string {
	p.Hint = ""
	return p.String()
}

// private warns of a file with secrets that others may read. maybe: it may have none.
func private(check, path string, maybe bool) []Finding {
	info, err := os.Stat(path)
	if err != nil || runtime.GOOS == "windows" || info.Mode().Perm()&0o077 == 0 {
		return nil
	}
	if maybe {
		b, err := filesystem.Read(path)
		if err != nil || !plainSecret.Match(b) {
			return nil
		}
	}
	return []Finding{warn(check, "chmod 600 "+path, "%s contains secrets, and other users of this machine can read the file (mode %04o)", path, info.Mode().Perm())}
}

// Room on the disk of the state folder.
const (
	minFreeSpace  = 100 << 20
	warnFreeSpace = 1 << 30
)

func (x *exam) state(context.Context) (out []Finding) {
	const check = "state"
	dir := x.Config.State
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		parent := dir
		for err != nil && filepath.Dir(parent) != parent {
			parent = filepath.Dir(parent)
			_, err = os.Stat(parent)
		}
		if e := writable(parent); e != nil {
			if sqlstore.Full(e) {
				return []Finding{wrong("disk", "free disk space, or set another state folder with state", "the disk is full: cannot create the state folder %s: %v", dir, e)}
			}
			return []Finding{wrong(check, "create the folder and give it to the user that runs parley, or set another state folder with state", "cannot create the state folder %s: %v", dir, e)}
		}
		out = append(out, fine(check, "the first start creates the state folder %s", dir))
		dir = parent
	case err != nil:
		return []Finding{wrong(check, "give the user that runs parley access to the folders above "+dir, "cannot read the state folder %s: %v", dir, err)}
	case !info.IsDir():
		return []Finding{wrong(check, "move the file away, or set another state folder with state", "the state folder %s is a file", dir)}
	default:
		if err := writable(dir); sqlstore.Full(err) {
			return append(x.leftovers(dir), wrong("disk", "free disk space, or move the state folder", "the disk is full: cannot write to the state folder %s: %v", dir, err))
		} else if err != nil {
			return []Finding{wrong(check, "give the folder to the user that runs parley: chown -R USER "+dir, "cannot write to the state folder %s: %v", dir, err)}
		}
		out = append(out, fine(check, "wrote to the state folder %s", dir))
		if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
			out = append(out, warn(check, "chmod 700 "+dir, "other users of this machine can read the state folder (mode %04o)", info.Mode().Perm()))
		}
		out = append(out, private(check, filepath.Join(dir, "token"), false)...)
		out = append(out, x.leftovers(dir)...)
	}
	return append(out, disk(dir, x.Config.Store.DSN.IsZero())...)
}

func writable(dir string) error {
	f, err := os.CreateTemp(dir, ".doctor-")
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err // without the name of the temporary file
	}
	if err != nil {
		return err
	}
	_, err = f.Write(make([]byte, probeBytes)) // on a full disk, files can still be made
	return errors.Join(err, f.Sync(), f.Close(), os.Remove(f.Name()))
}

const probeBytes = 64 << 10

// disk looks at the room and at the kind of file system.
func disk(dir string, sqlite bool) (out []Finding) {
	const check = "disk"
	free, kind, err := filesystem.Of(dir)
	switch {
	case err != nil:
		return []Finding{warn(check, "run df", "cannot read the free space of %s: %v", dir, err)}
	case free == 0 && kind == "":
		return nil // this system is not known
	case free < minFreeSpace:
		out = append(out, wrong(check, "free disk space, or move the state folder", "only %d MB are free on the disk of the state folder", free>>20))
	case free < warnFreeSpace:
		out = append(out, warn(check, "free disk space, or move the state folder", "%d MB are free", free>>20))
	default:
		out = append(out, fine(check, "%.1f GB are free", float64(free)/1e9))
	}
	switch kind {
	case "nfs", "cifs", "smb", "9p", "fuse":
		if sqlite {
			out = append(out, warn(check, "put the state folder on a local disk, or use PostgreSQL (store.dsn)", "the state folder is on a %s file system, where SQLite's locks and syncs may fail and damage the database", kind))
		}
	case "tmpfs", "ramfs":
		out = append(out, warn(check, "set another state folder with state", "the state folder is in memory (%s); a restart of the machine deletes everything", kind))
	case "overlay":
		out = append(out, warn(check, "mount a volume for the state folder", "the state folder is inside the container; removing the container deletes everything"))
	}
	return out
}

// leftovers looks for what a crash or a restore left.
func (x *exam) leftovers(dir string) (out []Finding) {
	const check = "state"
	if b, err := os.ReadFile(filepath.Join(dir, sqlstore.UnfinishedFile)); err == nil {
		out = append(out, wrong(check, "run parley restore FILE again", "a restore was interrupted, and the host does not start; the previous state is in %s", strings.TrimSpace(string(b))))
	}
	for _, p := range backup.Asides(dir) {
		waiting := backup.Waiting(p)
		switch {
		case len(waiting) == 0:
			out = append(out, fine(check, "%s is the state from before a restore; delete the folder when you no longer need it", p))
		case x.Config.Path != "":
			out = append(out, fine(check, "%s is left from a restore; the configuration of the backup is there (%s), and not in force", p, strings.Join(waiting, ", ")))
		}
	}
	if x.host != nil || x.hostErr != nil {
		return out
	}
	if sock := filepath.Join(dir, "parley.sock"); isSocket(sock) {
		out = append(out, fine(check, "a killed host left %s; the next start replaces the socket", sock))
	}
	return out
}

func isSocket(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&fs.ModeSocket != 0
}

// starting reports whether a process that does not answer has the state folder of a database. It is taken for a moment only: a host that starts meanwhile
// waits for longer.
func (x *exam) starting(database string) bool {
	if _, err := os.Stat(database); err != nil {
		return false
	}
	release, err := sqlstore.Hold(x.Config.State)
	if err != nil {
		return errors.Is(err, sessions.ErrInUse)
	}
	_ = release() // it was only asked for
	return false
}

// store looks into the database, where no host does.
func (x *exam) store(ctx context.Context) []Finding {
	const check = "store"
	switch {
	case x.host != nil:
		return []Finding{fine(check, "the running host uses %s; the host checks the database when it starts", x.host.Store)}
	case x.hostErr != nil:
		return nil
	case !x.Config.Store.DSN.IsZero():
		return []Finding{x.server(ctx, x.Config.Store.DSN.Reveal())}
	}
	path := filepath.Join(x.Config.State, sqlstore.DatabaseFile)
	starting := x.starting(path)
	var err error
	if !starting {
		err = sqlstore.CheckFile(ctx, path)
		starting = err != nil && x.starting(path) // and changed the files while they were read
	}
	switch {
	case starting:
		return []Finding{warn(check, "run parley doctor again in a moment", "a host is starting or stopping in %s; the host checks the database itself", x.Config.State)}
	case errors.Is(err, fs.ErrNotExist):
		return []Finding{fine(check, "there is no database yet; the first start creates one")}
	case err != nil:
		return []Finding{unusable(x.Config.State, err)}
	}
	in, err := sqlstore.Inspect(ctx, path)
	if err != nil {
		return []Finding{unusable(x.Config.State, err)}
	}
	if in.Missing > 0 {
		return []Finding{warn(check, "put the newer database back, or run parley restore FILE; to accept the copy, start the host",
			"the database is a copy from before an upgrade (schema version %d) and lacks %s", in.Schema, channels.Plural(in.Missing, "later commit"))}
	}
	return []Finding{fine(check, "the database passed SQLite's quick_check: schema version %d, %s, %s", in.Schema, channels.Plural(in.Sessions, "session"), channels.Plural(in.Messages, "message"))}
}

// unusable is the finding for a database that cannot be read. Only a damaged one needs a backup.
func unusable(state string, err error) Finding {
	fix := "check the disk and its mount, then run parley doctor again"
	switch {
	case errors.Is(err, fs.ErrPermission):
		fix = "give the folder to the user that runs parley: chown -R USER " + state
	case errors.Is(err, sessions.ErrDamaged):
		fix = "restore a backup: parley restore FILE"
	}
	return wrong("store", fix, "%v", err)
}

// server reaches a database server. Its password is never shown.
func (x *exam) server(ctx context.Context, dsn string) Finding {
	const check = "store"
	host, port := dsnAddress(dsn)
	if host == "" {
		return warn(check, "start the host, whose error names the reason", "store.dsn names no database server")
	}
	c, err := (&net.Dialer{}).DialContext(ctx, "tcp", net.JoinHostPort(host, port))
	if err != nil {
		return wrong(check, "start the database server, or correct store.dsn", "cannot connect to the database server %s: %v", net.JoinHostPort(host, port), err)
	}
	_ = c.Close() // nothing was said
	return fine(check, "connected to the database server %s; the host checks user and schema when it starts", net.JoinHostPort(host, port))
}

func (x *exam) port(ctx context.Context) []Finding {
	const check = "port"
	if x.host != nil || x.hostErr != nil {
		return nil
	}
	addr := x.Config.Gateway.Listen
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err != nil {
		return []Finding{wrong(check, "stop the program that uses the address, or set another with gateway.listen", "cannot listen on gateway.listen %s: %v", addr, err)}
	}
	_ = l.Close() // nobody knew of it
	return []Finding{fine(check, "%s is free", addr)}
}

func (x *exam) zones(context.Context) []Finding {
	const check = "time"
	name := strings.TrimPrefix(x.Getenv("TZ"), ":")
	if _, err := time.LoadLocation(name); err != nil && !strings.HasPrefix(name, "/") {
		return []Finding{warn(check, "set TZ to a name such as Europe/Berlin, or unset it", "TZ is %q, which is not a time zone; jobs and resets use UTC", name)}
	}
	return []Finding{fine(check, "the time zone is %s", x.Now().Format("MST (-07:00)"))}
}
