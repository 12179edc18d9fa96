package whatsapp_test

import (
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"parley/channels"
	"parley/channels/whatsapp"
	"parley/channels/whatsapp/whatsapptest"
)

// While the key file cannot be written nothing is acknowledged, and nobody is asked to send anything again. Then everything comes, in order.
func TestKeysThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	for name, table := range map[string]string{
		"the buffer": "INSERT ON whatsmeow_event_buffer", "sessions": "INSERT ON whatsmeow_sessions", "a group's keys": "INSERT ON whatsmeow_sender_keys",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, anna := answered(t)
			g := h.s.NewGroup("crew", anna.Phone, h.phone)
			db, err := sql.Open("sqlite", "file:"+filepath.Join(h.dir, "keys.db")+"?_pragma=busy_timeout(10000)")
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = db.Close() }()
			if _, err := db.Exec(`CREATE TRIGGER full BEFORE ` + table + ` BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END`); err != nil {
				t.Fatal(err)
			}
			logins := h.phone.Logins()
			for _, text := range []string{"first", "second"} {
				anna.Say(whatsapptest.Chat(g), text)
			}
			waitFor(t, "two more logins", func() bool { return h.phone.Logins() > logins+1 })
			if n := h.phone.Waiting(); n != 2 {
				t.Errorf("%d messages wait", n)
			}
			if _, err := db.Exec(`DROP TRIGGER full`); err != nil {
				t.Fatal(err)
			}
			h.texts("first", "second")
			h.none()
		})
	}
}

// What a killed process was about to send is removed.
func TestLeftUploads(t *testing.T) {
	t.Parallel()
	h, _ := answered(t)
	if err := h.end(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(h.dir, "upload-123"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	h.reopen()
	if left, _ := filepath.Glob(filepath.Join(h.dir, "upload-*")); len(left) != 0 || h.ch.Health().State != channels.Connected {
		t.Errorf("left: %v", left)
	}
}

// A key file is closed when its last user has left it: who closes it later would remove the log of what has taken its place. Who never leaves
// it holds up nobody.
func TestKeysAreClosedAtTheEnd(t *testing.T) {
	t.Parallel()
	for name, leaves := range map[string]bool{"who leaves": true, "who stays": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "keys.db")
			synctest.Test(t, func(t *testing.T) {
				used, end, err := whatsapp.OpenKeys(t.Context(), path)
				if err != nil {
					t.Fatal(err)
				}
				ended := make(chan struct{})
				go func() { defer close(ended); end() }()
				time.Sleep(time.Second / 4)
				select {
				case <-ended:
					t.Error("it is in use, and said to be closed")
				default:
				}
				if leaves {
					_ = used.Close()
				}
				<-ended
				if _, err := os.Stat(path + "-wal"); errors.Is(err, fs.ErrNotExist) != leaves {
					t.Errorf("its log: %v", err)
				}
				_ = used.Close()
			})
		})
	}
}
