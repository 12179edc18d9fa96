package whatsapp

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	waBinary "go.mau.fi/whatsmeow/binary"

	"parley/channels"
)

// durability says when what the library commits is on disk.
type durability string

const (
	// eachCommit is for what is done once: to link an account, and to unlink it.
	eachCommit durability = "synchronous(FULL)"
	// aheadOfStanzas is for a Run, where one message has up to ten commits: keyring.sync puts them on disk together, before a stanza
	// leaves that promises what they say. A ratchet that went back after a power cut would use keys twice, and nobody could read what
	// it encrypts with them; what was confirmed to the server would not come again.
	aheadOfStanzas durability = "synchronous(NORMAL)"
)

// promises reports whether a stanza needs its keys on disk: messages, confirmations, and changes like the upload of keys.
func promises(n *waBinary.Node) bool {
	switch n.Tag {
	case "message", "ack":
		return true
	case "receipt":
		return n.Attrs["type"] != "read"
	case "iq":
		return n.Attrs["type"] == "set"
	}
	return false
}

// writeAhead is the log of the key file. Closing it costs SQLite no lock: those are on its other files.
type writeAhead struct {
	path  string
	mu    sync.Mutex
	file  *os.File
	fsync func(*os.File) error
}

// sync returns when everything that was committed before the call is on disk. Where there is no log, SQLite has moved it into the key
// file, and synced that.
func (w *writeAhead) sync() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	is, err := os.Stat(w.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	if w.file != nil {
		if had, err := w.file.Stat(); err != nil || !os.SameFile(had, is) {
			w.close()
		}
	}
	if w.file == nil {
		if w.file, err = os.OpenFile(w.path, os.O_RDWR, 0); err != nil {
			return err
		}
		syncFolder(filepath.Dir(w.path)) // its name as well
	}
	return w.fsync(w.file)
}

func (w *writeAhead) close() {
	if w.file != nil {
		_ = w.file.Close() // nothing was written by it
		w.file = nil
	}
}

func syncFolder(dir string) {
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync() // not every system syncs folders
		_ = d.Close()
	}
}

// stays reports whether a stanza must not leave, because the keys that it needs cannot be put on disk. The connection is closed then,
// with the stanza in it, and so is the key file: what a failed sync leaves behind is not known, so SQLite is to write it anew.
func (l *link) stays(n *waBinary.Node) bool {
	if !promises(n) {
		return false
	}
	err := l.keys.ahead.sync()
	if err == nil {
		return false
	}
	l.keys.trouble.failed.Store(true)
	detail := "the WhatsApp key file cannot be put on disk"
	l.end(ending{state: channels.Disconnected, detail: detail, err: keyTrouble(fmt.Errorf("putting it on disk: %w", err))})
	l.cli.Disconnect()
	return true
}
