package gateway

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// exportFolder is where /export writes, in the state folder.
const exportFolder = "exports"

// maxExports is how many exports there are at most: the newest.
const maxExports = 50

// export is router.Deps.Export.
func (h *Host) export(name string, text []byte) (string, error) {
	return writeExport(h.config().State, name, text)
}

// writeExport writes a file that only the host's user can read. It never leaves the folder, whatever the name.
func writeExport(folder, name string, text []byte) (path string, err error) {
	state, err := os.OpenRoot(folder)
	if err != nil {
		return "", fmt.Errorf("open the state folder: %w", err)
	}
	defer state.Close() //nolint:errcheck // it was only read
	if err := state.Mkdir(exportFolder, 0o700); err != nil && !os.IsExist(err) {
		return "", fmt.Errorf("create the folder of exports: %w", err)
	}
	root, err := state.OpenRoot(exportFolder)
	if err != nil {
		return "", fmt.Errorf("open the folder of exports: %w", err)
	}
	defer root.Close() //nolint:errcheck // it was only read
	part := name + ".part"
	if err := root.WriteFile(part, text, 0o600); err != nil {
		return "", fmt.Errorf("write an export: %w", err)
	}
	if err := root.Rename(part, name); err != nil {
		return "", fmt.Errorf("write an export: %w", err)
	}
	if err := dropExports(root, name); err != nil {
		return "", fmt.Errorf("delete old exports: %w", err)
	}
	return filepath.Join(state.Name(), exportFolder, name), nil
}

// dropExports deletes the oldest exports, and what a crash left of them, when there are too many; keep is never one.
func dropExports(root *os.Root, keep string) error {
	all, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return err
	}
	var old []fs.FileInfo
	for _, e := range all {
		ours := strings.HasSuffix(strings.TrimSuffix(e.Name(), ".part"), ".md") && e.Name() != keep
		if info, err := e.Info(); err == nil && ours && info.Mode().IsRegular() {
			old = append(old, info)
		}
	}
	slices.SortFunc(old, func(a, b fs.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
	for _, f := range old[min(maxExports-1, len(old)):] {
		if err := root.Remove(f.Name()); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
