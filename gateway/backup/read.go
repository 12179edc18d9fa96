package backup

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"parley/gateway/filesystem"
	"parley/sessions/sqlstore"
)

// ErrArchive says that a file is no whole archive of parley. Nothing of it is used.
var ErrArchive = errors.New("the backup is incomplete or damaged")

func bad(format string, a ...any) error {
	return fmt.Errorf("%w: %s", ErrArchive, fmt.Sprintf(format, a...))
}

// Check reads an archive to its end and compares every file with the manifest. It writes nothing.
func Check(ctx context.Context, r io.Reader) (Manifest, error) { return read(ctx, r, nil, &bounds{}) }

// unpack is Check that writes the files below a folder, within bounds.
func unpack(ctx context.Context, r io.Reader, dir string, b *bounds) (m Manifest, err error) {
	root, err := os.OpenRoot(dir) // whatever a name says, nothing is written outside
	if err != nil {
		return m, err
	}
	defer func() { _ = root.Close() }() // every file is closed already
	if m, err = read(ctx, r, root, b); err != nil {
		return m, err
	}
	folder, err := root.Open(".")
	if err != nil {
		return m, err
	}
	defer func() { _ = folder.Close() }() // it was read only
	if err := filesystem.SyncAll(folder); err != nil {
		return m, fmt.Errorf("write unpacked files: %w", err)
	}
	return m, nil
}

func read(ctx context.Context, r io.Reader, root *os.Root, b *bounds) (m Manifest, err error) {
	b.packed = &counted{r: r}
	packed := bufio.NewReader(b.packed)
	z, err := gzip.NewReader(packed)
	if err != nil {
		return m, bad("not compressed with gzip (%v)", err)
	}
	z.Multistream(false) // a second archive behind the first one would be read as a part of it
	t := tar.NewReader(z)
	found := map[string]File{}
	var manifest []byte
	for {
		if err := ctx.Err(); err != nil {
			return m, err
		}
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return m, bad("unreadable after %d files: %v", len(found), err)
		}
		if manifest != nil {
			return m, bad("%q comes after the manifest", h.Name)
		}
		if h.Typeflag != tar.TypeReg {
			return m, bad("%q is not a regular file", h.Name)
		}
		if h.Name == manifestName {
			if manifest, err = io.ReadAll(io.LimitReader(t, maxManifest)); err != nil {
				return m, bad("its manifest is unreadable: %v", err)
			}
			continue
		}
		if err := properName(h.Name); err != nil {
			return m, err
		}
		if _, twice := found[h.Name]; twice {
			return m, bad("%q appears twice", h.Name)
		}
		if err := b.admit(h.Name, h.Size); err != nil {
			return m, err
		}
		if found[h.Name], err = readFile(t, h, root, b); err != nil {
			return m, err
		}
	}
	switch n, err := io.Copy(zeros{}, io.LimitReader(z, maxTrailing+1)); { // what follows the end of the tar, up to the sum of all
	case n > maxTrailing, errors.Is(err, errTrailing):
		return m, bad("unexpected data after the end: use the file as `parley backup` wrote it")
	case err != nil:
		return m, bad("the end of the archive is damaged: %v", err)
	}
	if err := ended(packed); err != nil {
		return m, err
	}
	return compare(manifest, found)
}

var errTrailing = errors.New("more than zeros")

// zeros takes the zeros with which programs fill up the end of a tar.
type zeros struct{}

func (zeros) Write(p []byte) (int, error) {
	if len(bytes.Trim(p, "\x00")) > 0 {
		return 0, errTrailing
	}
	return len(p), nil
}

// ended refuses bytes behind a whole archive, such as a second gzip file that was appended to it.
func ended(packed *bufio.Reader) error {
	head, err := packed.Peek(2)
	switch {
	case len(head) == 0 && errors.Is(err, io.EOF):
		return nil
	case len(head) == 0:
		return bad("the end of the archive is unreadable: %v", err)
	case bytes.Equal(head, []byte{0x1f, 0x8b}):
		return bad("a second gzip file follows the end: use the file as `parley backup` wrote it, or each of the two separately")
	}
	return bad("other data follows the end: use the file as `parley backup` wrote it")
}

// properName refuses every name that the writer does not write.
func properName(name string) error {
	rest, in := strings.CutPrefix(name, stateFolder)
	if name == configName || name == envName {
		return nil
	}
	top, _, _ := strings.Cut(rest, "/")
	if !in || rest == "" || beside(rest) || path.Clean(rest) != rest || strings.ContainsRune(name, '\\') || strings.ContainsFunc(name, unicode.IsControl) || !utf8.ValidString(name) ||
		!filepath.IsLocal(filepath.FromSlash(rest)) || passing(top) || isDisguised(rest) {
		return bad("%.200q is not a valid file name in a backup", name)
	}
	return nil
}

// isDisguised reports whether a name is that of a file of the host in other letters: some systems take the two for one file.
func isDisguised(rest string) bool {
	lower := strings.ToLower(rest)
	top, _, _ := strings.Cut(lower, "/")
	return lower != rest && (lower == sqlstore.DatabaseFile || beside(lower) || passing(top))
}

// maxUnsynced is how many bytes a file has at most that is not brought to the disk on its own: one call for all is faster than one each.
const maxUnsynced = 1 << 20

func readFile(r io.Reader, h *tar.Header, root *os.Root, b *bounds) (f File, err error) {
	sum := sha256.New()
	w := io.Writer(sum)
	if root != nil {
		if err := root.MkdirAll(filepath.FromSlash(path.Dir(h.Name)), 0o700); err != nil {
			return f, fmt.Errorf("unpacking %s: %w", h.Name, err)
		}
		out, err := root.OpenFile(filepath.FromSlash(h.Name), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err != nil {
			return f, fmt.Errorf("unpacking %s: %w", h.Name, err)
		}
		defer func() {
			var synced error
			if !filesystem.CanSyncAll || h.Size > maxUnsynced {
				synced = out.Sync()
			}
			if e := errors.Join(synced, out.Close()); err == nil && e != nil {
				err = fmt.Errorf("unpacking %s: %w", h.Name, e)
			}
		}()
		w = io.MultiWriter(out, sum)
	}
	track := &tracked{r: r}
	n, err := io.Copy(bounded{w, b}, track)
	if track.err != nil {
		return f, bad("%s is unreadable: %v", h.Name, track.err)
	}
	if errors.Is(err, ErrTooLarge) {
		return f, err
	}
	if err != nil {
		return f, fmt.Errorf("unpacking %s: %w", h.Name, err)
	}
	return File{Path: h.Name, Size: n, SHA256: hex.EncodeToString(sum.Sum(nil))}, nil
}

// tracked tells a failure of reading from one of writing.
type tracked struct {
	r   io.Reader
	err error
}

func (t *tracked) Read(p []byte) (int, error) {
	n, err := t.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		t.err = err
	}
	return n, err
}

// compare holds what was found against the manifest.
func compare(text []byte, found map[string]File) (m Manifest, err error) {
	if text == nil {
		return m, bad("the end of the archive is missing")
	}
	d := json.NewDecoder(bytes.NewReader(text))
	if err := d.Decode(&m); err != nil {
		return m, bad("its manifest is unreadable: %v", err)
	}
	if m.Format > Format {
		return m, fmt.Errorf("backup format %d is newer than this program's (%d): restore it with parley %s or later", m.Format, Format, m.Program)
	}
	if m.Format < 1 {
		return m, bad("the manifest has no format")
	}
	for _, f := range m.Files {
		got, ok := found[f.Path]
		if !ok {
			return m, bad("%s is missing", f.Path)
		}
		if got != f {
			return m, bad("%s differs from the manifest: %d bytes with hash %.12s… instead of %d with %.12s…", f.Path, got.Size, got.SHA256, f.Size, f.SHA256)
		}
		delete(found, f.Path)
	}
	for name := range found {
		return m, bad("%s is not in the manifest", name)
	}
	return m, nil
}
