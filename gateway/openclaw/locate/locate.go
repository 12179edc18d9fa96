package locate

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"parley/gateway/configfile"
)

// folderNames are the names that the program and its predecessors gave their state folder, newest first.
// source: openclaw/openclaw src/config/paths.ts (.moldbot stands there on purpose)
var folderNames = []string{".openclaw", ".clawdbot", ".moltbot", ".moldbot"}

// configNames are the names of the configuration file in it.
var configNames = []string{"openclaw.json", "moltbot.json", "moldbot.json", "clawdbot.json"}

// Folder is a state folder.
type Folder struct {
	Path    string
	Changed time.Time // of its configuration, or of the folder itself
}

// Folders returns the state folders that exist, in the order in which OpenClaw looks for them, each once whatever links lead to it.
// The folder that a variable names is the only one. looked lists the places for an error message.
//
// source: https://docs.openclaw.ai/help/environment (OPENCLAW_HOME, OPENCLAW_STATE_DIR); openclaw/openclaw docs/cli/index.md (--profile NAME: state is
// in ~/.openclaw-NAME)
func Folders(getenv func(string) string) (found []Folder, looked []string) {
	home := configfile.Home(cmp.Or(getenv("OPENCLAW_HOME"), "~"), getenv)
	for _, name := range []string{"OPENCLAW_STATE_DIR", "MOLTBOT_STATE_DIR", "CLAWDBOT_STATE_DIR"} {
		if dir := strings.TrimSpace(getenv(name)); dir != "" {
			looked = []string{configfile.Home(dir, getenv)}
			break
		}
	}
	if profile := strings.TrimSpace(getenv("OPENCLAW_PROFILE")); looked == nil && profile != "" && profile != "default" {
		looked = []string{filepath.Join(home, folderNames[0]+"-"+profile)}
	}
	if looked == nil {
		for _, name := range folderNames {
			looked = append(looked, filepath.Join(home, name))
		}
	}
	places := slices.Clone(looked)
	if len(looked) > 1 {
		for _, name := range folderNames {
			profiles, _ := filepath.Glob(filepath.Join(home, name+"-*")) // the pattern is well formed, but for a strange home
			places = append(places, profiles...)
		}
	}
	seen := map[string]bool{}
	for _, p := range places {
		real, err := filepath.EvalSymlinks(p)
		if err != nil || seen[real] {
			continue
		}
		seen[real] = true
		if f, ok := stateFolder(p); ok {
			found = append(found, f)
		}
	}
	return found, looked
}

// stateFolder reports whether a folder has what a state folder has: a configuration or sessions.
func stateFolder(path string) (Folder, bool) {
	for _, name := range slices.Concat(configNames, []string{"agents", "sessions"}) {
		info, err := os.Stat(filepath.Join(path, name))
		if err == nil && (info.IsDir() == (filepath.Ext(name) == "")) {
			return Folder{path, info.ModTime()}, true
		}
	}
	return Folder{}, false
}
