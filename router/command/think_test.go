package command

import (
	"strings"
	"testing"

	"parley/agent"
	"parley/router/settings"
	"parley/sessions"
)

// TestThinkingOffRefused: who wants a model not to think is told that its provider does not take that.
// source: docs.anthropic.com/en/docs/build-with-claude/adaptive-thinking (models that always think)
func TestThinkingOffRefused(t *testing.T) {
	t.Parallel()
	for _, refused := range []bool{false, true} {
		r := &Table{model: func(string) (agent.Candidate, error) {
			return agent.Candidate{Facts: agent.ModelFacts{OffRefused: refused}}, nil
		}}
		for level, told := range map[string]bool{"off": refused, "low": false, "": false} {
			s := sessions.Session{Agent: "main", Settings: sessions.Settings{Thinking: level}}
			if words := r.thinkingWords(&settings.Snapshot{}, s); strings.Contains(words, "may think all the same") != told || !strings.HasPrefix(words, level) {
				t.Errorf("%q, refused %v: %s", level, refused, words)
			}
		}
	}
}
