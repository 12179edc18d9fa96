package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"parley/gateway/config"
)

// What the imported configuration puts out of force is named: a stricter policy, owners, addresses. The state folder stays.
func TestImportNamesReplacedKeys(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "config.yaml")
	old := "state: ./s\ngateway: {listen: 127.0.0.1:28292}\ncommands: {ownerAllowFrom: [\"telegram:7\"]}\nsession: {sendPolicy: {default: deny}, dmScope: main}\n"
	if err := os.WriteFile(file, []byte(old), 0o600); err != nil {
		t.Fatal(err)
	}
	to := destination{conf: &config.Config{Path: file}}
	got, err := to.replaced([]byte("session: {sendPolicy: {default: allow}, dmScope: main}\n"))
	if want := "commands.ownerAllowFrom gateway.listen session.sendPolicy.default"; err != nil || strings.Join(got, " ") != want {
		t.Errorf("%q, %v, want %s", got, err, want)
	}
	for _, path := range []string{"", file + ".absent"} {
		to.conf.Path = path
		if got, err := to.replaced(nil); err != nil || len(got) != 0 {
			t.Errorf("%q: %q, %v", path, got, err)
		}
	}
}
