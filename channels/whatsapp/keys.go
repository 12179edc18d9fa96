package whatsapp

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"time"

	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/store/sqlstore"
	"go.mau.fi/whatsmeow/types"
	"modernc.org/sqlite" // the driver "sqlite"

	"parley/channels"
)

const (
	driver    = "sqlite"
	keptAside = 2 // key files of ended links that are kept
)

var pragmas = []string{"foreign_keys(1)", "journal_mode(WAL)", "busy_timeout(10000)"}

// keyring is the open key file with the device in it. A device without an ID is not linked.
type keyring struct {
	db        *sql.DB
	log       *libraryLog
	container *sqlstore.Container
	held      *sql.Conn // as long as one is open, SQLite does not remove its log
	device    *store.Device
	ahead     *writeAhead
	trouble   trouble
}

// openKeys opens the key file, which nobody but its owner may read, and makes it when it is not there.
func openKeys(ctx context.Context, path string, when durability, log *libraryLog) (*keyring, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, keyTrouble(err)
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, keyTrouble(err)
	}
	if err := errors.Join(file.Chmod(0o600), file.Close()); err != nil {
		return nil, keyTrouble(err)
	}
	if err := renewLog(path); err != nil {
		return nil, keyTrouble(err)
	}
	query := url.Values{"_pragma": append(slices.Clone(pragmas), string(when)), "_txlock": {"immediate"}}
	db, err := sql.Open(driver, (&url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: query.Encode()}).String())
	if err != nil {
		return nil, keyTrouble(err)
	}
	k := &keyring{db: db, log: log, container: sqlstore.NewWithDB(db, driver, log.Sub("Database")), ahead: newWriteAhead(path)}
	if err = k.container.Upgrade(ctx); err == nil {
		k.held, err = db.Conn(ctx)
	}
	if err == nil {
		k.device, err = k.container.GetFirstDevice(ctx)
	}
	if err != nil {
		k.close()
		return nil, keyTrouble(err)
	}
	removeUploads(filepath.Dir(path))
	return k, nil
}

// removeUploads removes the copies of files that a killed process was about to send.
func removeUploads(dir string) {
	left, _ := filepath.Glob(filepath.Join(dir, uploadFiles)) // the pattern is valid
	for _, path := range left {
		_ = os.Remove(path) // the next time then
	}
}

// close has SQLite move its log into the file, and sync that. What it cannot move stays in the log. What the library has still under way is
// waited for a while: whoever closes the file last removes its log by the name, which may be that of another log by then.
func (k *keyring) close() {
	k.ahead.close()
	if k.held != nil {
		_ = k.held.Close()
	}
	_ = k.container.Close()
	tick := time.NewTicker(time.Millisecond) // database/sql tells nobody
	defer tick.Stop()
	for began := time.Now(); k.db.Stats().OpenConnections > 0; <-tick.C {
		if time.Since(began) > keysPatience {
			k.log.log.WarnContext(k.log.ctx, "WhatsApp library still uses the key file")
			return
		}
	}
}

func (k *keyring) linked() bool { return k.device.ID != nil && !k.device.Deleted }

// keep makes the library leave the keys of a link that ended where they are; it would delete them, and change the device below
// everything that still uses it. putAside moves the whole file.
func (k *keyring) keep() { k.device.Container = keeper{k.container} }

type keeper struct{ *sqlstore.Container }

var errKept = errors.New("the keys are kept")

// DeleteDevice implements store.DeviceContainer.
func (keeper) DeleteDevice(context.Context, *store.Device) error { return errKept }

// isLinked looks into the key file without making one.
func isLinked(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// suffixes are the files that belong to an SQLite database.
var suffixes = []string{"", "-wal", "-shm"}

// putAside renames the file of a link that ended, and deletes those of older ones.
func putAside(path string, now time.Time) (string, error) {
	aside := fmt.Sprintf("%s.%s", path, now.UTC().Format("20060102T150405"))
	for _, s := range suffixes {
		if err := os.Rename(path+s, aside+s); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	old, err := filepath.Glob(path + ".????????T??????")
	if err != nil {
		return aside, nil
	}
	slices.Sort(old)
	for _, o := range old[:max(0, len(old)-keptAside)] {
		if err := removeKeys(o); err != nil {
			return aside, err
		}
	}
	return aside, nil
}

func removeKeys(path string) error {
	var all error
	for _, s := range suffixes {
		if err := os.Remove(path + s); err != nil && !errors.Is(err, fs.ErrNotExist) {
			all = errors.Join(all, err)
		}
	}
	return all
}

// keyTrouble is a key file that cannot be used: it may be so for a while (a full disk), so it is tried again.
func keyTrouble(err error) *channels.Error {
	return &channels.Error{Class: channels.Transient, Err: fmt.Errorf("the WhatsApp key file cannot be used: %w", err)}
}

// isFileError reports whether an error is the database's, and not about what was to be decrypted.
func isFileError(err error) bool {
	_, ok := errors.AsType[*sqlite.Error](err)
	return ok
}

// keyFileNames answers who people are, from the key file.
type keyFileNames struct {
	ctx    context.Context //nolint:containedctx // of the connection; the decoder that asks has none
	device *store.Device
	groups *groups
}

func (k keyFileNames) number(lid types.JID) types.JID {
	pn, err := k.device.LIDs.GetPNForLID(k.ctx, lid)
	if err != nil {
		return types.EmptyJID
	}
	return pn
}

func (k keyFileNames) person(jid types.JID) string {
	c, err := k.device.Contacts.GetContact(k.ctx, jid)
	if err != nil {
		return ""
	}
	for _, name := range []string{c.PushName, c.FullName, c.FirstName, c.BusinessName} {
		if name != "" {
			return name
		}
	}
	return ""
}

func (k keyFileNames) group(jid types.JID) string { return k.groups.of(k.ctx, jid) }
