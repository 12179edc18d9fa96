package tools

import (
	"slices"
	"strings"
)

// PromptFiles are the files of a workspace that become part of what its agent is told. The agent may read them; only people change
// them, so that no text from outside becomes an instruction by way of a file.
var PromptFiles = []string{"INSTRUCTIONS.md", "PERSONA.md", "AGENTS.md", "SOUL.md"}

// ofPrompt reports whether a cleaned path names such a file, on file systems that do not tell case apart too.
func ofPrompt(name string) bool {
	return slices.ContainsFunc(PromptFiles, func(f string) bool { return strings.EqualFold(f, name) })
}
