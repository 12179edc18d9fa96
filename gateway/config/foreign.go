package config

import (
	"path/filepath"
	"regexp"
)

// What a refused file of another program is told.
const (
	openClawText = "this looks like a configuration of OpenClaw"
	openClawHint = "convert it with: parley import openclaw"
)

// openClawKey matches keys of OpenClaw's configuration that parley does not have.
// source: https://docs.openclaw.ai/gateway/configuration-reference
var openClawKey = regexp.MustCompile(`(?m)(?:^|[{,\s])["']?(botToken|meta|port|bind|primary|lastTouchedVersion|wizard|nativeSkills)["']?[ \t]*:`)

// isOpenClaw reports whether a file is probably OpenClaw's: it has that name, or at least two of its keys.
func isOpenClaw(path string, data []byte) bool {
	switch filepath.Base(path) {
	case "openclaw.json", "clawdbot.json", "moltbot.json":
		return true
	}
	found := map[string]bool{}
	for _, m := range openClawKey.FindAllSubmatch(data, -1) {
		found[string(m[1])] = true
	}
	return len(found) >= 2
}
