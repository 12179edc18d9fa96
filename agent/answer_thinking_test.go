package agent

import (
	"testing"

	"parley/sessions"
)

// TestThinkingOnly: an answer that is all reasoning is told apart from one that is empty. source: xorbitsai/inference#3673
func TestThinkingOnly(t *testing.T) {
	t.Parallel()
	thought, text := sessions.Block{Type: sessions.ThinkingBlock, Text: "hm"}, sessions.Block{Type: sessions.TextBlock, Text: "hello"}
	for _, c := range []struct {
		content []sessions.Block
		want    bool
	}{{nil, false}, {[]sessions.Block{thought}, true}, {[]sessions.Block{{Type: sessions.ThinkingBlock}}, false}, {[]sessions.Block{thought, text}, false}} {
		if got := (&Answer{Content: c.content}).isThinkingOnly(); got != c.want {
			t.Errorf("%+v: %v", c.content, got)
		}
	}
}
