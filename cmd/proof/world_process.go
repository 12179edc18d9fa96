package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"parley/cmd/internal/failpoint"
	"parley/gateway/api"
	"parley/gateway/prooftest"
	"parley/sessions"
)

// process is one life of the host.
type process struct {
	Life int             // 1 is the first
	Done <-chan struct{} // closed when it has ended

	cmd    *exec.Cmd
	trace  string // file
	log    *tail
	err    error // after Done
	killed bool
}

// lifeKey is the model key of one life: the model server sees by it which process asks.
const lifeKey = "proof-of-life-%d"

// start runs the host and returns at once. point and nth are the fail-point at which it kills itself ("Finish before-commit", for the
// nth time); "" = none.
func (w *world) start(ctx context.Context, point string, nth int) (*process, error) {
	w.lives++
	done := make(chan struct{})
	p := &process{Life: w.lives, Done: done, trace: filepath.Join(w.dir, "trace"), log: &tail{}}
	p.cmd = exec.CommandContext(ctx, w.program, "--config", w.config())
	p.cmd.Dir, p.cmd.Stdout, p.cmd.Stderr = w.dir, p.log, p.log
	p.cmd.Env = append(slices.Clone(w.env), failpoint.Trace+"="+p.trace, failpoint.KillOp+"="+point, failpoint.KillNth+"="+strconv.Itoa(max(nth, 1)),
		"PROOF_LIFE="+fmt.Sprintf(lifeKey, w.lives))
	if err := os.Remove(p.trace); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	if w.logs {
		f, err := w.logFile(p.Life)
		if err != nil {
			return nil, err
		}
		defer func() { _ = f.Close() }() // the process has it
		p.cmd.Stdout, p.cmd.Stderr = f, f
		p.log.file = f.Name()
	}
	wait, err := tied(p.cmd)
	if err != nil {
		return nil, fmt.Errorf("starting %s: %w", w.program, err)
	}
	go func() {
		p.err = wait()
		close(done)
	}()
	w.latest = p
	return p, nil
}

// endAll kills the host that runs, if there is one, and waits for its end: nothing of a run is left behind.
func (w *world) endAll() {
	if w.latest != nil && !w.latest.ended() {
		w.latest.kill()
	}
}

// logFile is where a life's output is kept.
func (w *world) logFile(life int) (*os.File, error) {
	dir := filepath.Join(w.dir, "log")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	return os.OpenFile(filepath.Join(dir, fmt.Sprintf("life-%05d.log", life)), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
}

// ready waits until a host answers. It is false when that has ended before: then over says whether it was killed.
func (w *world) ready(ctx context.Context, p *process) (alive bool, err error) {
	alive = true
	err = until(ctx, 30*time.Second, "the host answers", func() bool {
		if p.ended() {
			alive = false
			return true
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://parley/healthz", nil)
		if err != nil {
			return false
		}
		resp, err := w.client.Do(req)
		if err != nil {
			return false
		}
		_ = resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	})
	return alive, err
}

// closed is the end of what was never begun.
var closed = func() <-chan struct{} { c := make(chan struct{}); close(c); return c }()

// beside does something once a host answers; its ctx ends with that host's life. What it gives is closed when it is over.
func (w *world) beside(ctx context.Context, p *process, do func(ctx context.Context)) (over <-chan struct{}) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		go func() {
			<-p.Done
			cancel()
		}()
		if alive, err := w.ready(ctx, p); alive && err == nil {
			do(ctx)
		}
	}()
	return done
}

func (p *process) ended() bool {
	select {
	case <-p.Done:
		return true
	default:
		return false
	}
}

// begun reports whether the process has come to its first transaction: it has read its configuration, and sent nothing before.
func (p *process) begun() bool {
	info, err := os.Stat(p.trace)
	return err == nil && info.Size() > 0
}

// kill ends the process with SIGKILL and waits for its end. It may have ended before.
func (p *process) kill() {
	p.killed = true
	_ = p.cmd.Process.Kill() // the process may be gone
	<-p.Done
}

// stopLimit is how long a host may take to stop: ten seconds, on a machine that has much else to do.
const stopLimit = time.Minute

// stop ends the process softly. One that does not end is killed, which is an error.
func (p *process) stop() error {
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	limit := time.NewTimer(stopLimit)
	defer limit.Stop()
	select {
	case <-p.Done:
		return p.err
	case <-limit.C:
		p.kill()
		return fmt.Errorf("%w: life %d did not end within %s of SIGTERM\n%s", errMark, p.Life, stopLimit, p.log)
	}
}

// leave ends the process softly, or finds that it has killed itself at a fail-point meanwhile: then err is set.
func (p *process) leave() error {
	if err := p.stop(); err == nil || errors.Is(err, errMark) {
		return err
	}
	return p.over()
}

// over says how the process has ended: nil when it was killed, by us or by itself at a fail-point. Anything else is a fault.
func (p *process) over() error {
	<-p.Done
	exit, ok := errors.AsType[*exec.ExitError](p.err)
	if ok {
		if s, ok := exit.Sys().(syscall.WaitStatus); ok && s.Signaled() && s.Signal() == syscall.SIGKILL {
			return nil
		}
	}
	if p.err == nil {
		return fmt.Errorf("%w: life %d ended by itself, as if it had been asked to\n%s", errMark, p.Life, p.log)
	}
	return fmt.Errorf("%w: life %d ended by itself: %w\n%s", errMark, p.Life, p.err, p.log)
}

// traced are the fail-points that this life has come to so far, as often as it did.
func (p *process) traced() []string {
	b, err := os.ReadFile(p.trace)
	if err != nil {
		return nil
	}
	var out []string
	for l := range bytes.Lines(b) {
		op, phase, _ := strings.Cut(string(bytes.TrimSpace(l)), " ")
		out = append(out, failpoint.Points(op, phase)...)
	}
	return out
}

// ask does one request to the host that runs; out is filled from the answer unless it is nil.
func (w *world) ask(ctx context.Context, method, path string, q url.Values, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	if len(q) > 0 {
		path += "?" + q.Encode()
	}
	var r io.Reader
	if in != nil {
		r = bytes.NewReader(body)
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://parley"+path, r)
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := w.client.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode/100 != 2 {
		return fmt.Errorf("%s %s: %s: %s", method, path, resp.Status, b)
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(b, out)
}

// command runs a command of the program beside the host.
func (w *world) command(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, w.program, append([]string{"--config", w.config()}, args...)...)
	cmd.Dir, cmd.Env = w.dir, append(slices.Clone(w.env), "PROOF_LIFE="+fmt.Sprintf(lifeKey, 0))
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("parley %v: %w: %s", args, err, out)
	}
	return nil
}

// status asks the host how it is.
func (w *world) status(ctx context.Context) (s api.HostStatus, err error) {
	err = w.ask(ctx, http.MethodGet, "/api/status", nil, nil, &s)
	return s, err
}

// untaken is how many messages of people the host has not acknowledged.
func (w *world) untaken() int { return w.one.Pending() + w.two.Pending() + w.bot.Waiting() }

// rest waits until the host has taken all that was said and has nothing to do any more.
func (w *world) rest(ctx context.Context, limit time.Duration) error {
	var last api.HostStatus
	calm, err := 0, error(nil)
	waited := until(ctx, limit, "the host comes to rest", func() bool {
		last, err = w.status(ctx)
		if err != nil || w.untaken() > 0 || !last.Ready || len(last.Working)+last.Waiting+last.Deliveries[sessions.Pending]+last.Deliveries[sessions.Sending] > 0 {
			calm = 0
			return false
		}
		calm++
		return calm >= 20
	})
	if waited != nil {
		return fmt.Errorf("%w: %d messages are not taken, %d sessions work, %d wait, deliveries %v, ready %t %s (%w)",
			waited, w.untaken(), len(last.Working), last.Waiting, last.Deliveries, last.Ready, last.Why, cmp.Or(err, errors.New("it answers")))
	}
	return nil
}

// placeOf is where a delivery goes, in the checker's words.
func placeOf(d sessions.Delivery) prooftest.Place {
	return prooftest.Place{Platform: string(d.To.Channel), Account: string(d.To.Account), Chat: string(d.To.Chat), Thread: string(d.To.Thread)}
}

// tail keeps the end of what a process prints, or knows the file that has it.
type tail struct {
	file string // "" = it is here
	mu   sync.Mutex
	b    []byte
}

const tailSize = 256 << 10

// Write implements io.Writer.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.b = append(t.b, p...); len(t.b) > 2*tailSize {
		t.b = append(t.b[:0], t.b[len(t.b)-tailSize:]...)
	}
	return len(p), nil
}

func (t *tail) String() string {
	if t.file != "" {
		b, err := os.ReadFile(t.file)
		if err != nil {
			return err.Error()
		}
		return string(b[max(0, len(b)-tailSize):])
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.b)
}

// gone says why a process has ended that nobody was to end.
func (p *process) gone() error {
	if err := p.over(); err != nil {
		return err
	}
	return fmt.Errorf("%w: life %d was killed, and not by this run\n%s", errMark, p.Life, p.log)
}
