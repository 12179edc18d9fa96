package server

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"parley/gateway/backup"
	"parley/gateway/filesystem"
)

// readEpoch gives the epoch of the cookies of browsers. One that cannot be read makes all of them void.
func readEpoch(state string) string {
	b, err := filesystem.Read(filepath.Join(state, backup.EpochFile))
	if errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	if text := strings.TrimSpace(string(b)); err == nil && text != "" {
		return text
	}
	return rand.Text()
}

// SignOut makes the cookies of all browsers and all login codes void, those of the caller too, and ends what goes on in their name. Tokens stay.
func (s *Server) SignOut() error {
	if err := writeEpoch(filepath.Join(s.config().State, backup.EpochFile), rand.Text()); err != nil {
		return fmt.Errorf("sign out every browser: %w", err)
	}
	s.applyDoor()
	s.log.Info("signed out every browser")
	return nil
}

// writeEpoch replaces the file; it is on disk when it returns.
func writeEpoch(path, text string) error {
	f, err := filesystem.Part(path)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text + "\n")
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // the first error counts
		return err
	}
	return backup.SyncFolder(filepath.Dir(path))
}
