package server

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"parley/channels"
	"parley/gateway/filesystem"
)

// tokenFile holds the owner's token where the configuration has none.
const tokenFile = "token"

// StoredToken gives the token of the host that keeps its state in dir: the configured one, else the stored one. ok is false when there
// is neither.
func StoredToken(dir string, configured channels.Secret) (t channels.Secret, ok bool, err error) {
	if !configured.IsZero() {
		return configured, true, nil
	}
	b, err := filesystem.Read(filepath.Join(dir, tokenFile))
	if errors.Is(err, fs.ErrNotExist) {
		return t, false, nil
	}
	if err != nil {
		return t, false, fmt.Errorf("read the stored token: %w", err)
	}
	t = channels.NewSecret(strings.TrimSpace(string(b)))
	return t, !t.IsZero(), nil
}

// makeToken gives the token, making and storing one (mode 0600) when there is none.
func makeToken(dir string, configured channels.Secret) (channels.Secret, error) {
	t, ok, err := StoredToken(dir, configured)
	if err != nil || ok {
		return t, err
	}
	t = channels.NewSecret(rand.Text())
	path := filepath.Join(dir, tokenFile)
	if err := os.WriteFile(path+".new", []byte(t.Reveal()+"\n"), 0o600); err != nil {
		return t, fmt.Errorf("store the token: %w", err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		return t, fmt.Errorf("store the token: %w", err)
	}
	return t, nil
}
