package backup

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"parley/gateway/configfile"
)

// hostFolders are the host's own folders in the state folder.
var hostFolders = []string{"agents", "channels", mediaFolder, "outbox", "workspace"}

// configured gives the configuration file and the file of variables beside it as paths in the state folder, with slashes; none when
// they are elsewhere.
func configured(state, file string) (names []string, err error) {
	if file == "" {
		return nil, nil
	}
	if state, err = whole(state); err != nil {
		return nil, err
	}
	folder, err := whole(filepath.Dir(file))
	if err != nil {
		return nil, err
	}
	for _, name := range []string{filepath.Base(file), configfile.EnvName} {
		if rel, err := filepath.Rel(state, filepath.Join(folder, name)); err == nil && filepath.IsLocal(rel) {
			names = append(names, filepath.ToSlash(rel))
		}
	}
	return names, nil
}

// whole is the path of a folder without links.
func whole(folder string) (string, error) {
	folder, err := filepath.Abs(folder)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(folder)
}

// keptNames gives the names in the state folder that a restore leaves alone, as the configuration in force is there.
func keptNames(state, file string) (names []string, err error) {
	paths, err := configured(state, file)
	for _, p := range paths {
		top, _, deeper := strings.Cut(p, "/")
		if deeper && slices.Contains(hostFolders, top) {
			return nil, fmt.Errorf("the configuration %s is in %s, which a restore replaces: move it elsewhere and name it with --config", file, filepath.Join(state, top))
		}
		if !slices.Contains(names, top) {
			names = append(names, top)
		}
	}
	return names, err
}
