package sqlstore

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"parley/channels"
	"parley/policy"
	"parley/sessions"
)

// TestFaultUnfit: a write that fails for what it holds, or by a fault of the code, is known from one that the disk, the connection or the caller failed.
func TestFaultUnfit(t *testing.T) {
	t.Parallel()
	s := open(t, Config{Dir: t.TempDir()})
	for name, c := range map[string]struct {
		fn   func(*tx) error
		want bool
	}{
		"a constraint": {func(t *tx) error {
			_, err := t.Exec("INSERT INTO meta (name, value) VALUES ('same', 1), ('same', 2)")
			return err
		}, true},
		"a panic":         {func(*tx) error { panic("a fault of the code") }, true},
		"another error":   {func(*tx) error { return errors.New("the place is not there") }, false},
		"no such table":   {func(t *tx) error { _, err := t.Exec("INSERT INTO nowhere (name) VALUES (1)"); return err }, false},
		"a damaged store": {func(*tx) error { return sessions.ErrDamaged }, false},
	} {
		if err := s.write(t.Context(), "Accept", c.fn); err == nil || errors.Is(err, sessions.ErrInvalid) != c.want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A row that is not as it was written is told from a disk that fails, by a read as by a write: what has to do with it fails whenever it is tried.
func TestFaultRowUnread(t *testing.T) {
	t.Parallel()
	s := open(t, Config{Dir: t.TempDir()})
	key := sessions.Key("agent:main:main")
	e := sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: key, Agent: "main"}}}
	if _, err := s.Submit(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	if err := s.write(t.Context(), "break", func(t *tx) error {
		_, err := t.Exec("UPDATE sessions SET settings = '{' WHERE key = ?", string(key))
		return err
	}); err != nil {
		t.Fatal(err)
	}
	_, read := s.Get(t.Context(), key)
	_, write := s.Submit(t.Context(), e)
	if !errors.Is(read, sessions.ErrCorruptRow) || !errors.Is(write, sessions.ErrCorruptRow) {
		t.Errorf("read: %v; written: %v", read, write)
	}
}

// What was quarantined is let go for what is quarantined later, not for what could not be read.
func TestSkippedOfEachKind(t *testing.T) {
	t.Parallel()
	s := open(t, Config{Dir: t.TempDir()})
	n := 0
	list := func(reason string, times int) {
		t.Helper()
		if err := s.write(t.Context(), "Accept", func(t *tx) error {
			for range times {
				n++
				if err := s.list(t, channels.Inbound{ID: channels.MessageID(fmt.Sprint(n))}, reason); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	list(sessions.QuarantineReason+" once", 5)
	list("unreadable", maxListed)
	list(sessions.QuarantineReason+" once more", 1)
	all, err := s.Skipped(t.Context(), 10*maxListed)
	if aside, e := s.CountQuarantined(t.Context(), time.Time{}); err != nil || e != nil || len(all) != maxListed+6 || aside != 6 {
		t.Errorf("%d are listed, of which %d are set aside (%v, %v)", len(all), aside, err, e)
	}
	list(sessions.QuarantineReason+" again and again", maxListed)
	list("unreadable", 3)
	all, err = s.Skipped(t.Context(), 10*maxListed)
	for _, x := range all {
		if strings.HasSuffix(x.Reason, "once") || strings.HasSuffix(x.Reason, "once more") || x.ID == "8" {
			t.Errorf("%s is listed still: %s", x.ID, x.Reason)
		}
	}
	if err != nil || len(all) != 2*maxListed {
		t.Errorf("%d are listed (%v)", len(all), err)
	}
}

// A part was sent, whatever its receipt says: one that cannot be stored is left out and listed, and the chat goes on.
// source: Bot API, Message.date (Unix time in seconds)
func TestFaultReceiptUnfit(t *testing.T) {
	t.Parallel()
	s := open(t, Config{Dir: t.TempDir()})
	ctx, to := t.Context(), channels.Address{Channel: "telegram", Account: "default", Chat: "1", Type: channels.Direct}
	d := sessions.Delivery{ID: "d", Kind: sessions.Reply, To: to, Text: "x"}
	if _, err := s.Submit(ctx, sessions.Change{Ops: []sessions.Op{sessions.EnqueueDelivery(d)}}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.BeginSend(ctx, d.ID, time.Now(), func(sessions.Session) policy.Verdict { return policy.Verdict{Action: policy.Allow} }, sessions.FirstContactQuota{}); err != nil {
		t.Fatal(err)
	}
	if err := s.write(ctx, "refuse", func(t *tx) error {
		_, err := t.Exec("CREATE TRIGGER refuse BEFORE INSERT ON receipts BEGIN SELECT RAISE(ABORT, 'refused'); END")
		return err
	}); err != nil {
		t.Fatal(err)
	}
	for range 2 { // again, as after an answer that was lost
		if err := s.PartSent(ctx, d.ID, channels.Receipt{ID: "r", At: time.UnixMilli(1_700_000_000_000)}, false); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.PartSent(ctx, d.ID, channels.Receipt{ID: "r2", At: time.UnixMilli(1_700_000_001_000)}, true); err != nil {
		t.Fatal(err)
	}
	got, err := s.GetDelivery(ctx, d.ID)
	list, e := s.Skipped(ctx, 10)
	if err != nil || e != nil || got.State != sessions.Sent || got.Part != 2 || len(list) != 2 || list[0].Address != to || !strings.Contains(list[0].Reason, "refused") {
		t.Errorf("%+v %v %+v %v", got, err, list, e)
	}
}

// What is too large for PostgreSQL fails for what it is, and not for the connection's sake.
// source: PostgreSQL documentation, appendix A: 54000 program_limit_exceeded
func TestUnfitPostgres(t *testing.T) {
	t.Parallel()
	s := open(t, Config{Dir: t.TempDir(), DSN: postgresDSN(t)})
	if err := s.write(t.Context(), "too long", func(t *tx) error {
		_, err := t.Exec("INSERT INTO meta (name, value) SELECT string_agg(md5(CAST(i AS text)), ''), 1 FROM generate_series(1, 400) i")
		return err
	}); !errors.Is(err, sessions.ErrInvalid) || s.Trouble() != nil {
		t.Error(err, s.Trouble())
	}
}
