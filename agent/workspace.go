package agent

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"parley/tools"
)

// maxPromptFile is how much of a workspace's file an agent is told.
const maxPromptFile = 32 << 10

// PromptFile is a file of an agent's workspace that is part of its system prompt.
type PromptFile struct {
	Name string
	Text string
	Size int64 // of the file
	Cut  bool  // Text is only its beginning
}

// Workspaces reads what agents are told from their folders. A file is read again when its time or size has changed.
type Workspaces struct {
	mu    sync.Mutex
	files map[string]readFile // by folder and name
}

type readFile struct {
	PromptFile
	time time.Time
	err  error
}

// Instructions gives INSTRUCTIONS.md of a folder, or AGENTS.md when that is missing. Persona gives PERSONA.md, or SOUL.md. Both are
// empty when there is none. An error names a file that is there and cannot be read.
func (w *Workspaces) Instructions(dir string) (PromptFile, error) {
	return w.first(dir, tools.PromptFiles[0], tools.PromptFiles[2])
}

// Persona is described at Instructions.
func (w *Workspaces) Persona(dir string) (PromptFile, error) {
	return w.first(dir, tools.PromptFiles[1], tools.PromptFiles[3])
}

func (w *Workspaces) first(dir string, names ...string) (f PromptFile, err error) {
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err != nil {
		return f, fmt.Errorf("opening a workspace: %w", err)
	}
	defer func() { _ = root.Close() }()
	for _, name := range names {
		info, err := root.Stat(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return f, fmt.Errorf("workspace %s: %w", dir, err)
		}
		return w.read(root, dir, name, info)
	}
	return f, nil
}

// read gives a file from memory while it is as it was.
func (w *Workspaces) read(root *os.Root, dir, name string, info fs.FileInfo) (PromptFile, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	at := dir + "\x00" + name
	if have, ok := w.files[at]; ok && have.time.Equal(info.ModTime()) && have.Size == info.Size() {
		return have.PromptFile, have.err
	}
	f := readFile{PromptFile: PromptFile{Name: name, Size: info.Size()}, time: info.ModTime()}
	if f.Text, f.Cut, f.err = load(root, name, info); f.err != nil {
		f.err = fmt.Errorf("workspace %s: %w", dir, f.err)
	}
	if w.files == nil {
		w.files = make(map[string]readFile)
	}
	w.files[at] = f
	return f.PromptFile, f.err
}

func load(root *os.Root, name string, info fs.FileInfo) (text string, cut bool, err error) {
	if !info.Mode().IsRegular() {
		return "", false, fmt.Errorf("%s is no plain file", name) // opening a pipe may wait for ever
	}
	file, err := root.Open(name)
	if err != nil {
		return "", false, err
	}
	defer func() { _ = file.Close() }()
	b, err := io.ReadAll(io.LimitReader(file, maxPromptFile+1))
	if err != nil {
		return "", false, err
	}
	if len(b) > maxPromptFile {
		n := maxPromptFile
		for n > 0 && !utf8.RuneStart(b[n]) {
			n--
		}
		b, cut = b[:n], true
	}
	return strings.TrimSpace(cleanText(string(b))), cut, nil
}
