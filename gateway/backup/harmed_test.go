package backup

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

// TestHarmedArchives: whatever was cut off or flipped, the archive is refused and the state stays as it is. (A few bits of the
// compression stand for nothing, such as those that fill up a byte: without them it is still the same archive, by every hash.)
func TestHarmedArchives(t *testing.T) {
	t.Parallel()
	dir, s := state(t)
	b, want := archive(t, dir, s, false)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Check(t.Context(), bytes.NewReader(b)); err != nil {
		t.Fatal(err)
	}
	harmless := 0
	refused := func(what string, at int, b []byte) {
		t.Helper()
		m, err := Check(t.Context(), bytes.NewReader(b))
		if err == nil && what == "flipped" && reflect.DeepEqual(m, want) {
			harmless++
		} else if !errors.Is(err, ErrArchive) {
			t.Errorf("%s at %d: %v", what, at, err)
		}
	}
	const steps, header = 20, 10 // the header of gzip names a time and a system: nothing depends on it
	for i := range steps {
		at := header + i*(len(b)-header)/steps
		refused("cut off", at, b[:at])
		flipped := bytes.Clone(b)
		flipped[at] ^= 1 << (i % 8)
		refused("flipped", at, flipped)
	}
	if harmless > steps/4 {
		t.Errorf("%d of %d bits stand for nothing", harmless, steps)
	}
	for at := len(b) - 8; at < len(b); at += 3 { // the sum and the size
		refused("cut off", at, b[:at])
	}
	if _, err := Restore(t.Context(), bytes.NewReader(b[:len(b)/2]), Options{State: dir, Now: time.Now()}); !errors.Is(err, ErrArchive) {
		t.Errorf("a restore of half an archive: %v", err)
	}
	if content(t, filepath.Join(dir, "token")) != "secret\n" || !reopened(t, dir)["m1"] {
		t.Error("the state was changed")
	}
}

// forged makes an archive out of entries, with a manifest that agrees with them.
func forged(t *testing.T, change func(*Manifest), hs ...tar.Header) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	m := Manifest{Format: Format, Store: "postgresql"}
	put := func(h tar.Header, text string) {
		h.Size, h.Mode = int64(len(text)), 0o600
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, text); err != nil {
			t.Fatal(err)
		}
	}
	for _, h := range hs {
		m.Files = append(m.Files, File{Path: h.Name, SHA256: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"}) // of nothing
		put(h, "")
	}
	if change != nil {
		change(&m)
	}
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	put(tar.Header{Name: manifestName}, string(text))
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestForgedArchives(t *testing.T) {
	t.Parallel()
	fine := tar.Header{Name: "state/x"}
	if _, err := Check(t.Context(), bytes.NewReader(forged(t, nil, fine))); err != nil {
		t.Fatalf("a plain archive: %v", err)
	}
	for _, name := range []string{"state/../../evil", "../evil", "/evil", "state//evil", "state/", "state", "evil", "state/./evil", `state/..\evil`, "state/owner.lock", "state/restore.unfinished", "state/parley.sock", "state/.restore-1/x", "state/before-restore-1/x",
		"state/agents/a\x1b[31m\nrestored ok", "state/a\tb", "state/a\u009b1m", "state/a\xff", "state/PARLEY.DB", "state/Parley.db", "state/PARLEY.DB-wal", "state/Parley.sock", "state/OWNER.LOCK"} {
		dir := t.TempDir()
		inner := filepath.Join(dir, "a", "b")
		if err := os.MkdirAll(inner, 0o700); err != nil {
			t.Fatal(err)
		}
		b := forged(t, nil, tar.Header{Name: name})
		if _, err := unpack(t.Context(), bytes.NewReader(b), inner, &bounds{}); !errors.Is(err, ErrArchive) {
			t.Errorf("the name %q: %v", name, err)
		}
		_ = filepath.WalkDir(dir, func(p string, e os.DirEntry, err error) error {
			if err == nil && !e.IsDir() {
				t.Errorf("the name %q wrote %s", name, p)
			}
			return nil
		})
	}
	for what, b := range map[string][]byte{
		"a symbolic link":     forged(t, nil, tar.Header{Name: "state/x", Typeflag: tar.TypeSymlink, Linkname: "/etc"}),
		"a hard link":         forged(t, nil, tar.Header{Name: "state/x", Typeflag: tar.TypeLink, Linkname: "/etc/passwd"}),
		"a folder":            forged(t, nil, tar.Header{Name: "state/x/", Typeflag: tar.TypeDir}),
		"an entry twice":      forged(t, nil, fine, fine),
		"an entry too many":   forged(t, func(m *Manifest) { m.Files = m.Files[:0] }, fine),
		"an entry too few":    forged(t, func(m *Manifest) { m.Files = append(m.Files, File{Path: "state/y"}) }, fine),
		"another hash":        forged(t, func(m *Manifest) { m.Files[0].SHA256 = "00" }, fine),
		"another size":        forged(t, func(m *Manifest) { m.Files[0].Size = 7 }, fine),
		"no format":           forged(t, func(m *Manifest) { m.Format = 0 }, fine),
		"what is no archive":  []byte("hello"),
		"nothing":             nil,
		"an empty gzip":       squeezed(t, nil),
		"gzip, but no tar":    squeezed(t, []byte(strings.Repeat("x", 2000))),
		"a tar, but no state": squeezed(t, make([]byte, 1024)),
	} {
		if _, err := Check(t.Context(), bytes.NewReader(b)); !errors.Is(err, ErrArchive) {
			t.Errorf("%s: %v", what, err)
		}
	}
	newer := forged(t, func(m *Manifest) { m.Format = Format + 1 }, fine)
	if _, err := Check(t.Context(), bytes.NewReader(newer)); err == nil || !strings.Contains(err.Error(), "is newer than this program's") {
		t.Errorf("a newer format: %v", err)
	}
}

func squeezed(t *testing.T, b []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	if _, err := z.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// A manifest that says another store or schema than the database has is no manifest of this archive.
func TestManifestAgreesWithDatabase(t *testing.T) {
	t.Parallel()
	dir, s := state(t)
	b, m := archive(t, dir, s, false)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for what, change := range map[string]func(*Manifest){
		"":                     func(*Manifest) {},
		"a schema of a future": func(m *Manifest) { m.Schema = 99 },
		"no schema":            func(m *Manifest) { m.Schema = 0 },
		"the other store":      func(m *Manifest) { m.Store = "postgresql" },
		"an unknown store":     func(m *Manifest) { m.Store = "postgres" },
	} {
		changed := m
		change(&changed)
		_, err := Restore(t.Context(), bytes.NewReader(withManifest(t, b, changed)), Options{State: filepath.Join(t.TempDir(), "into"), DryRun: true})
		if errors.Is(err, ErrArchive) != (what != "") || what == "" && err != nil {
			t.Errorf("%q: %v", what, err)
		}
	}
	unknown := forged(t, func(m *Manifest) { m.Store = "mysql" }, tar.Header{Name: "state/x"})
	if _, err := Restore(t.Context(), bytes.NewReader(unknown), Options{State: filepath.Join(t.TempDir(), "into"), Server: true, DryRun: true}); err == nil {
		t.Error("an archive of an unknown store was accepted")
	}
}

// withManifest is an archive with another manifest.
func withManifest(t *testing.T, b []byte, m Manifest) []byte {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	r := tar.NewReader(z)
	var out bytes.Buffer
	to := gzip.NewWriter(&out)
	w := tar.NewWriter(to)
	for {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err == nil && h.Name == manifestName {
			text, err = json.Marshal(m)
			h.Size = int64(len(text))
		}
		if err := errors.Join(err, w.WriteHeader(h)); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(text); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), to.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// An archive that is a file is read to its end before anything of it is written.
func TestRefusedBeforeAnythingIsWritten(t *testing.T) {
	t.Parallel()
	b := forged(t, func(m *Manifest) { m.Files[1].SHA256 = "00" }, tar.Header{Name: "state/x"}, tar.Header{Name: "state/y"})
	if err := readAhead(t.Context(), bytes.NewReader(b), Options{}); !errors.Is(err, ErrArchive) {
		t.Errorf("an archive with a wrong file: %v", err)
	}
	r := bytes.NewReader(forged(t, nil, tar.Header{Name: "state/x"}))
	if err := readAhead(t.Context(), r, Options{}); err != nil || r.Len() != int(r.Size()) {
		t.Errorf("an archive that is whole: %v, %d bytes are left to read", err, r.Len())
	}
	if err := readAhead(t.Context(), io.MultiReader(r), Options{}); err != nil || r.Len() != int(r.Size()) {
		t.Errorf("a pipe: %v", err)
	}
}
