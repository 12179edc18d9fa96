package endpoints

import (
	"encoding/base64"
	"fmt"
	"sync"
)

// Musing begins every reasoning text of the table's models: it is never shown in a chat.
const Musing = "private-musing"

// OpaqueMark is in the base64 of everything that only the endpoint may read.
const OpaqueMark = "b3BhcXVlLW1hcm"

// issuedIDs is what one server has given out. Its methods are called while a request is answered, also by several at once.
type issuedIDs struct {
	mu      sync.Mutex
	counts  map[string]int
	issued  map[string]string // opaque text → what it belongs to
	thought map[string]string // call id → the reasoning that it came with
}

func newMemory() *issuedIDs {
	return &issuedIDs{counts: map[string]int{}, issued: map[string]string{}, thought: map[string]string{}}
}

// times counts, and gives how often key was counted before.
func (m *issuedIDs) times(key string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := m.counts[key]
	m.counts[key]++
	return n
}

// opaque gives out a new text that belongs to something.
func (m *issuedIDs) opaque(to string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	// "opaque-mark" in front keeps the mark readable in base64.
	out := base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "opaque-mark %d of %s", len(m.issued), to))
	m.issued[out] = to
	return out
}

// owner gives what an opaque text belongs to; false when this server never gave it out.
func (m *issuedIDs) owner(opaque string) (string, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	to, ok := m.issued[opaque]
	return to, ok
}

// musing gives out a new reasoning text.
func (m *issuedIDs) musing(about string) string {
	return fmt.Sprintf("%s %d: the person says %q, I should look at that.", Musing, m.times("musing")+1, about)
}

// think keeps the reasoning that a call came with.
func (m *issuedIDs) think(callID, reasoning string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.thought[callID] = reasoning
}

// thoughtOf gives the reasoning that a call came with.
func (m *issuedIDs) thoughtOf(callID string) (string, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, ok := m.thought[callID]
	return s, ok
}

// ours reports whether this server gave a call its id.
func (m *issuedIDs) ours(callID string) bool {
	_, ok := m.thoughtOf(callID)
	return ok
}
