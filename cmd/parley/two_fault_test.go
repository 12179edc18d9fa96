package main

import (
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"parley/agent/modeltest"
	"parley/channels"
	"parley/channels/channeltest"
	"parley/gateway/api"
)

// TestFaultTwoProcesses starts a second process on the state folder of one that works, that stops, that was killed, and has several start
// at once: one has the folder, the others refuse and say which process has it, and a lock never outlives its process.
//
// proves: D7
func TestFaultTwoProcesses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.config("    dmPolicy: open\n    allowFrom: [\"*\"]\n", "messages: {queue: {mode: followup}}\n")
	hold := make(chan struct{})
	var once sync.Once
	free := func() { once.Do(func() { close(hold) }) }
	t.Cleanup(free)
	w.model.Script(func(r modeltest.Request) modeltest.Reply {
		<-hold
		return modeltest.Echo(r)
	})
	p := w.start()
	w.refuses(p)
	w.tg.Say(owner, owner, "hello")
	w.until(patience, "the model is asked", func() bool { return w.model.Count() > 0 })
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	w.until(patience, "it stops", func() bool { return strings.Contains(p.log.String(), "stopping") })
	w.refuses(p) // it hands over what is at work: the folder is its own until then
	if err := <-p.done; err != nil {
		t.Error(err)
	}
	free()
	for i := range channeltest.Times(2, 30) { // and a lock is free as soon as its process is gone
		p = w.start()
		w.sent(owner, i+1)
		p.kill()
		w.tg.Say(owner, owner, "again "+strconv.Itoa(i))
	}
	w.race(channeltest.Times(3, 8))
}

// refuses starts a second process beside p.
func (w *world) refuses(p *process) {
	w.t.Helper()
	began := time.Now()
	out, code := w.cli("run")
	w.t.Logf("a second process refused after %s", time.Since(began).Round(time.Millisecond))
	if code == 0 || !strings.Contains(out, "process "+strconv.Itoa(p.cmd.Process.Pid)+" ") || !strings.Contains(out, "another state folder") {
		w.t.Errorf("a second process: exit %d, which does not name process %d: %s", code, p.cmd.Process.Pid, out)
	}
}

// race starts n processes at once.
func (w *world) race(n int) {
	w.t.Helper()
	var list []*process
	for range n {
		list = append(list, w.launched())
	}
	alive := func() (live []*process) {
		for _, p := range list {
			if len(p.done) == 0 {
				live = append(live, p)
			}
		}
		return live
	}
	w.until(patience, "one of them is left", func() bool { return len(alive()) <= 1 && w.tg.Polling() })
	if live := alive(); len(live) != 1 {
		w.t.Errorf("%d processes have the folder", len(live))
	}
	for _, p := range list {
		if len(p.done) > 0 && !strings.Contains(p.log.String(), "is in use") {
			w.t.Errorf("it ended otherwise: %s", p.log)
		}
	}
}

// TestFaultOneToken starts a second host with the same bot on a state folder of its own, several times: it says so at once, makes no call
// that would push the first one out, answers nothing, and takes over when the first one is gone.
func TestFaultOneToken(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("no names that a process can claim; Telegram's own conflict is what there is")
	}
	t.Parallel()
	w := newWorld(t)
	w.config("    dmPolicy: open\n    allowFrom: [\"*\"]\n", "")
	p := w.start()
	w.tg.Say(owner, owner, "hello 0")
	w.sent(owner, 1)
	for i := range channeltest.Times(2, 20) {
		two := &world{t: t, tg: w.tg, model: w.model, dir: t.TempDir(), called: map[int]call{}}
		two.config("    dmPolicy: open\n    allowFrom: [\"*\"]\n", "")
		before := len(w.tg.Calls("getMe"))
		q := two.start()
		two.until(patience, "the second host says why it does nothing", func() bool {
			a := two.telegram()
			return a.State == channels.Conflict && strings.Contains(a.Detail, "another process on this computer") && strings.Contains(q.log.String(), "another process on this computer")
		})
		if s := fromCLI[api.HostStatus](two, "status"); s.Ready {
			t.Error("a host that hears nothing says that it is ready")
		}
		w.tg.Say(owner, owner, fmt.Sprint("hello ", 2*i+1))
		w.sent(owner, 2*i+2)
		if a := w.telegram(); a.State != channels.Connected || len(w.tg.Calls("getMe")) != before {
			t.Errorf("the first host is %s: %s; the second made %d calls", a.State, a.Detail, len(w.tg.Calls("getMe"))-before)
		}
		p.kill()
		w.tg.Say(owner, owner, fmt.Sprint("hello ", 2*i+2))
		w.sent(owner, 2*i+3)
		w, p = two, q
	}
}

// telegram is how the host's bot is.
func (w *world) telegram() (a api.Account) {
	w.t.Helper()
	for _, x := range fromCLI[api.HostStatus](w, "status").Accounts {
		if x.Channel == "telegram" {
			a = x
		}
	}
	return a
}
