package killtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"parley/agent"
	"parley/channels"
	"parley/channels/channeltest"
	"parley/router"
	"parley/router/routertest"
	"parley/sessions"
	"parley/sessions/sqlstore"
	"parley/tools"
)

// image is what a SIGKILL leaves at one moment: the database as it is on disk, and what the world outside has seen.
type image struct {
	n         int // which commit, from 1; before and after it have the same number
	op, phase string
	at        time.Time
	db        []byte
	log       *[]byte // the write-ahead log, and how much of it was there
	logged    int
	calls     []byte                      // what is noted of calls
	taken     map[channels.MessageID]bool // what people wrote and the host acknowledged
	shown     []channeltest.Call          // what the chats show
	lives     [][]asked                   // what the model was asked, by the processes so far
}

func (im *image) name() string { return fmt.Sprintf("%03d %s %s", im.n, im.op, im.phase) }

// same tells images apart by what a next process could find different.
func (im *image) same() string {
	return fmt.Sprintf("%p %p %d %p %s %d %d", im.db, im.log, im.logged, im.calls, im.at, len(im.taken), len(im.shown))
}

// down is how long the host is away after a kill.
const down = time.Second

// life is one process, from its start on what another left to its rest.
type life struct {
	t        *testing.T
	sc       *scenario
	from     *image
	dir      string
	platform routertest.Platform
	store    *sqlstore.Store
	fake     *channeltest.Fake
	r        *router.Router
	end      context.CancelFunc
	wg       sync.WaitGroup
	moved    chan struct{} // something was committed
	began    time.Time
	unclear  bool // a message was on its way when the process before it ended

	mu     sync.Mutex
	asked  []asked
	record bool
	images []*image
	commit int
}

// live runs a process on what an image holds until nothing moves any more. With record it takes an image at each commit. Call it
// inside a bubble; the caller ends it with stop.
func live(t *testing.T, sc *scenario, from *image, p routertest.Platform, record bool) *life {
	t.Helper()
	l := &life{t: t, sc: sc, from: from, dir: routertest.Folder(t), platform: p, moved: make(chan struct{}, 1), record: record}
	from.write(t, l.dir)
	time.Sleep(time.Until(from.at.Add(down))) // the clock of a bubble starts again
	limits := p.Limits
	limits.Received = sc.limits.Received
	l.fake = channeltest.NewFake(channeltest.Options{Limits: limits})
	if len(from.lives) < 1 {
		l.fake.Script(sc.script...)
	}
	l.fake.Restore(from.shown...)
	l.start()
	if sc.prepare != nil {
		if err := sc.prepare(l.t.Context(), l.store); err != nil {
			l.t.Fatal(err)
		}
	}
	for _, m := range sc.moves {
		if from.taken[m.id] {
			continue
		}
		time.Sleep(time.Until(routertest.Epoch.Add(m.at)))
		l.happen(m)
	}
	l.rest()
	time.Sleep(time.Second) // the store has its chores behind it
	l.rest()
	l.mu.Lock()
	l.record = false
	l.mu.Unlock()
	time.Sleep(routertest.ExpireInterval + time.Second) // whoever looks now and then finds nothing more to do
	l.rest()
	return l
}

// happen has somebody do what a move says.
func (l *life) happen(m move) {
	l.t.Helper()
	in := channels.Inbound{ID: m.id, Address: m.to, Sender: channels.Sender{ID: channels.UserID(m.by), Name: m.by}, Text: m.text, Mentioned: true}
	switch {
	case m.do != nil:
		if err := m.do(l.t.Context(), l.r); err != nil {
			l.t.Error(err)
		}
		return
	case m.in != nil:
		m.in(&in)
	}
	if in.Time.IsZero() {
		in.Time = routertest.Epoch.Add(m.at)
	}
	l.fake.Say(in)
}

func (l *life) start() {
	l.t.Helper()
	ctx, cancel := context.WithCancel(l.t.Context())
	l.end = cancel
	quiet := slog.New(slog.DiscardHandler)
	var err error
	if l.store, err = sqlstore.Open(ctx, sqlstore.Config{Dir: l.dir, Logger: quiet, Trace: l.trace, Readers: 1}); err != nil {
		l.t.Fatal(err)
	}
	l.began = time.Now()
	n, err := l.store.CountDeliveries(ctx, sessions.DeliveryQuery{})
	if err != nil {
		l.t.Fatal(err)
	}
	l.unclear = n[sessions.Sending] > 0
	l.r = router.New(router.Deps{Store: l.store, Settings: l.sc.settings(), Log: quiet, Version: "test", TranscriptPath: l.store.TranscriptPath, Tools: tools.All,
		Model: func(name string) (agent.Candidate, error) {
			return agent.Candidate{Model: uttered{&routertest.Script{Answer: l.answer}, l.sc.pause}, Name: "m", Label: name}, nil
		}})
	if err := l.r.Start(ctx); err != nil {
		l.t.Fatal(err)
	}
	var ch channels.Channel = l.fake.Full()
	if l.platform.Reconciles {
		ch = struct {
			*channeltest.Full
			channels.Reconciler
		}{l.fake.Full(), l.fake.Reconciler()}
	}
	l.r.Attach(routertest.Account, ch)
	l.wg.Go(func() { _ = l.fake.Run(ctx, l.r.Receiver.Accept) })
}

// stop ends the process.
func (l *life) stop() {
	l.end()
	l.r.Stop()
	l.wg.Wait()
	if err := l.store.Close(); err != nil {
		l.t.Error(err)
	}
}

// mostAsked ends a scenario that goes in circles.
const mostAsked = 50

// answer is the model. It keeps a record of what it was asked, as the script of the scenario sees it.
func (l *life) answer(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
	s := routertest.StepOf(p)
	a, err := l.sc.answer(ctx, s)
	x := asked{Step: s, prompt: p}
	if err == nil {
		x.mark = routertest.Mark(s.Session, sessions.Message{Content: a.Content})
		said := sessions.Message{Content: a.Content}
		x.empty = said.Text() == "" && len(said.ToolCalls()) == 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.asked = append(l.asked, x); len(l.asked) > mostAsked {
		l.t.Errorf("the model was asked %d times, the last one: %s", len(l.asked), s)
		return agent.Answer{}, errors.New("the script ends here")
	}
	return a, err
}

// trace is called in the goroutine that writes, so the database stands still meanwhile.
func (l *life) trace(op, phase string) {
	select {
	case l.moved <- struct{}{}:
	default:
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.record {
		return
	}
	if phase == sqlstore.BeforeCommit {
		l.commit++
	}
	taken := map[channels.MessageID]bool{}
	maps.Copy(taken, l.from.taken)
	im := &image{n: l.commit, op: op, phase: phase, at: time.Now(), taken: taken, lives: append(slices.Clone(l.from.lives), slices.Clone(l.asked))}
	accepted, _ := l.fake.Accepted()
	for _, in := range accepted {
		taken[in.ID] = true
	}
	for done := false; !done; { // what is noted of calls and what they show are of one moment: others may be sending meanwhile
		im.calls = l.called()
		im.shown = l.fake.Shown(channels.Address{})
		done = bytes.Equal(im.calls, l.called())
	}
	l.files(im)
	if l.images = append(l.images, im); len(l.images) == 1000 {
		l.t.Errorf("it does not come to its rest: %d commits, the last one %s", l.commit, op)
		l.record = false
	}
}

// files puts the database's files into an image. What is the same as in the image before it is shared with that: the log grows.
func (l *life) files(im *image) {
	db, err := os.ReadFile(filepath.Join(l.dir, "parley.db"))
	if err != nil {
		l.t.Error(err)
	}
	log, err := os.ReadFile(filepath.Join(l.dir, "parley.db-wal"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // there may be none yet
		l.t.Error(err)
	}
	im.db, im.log, im.logged = db, new([]byte), len(log)
	if n := len(l.images); n > 0 {
		last := l.images[n-1]
		if bytes.Equal(db, last.db) {
			im.db = last.db
		}
		if bytes.Equal(im.calls, last.calls) {
			im.calls = last.calls
		}
		if bytes.HasPrefix(log, *last.log) {
			im.log = last.log
		}
	}
	*im.log = log
}

// called reads what the process has noted of its calls.
func (l *life) called() []byte {
	b, err := os.ReadFile(filepath.Join(l.dir, sqlstore.CallsFile))
	if err != nil {
		l.t.Error(err)
	}
	return b
}

// distinct gives the images that were taken, those that are the same only once, and how many there were.
func (l *life) distinct() (out []*image, all int) {
	seen := map[string]bool{}
	for _, im := range l.images {
		if k := im.same(); !seen[k] {
			seen[k], out = true, append(out, im)
		}
	}
	return out, len(l.images)
}

// atRest reports whether there is nothing to do.
func (l *life) atRest() bool {
	taken, _ := l.fake.Accepted()
	if len(taken)+len(l.from.taken) < len(l.sc.moves)-l.sc.done() {
		return false
	}
	for _, s := range []sessions.RunStatus{sessions.Queued, sessions.Running} {
		if runs, err := l.store.ListRuns(l.t.Context(), sessions.RunQuery{Status: s, Limit: 1}); err != nil || len(runs) > 0 {
			return false
		}
	}
	n, err := l.store.CountDeliveries(l.t.Context(), sessions.DeliveryQuery{})
	return err == nil && n[sessions.Pending]+n[sessions.Sending] == 0
}

// done is how many moves are none that a platform tells of.
func (sc *scenario) done() (n int) {
	for _, m := range sc.moves {
		if m.do != nil {
			n++
		}
	}
	return n
}

// rest waits until there is nothing to do; it looks after each commit.
func (l *life) rest() {
	l.t.Helper()
	limit := time.Now().Add(2 * time.Hour)
	for {
		synctest.Wait()
		if l.atRest() {
			return
		}
		if time.Now().After(limit) {
			l.t.Errorf("two hours after the start there is still something to do")
			return
		}
		<-l.moved
	}
}

// write puts the image's files into a folder.
func (im *image) write(t *testing.T, dir string) {
	t.Helper()
	for name, b := range map[string][]byte{"parley.db": im.db, "parley.db-wal": im.written(), sqlstore.CallsFile: im.calls} {
		if len(b) == 0 {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// written is the image's log.
func (im *image) written() []byte {
	if im.log == nil {
		return nil
	}
	return (*im.log)[:im.logged]
}
