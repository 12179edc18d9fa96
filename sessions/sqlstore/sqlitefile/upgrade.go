package sqlitefile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"parley/sessions/sqlstore/engine"
)

// upgrading is the row of meta that says from which version an upgrade is under way. It is in the database and not in its copy.
const upgrading = "upgrading"

// BeforeFile returns the path of the copy that an upgrade keeps of the database of an older schema version.
func BeforeFile(file string, version int64) string { return fmt.Sprint(file, ".v", version) }

// Upgrading copies a database that has content before its first migration: the way back. When an upgrade was interrupted, its copy is
// there already. It implements engine.Guard.
func (g *Guard) Upgrading(ctx context.Context, c *engine.Conn, have, newest int64) error {
	if err := g.same(); err != nil {
		return err
	}
	from, err := c.Number(ctx, "SELECT value FROM meta WHERE name = ?", upgrading)
	if err != nil {
		return fmt.Errorf("look for an interrupted upgrade: %w", err)
	}
	if _, err := os.Stat(BeforeFile(g.file, from)); from > 0 && err == nil {
		g.conf.Logger.Info("resuming an interrupted upgrade of the store", "before", BeforeFile(g.file, from))
		return nil
	}
	if worth, err := g.conf.HasContent(ctx, c); err != nil || !worth {
		return err // the very first start was interrupted
	}
	to := BeforeFile(g.file, have)
	g.conf.Logger.Info("upgrading the store; keeping a copy", "version", have, "to", newest, "before", to)
	if err := g.copyBefore(ctx, to); err != nil {
		return fmt.Errorf("upgrade the store in %s from schema version %d to %d: copy the database to %s: %w. Nothing was changed. Free disk space for a second copy of the database, and start again",
			g.file, have, newest, to, err)
	}
	if err := aside(ctx, c, "INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value", upgrading, have); err != nil {
		return engine.NotUpgraded(g.file, have, newest, err)
	}
	return nil
}

// copyBefore makes the copy under another name, and gives it its own when all of it is on disk.
func (g *Guard) copyBefore(ctx context.Context, to string) error {
	part := to + ".part"
	removeDatabase(part) // of a copy that was interrupted
	err := Copy(ctx, g.file, part)
	if err == nil {
		err = syncFile(part)
	}
	if err == nil {
		err = os.Rename(part, to)
	}
	if err != nil {
		removeDatabase(part)
		return err
	}
	return syncFile(filepath.Dir(to))
}

// Upgraded ends an upgrade: only its own copy stays. It implements engine.Guard.
func (g *Guard) Upgraded(ctx context.Context, c *engine.Conn) error {
	from, err := c.Number(ctx, "SELECT value FROM meta WHERE name = ?", upgrading)
	if err != nil || from == 0 {
		return err
	}
	others, err := filepath.Glob(escaped(g.file) + ".v*")
	if err != nil {
		return err
	}
	for _, path := range others {
		version := strings.TrimSuffix(strings.TrimPrefix(path, g.file+".v"), ".part")
		if _, err := strconv.ParseInt(version, 10, 64); err == nil && path != BeforeFile(g.file, from) {
			removeDatabase(path)
		}
	}
	if err := aside(ctx, c, "DELETE FROM meta WHERE name = ?", upgrading); err != nil {
		return fmt.Errorf("finish the upgrade of the store in %s: %w", g.file, err)
	}
	return nil
}

// escaped is a path in which Glob finds nothing but itself.
func escaped(path string) string {
	if filepath.Separator == '\\' { // there is no escape, and no such character in a name but [
		return strings.ReplaceAll(path, "[", "[[]")
	}
	return strings.NewReplacer(`\`, `\\`, "[", `\[`, "*", `\*`, "?", `\?`).Replace(path)
}

// syncFile has a file, or the names in a folder, on disk. Windows has no such call for folders.
func syncFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil { // a folder
		f, err = os.Open(path)
	}
	if err != nil {
		return err
	}
	err = f.Sync()
	if info, e := f.Stat(); e == nil && info.IsDir() && (errors.Is(err, fs.ErrInvalid) || errors.Is(err, fs.ErrPermission)) {
		err = nil
	}
	return errors.Join(err, f.Close())
}
