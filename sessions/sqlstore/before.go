package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// upgrading is the row of meta that says from which version an upgrade is under way. It is in the database and not in its copy.
const upgrading = "upgrading"

// beforeFile is where the database of an older schema version is kept, as it was before it was upgraded.
func beforeFile(file string, version int64) string { return fmt.Sprint(file, ".v", version) }

// keepBefore copies a database that has content before its first migration: the way back. When an upgrade was interrupted, its copy is
// there already.
func (s *Store) keepBefore(ctx context.Context, have, newest int64) error {
	from, err := s.writer.Number(ctx, "SELECT value FROM meta WHERE name = ?", upgrading)
	if err != nil {
		return fmt.Errorf("reading whether an upgrade was interrupted: %w", err)
	}
	if _, err := os.Stat(beforeFile(s.file, from)); from > 0 && err == nil {
		s.conf.Logger.Info("going on with an upgrade of the store that was interrupted", "before", beforeFile(s.file, from))
		return nil
	}
	if n, err := s.writer.Number(ctx, "SELECT CASE WHEN EXISTS (SELECT 1 FROM seen) OR EXISTS (SELECT 1 FROM transcripts) OR EXISTS (SELECT 1 FROM deliveries) OR EXISTS (SELECT 1 FROM paired) THEN 1 ELSE 0 END"); err != nil || n == 0 {
		return err // the very first start was interrupted
	}
	to := beforeFile(s.file, have)
	s.conf.Logger.Info("the store is upgraded; the database as it is now is kept", "version", have, "to", newest, "before", to)
	if err := s.copyBefore(ctx, to); err != nil {
		return fmt.Errorf("upgrading the store in %s from schema version %d to %d: copying it first, to %s: %w. Nothing was changed. Make room for a second copy of the database, and start again",
			s.where(), have, newest, to, err)
	}
	if err := s.aside(ctx, "INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value", upgrading, have); err != nil {
		return s.notUpgraded(have, newest, err)
	}
	return nil
}

// copyBefore makes the copy under another name, and gives it its own when all of it is on disk.
func (s *Store) copyBefore(ctx context.Context, to string) error {
	part := to + ".part"
	removeDatabase(part) // of a copy that was interrupted
	err := Copy(ctx, s.file, part)
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

// upgraded ends an upgrade: only its own copy stays.
func (s *Store) upgraded(ctx context.Context) error {
	from, err := s.writer.Number(ctx, "SELECT value FROM meta WHERE name = ?", upgrading)
	if err != nil || from == 0 {
		return err
	}
	others, err := filepath.Glob(escaped(s.file) + ".v*")
	if err != nil {
		return err
	}
	for _, path := range others {
		version := strings.TrimSuffix(strings.TrimPrefix(path, s.file+".v"), ".part")
		if _, err := strconv.ParseInt(version, 10, 64); err == nil && path != beforeFile(s.file, from) {
			removeDatabase(path)
		}
	}
	if err := s.aside(ctx, "DELETE FROM meta WHERE name = ?", upgrading); err != nil {
		return fmt.Errorf("ending the upgrade of the store in %s: %w", s.where(), err)
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

// notUpgraded says that a migration failed and what there is to do.
func (s *Store) notUpgraded(have, newest int64, err error) error {
	if Full(err) {
		err = fmt.Errorf("%w. Make room and start again: it goes on where it stopped", err)
	}
	return fmt.Errorf("upgrading the store in %s from schema version %d to %d: %w", s.where(), have, newest, err)
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
