package backup

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"
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
