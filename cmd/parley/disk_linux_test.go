package main

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"parley/agent/modeltest"
)

// smallDisk puts the state folder of a world on a file system of its own, with a few megabytes, and gives what fills and frees it.
func smallDisk(t *testing.T, w *world) (fill, free func()) {
	t.Helper()
	state := filepath.Join(w.dir, "state")
	if err := os.Mkdir(state, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("tmpfs", state, "tmpfs", 0, "size=24m,mode=0700"); err != nil {
		t.Skipf("a small file system cannot be mounted here: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(state, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	filler := filepath.Join(state, "filler")
	fill = func() {
		f, err := os.Create(filler)
		if err != nil {
			t.Error(err)
			return
		}
		defer f.Close()
		for size := 1 << 20; size > 0; {
			if _, err := f.Write(make([]byte, size)); errors.Is(err, syscall.ENOSPC) {
				size /= 2
			} else if err != nil {
				t.Error(err)
				return
			}
		}
	}
	free = func() {
		if err := os.Remove(filler); err != nil {
			t.Error(err)
		}
	}
	return fill, free
}

// TestFaultHostDiskFull fills the disk of a running host: before a message comes, and while the model thinks. Telegram is told of no
// message that is not on disk, the host says what is wrong, and all is answered once there is room, by itself and once.
//
// proves: D1, D5
func TestFaultHostDiskFull(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	fill, free := smallDisk(t, w)
	var once sync.Once
	w.model.Script(func(r modeltest.Request) modeltest.Reply {
		if strings.Contains(r.LastUserText(), "think") {
			once.Do(fill)
		}
		return modeltest.Echo(r)
	})
	w.config("", "")
	p := w.start()
	w.tg.Say(owner, owner, "before")
	w.sent(owner, 1)
	w.quiet()
	notReady := func() {
		t.Helper()
		w.until(20*time.Second, "/readyz says that the disk is full", func() bool {
			status, body := readiness(p)
			return status == http.StatusServiceUnavailable && strings.Contains(body, "full")
		})
	}

	p.stop()
	p = w.start() // it has nothing to write
	w.until(20*time.Second, "ready", func() bool { status, _ := readiness(p); return status == http.StatusOK })
	fill()
	notReady() // though nobody writes
	said := w.tg.Say(owner, owner, "meanwhile")
	notReady()
	if w.tg.Confirmed() >= said.UpdateID {
		t.Error("Telegram was told that the message is taken, and it cannot be on disk")
	}
	w.until(20*time.Second, "the log says that the disk is full", func() bool { return strings.Contains(p.log.String(), "full") })
	if n := len(w.tg.SentTo(owner)); n != 1 {
		t.Errorf("the chat shows %d messages, not 1", n)
	}
	free()
	if got := w.sent(owner, 2)[1].Text; got != "echo: meanwhile" {
		t.Errorf("answered: %q", got)
	}
	w.quiet()

	w.tg.Say(owner, owner, "think") // the answer finds no room
	notReady()
	free()
	if got := w.sent(owner, 3)[2].Text; got != "echo: think" {
		t.Errorf("answered: %q", got)
	}
	w.tg.Say(owner, owner, "after")
	w.sent(owner, 4)
	w.quiet()
	w.until(20*time.Second, "ready again", func() bool { status, _ := readiness(p); return status == http.StatusOK })
	p.stop()
	if got := w.tg.SentTo(owner); len(got) != 4 {
		t.Errorf("the chat shows %d messages, not 4: %+v", len(got), got)
	}
	files, err := filepath.Glob(filepath.Join(w.dir, "state", "agents", "main", "sessions", "*.jsonl"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	b, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"before", "meanwhile", "think", "after"} {
		if n := strings.Count(string(b), `echo: `+word); n != 1 {
			t.Errorf("the transcript's file has the answer to %q %d times", word, n)
		}
	}
}

// TestFaultHostDescriptors takes the host's file descriptors away while a message comes, and gives them back.
func TestFaultHostDescriptors(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.model.Script(modeltest.Echo)
	w.config("", "")
	p := w.start()
	w.tg.Say(owner, owner, "before")
	w.sent(owner, 1)
	w.quiet()
	var was unix.Rlimit
	if err := unix.Prlimit(p.cmd.Process.Pid, unix.RLIMIT_NOFILE, nil, &was); err != nil {
		t.Fatal(err)
	}
	limit := was
	limit.Cur = 3
	if err := unix.Prlimit(p.cmd.Process.Pid, unix.RLIMIT_NOFILE, &limit, nil); err != nil {
		t.Fatal(err)
	}
	w.tg.Down(true) // its connections end, and no new one can be made
	w.tg.Say(owner, owner, "meanwhile")
	w.until(20*time.Second, "Telegram is not there", func() bool { return strings.Contains(p.log.String(), `"state":"disconnected"`) })
	w.tg.Down(false)
	w.until(60*time.Second, "the log says what there is too little of", func() bool {
		return slices.ContainsFunc(strings.Split(p.log.String(), "\n"), func(line string) bool {
			return strings.Contains(line, `"channel":"telegram"`) && strings.Contains(line, "too many open files")
		})
	})
	if err := unix.Prlimit(p.cmd.Process.Pid, unix.RLIMIT_NOFILE, &was, nil); err != nil {
		t.Fatal(err)
	}
	w.until(60*time.Second, "an answer", func() bool { return len(w.tg.SentTo(owner)) >= 2 })
	w.tg.Say(owner, owner, "after")
	w.until(60*time.Second, "an answer", func() bool { return len(w.tg.SentTo(owner)) >= 3 })
	w.quiet()
	p.stop()
	got := w.tg.SentTo(owner)
	if len(got) != 3 || got[2].Text != "echo: after" {
		t.Errorf("the chat shows: %+v", got)
	}
	t.Logf("meanwhile: %q", got[1].Text)
}

// TestFaultHostLogGone removes the log of a killed host. The next start refuses and says why; one command puts a backup in its place and
// says what that one does not have; the host goes on from there.
func TestFaultHostLogGone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.model.Script(modeltest.Echo)
	w.config("", "")
	p := w.start()
	w.tg.Say(owner, owner, "before")
	w.sent(owner, 1)
	w.quiet()
	if out, code := w.cli("backup", "kept.tar.gz"); code != 0 {
		t.Fatal(out)
	}
	w.tg.Say(owner, owner, "after the backup")
	w.sent(owner, 2)
	w.quiet()
	p.kill()
	if err := os.Remove(filepath.Join(w.dir, "state", "parley.db-wal")); err != nil {
		t.Fatal(err)
	}
	if out, code := w.cli("run"); code == 0 || !strings.Contains(out, "commits are missing") || !strings.Contains(out, "parley restore") {
		t.Fatalf("exit %d: %s", code, out)
	}
	out, code := w.cli("restore", "kept.tar.gz")
	if code != 0 || !strings.Contains(out, "- Later messages, settings and jobs are missing") {
		t.Fatalf("exit %d: %s", code, out)
	}
	w.start()
	w.tg.Say(owner, owner, "again")
	if got := w.sent(owner, 3); len(got) != 3 || got[2].Text != "echo: again" {
		t.Errorf("%+v", got)
	}
	w.quiet()
}
