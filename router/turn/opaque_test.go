package turn

import (
	"fmt"
	"strings"
	"testing"

	"parley/sessions"
)

// What a provider wants back counts into what memory holds.
func TestHistoriesCountOpaque(t *testing.T) {
	t.Parallel()
	h := newCache()
	message := func(n, size int) sessions.Message {
		return sessions.Message{ID: fmt.Sprint(n), Role: sessions.Assistant, Content: []sessions.Block{
			{Type: sessions.ThinkingBlock, Opaque: &sessions.Opaque{From: "mock", Data: []byte(`"` + strings.Repeat("x", size-2) + `"`)}}}}
	}
	h.put(history{id: "a", Msgs: []sessions.Message{message(0, 1000)}})
	for n := 1; n <= 20; n++ {
		h.add("a", 1<<20, message(n, sessions.MaxOpaque))
	}
	if _, there := h.get("a"); there || h.bytes > historyBytes {
		t.Errorf("%d bytes are kept", h.bytes)
	}
	h.put(history{id: "b", Msgs: []sessions.Message{message(0, 1000)}})
	h.add("b", 1<<20, message(1, sessions.MaxOpaque+1))
	if x, _ := h.get("b"); x.Msgs[1].Content[0].Opaque.Data != nil || x.Msgs[1].Content[0].Opaque.From != "mock" {
		t.Error("memory keeps more than the store")
	}
}
