package transcriptfile

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"parley/sessions"
)

// maxHeader bounds the first line of a file.
const maxHeader = 4096

// rebuildOld writes the files of an earlier version again (contract T3). A file that cannot be written is rebuilt at the next start, or with its next
// message. It ends early with Close.
func (m *Writer) rebuildOld(ctx context.Context) {
	_ = filepath.WalkDir(filepath.Join(m.dir, "agents"), func(path string, d fs.DirEntry, err error) error {
		select {
		case <-m.stop:
			return fs.SkipAll
		default:
		}
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".jsonl") || filepath.Base(filepath.Dir(path)) != "sessions" {
			return nil // what cannot be read is left as it is
		}
		id, old := headerOf(path)
		if !old {
			return nil
		}
		if err := m.rebuild(ctx, id); err != nil && !errors.Is(err, sessions.ErrNotFound) {
			m.log.Warn("cannot rebuild a transcript file", "path", path, "err", err)
		}
		return nil
	})
}

// headerOf reads which session a file is of, and whether an earlier version wrote it.
func headerOf(path string) (id sessions.ID, old bool) {
	f, err := os.Open(path)
	if err != nil {
		return "", false
	}
	defer func() { _ = f.Close() }()
	line, err := bufio.NewReader(io.LimitReader(f, maxHeader)).ReadBytes('\n')
	var l readLine
	if err != nil || json.Unmarshal(line, &l) != nil {
		return "", false
	}
	return sessions.ID(l.ID), l.Type == "session" && l.isOld()
}
