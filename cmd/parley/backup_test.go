package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/agent/modeltest"
	"parley/gateway/api"
	"parley/gateway/backup"
	"parley/sessions"
)

// TestBackupUnderLoad backs a host up while people write, and restores that over a later state. What was accepted before the backup
// began is there and is answered; what was sent before it is not sent again.
func TestBackupUnderLoad(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.config("    dmPolicy: open\n    allowFrom: [\"*\"]\n", "messages: {queue: {mode: followup}}\n")
	const each = 8
	people := crowd(w, 3*each)
	hold := make(chan struct{})
	var once sync.Once
	free := func() { once.Do(func() { close(hold) }) }
	defer free()
	w.model.Script(func(r modeltest.Request) modeltest.Reply {
		if strings.Contains(r.LastUserText(), "held") {
			<-hold
		}
		return modeltest.Echo(r)
	})
	p := w.start()
	for i := range each {
		w.tg.Say(people[i], people[i], fmt.Sprintf("before %d", i))
		w.tg.Say(people[each+i], people[each+i], fmt.Sprintf("held %d", i))
	}
	w.until(20*time.Second, "some are answered, some wait, all is on disk", func() bool {
		s := fromAPI[api.HostStatus](w, "/api/status", nil)
		return w.tg.Pending() == 0 && w.tg.SentCount() == each && s.Deliveries["sent"] == each && len(s.Working) == each
	})

	stop := make(chan struct{})
	var load sync.WaitGroup
	load.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
				who := people[2*each+i%each]
				w.tg.Say(who, who, fmt.Sprintf("during %d", i))
				_, _ = w.tg.WaitSent(w.ctx(), each+i+1) // at the pace of the host
			}
		}
	})
	file := filepath.Join(w.dir, "backup.tar.gz")
	made := fromCLI[struct{ Manifest backup.Manifest }](w, "backup", file)
	close(stop)
	load.Wait()
	if !slices.ContainsFunc(made.Manifest.Files, func(f backup.File) bool { return f.Path == "state/parley.db" }) {
		t.Fatalf("what is in the backup: %+v", made.Manifest)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the backup's mode: %v, %v", info, err)
	}
	if out, code := w.cli("restore", file); code != exitFailed || !strings.Contains(out, "stop it") {
		t.Errorf("a restore below a host that runs: exit %d, %s", code, out)
	}
	p.kill()
	was := w.tg.SentCount()
	if r := fromCLI[backup.Report](w, "restore", file, "--dry-run"); r.Aside != "" || r.Backup.Queued < each {
		t.Errorf("the dry run: %+v", r)
	}
	r := fromCLI[backup.Report](w, "restore", file)
	if _, err := os.Stat(filepath.Join(r.Aside, "parley.db")); err != nil {
		t.Errorf("the state before is not aside: %v", err)
	}
	free()
	w.start()
	w.until(30*time.Second, "what was accepted is answered", func() bool { return w.tg.SentCount() >= was+each })
	w.quiet()
	seen := map[string]int{}
	for _, m := range w.tg.Sent() {
		seen[m.Text]++
	}
	for i := range each {
		for _, what := range []string{"before", "held"} {
			if n := seen[fmt.Sprintf("echo: %s %d", what, i)]; n != 1 {
				t.Errorf("%q is answered %d times", fmt.Sprintf("%s %d", what, i), n)
			}
		}
	}
	for _, d := range fromCLI[[]sessions.Delivery](w, "deliveries", "list", "--limit", "1000") {
		if d.State != sessions.Sent {
			t.Errorf("the delivery of %q is %s", d.Text, d.State)
		}
	}
}

// TestBackupWithoutHost backs up a state on which no host runs, rotates, and refuses what is no folder to rotate in.
func TestBackupWithoutHost(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.config("", "")
	if out, code := w.cli("backup", "x.tar.gz"); code != exitMissing || !strings.Contains(out, "nothing to back up") {
		t.Errorf("no state: exit %d, %s", code, out)
	}
	p := w.start()
	w.tg.Say(owner, owner, "hello")
	w.sent(owner, 1)
	w.quiet()
	p.stop()
	folder := filepath.Join(w.dir, "kept")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"parley-20200101T000000Z.tar.gz", "parley-20200102T000000Z.tar.gz", "mine.tar.gz"} {
		if err := os.WriteFile(filepath.Join(folder, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	made := fromCLI[struct {
		File    string
		Removed []string
	}](w, "backup", "kept", "--keep", "2")
	list, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil || len(list) != 3 || len(made.Removed) != 1 || !strings.HasSuffix(made.Removed[0], "parley-20200101T000000Z.tar.gz") {
		t.Errorf("kept: %q, removed: %q, %v", list, made.Removed, err)
	}
	if out, code := w.cli("backup", made.File); code != exitFailed || !strings.Contains(out, "--force") {
		t.Errorf("onto a backup that is there: exit %d, %s", code, out)
	}
	if out, code := w.cli("backup", made.File, "--force"); code != 0 {
		t.Errorf("with --force: exit %d, %s", code, out)
	}
	if err := os.Symlink("state", filepath.Join(w.dir, "link")); err != nil {
		t.Fatal(err)
	}
	for _, to := range []string{"state", "state/", "link", "state/b.tar.gz"} {
		if out, code := w.cli("backup", to); code != exitUsage || !strings.Contains(out, "outside") {
			t.Errorf("a backup into the state folder, %s: exit %d, %s", to, code, out)
		}
	}
	if out, code := w.cli("backup", "here.tar.gz", "--keep", "1"); code != exitUsage || !strings.Contains(out, "folder") {
		t.Errorf("--keep with a file: exit %d, %s", code, out)
	}
	b, err := os.ReadFile(filepath.Join(w.dir, made.File))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(w.dir, "half.tar.gz"), b[:len(b)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	if out, code := w.cli("restore", "half.tar.gz"); code != exitFailed || !strings.Contains(out, "the state is unchanged") {
		t.Errorf("half a backup: exit %d, %s", code, out)
	}
	if err := os.RemoveAll(filepath.Join(w.dir, "state")); err != nil {
		t.Fatal(err)
	}
	if r := fromCLI[backup.Report](w, "restore", made.File); r.Backup.Messages != 2 || r.Before != nil {
		t.Errorf("a restore into nothing: %+v", r)
	}
	w.start()
	w.tg.Say(owner, owner, "again")
	w.sent(owner, 2)
}

// TestBackupThatFails tells the person why: the error comes after the answer has begun.
func TestBackupThatFails(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.config("", "")
	w.start()
	if err := os.MkdirAll(filepath.Join(w.dir, "state", "channels"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(w.dir, "state", "channels", "broken.db"), []byte(strings.Repeat("this is no database ", 500)), 0o600); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(w.dir, "backup.tar.gz")
	if out, code := w.cli("backup", file); code != exitFailed || !strings.Contains(out, "cannot make the backup") || !strings.Contains(out, "broken.db") || strings.Contains(out, "EOF") {
		t.Errorf("exit %d: %s", code, out)
	}
	if _, err := os.Stat(file); !os.IsNotExist(err) {
		t.Errorf("it left a file: %v", err)
	}
}
