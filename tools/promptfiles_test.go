package tools

import "testing"

// TestAgentsDoNotChangeTheirInstructions lets an agent read what it is told, and change none of it.
func TestAgentsDoNotChangeTheirInstructions(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"INSTRUCTIONS.md", "./instructions.MD", "a/../PERSONA.md", "AGENTS.md", "SOUL.md"} {
		for _, action := range []string{fileWrite, fileAppend, fileEdit, "delete"} {
			if p, no := filePath(name, action); no == nil {
				t.Errorf("%s %s: %s", action, name, p)
			}
		}
		if _, no := filePath(name, fileRead); no != nil {
			t.Errorf("read %s: %v", name, no)
		}
	}
	if _, no := filePath("notes/INSTRUCTIONS.md", fileWrite); no != nil {
		t.Errorf("a file of that name in a folder: %v", no)
	}
}
