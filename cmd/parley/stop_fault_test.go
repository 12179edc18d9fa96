package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"parley/agent/modeltest"
	"parley/channels/channeltest"
	"parley/gateway/api"
	"parley/sessions"
)

// rush is a host with much to do at once: people write, every fifth message starts a sub-agent, and what leaves is paced.
type rush struct {
	*world
	people []int64
	n      int // messages

	mu    sync.Mutex
	hold  chan struct{} // closed: the model answers
	plain int           // messages that were to be answered with words alone
}

func newRush(t *testing.T, n int) *rush {
	t.Helper()
	x := &rush{world: newWorld(t), n: n, hold: make(chan struct{})}
	x.config("    dmPolicy: open\n    allowFrom: [\"*\"]\n", "messages: {queue: {mode: followup}}\n")
	x.change("pacing: {perSecond: 0,", "pacing: {perSecond: 25,")
	x.change("defaults: {model: mock/mock-1}", "defaults: {model: mock/mock-1, maxConcurrent: 100, subagents: {maxConcurrent: 100, maxChildrenPerAgent: 100}}")
	x.people = crowd(x.world, n/2)
	x.model.Script(x.answer)
	t.Cleanup(x.free)
	return x
}

// free lets the model answer all that it is asked.
func (x *rush) free() {
	x.mu.Lock()
	defer x.mu.Unlock()
	select {
	case <-x.hold:
	default:
		close(x.hold)
	}
}

// answer answers a third of what the model is asked at once, and a third of the plain messages among it whatever their order is: much of
// that waits for its turn to be sent. All else is held until free.
func (x *rush) answer(r modeltest.Request) modeltest.Reply {
	a, newest, held := modeltest.Echo(r), r.Messages[len(r.Messages)-1], r.N%3 > 0
	task, isJob := strings.CutPrefix(r.LastUserText(), "job ")
	switch {
	case strings.Contains(r.System, "announce step"):
		a.Text = []string{"Result: reported"}
	case strings.Contains(r.System, "You are a sub-agent"):
		a.Text = []string{"done"}
	case newest.Role == "tool":
		a.Text = []string{"started " + task}
	case isJob:
		a.Text, a.ToolCalls = nil, []modeltest.ToolCall{{ID: "spawn", Name: "sessions_spawn", Arguments: fmt.Sprintf(`{"task":"task %s"}`, strings.TrimSuffix(task, "."))}}
	default:
		x.mu.Lock()
		x.plain++
		held = x.plain%3 > 0
		x.mu.Unlock()
	}
	if held {
		<-x.hold
	}
	return a
}

// write has everybody write messages from one number to another.
func (x *rush) write(from, to int) {
	for i := from; i < to; i++ {
		who, word := x.people[i%len(x.people)], "message"
		if i%5 == 0 {
			word = "job"
		}
		x.tg.Say(who, who, fmt.Sprintf("%s %d.", word, i))
	}
}

// check waits until all is answered and counts the answers and reports to each message: it fails where one is missing, or where there are
// more than one and more than the ledger says may be.
func (x *rush) check(want int) (answers, reports, doubled int) {
	x.t.Helper()
	x.until(patience, "all is taken", func() bool { return x.tg.Pending() == 0 })
	x.quiet()
	marked := 0
	for _, d := range fromAPI[[]sessions.Delivery](x.world, "/api/deliveries?limit=1000", nil) {
		if d.Repeat {
			marked++
		}
	}
	seen, jobs := map[string]int{}, 0
	for _, m := range x.tg.Sent() {
		if strings.HasPrefix(m.Text, "Status: ") {
			reports++
			continue
		}
		seen[m.Text[strings.LastIndex(m.Text, " ")+1:]]++
	}
	for i := range want {
		n := seen[strconv.Itoa(i)+"."]
		if n == 0 {
			x.t.Errorf("message %d was not answered", i)
		}
		answers, doubled = answers+n, doubled+max(n-1, 0)
		if i%5 == 0 {
			jobs++
		}
	}
	if more := reports - jobs; more < 0 {
		x.t.Errorf("%d reports of %d sub-agents", reports, jobs)
	} else {
		doubled += more
	}
	if doubled > marked {
		x.t.Errorf("%d were shown twice, %d are marked: %v", doubled, marked, seen)
	}
	return answers, reports, doubled
}

// TestFaultStop stops the program while it has much to do: within ten seconds, what people write meanwhile is left with the platform, and
// the next process answers all of it, once. A second signal ends it at once, and that too loses nothing.
//
// proves: D10
func TestFaultStop(t *testing.T) {
	for name, signals := range map[string][]os.Signal{
		"SIGTERM": {syscall.SIGTERM}, "SIGINT": {syscall.SIGINT}, "SIGTERM twice": {syscall.SIGTERM, syscall.SIGTERM},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := newRush(t, channeltest.Times(40, 200))
			p := x.start()
			x.write(0, x.n)
			x.until(patience, "all is accepted and some of it is sent", func() bool { return x.tg.Pending() == 0 && x.tg.SentCount() > x.n/10 })
			before := x.tg.SentCount()
			took := p.signal(signals...)
			x.write(x.n, x.n+20)
			left := x.tg.Pending()
			if took > 10*time.Second || left != 20 {
				t.Errorf("it stopped after %s, %d of 20 messages are left with the platform", took, left)
			}
			x.free()
			x.start()
			answers, reports, doubled := x.check(x.n + 20)
			t.Logf("%d of %d messages were answered when it was stopped, all %d in the end, with %d reports; %d were doubled and marked; it took %s",
				before, x.n, answers, reports, doubled, took.Round(time.Millisecond))
			if len(signals) == 1 && doubled > 0 {
				t.Errorf("%d were doubled by a soft stop", doubled)
			}
		})
	}
}

// signal sends a process signals, one after the other, and gives how long it then took to end.
func (p *process) signal(signals ...os.Signal) time.Duration {
	p.t.Helper()
	began := time.Now()
	for i, s := range signals {
		if i > 0 {
			p.w.until(patience, "the first signal is heard", func() bool { return strings.Contains(p.log.String(), "stopping") })
		}
		if err := p.cmd.Process.Signal(s); err != nil {
			p.t.Fatal(err)
		}
	}
	select {
	case err := <-p.done:
		p.t.Logf("it ended: %v", err) // two signals end it at once
	case <-time.After(15 * time.Second):
		p.t.Fatal("the host did not stop")
	}
	return time.Since(began)
}

// TestFaultStopWhileMoreComes stops the program while people go on writing: what it does not take is left with the platform, and all of
// it is answered once by the next process.
//
// proves: D10
func TestFaultStopWhileMoreComes(t *testing.T) {
	t.Parallel()
	x := newRush(t, channeltest.Times(40, 200))
	p := x.start()
	x.write(0, x.n/2)
	x.until(patience, "the model is asked", func() bool { return x.model.Count() > x.n/8 })
	var writing sync.WaitGroup
	writing.Go(func() { x.write(x.n/2, x.n) })
	took := p.signal(syscall.SIGTERM)
	writing.Wait()
	left := x.tg.Pending()
	x.free()
	x.start()
	answers, reports, doubled := x.check(x.n)
	t.Logf("%d of %d messages were left with the platform, %d answers and %d reports, %d doubled; it took %s", left, x.n, answers, reports, doubled, took.Round(time.Millisecond))
	if doubled > 0 || took > 10*time.Second {
		t.Errorf("%d were doubled by a soft stop of %s", doubled, took)
	}
}

// TestFaultStopDuringStart stops the program while it starts, at several places of it: it ends, and the next one starts and answers what
// was written meanwhile. On a slow machine all messages wait for that one: none is to be cut short there for the number of them.
func TestFaultStopDuringStart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.config("    dmPolicy: open\n    allowFrom: [\"*\"]\n", "messages: {queue: {mode: followup, cap: 1000}}\n")
	at := map[string]func(p *process) bool{
		"at once":             func(*process) bool { return true },
		"the folder is taken": func(*process) bool { _, err := os.Stat(filepath.Join(w.dir, "state", "owner.lock")); return err == nil },
		"the store is there": func(*process) bool {
			_, err := os.Stat(filepath.Join(w.dir, "state", "parley.db-wal"))
			return err == nil
		},
		"it says something": func(p *process) bool { return p.log.String() != "" },
		"it polls":          func(*process) bool { return w.tg.Polling() },
	}
	n := 0
	for range channeltest.Times(1, 20) {
		for name, there := range at {
			w.tg.Say(owner, owner, fmt.Sprintf("message %d.", n))
			n++
			p := w.launched()
			w.until(patience, name, func() bool { return there(p) || over(p) })
			if !over(p) {
				p.signal(syscall.SIGTERM)
			}
			if strings.Contains(p.log.String(), "panic") {
				t.Errorf("stopped when %s: %s", name, p.log)
			}
		}
	}
	w.start()
	w.until(patience+time.Duration(n)*time.Second, "all is answered", func() bool { return w.tg.SentCount() >= n })
	w.quiet()
	if got := w.tg.SentCount(); got != n {
		t.Errorf("%d answers to %d messages", got, n)
	}
	t.Logf("stopped %d times during its start, %d answers", n, n)
}

// launched runs the host and does not wait for anything.
func (w *world) launched() *process {
	w.t.Helper()
	p := &process{t: w.t, w: w, cmd: w.command("--config", "config.yaml"), log: &buffer{}, done: make(chan error, 1)}
	p.cmd.Stdout, p.cmd.Stderr = p.log, p.log
	if err := p.cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	go func() { p.done <- p.cmd.Wait() }()
	w.t.Cleanup(func() { _ = p.cmd.Process.Kill() })
	return p
}

// over reports whether a process has ended.
func over(p *process) bool { return p.cmd.Process.Signal(syscall.Signal(0)) != nil }

// Who waits for an answer as the host is stopped, or killed, is told that the message was accepted; it is answered after the next start.
func TestFaultStopWhileSomebodyWaits(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]syscall.Signal{"stopped": syscall.SIGTERM, "killed": syscall.SIGKILL} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			ended := make(chan struct{})
			w.model.Script(func(r modeltest.Request) modeltest.Reply {
				select {
				case <-ended:
					return modeltest.Echo(r)
				default:
					return modeltest.Reply{Text: []string{"This takes ", "long."}, Between: time.Hour}
				}
			})
			w.pageConfig("models: {providers: {mock: {api: openai, baseUrl: "+w.model.URL()+"/v1, apiKey: x}}}\nagents: {defaults: {model: mock/mock-1}}\n", "")
			p := w.start()
			say := w.command("--config", "config.yaml", "say", "main", "work", "--wait", "--json")
			var out, told strings.Builder
			say.Stdout, say.Stderr = &out, &told
			if err := say.Start(); err != nil {
				t.Fatal(err)
			}
			w.until(20*time.Second, "the model is at work", func() bool { return w.model.Count() == 1 })
			if out, code := w.cli("runs", "list"); code != 0 { // by then the command has the id of its run
				t.Fatalf("%s, %d", out, code)
			}
			if err := p.cmd.Process.Signal(end); err != nil {
				t.Fatal(err)
			}
			<-p.done //nolint:errcheck // one way to end is by a signal
			close(ended)
			_ = say.Wait() // its exit code is looked at below
			if code := say.ProcessState.ExitCode(); code != exitTimeout || !strings.Contains(told.String(), "The run continues after the next start, so do not send the message again") {
				t.Fatalf("exit code %d: %s", code, told.String())
			}
			var waited api.Waited
			if err := json.Unmarshal([]byte(out.String()), &waited); err != nil || waited.Run == "" || waited.Final || !strings.Contains(told.String(), "run parley runs wait "+string(waited.Run)) {
				t.Fatalf("%s, %v: %s", out.String(), err, told.String())
			}
			w.start()
			if out, code := w.cli("runs", "wait", string(waited.Run)); code != 0 || !strings.Contains(out, "work") {
				t.Errorf("after the next start: %q, %d", out, code)
			}
		})
	}
}

// A host that stops answers at once that the run goes on: it is not asked thousands of times meanwhile.
func TestWaitAsksNowAndThen(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		api.WriteJSON(w, http.StatusOK, api.Waited{Run: "r", Status: "timeout"})
	}))
	t.Cleanup(srv.Close)
	_, err := waitRun(&env{ctx: t.Context(), found: &host{base: srv.URL, client: srv.Client()}}, "r", 2*lookAgain)
	if code, _ := exitOf(err); code != exitTimeout || asked.Load() == 0 || asked.Load() > 5 {
		t.Errorf("asked %d times: %v", asked.Load(), err)
	}
}
