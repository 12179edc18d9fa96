package agent

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
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
	told  map[string]string   // errors that were given already, by the same
}

type readFile struct {
	PromptFile
	time time.Time
	err  error
}

// Instructions gives INSTRUCTIONS.md of a folder, or AGENTS.md when that is missing. Persona gives PERSONA.md, or SOUL.md. Both are
// empty when there is none. What is there and cannot be read, or is no plain file, counts as missing; an error says so once.
func (w *Workspaces) Instructions(dir string) (PromptFile, error) {
	return w.first(dir, tools.PromptFiles[0], tools.PromptFiles[2])
}

// Persona is described at Instructions.
func (w *Workspaces) Persona(dir string) (PromptFile, error) {
	return w.first(dir, tools.PromptFiles[1], tools.PromptFiles[3])
}

func (w *Workspaces) first(dir string, names ...string) (f PromptFile, err error) {
	absent := func(name string) bool {
		_, err := os.Lstat(filepath.Join(dir, name))
		return errors.Is(err, fs.ErrNotExist)
	}
	for len(names) > 0 && absent(names[0]) { // most workspaces have none: no folder is opened for it
		_ = w.news(dir+"\x00"+names[0], nil)
		names = names[1:]
	}
	if len(names) == 0 {
		return f, nil
	}
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err != nil {
		return f, fmt.Errorf("open workspace: %w", err)
	}
	defer func() { _ = root.Close() }()
	for _, name := range names {
		info, bad := root.Stat(name)
		found := bad == nil
		if found {
			f, bad = w.read(root, dir, name, info)
		}
		if errors.Is(bad, fs.ErrNotExist) {
			found, bad = false, nil
		}
		if w.news(dir+"\x00"+name, bad) {
			err = errors.Join(err, fmt.Errorf("workspace %s: %w", dir, bad))
		}
		if found && bad == nil {
			return f, err
		}
	}
	return PromptFile{}, err
}

// news reports whether an error is to be told: it is one, and not the last that was told of this file.
func (w *Workspaces) news(file string, err error) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err == nil {
		delete(w.told, file)
		return false
	}
	if w.told == nil {
		w.told = make(map[string]string)
	}
	was := w.told[file]
	w.told[file] = err.Error()
	return was != err.Error()
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
	f.Text, f.Cut, f.err = load(root, name, info)
	if w.files == nil {
		w.files = make(map[string]readFile)
	}
	w.files[at] = f
	return f.PromptFile, f.err
}

func load(root *os.Root, name string, info fs.FileInfo) (text string, cut bool, err error) {
	if !info.Mode().IsRegular() {
		return "", false, fmt.Errorf("%s is not a regular file", name) // opening a pipe may wait for ever
	}
	file, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
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
