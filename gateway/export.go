package gateway

import (
	"fmt"
	"os"
	"path/filepath"
)

// exportFolder is where /export writes, in the state folder.
const exportFolder = "exports"

// export is router.Deps.Export.
func (h *Host) export(name string, text []byte) (string, error) {
	return writeExport(h.deps.Config.Config().State, name, text)
}

// writeExport writes a file that only the host's user can read. It never leaves the folder, whatever the name.
func writeExport(folder, name string, text []byte) (path string, err error) {
	state, err := os.OpenRoot(folder)
	if err != nil {
		return "", fmt.Errorf("opening the state folder: %w", err)
	}
	defer state.Close() //nolint:errcheck // it was only read
	if err := state.Mkdir(exportFolder, 0o700); err != nil && !os.IsExist(err) {
		return "", fmt.Errorf("making the folder of exports: %w", err)
	}
	root, err := state.OpenRoot(exportFolder)
	if err != nil {
		return "", fmt.Errorf("opening the folder of exports: %w", err)
	}
	defer root.Close() //nolint:errcheck // it was only read
	part := name + ".part"
	if err := root.WriteFile(part, text, 0o600); err != nil {
		return "", fmt.Errorf("writing an export: %w", err)
	}
	if err := root.Rename(part, name); err != nil {
		return "", fmt.Errorf("writing an export: %w", err)
	}
	return filepath.Join(state.Name(), exportFolder, name), nil
}
