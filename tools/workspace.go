package tools

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"
	"unicode/utf8"
)

// workspace is a folder of files during one call. os.Root keeps every path in it, symbolic links included.
type workspace struct {
	root   *os.Root
	max    int                    // bytes of one file
	total  int                    // bytes of all files
	count  int                    // files and folders
	around func(more int64) error // refuses further bytes for the sake of others; nil = nothing
	again  bool                   // the turn was interrupted before: this may be a call that was made already
	temp   string                 // name of the file that a change is prepared in: the same for the same call, so that a crash leaves one at most
}

// tempPrefix is what names of files begin with that are the host's.
const tempPrefix = ".parley-"

func ours(name string) bool { return strings.HasPrefix(name, tempPrefix) }

func tempName(source string) string {
	h := sha256.Sum256([]byte(source))
	return tempPrefix + hex.EncodeToString(h[:8]) + ".tmp"
}

// binaryError says that a file is no text.
type binaryError struct{ size int64 }

func (e *binaryError) Error() string { return "the file is not text" }

// openPlain opens a plain file and nothing else: reading a pipe may wait for ever.
func openPlain(root *os.Root, name string) (*os.File, error) {
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		err = noFile("the path is a folder; list shows it")
	} else if err == nil && !info.Mode().IsRegular() {
		err = noFile("the path is not a regular file")
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// load reads a text file.
func (w workspace) load(name string) (text string, info fs.FileInfo, err error) {
	f, err := openPlain(w.root, name)
	if err != nil {
		return "", nil, err
	}
	defer func() { _ = f.Close() }()
	if info, err = f.Stat(); err != nil {
		return "", nil, err
	}
	if info.Size() > int64(w.max) {
		return "", nil, noFile("the file has %d bytes; tools.files.maxBytes allows %d", info.Size(), w.max)
	}
	b, err := io.ReadAll(io.LimitReader(f, int64(w.max)))
	if err != nil {
		return "", nil, err
	}
	if text = string(b); !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
		return "", nil, &binaryError{info.Size()}
	}
	return text, info, nil
}

// write makes or replaces a file. Done again it changes nothing.
func (w workspace) write(name, content string) (r filesResult, err error) {
	was, err := w.target(name)
	if err != nil {
		return r, err
	}
	if err := w.put(name, content, was); err != nil {
		return r, err
	}
	done := "created"
	if was != nil {
		done = "replaced"
	}
	return filesResult{Done: done, Size: int64(len(content))}, nil
}

// append adds to a file, which it makes when there is none.
func (w workspace) append(name, content string) (r filesResult, err error) {
	if content == "" {
		return r, noFile("content is required: what to add")
	}
	was, err := w.target(name)
	if err != nil {
		return r, err
	}
	text := ""
	if was != nil {
		if text, _, err = w.load(name); err != nil {
			return r, err
		}
	}
	if w.again && strings.HasSuffix(text, content) {
		return filesResult{Done: "nothing", Size: int64(len(text)), Note: "the host restarted during this turn, and the file already ends with this text. To add the text twice, use write."}, nil
	}
	if err := w.put(name, text+content, was); err != nil {
		return r, err
	}
	return filesResult{Done: "added", Size: int64(len(text) + len(content))}, nil
}

// edit replaces a text that is in the file once.
func (w workspace) edit(name, old, with string) (r filesResult, err error) {
	switch {
	case old == "":
		return r, noFile("old is required: the text to replace")
	case old == with:
		return r, noFile("old and new are the same")
	}
	was, err := w.target(name)
	if err != nil {
		return r, err
	}
	text, _, err := w.load(name)
	if err != nil {
		return r, err
	}
	n := strings.Count(text, old)
	if w.again && with != "" && strings.Contains(text, with) && (n == 0 || strings.Contains(with, old)) {
		return filesResult{Done: "nothing", Size: int64(len(text)), Note: "the host restarted during this turn, and the file already contains new. Read the file to check."}, nil
	}
	switch n {
	case 0:
		return r, noFile("old is not in the file; read the file, and copy the text exactly")
	case 1:
	default:
		return r, noFile("old is in the file %d times; include more of the text around it", n)
	}
	text = strings.Replace(text, old, with, 1)
	if err := w.put(name, text, was); err != nil {
		return r, err
	}
	return filesResult{Done: "replaced", Size: int64(len(text))}, nil
}

// delete removes a file, a link or an empty folder.
func (w workspace) delete(name string) (r filesResult, err error) {
	err = w.root.Remove(name)
	if w.again && errors.Is(err, fs.ErrNotExist) {
		return filesResult{Done: "nothing", Note: "the path no longer exists"}, nil
	}
	if err != nil {
		if info, e := w.root.Lstat(name); e == nil && info.IsDir() {
			return r, noFile("the folder is not empty; delete its contents first")
		}
		return r, err
	}
	return filesResult{Done: "deleted"}, nil
}

// target returns the file to change; nil if it does not exist.
func (w workspace) target(name string) (fs.FileInfo, error) {
	info, err := w.root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil //nolint:nilnil // nothing there is no error
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, noFile("the path is a folder")
	case !info.Mode().IsRegular():
		return nil, noFile("the path is a link or a special file; only regular files can be changed")
	}
	return info, nil
}

// put writes a file whole: readers, and a crash, see the old text or the new one.
func (w workspace) put(name, text string, was fs.FileInfo) error {
	if len(text) > w.max {
		return noFile("the file would have %d bytes; tools.files.maxBytes allows %d", len(text), w.max)
	}
	if err := w.room(int64(len(text)), was); err != nil {
		return err
	}
	dir := path.Dir(name)
	if err := w.root.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	mode := fs.FileMode(0o600)
	if was != nil {
		mode = was.Mode().Perm()
	}
	temp := path.Join(dir, w.temp)
	if err := w.root.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	err := w.prepare(temp, text, mode)
	if err == nil {
		err = w.root.Rename(temp, name)
	}
	if err != nil {
		_ = w.root.Remove(temp) // the next change of the same call does it otherwise
		return err
	}
	d, err := w.root.Open(dir)
	if err != nil {
		return err
	}
	_ = d.Sync() // not every system syncs folders; the file itself is on disk
	return d.Close()
}

func (w workspace) prepare(temp, text string, mode fs.FileMode) error {
	f, err := w.root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = io.WriteString(f, text)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// room refuses what would make the workspace larger than it may be.
func (w workspace) room(size int64, was fs.FileInfo) error {
	if was != nil {
		size -= was.Size()
	}
	if size <= 0 && was != nil {
		return nil
	}
	used, n := usage(w.root.FS(), w.count)
	switch {
	case n > w.count:
		return noFile("the workspace has %d files and folders, the maximum; delete some", w.count)
	case used+size > int64(w.total):
		return noFile("the workspace would have %d bytes; at most %d are allowed (tools.files.maxTotalBytes)", used+size, w.total)
	case w.around != nil:
		return w.around(size)
	}
	return nil
}
