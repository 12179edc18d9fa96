package backup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"unicode"
	"unicode/utf8"

	"parley/gateway/filesystem"
	"parley/sessions/sqlstore"
)

const (
	serverFolder = "mcp"          // MCP servers write here what they like
	serverTemp   = ".sandbox.tmp" // ends the names of their temporary folders: they are empty at each start
	maxDepth     = 100            // folders in one another; each is open while it is looked into
	maxLeft      = 1000           // names of files that were left out
	manifestLine = 170            // bytes of a file in the manifest, without its name
)

// leave names a file that was left out. The walk is done twice.
func (x *writer) leave(name, why string) {
	name = strings.TrimPrefix(name, stateFolder)
	if !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		name = strconv.QuoteToASCII(name)
	}
	switch line := fmt.Sprintf("%.300s: %s", name, why); {
	case slices.Contains(x.m.Left, line):
	case len(x.m.Left) >= maxLeft:
		x.more++
	default:
		x.m.Left = append(x.m.Left, line)
	}
}

// walk calls f for every file of the state folder that is copied, but the store's database, with its path with slashes and with how it is
// opened. The folders of MCP servers come last: where the archive is full, what is missing is theirs. They may change them meanwhile, so
// no link is followed.
func (x *writer) walk(ctx context.Context, f func(name string, open func() (*os.File, error)) error) error {
	own, err := configured(x.State, x.Config)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(x.State)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // it is only read
	w := &walker{writer: x, own: own, f: f}
	list, err := readFolder(root)
	if err != nil {
		return err
	}
	slices.SortStableFunc(list, func(a, b string) int { return place(a) - place(b) })
	for _, name := range list {
		if passing(name) || name == mediaFolder && !x.Media {
			continue
		}
		if err := w.visit(ctx, root, name, name); err != nil {
			return err
		}
	}
	return nil
}

func place(name string) int {
	if name == serverFolder {
		return 1
	}
	return 0
}

// walker is one walk through the state folder.
type walker struct {
	*writer
	own []string // names of the configuration: it has a place of its own
	f   func(name string, open func() (*os.File, error)) error
}

// visit looks at one name in a folder; name is its whole path with slashes.
func (w *walker) visit(ctx context.Context, in *os.Root, base, name string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	info, err := in.Lstat(base)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil // it went meanwhile
	case errors.Is(err, fs.ErrPermission):
		w.leave(name, "unreadable")
		return nil
	case err != nil:
		return fmt.Errorf("read %s: %w", name, err)
	case info.IsDir():
		return w.folder(ctx, in, info, base, name)
	case slices.Contains(w.own, name), beside(name), name == sqlstore.DatabaseFile:
		return nil
	case !info.Mode().IsRegular():
		w.leave(name, "not a regular file")
		return nil
	case !utf8.ValidString(name) || properName(stateFolder+name) != nil:
		w.leave(name, "a restore does not accept its name")
		return nil
	case strings.HasPrefix(name, serverFolder+"/") && (len(w.m.Files) >= maxFiles-100 || w.room < len(name)+manifestLine):
		w.leave(name, "the backup has as many files as a restore accepts")
		return nil
	}
	return w.f(name, func() (*os.File, error) { return openPlain(in, base) })
}

// folder visits what is in a folder.
func (w *walker) folder(ctx context.Context, in *os.Root, info fs.FileInfo, base, name string) error {
	top, rest, _ := strings.Cut(name, "/")
	if top == serverFolder && strings.HasSuffix(rest, serverTemp) && !strings.Contains(rest, "/") {
		return nil
	}
	if strings.Count(name, "/") >= maxDepth {
		w.leave(name, fmt.Sprintf("nested deeper than %d folders", maxDepth))
		return nil
	}
	list, root, err := enter(in, info, base)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.Is(err, fs.ErrPermission):
		w.leave(name, "unreadable")
		return nil
	case err != nil:
		return fmt.Errorf("read the folder %s: %w", name, err)
	}
	defer func() { _ = root.Close() }() // it is only read
	for _, base := range list {
		if err := w.visit(ctx, root, base, name+"/"+base); err != nil {
			return err
		}
	}
	return nil
}

// enter opens a folder that was looked at, and gives the names in it.
func enter(in *os.Root, info fs.FileInfo, base string) ([]string, *os.Root, error) {
	root, err := in.OpenRoot(base)
	if errors.Is(err, syscall.ENOTDIR) {
		err = fs.ErrNotExist
	}
	if err != nil {
		return nil, nil, err
	}
	now, err := root.Stat(".")
	if err == nil && !os.SameFile(now, info) { // a link took its place meanwhile
		err = fs.ErrNotExist
	}
	if err != nil {
		return nil, nil, errors.Join(err, root.Close())
	}
	list, err := readFolder(root)
	if err != nil {
		return nil, nil, errors.Join(err, root.Close())
	}
	return list, root, nil
}

func readFolder(root *os.Root) ([]string, error) {
	f, err := root.Open(".")
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it is only read
	list, err := f.Readdirnames(-1)
	slices.Sort(list)
	return list, err
}

// openPlain opens a file that is no link. It does not wait, as opening a FIFO would.
func openPlain(in *os.Root, base string) (*os.File, error) {
	info, err := in.Lstat(base)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, filesystem.ErrNotRegular
	}
	f, err := in.OpenFile(base, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if now, err := f.Stat(); err != nil || !os.SameFile(now, info) {
		_ = f.Close() // it was not read
		return nil, filesystem.ErrNotRegular
	}
	return f, nil
}
