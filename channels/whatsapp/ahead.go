package whatsapp

import (
	"errors"
	"fmt"
	"io"
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
	// aheadOfStanzas is for a Run, where one message has up to ten commits: writeAhead.sync puts them on disk together, before a stanza
	// leaves that promises what they say. A ratchet that went back after a power cut would use keys twice, and nobody could read what
	// it encrypts with them; what was confirmed to the server would not come again.
	aheadOfStanzas durability = "synchronous(NORMAL)"
)

// promises reports whether a stanza needs its keys on disk: messages, confirmations, the upload of keys, and whatever else is not known
// to say nothing of the kind.
func promises(n *waBinary.Node) bool {
	switch n.Tag {
	case "presence", "chatstate":
		return false
	case "receipt":
		return n.Attrs["type"] != "read"
	case "iq":
		return n.Attrs["type"] != "get" && n.Attrs["type"] != "result"
	}
	return true
}

// writeAhead is the log of the key file. Closing it costs SQLite no lock: those are on its other files.
type writeAhead struct {
	path  string
	turn  chan struct{} // held while the disk is waited for
	fsync func(*os.File) error

	mu     sync.Mutex
	file   *os.File
	failed error // of the first sync that failed; the system takes what it could not write for clean then, and another sync would say nothing
}

func newWriteAhead(keys string) *writeAhead {
	return &writeAhead{path: keys + "-wal", turn: make(chan struct{}, 1), fsync: (*os.File).Sync}
}

// sync returns when everything that was committed before the call is on disk. After a failure it fails for ever.
func (w *writeAhead) sync() error {
	w.turn <- struct{}{}
	defer func() { <-w.turn }()
	file, made, err := w.open()
	if file == nil || err != nil {
		return err
	}
	if err = w.fsync(file); err == nil && made {
		err = syncFolder(filepath.Dir(w.path)) // its name as well
	}
	return w.fail(err)
}

// open gives the log's file, and whether it was not open before. Where there is none, SQLite has moved it into the key file, and synced that.
func (w *writeAhead) open() (file *os.File, made bool, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.failed != nil {
		return nil, false, w.failed
	}
	is, err := os.Stat(w.path)
	if w.file != nil {
		if had, e := w.file.Stat(); err == nil && e == nil && os.SameFile(had, is) {
			return w.file, false, nil
		}
		w.failed = fmt.Errorf("%s was removed or replaced", w.path)
		return nil, false, w.failed
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	} else if err != nil {
		return nil, false, err
	}
	if file, err = os.OpenFile(w.path, os.O_RDWR, 0); err == nil {
		w.file = file
	}
	return file, true, err
}

// fail remembers the first failure, and gives it.
func (w *writeAhead) fail(err error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.failed == nil {
		w.failed = err
	}
	return w.failed
}

// close waits for nobody: a disk may hang.
func (w *writeAhead) close() {
	_ = w.fail(os.ErrClosed)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.file != nil {
		_ = w.file.Close() // nothing was written by it
		w.file = nil
	}
}

// renewLog writes the log of a key file that nobody has open once more, as it is, and puts it on disk. After a sync that failed, in this process or
// one before, the system may take what is not on disk for clean.
func renewLog(keys string) error {
	f, err := os.OpenFile(keys+"-wal", os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // synced
	b := make([]byte, 64<<10)
	for at := int64(0); ; {
		n, err := f.ReadAt(b, at)
		if n == 0 {
			if err != nil && !errors.Is(err, io.EOF) {
				return err
			}
			return f.Sync()
		}
		if _, err := f.WriteAt(b[:n], at); err != nil {
			return err
		}
		at += int64(n)
	}
}

// syncFolder puts the names in a folder on disk, where the system can.
func syncFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer func() { _ = d.Close() }() // it only reads
	if err := d.Sync(); err != nil && !errors.Is(err, fs.ErrInvalid) && !errors.Is(err, fs.ErrPermission) {
		return err
	}
	return nil
}

// stays reports whether a stanza must not leave, because the keys that it needs cannot be put on disk. The connection is closed then,
// with the stanza in it; serve ends the Run, so that the key file is opened anew.
func (l *link) stays(n *waBinary.Node) bool {
	if !promises(n) || l.keys.ahead.sync() == nil {
		return false
	}
	l.keys.trouble.failed.Store(true)
	l.end(ending{detail: notOnDisk})
	l.cli.Disconnect()
	return true
}

const notOnDisk = "cannot write the WhatsApp key file"

// keysLost ends a Run whose keys could not be put on disk.
func (l *link) keysLost() (ending, bool) {
	err := l.keys.ahead.fail(nil)
	return ending{state: channels.Disconnected, detail: notOnDisk, err: keyTrouble(fmt.Errorf("write key file: %w", err))}, err != nil
}
