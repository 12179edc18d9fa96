package filesystem

import (
	"crypto/tls"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// ErrNotRegular says that a name stands for a FIFO, a socket or a device, and not for a file.
var ErrNotRegular = errors.New("not a regular file")

// Open opens a regular file to read. It never waits, as opening a FIFO does, and opens no device. Links are followed. What a shell hands over as
// a descriptor, as in --config <(command), may be a pipe.
func Open(path string) (*os.File, error) {
	if clean := filepath.Clean(path); clean == "/dev/stdin" || strings.HasPrefix(clean, "/dev/fd/") || strings.HasPrefix(clean, "/proc/self/fd/") {
		return os.Open(path)
	}
	return regular(path, os.Stat, os.OpenFile)
}

// OpenIn is Open within a folder.
func OpenIn(root *os.Root, name string) (*os.File, error) {
	return regular(name, root.Stat, root.OpenFile)
}

func regular(path string, stat func(string) (fs.FileInfo, error), open func(string, int, fs.FileMode) (*os.File, error)) (*os.File, error) {
	no := &fs.PathError{Op: "open", Path: path, Err: ErrNotRegular}
	info, err := stat(path)
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		e.Op = no.Op
	}
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		no.Err = syscall.EISDIR
	}
	if !info.Mode().IsRegular() {
		return nil, no
	}
	f, err := open(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if info, err = f.Stat(); err != nil || !info.Mode().IsRegular() { // another took its place
		_ = f.Close() // it was not read
		return nil, no
	}
	return f, nil
}

// Read reads a regular file as Open opens it.
func Read(path string) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it is only read
	return io.ReadAll(f)
}

// KeyPair reads a certificate and its key from regular files.
func KeyPair(cert, key string) (tls.Certificate, error) {
	c, err := Read(cert)
	if err != nil {
		return tls.Certificate{}, err
	}
	k, err := Read(key)
	if err != nil {
		return tls.Certificate{}, err
	}
	return tls.X509KeyPair(c, k)
}
