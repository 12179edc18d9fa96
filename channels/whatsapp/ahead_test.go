package whatsapp_test

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"parley/channels"
	"parley/channels/channeltest"
	"parley/channels/whatsapp"
	"parley/channels/whatsapp/whatsapptest"
)

// disk is what a power cut leaves of a key file: what was there when its log was synced last, or when the disk was made.
type disk struct {
	mu    sync.Mutex
	t     *testing.T
	dir   string
	files map[string][]byte
	off   bool // the power
}

func newDisk(h *host) *disk {
	h.t.Helper()
	d := &disk{t: h.t, dir: h.dir}
	if err := d.sync(nil); err != nil {
		h.t.Fatal(err)
	}
	whatsapp.OnSync(h.ch, d.sync)
	return d
}

// sync takes the place of the log's.
func (d *disk) sync(*os.File) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.off {
		return nil
	}
	d.files = map[string][]byte{}
	for _, name := range []string{"keys.db", "keys.db-wal"} { // the log last: what was moved out of it is in the file
		data, err := os.ReadFile(filepath.Join(d.dir, name))
		if err != nil {
			return err
		}
		d.files[name] = data
	}
	return nil
}

func (d *disk) powerOff() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.off = true
}

// restore puts the files back as they were.
func (d *disk) restore() {
	d.t.Helper()
	for name, data := range d.files {
		if err := os.WriteFile(filepath.Join(d.dir, name), data, 0o600); err != nil {
			d.t.Fatal(err)
		}
	}
}

// The power goes when a message has left: none is encrypted with keys that were used before. Bert's phone is off until the end, so
// that nothing but messages has the keys put on disk, and he cannot ask for what he could not read.
//
// proves: D5
func TestFaultPowerCutSending(t *testing.T) {
	t.Parallel()
	h, _ := answered(t)
	crew := h.s.NewGroup("crew", h.s.NewPerson("Bert").Phone, h.phone)
	want := []string{"the first answer"}
	h.send(channels.Outbound{Key: "first", To: h.group(crew), Text: want[0]})
	for i := range channeltest.Times(4, 50) {
		d := newDisk(h)
		text := fmt.Sprint("answer ", i)
		want = append(want, text)
		h.send(channels.Outbound{Key: text, To: h.group(crew), Text: text})
		d.powerOff()
		h.cut(d)
	}
	if err := h.end(); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range h.phone.Sent(crew) {
		got = append(got, m.Text)
	}
	if !slices.Equal(got, want) {
		t.Errorf("Bert can read %q, of %q", got, want)
	}
}

// The power goes when a message is confirmed. The first of somebody in a group brings the key for those after it.
//
// proves: D1
func TestFaultPowerCutConfirmed(t *testing.T) {
	t.Parallel()
	h, anna := answered(t)
	for i := range channeltest.Times(4, 50) {
		crew := h.s.NewGroup(fmt.Sprint("crew ", i), anna.Phone, h.phone)
		d := newDisk(h)
		text := fmt.Sprint("question ", i)
		anna.Say(crew, text)
		h.texts(text)
		h.phone.WaitDelivered()
		d.powerOff()
		h.cut(d)
		if has := h.keysOf(crew); has != 1 {
			t.Errorf("%q was confirmed, and %d keys of its group are on disk", text, has)
		}
		h.none() // neither again nor unreadable
	}
}

// keysOf counts the keys of people for a group.
func (h *host) keysOf(g *whatsapptest.Group) (n int) {
	h.t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(h.dir, "keys.db")+"?_pragma=busy_timeout(10000)")
	if err != nil {
		h.t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if err := db.QueryRow("SELECT count(*) FROM whatsmeow_sender_keys WHERE chat_id = ?", g.JID().String()).Scan(&n); err != nil {
		h.t.Fatal(err)
	}
	return n
}

// cut is a start after the power had gone.
func (h *host) cut(d *disk) {
	h.t.Helper()
	if err := h.end(); err != nil {
		h.t.Fatal(err)
	}
	d.restore()
	h.reopen()
}

// The keys could not be put on disk once: nothing leaves any more, though the system says that the next sync worked. The file is
// opened anew then, and it goes on.
//
// proves: D5
func TestFaultKeysNotSynced(t *testing.T) {
	t.Parallel()
	h, anna := answered(t)
	var once atomic.Bool
	whatsapp.OnSync(h.ch, func(*os.File) error {
		if once.CompareAndSwap(false, true) {
			return errors.New("input/output error")
		}
		return nil
	})
	out := channels.Outbound{Key: "1", To: h.direct(anna.Phone), Text: "an answer"}
	for range 2 {
		_, err := h.ch.Send(t.Context(), out)
		h.class(err, channels.Transient)
	}
	err := h.ended()
	h.class(err, channels.Transient)
	if err == nil || !strings.Contains(err.Error(), "input/output error") {
		t.Errorf("Run says: %v", err)
	}
	if n := len(h.phone.Sent(anna.Phone)); n != 0 {
		t.Errorf("%d messages have left", n)
	}
	h.reopen()
	h.send(out)
	if sent := h.phone.Sent(anna.Phone); len(sent) != 1 || sent[0].Text != "an answer" {
		t.Errorf("sent: %+v", sent)
	}
}

// A sync that failed is not made good by another one: the system says of that one that it worked.
//
// proves: D5
func TestFaultSyncFailsForGood(t *testing.T) {
	t.Parallel()
	keys := filepath.Join(t.TempDir(), "keys.db")
	fail := errors.New("input/output error")
	sync, end := whatsapp.KeysOnDisk(keys, func(*os.File) error { defer func() { fail = nil }(); return fail })
	if err := sync(); err != nil {
		t.Error("without a log: ", err)
	}
	if err := os.WriteFile(keys+"-wal", []byte("frames"), 0o600); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		if err := sync(); err == nil || err.Error() != "input/output error" {
			t.Errorf("%d: %v", i, err)
		}
	}
	end()
	if err := sync(); err == nil {
		t.Error("a file that is closed was put on disk")
	}
}

// The log of the key file is removed below a Run: what is committed from then on is in no file that has a name.
func TestFaultKeysRemoved(t *testing.T) {
	t.Parallel()
	h, anna := answered(t)
	h.send(channels.Outbound{Key: "1", To: h.direct(anna.Phone), Text: "before"})
	if err := os.Remove(filepath.Join(h.dir, "keys.db-wal")); err != nil {
		t.Fatal(err)
	}
	_, err := h.ch.Send(t.Context(), channels.Outbound{Key: "2", To: h.direct(anna.Phone), Text: "behind"})
	h.class(err, channels.Transient)
	if err := h.ended(); err == nil || !strings.Contains(err.Error(), "removed or replaced") {
		t.Errorf("Run says: %v", err)
	}
}

// What is not known to say nothing of keys waits for them.
//
// proves: D5
func TestPromises(t *testing.T) {
	t.Parallel()
	for stanza, want := range map[string]bool{
		"message text": true, "ack message": true, "receipt ": true, "receipt retry": true, "receipt read": false, "iq set": true, "iq get": false, "iq result": false,
		"presence available": false, "chatstate ": false, "notification something": true,
	} {
		tag, typ, _ := strings.Cut(stanza, " ")
		if got := whatsapp.Promises(tag, typ); got != want {
			t.Errorf("%s: %v", stanza, got)
		}
	}
}

// A connection is not made while the library still handles what the one before brought: here the confirmation of a message, which the
// disk holds up.
func TestConnectionsOneByOne(t *testing.T) {
	t.Parallel()
	h, anna := answered(t)
	held, let := make(chan struct{}, 1), make(chan struct{})
	whatsapp.OnSync(h.ch, func(*os.File) error {
		select {
		case held <- struct{}{}:
		default:
		}
		<-let
		return nil
	})
	anna.Say(h.phone, "a question")
	h.texts("a question")
	<-held
	logins := h.phone.Logins()
	h.phone.Disconnect()
	h.state(channels.Connecting)
	<-time.After(500 * time.Millisecond) // many times as long as another connection takes
	if n := h.phone.Logins(); n != logins {
		t.Errorf("%d logins while the library was at work", n-logins)
	}
	close(let)
	waitFor(t, "another login", func() bool { return h.phone.Logins() > logins })
}
