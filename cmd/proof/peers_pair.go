package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"text/template"
	"time"

	"parley/agent/modeltest"
	"parley/channels/telegram/telegramtest"
)

// pair is a host between one stand-in Telegram and one model. Its home folder outlives its processes.
type pair struct {
	dir     string
	command []string
	tg      *telegramtest.Server
	model   *modeltest.Server
	front   *httptest.Server // where tg is reached with longToken
}

// longToken has the form that all hosts take for a token.
const longToken = "7000000001:AAtest-token_that_is_as_long_as_one"

// newPair makes the stand-ins and writes the configuration.
func newPair(dir string, command []string, config, file string) (*pair, error) {
	t, err := template.New("configuration").Option("missingkey=error").Parse(config)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, file)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	model, err := modeltest.New()
	if err != nil {
		return nil, err
	}
	p := &pair{dir: dir, command: slices.Clone(command), tg: telegramtest.New(nil), model: model}
	p.front = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.URL.Path = strings.Replace(r.URL.Path, longToken, p.tg.Token(), 1)
		p.tg.ServeHTTP(w, r)
	}))
	for i, a := range p.command {
		if strings.HasPrefix(a, "./") { // of where the person is
			if p.command[i], err = filepath.Abs(a); err != nil {
				return nil, err
			}
		}
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, err
	}
	err = t.Execute(f, map[string]string{"Telegram": p.front.URL, "Token": longToken, "Model": p.model.URL(), "Dir": dir})
	return p, errors.Join(err, f.Close())
}

func (p *pair) close() {
	p.front.CloseClientConnections()
	p.front.Close()
	p.tg.Close()
	_ = p.model.Close() // nobody asks it any more
}

// host is one process.
type host struct {
	cmd   *exec.Cmd
	done  chan struct{} // closed when it has ended
	err   error         // after that
	began time.Time
	log   *tail
}

// run starts the host; it is ended by stop or kill.
func (p *pair) run(ctx context.Context) (h *host, err error) {
	h = &host{cmd: exec.CommandContext(ctx, p.command[0], p.command[1:]...), log: &tail{}, done: make(chan struct{})}
	h.cmd.Dir, h.cmd.Stdout, h.cmd.Stderr = p.dir, h.log, h.log
	h.cmd.Env = append(plainEnv(os.Environ()), "HOME="+p.dir)
	h.cmd.WaitDelay = groupGrace // what it has started may hold its output
	h.began = time.Now()
	wait, err := tied(h.cmd)
	if err != nil {
		return nil, err
	}
	go func() {
		h.err = wait()
		close(h.done)
	}()
	return h, nil
}

// polling starts the host and waits for its first poll; took is from exec to there.
func (p *pair) polling(ctx context.Context) (h *host, took time.Duration, err error) {
	p.tg.Forget()
	if h, err = p.run(ctx); err != nil {
		return nil, 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	ctx, ended := context.WithCancelCause(ctx)
	defer ended(nil)
	go func() {
		select {
		case <-h.done:
			ended(fmt.Errorf("it has ended: %w", cmp.Or(h.err, errors.New("as if it had been asked to"))))
		case <-ctx.Done():
		}
	}()
	if p.tg.Wait(ctx, func() bool { return len(p.tg.Calls("getUpdates")) > 0 }) != nil {
		h.kill()
		return nil, 0, fmt.Errorf("waiting for the host's first poll: %w\n%s", context.Cause(ctx), h.log)
	}
	return h, p.tg.Calls("getUpdates")[0].At.Sub(h.began), nil
}

func (h *host) stop() {
	_ = h.cmd.Process.Signal(syscall.SIGTERM) // it may have ended
	defer time.AfterFunc(stopLimit, h.kill).Stop()
	<-h.done
}

func (h *host) kill() {
	_ = h.cmd.Process.Kill() // it may have ended
	<-h.done
}

// usage is what a process uses.
type usage struct {
	RSS     float64       // MB
	Threads int           //
	CPU     time.Duration // so far
	Files   int           // descriptors
}

// use reads what the process uses from /proc; zero where the system does not tell.
func (h *host) use() (u usage) {
	dir := filepath.Join("/proc", strconv.Itoa(h.cmd.Process.Pid))
	status, _ := os.ReadFile(filepath.Join(dir, "status")) // zero where there is none
	for line := range strings.Lines(string(status)) {
		name, value, _ := strings.Cut(line, ":")
		n, _ := strconv.ParseFloat(strings.Fields(value + " 0")[0], 64)
		switch name {
		case "VmRSS":
			u.RSS = n / 1024
		case "Threads":
			u.Threads = int(n)
		}
	}
	stat, _ := os.ReadFile(filepath.Join(dir, "stat")) // as above
	if f := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:])); len(f) > 12 {
		user, _ := strconv.Atoi(f[11])
		system, _ := strconv.Atoi(f[12])
		u.CPU = time.Duration(user+system) * time.Second / 100 // USER_HZ, which Linux fixes for user space
	}
	fds, _ := os.ReadDir(filepath.Join(dir, "fd")) // as above
	u.Files = len(fds)
	return u
}

// pause waits for a while, as a person does.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// silent waits until no message has arrived for so long, or until enough is true.
func (p *pair) silent(ctx context.Context, d time.Duration, enough func() bool) error {
	for {
		n := p.tg.SentCount()
		wait, cancel := context.WithTimeout(ctx, d)
		err := p.tg.Wait(wait, func() bool { return p.tg.SentCount() > n || enough() })
		cancel()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil || enough() {
			return nil // nothing more came, or all has
		}
	}
}

// quantile reads from sorted times.
func quantile(d []time.Duration, q float64) time.Duration {
	return d[min(int(q*float64(len(d))), len(d)-1)]
}

// spread is the middle and the slow end of some times, in milliseconds.
func spread(d []time.Duration) string {
	slices.Sort(d)
	ms := func(q float64) float64 { return float64(quantile(d, q).Microseconds()) / 1000 }
	return fmt.Sprintf("p50 %.1f, p95 %.1f, p99 %.1f ms", ms(.5), ms(.95), ms(.99))
}
