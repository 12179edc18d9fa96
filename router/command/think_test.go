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
	levels := func(levels ...string) agent.ModelFacts {
		return agent.ModelFacts{ModelSettings: agent.ModelSettings{Reasoning: agent.Reasoning{Levels: levels}}}
	}
	for name, c := range map[string]struct {
		facts agent.ModelFacts
		told  bool
	}{
		"nothing is known": {agent.ModelFacts{}, false}, "refused": {agent.ModelFacts{OffRefused: true}, true},
		"no such level": {levels("high", "max"), true}, "a level for it": {levels("none", "high"), false}, "no levels": {levels(), false},
	} {
		r := &Table{model: func(string) (agent.Candidate, error) { return agent.Candidate{Facts: c.facts}, nil }}
		for level, told := range map[string]bool{"off": c.told, "low": false, "": false} {
			s := sessions.Session{Agent: "main", Settings: sessions.Settings{Thinking: level}}
			if words := r.thinkingWords(&settings.Snapshot{}, s); strings.Contains(words, "may still think") != told || !strings.HasPrefix(words, level) {
				t.Errorf("%s, %q: %s", name, level, words)
			}
		}
	}
}
