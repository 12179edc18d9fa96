package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"parley/channels"
	"parley/policy"
	"parley/sessions"
	"parley/sessions/sqlstore/disktest"
	"parley/sessions/sqlstore/engine"
	"parley/sessions/sqlstore/sqlitefile"
	"parley/sessions/sqlstore/transcript"
)

// times gives the count of a plain run, or the one of a full run.
func times(small, full int) int {
	if os.Getenv("PARLEY_TEST_FULL") == "1" {
		return full
	}
	return small
}

// step is one operation of a scenario.
type step struct {
	name string
	do   func(context.Context, *Store) error
}

// scenario is the way of a message from its acceptance to the receipt, with what is set, reset and deleted beside it.
func scenario(n int) []step {
	key, addr := chat(n)
	now := time.Now()
	run, msg := sessions.RunID(fmt.Sprint("run-", n)), fmt.Sprint("message-", n)
	delivery := sessions.DeliveryID(fmt.Sprint("delivery-", n))
	other := sessions.Key(fmt.Sprint(key, ":other"))
	deny := policy.Deny
	question, answer := strings.Repeat(someQuestion, 60), strings.Repeat(someAnswer, 60)
	in := sessions.Message{ID: "in-" + msg, Role: sessions.User, Content: sessions.TextContent(question), Time: now, Run: run}
	return []step{
		{"accept", func(ctx context.Context, s *Store) error {
			_, err := s.Accept(ctx, sessions.Arrival{
				In:     channels.Inbound{Event: channels.Message, Address: addr, ID: channels.MessageID(msg), Text: question, Time: now, Cursor: fmt.Sprint(n)},
				Change: &sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: key, Agent: "main", Last: addr}}, Run: &sessions.Enqueue{Run: sessions.Run{ID: run, Kind: sessions.TurnRun, Key: key, Agent: "main", Reply: addr, Source: msg, Input: in}}},
			})
			return err
		}},
		{"claim", func(ctx context.Context, s *Store) error {
			_, ok, err := s.Claim(ctx, key)
			if err == nil && !ok {
				return errors.New("nothing to claim")
			}
			return err
		}},
		{"record", func(ctx context.Context, s *Store) error {
			return s.Record(ctx, run, sessions.Message{ID: "step-" + msg, Role: sessions.Assistant, Content: sessions.TextContent("a step"), Time: now, Run: run})
		}},
		{"patch", func(ctx context.Context, s *Store) error {
			_, err := s.Patch(ctx, key, sessions.Patch{SendPolicy: &deny})
			return err
		}},
		{"finish", func(ctx context.Context, s *Store) error {
			m := sessions.Message{ID: "out-" + msg, Role: sessions.Assistant, Content: sessions.TextContent(answer), Time: now, Run: run}
			_, err := s.Finish(ctx, run, sessions.Outcome{Status: sessions.Done, Messages: []sessions.Message{m}, Result: answer,
				Deliveries: []sessions.Delivery{{ID: delivery, Kind: sessions.Reply, Session: key, Run: run, Message: m.ID, To: addr, Text: answer, Expires: now.Add(time.Hour)}},
				Next:       &sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: other, Agent: "main"}}, Run: &sessions.Enqueue{Run: sessions.Run{ID: "next-" + run, Kind: sessions.TurnRun, Key: other, Agent: "main", Input: sessions.Message{ID: "next-" + msg, Role: sessions.User}}, Claim: true}}})
			return err
		}},
		{"begin send", func(ctx context.Context, s *Store) error {
			_, err := s.BeginSend(ctx, delivery, now, func(sessions.Session) policy.Verdict { return policy.Verdict{Action: policy.Allow} }, sessions.FirstContactQuota{})
			return err
		}},
		{"receipt", func(ctx context.Context, s *Store) error {
			return s.PartSent(ctx, delivery, channels.Receipt{ID: channels.MessageID("r" + msg), At: now}, true)
		}},
		{"reset", func(ctx context.Context, s *Store) error { _, err := s.Reset(ctx, key); return err }},
		{"pairing", func(ctx context.Context, s *Store) error {
			_, err := s.PutPairing(ctx, sessions.Pairing{Channel: "telegram", User: channels.UserID(msg), Hash: msg, Created: now, Expires: now.Add(time.Hour)}, 10)
			return err
		}},
		{"index", func(ctx context.Context, s *Store) error { return s.write(ctx, "Index", s.index.Flush) }},
		{"delete", func(ctx context.Context, s *Store) error {
			if n == 0 { // so that the others stay
				return nil
			}
			k, _ := chat(n - 1)
			return s.Delete(ctx, k)
		}},
		{"sweep", func(ctx context.Context, s *Store) error {
			return s.write(ctx, transcript.CollectName, s.transcripts.Collect)
		}},
	}
}

// signature says what a store holds, but for what is done in the background: words, and messages of sessions that are gone.
func signature(t *testing.T, s *Store) string {
	t.Helper()
	var b strings.Builder
	err := s.read(context.Background(), func(c *engine.Conn) error {
		b.Reset()
		for _, q := range []string{
			"SELECT 'session', key, settings, last, turns FROM sessions ORDER BY key",
			"SELECT 'run', id, status, attempt, key FROM runs ORDER BY id",
			"SELECT 'delivery', id, state, attempt, part FROM deliveries ORDER BY id",
			"SELECT 'message', id, role FROM messages WHERE transcript IN (SELECT num FROM transcripts WHERE gone = 0) ORDER BY seq",
			"SELECT 'seen', msg FROM seen ORDER BY num",
			"SELECT 'cursor', account, position FROM cursors ORDER BY 2",
			"SELECT 'receipt', msg FROM receipts ORDER BY num",
			"SELECT 'pairing', hash FROM pairings ORDER BY num",
			"SELECT 'transcript', count(*) FROM transcripts WHERE gone = 0",
		} {
			if err := c.Each(context.Background(), q, nil, func(r engine.Row) error {
				for i := range r {
					fmt.Fprintf(&b, "%v|", r[i])
				}
				b.WriteByte('\n')
				return nil
			}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal("reading what is there: ", err)
	}
	return b.String()
}

// template makes a state folder with one finished scenario, to be copied, and says how it looks after each step of the next one.
func template(t *testing.T) (dir string, looks []string, ops int) {
	t.Helper()
	dir = t.TempDir()
	s := open(t, Config{Dir: dir})
	for _, st := range scenario(0) {
		if err := st.do(t.Context(), s); err != nil {
			t.Fatal(st.name, err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	clean := copied(t, dir)
	d := disktest.New(t, clean)
	s = open(t, eager(clean, d))
	looks = append(looks, signature(t, s))
	for _, st := range scenario(1) {
		if err := st.do(t.Context(), s); err != nil {
			t.Fatal(st.name, err)
		}
		looks = append(looks, signature(t, s))
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return dir, looks, d.Count()
}

// eager has the log moved into the database every few pages, so that a short scenario has checkpoints in it, and the layer stand before all
// of the store's files whose content counts.
func eager(dir string, d *disktest.Disk) Config {
	return Config{Dir: dir, logPages: 12, plain: func(f *os.File) sqlitefile.File { return d.Plain(f) }}
}

// copied copies a state folder as it is at this moment, as a crash would leave it.
func copied(t *testing.T, dir string) string {
	t.Helper()
	to := t.TempDir()
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(to, "parley.db-shm")); err != nil { // memory
		t.Fatal(err)
	}
	return to
}

// TestFaultDisk has the disk fail at every write, sync, cut, open and deletion of a scenario, once or until it is mended. What was
// acknowledged stays, what failed has left nothing, the store says what is wrong while it is, and goes on by itself.
//
// proves: D5
func TestFaultDisk(t *testing.T) {
	t.Parallel()
	dir, looks, ops := template(t)
	var hit, failed, shown atomic.Int64
	t.Run("each", func(t *testing.T) {
		for _, f := range []disktest.Fault{disktest.Full, disktest.IO, disktest.ReadOnly, disktest.Descriptors} {
			for _, lasting := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, lasting %v", f, lasting), func(t *testing.T) {
					t.Parallel()
					for n, by := 1, 1; n <= ops; n += by {
						if f != disktest.ReadOnly || n >= 10 { // which files are opened how is decided at the very start
							by = times(61, 1)
						}
						x := &failing{t: t, dir: copied(t, dir), looks: looks, at: n, fault: f, lasting: lasting}
						x.run()
						if x.fired.Load() {
							hit.Add(1)
						}
						failed.Add(int64(x.failed))
						shown.Add(int64(x.shown))
						if t.Failed() {
							t.Fatalf("at operation %d (%s)", n, x.op)
						}
					}
				})
			}
		}
	})
	t.Logf("%d operations in the scenario; a fault at %d of them; %d steps failed, all left nothing; %d of them were done after a crash, wholly", ops, hit.Load(), failed.Load(), shown.Load())
}

// failing is one run of the scenario in which the disk fails.
type failing struct {
	t       *testing.T
	dir     string
	looks   []string
	at      int
	fault   disktest.Fault
	lasting bool

	disk   *disktest.Disk
	op     disktest.Op
	fired  atomic.Bool
	mended atomic.Bool
	failed int // steps
	shown  int // of them: those that a crash would have made happen
}

func (x *failing) decide(op disktest.Op) disktest.Fault {
	switch {
	case x.mended.Load():
		return disktest.None
	case op.N == x.at:
		x.op = op
		x.fired.Store(true)
		return x.fault
	case x.lasting && x.fired.Load():
		return x.fault
	}
	return disktest.None
}

func (x *failing) run() {
	t, ctx := x.t, x.t.Context()
	t.Helper()
	x.disk = disktest.New(t, x.dir)
	x.disk.Fail(x.decide)
	s, err := Open(ctx, eager(x.dir, x.disk))
	if err != nil {
		if errors.Is(err, sessions.ErrDamaged) || !x.fired.Load() {
			t.Error("a disk that fails is taken for damage: ", err)
		}
		x.mended.Store(true)
		if s, err = Open(ctx, eager(x.dir, x.disk)); err != nil {
			t.Error("not opened when the disk works: ", err)
			return
		}
	}
	defer s.Close()
	for i, st := range scenario(1) {
		err := st.do(ctx, s)
		if err == nil {
			continue
		}
		if !x.fired.Load() {
			t.Error(st.name, " failed on a disk that works: ", err)
			return
		}
		x.failed++
		x.after(s, i, st.name, err)
		x.mended.Store(true)
		if err := s.Probe(ctx); err != nil || s.Trouble() != nil {
			t.Errorf("%s: still in trouble on a disk that works: %v, %v", st.name, err, s.Trouble())
		}
		if got := signature(t, s); got != x.looks[i] {
			t.Errorf("%s failed and left something:\n%s\nbefore:\n%s", st.name, got, x.looks[i])
		}
		if err := st.do(ctx, s); err != nil {
			t.Errorf("%s, again: %v", st.name, err)
			return
		}
	}
	x.mended.Store(true)
	x.end(s)
}

// after looks at a store in which a step has just failed.
func (x *failing) after(s *Store, i int, name string, err error) {
	t := x.t
	if errors.Is(err, sessions.ErrDamaged) {
		t.Errorf("%s: a disk that fails is taken for damage: %v", name, err)
	}
	if x.fault == disktest.Full && !Full(err) && x.op.Kind != disktest.Sync && x.op.Kind != disktest.Open {
		t.Errorf("%s: not said to be full: %v", name, err)
	}
	if x.lasting {
		if s.Trouble() == nil {
			t.Errorf("%s failed and the store is in no trouble: %v", name, err)
		}
		if s.Probe(t.Context()) == nil || s.Trouble() == nil {
			t.Errorf("%s: a probe worked on a disk that does not", name)
		}
	}
	// What a crash now would leave.
	crashed, err := Open(t.Context(), Config{Dir: copied(t, x.dir), CheckBudget: time.Minute})
	if err != nil {
		t.Errorf("%s: after a crash: %v", name, err)
		return
	}
	defer crashed.Close()
	switch signature(t, crashed) {
	case x.looks[i]:
	case x.looks[i+1]:
		x.shown++
	default:
		t.Errorf("%s: half done after a crash: %s", name, signature(t, crashed))
	}
}

// end looks at what there is at last, now and after a start.
func (x *failing) end(s *Store) {
	t := x.t
	last := x.looks[len(x.looks)-1]
	if got := signature(t, s); got != last {
		t.Errorf("at the end: %s", got)
	}
	if err := s.Close(); err != nil {
		t.Error("closing: ", err)
	}
	if err := CheckFile(t.Context(), filepath.Join(x.dir, DatabaseFile)); err != nil {
		t.Error(err)
	}
	again, err := Open(t.Context(), Config{Dir: x.dir, CheckBudget: time.Minute})
	if err != nil {
		t.Error(err)
		return
	}
	defer again.Close()
	if got := signature(t, again); got != last {
		t.Errorf("after a start: %s", got)
	}
	hits, err := again.Search(t.Context(), sessions.SearchQuery{Text: "Hamburg"})
	if err != nil || len(hits) == 0 {
		t.Errorf("found %d, %v", len(hits), err)
	}
}
