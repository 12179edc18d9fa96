package backup

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/sessions/sqlstore"
)

// TestEnvFile has the variables beside the configuration in the backup, and both beside the state after a restore; into nothing, no folder
// for an old state is left over.
func TestEnvFile(t *testing.T) {
	t.Parallel()
	dir, s := state(t)
	conf := t.TempDir()
	write(t, conf, map[string]string{"config.yaml": "state: x\n", ".env": "TOKEN=secret\n"})
	var b bytes.Buffer
	if _, err := Write(t.Context(), &b, Source{State: dir, Config: filepath.Join(conf, "config.yaml"), Program: "test", Database: s.Backup}); err != nil {
		t.Fatal(err)
	}
	r, err := Restore(t.Context(), bytes.NewReader(b.Bytes()), Options{State: filepath.Join(t.TempDir(), "new"), Now: time.Now()})
	if err != nil || content(t, r.Config) != "state: x\n" || content(t, r.Env) != "TOKEN=secret\n" {
		t.Fatalf("restored: %+v, %v", r, err)
	}
	if info, err := os.Stat(r.Env); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the mode of the secrets: %v, %v", info, err)
	}
	plain, _ := archive(t, dir, s, false)
	at := filepath.Join(t.TempDir(), "new")
	r, err = Restore(t.Context(), bytes.NewReader(plain), Options{State: at, Now: time.Now()})
	if left, _ := filepath.Glob(at + ".*"); err != nil || r.Aside != "" || len(left) > 0 {
		t.Errorf("into nothing: aside %q, left %q, %v", r.Aside, left, err)
	}
}

// TestConfigurationInTheState: what is in force stays in force where it lies in the state folder, in whatever way the archive has it.
func TestConfigurationInTheState(t *testing.T) {
	t.Parallel()
	dir, s := state(t)
	write(t, dir, map[string]string{"config.yaml": "old\n", ".env": "A=old\n", "etc/config.yaml": "deep\n", "etc/note": "old\n"})
	conf := filepath.Join(dir, "config.yaml")
	var b bytes.Buffer
	m, err := Write(t.Context(), &b, Source{State: dir, Config: conf, Database: s.Backup})
	if err != nil || slices.Contains(names(m), "state/config.yaml") || slices.Contains(names(m), "state/.env") || !slices.Contains(names(m), "config.yaml") {
		t.Fatalf("in the archive: %q, %v", names(m), err)
	}
	twice, _ := archive(t, dir, s, false) // as of a host with another configuration: it has both as any other files
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	write(t, dir, map[string]string{"config.yaml": "new\n", ".env": "A=new\n", "etc/config.yaml": "new\n", "etc/note": "new\n"})
	r, err := Restore(t.Context(), bytes.NewReader(b.Bytes()), Options{State: dir, Active: conf, Now: time.Now()})
	if err != nil || content(t, conf) != "new\n" || content(t, filepath.Join(dir, ".env")) != "A=new\n" || content(t, r.Config) != "old\n" || content(t, r.Env) != "A=old\n" {
		t.Errorf("restored: %+v, %v", r, err)
	}
	if !slices.Contains(r.Kept, "config.yaml") || content(t, filepath.Join(dir, "etc/note")) != "old\n" {
		t.Errorf("kept: %q", r.Kept)
	}
	r, err = Restore(t.Context(), bytes.NewReader(twice), Options{State: dir, Active: filepath.Join(dir, "etc/config.yaml"), Now: time.Now().Add(time.Minute)})
	if err != nil || content(t, filepath.Join(dir, "etc/config.yaml")) != "deep\n" || content(t, filepath.Join(r.Aside, "etc-of-the-backup/note")) != "old\n" {
		t.Errorf("restored below a folder: %+v, %v", r, err)
	}
	write(t, dir, map[string]string{"channels/config.yaml": "x\n"})
	if _, err := Restore(t.Context(), bytes.NewReader(twice), Options{State: dir, Active: filepath.Join(dir, "channels/config.yaml"), Now: time.Now()}); err == nil || !strings.Contains(err.Error(), "move it elsewhere") {
		t.Errorf("among what is the host's own: %v", err)
	}
}

// TestDurable: each step of a restore is on disk before the next one relies on it.
func TestDurable(t *testing.T) {
	t.Parallel()
	dir, s := state(t)
	b, _ := archive(t, dir, s, false)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	write(t, dir, map[string]string{"token": "another\n"})
	var steps []string
	_, err := Restore(t.Context(), bytes.NewReader(b), Options{State: dir, Now: time.Now(), sync: func(folder string) error {
		if strings.Contains(folder, stagePrefix) {
			folder = "unpacked/" + filepath.Base(folder)
		} else if strings.Contains(filepath.Base(folder), oldPrefix) {
			folder = "aside"
		} else {
			folder = map[string]string{dir: "state", filepath.Dir(dir): "parent"}[folder]
		}
		token, err := os.ReadFile(filepath.Join(dir, "token"))
		if err != nil {
			return err
		}
		if exists(filepath.Join(dir, sqlstore.UnfinishedFile)) {
			folder += " marked"
		}
		steps = append(steps, folder+" "+strings.TrimSpace(string(token)))
		return nil
	}})
	at := func(step string) int { return slices.Index(steps, step) }
	if err != nil || at("unpacked/main another") < 0 || at("unpacked/state another") < 0 || at("parent marked another") < at("unpacked/state another") ||
		at("state marked another") < at("unpacked/state another") || at("aside marked secret") < at("state marked another") ||
		at("state marked secret") < at("state marked another") || at("state secret") != len(steps)-1 {
		t.Errorf("%v, steps: %q", err, steps)
	}
}
