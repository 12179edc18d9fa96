package turn

import (
	"fmt"
	"strings"
	"testing"
	"unsafe"

	"parley/channels"
	"parley/sessions"
)

// weight is what a transcript takes in memory, from below: texts count by their length, and nothing that is allocated is rounded up.
func weight(x *history) int {
	n := int(unsafe.Sizeof(*x)) + cap(x.Msgs)*int(unsafe.Sizeof(sessions.Message{}))
	for _, m := range x.Msgs {
		n += len(m.ID) + len(m.Run) + cap(m.Content)*int(unsafe.Sizeof(sessions.Block{}))
		for _, b := range m.Content {
			n += len(b.Text) + len(b.Data) + len(b.Arguments) + len(b.OldSignature()) + len(b.ID)
		}
		if p := m.Provenance; p != nil {
			n += int(unsafe.Sizeof(*p)) + len(p.Sender) + len(p.Name) + len(p.User) + len(p.Address.Chat) + len(p.Message)
		}
		if m.Usage != nil {
			n += int(unsafe.Sizeof(*m.Usage))
		}
	}
	return n
}

// What is kept of transcripts takes the memory that it may and no more, in many sessions of short messages as in few of long ones.
func TestHistoriesAreBounded(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct{ people, messages, text int }{
		"many people, a word each": {30_000, 2, 5},
		"many messages of a word":  {100, 600, 5},
		"long texts":               {1000, 4, 20_000},
	} {
		h, n := newCache(), 0
		message := func() sessions.Message {
			n++
			m := sessions.Message{ID: fmt.Sprintf("%036d", n), Run: sessions.RunID(fmt.Sprintf("%036d", n)), Role: sessions.User, Content: []sessions.Block{{Type: sessions.TextBlock, Text: strings.Repeat("x", x.text)}}}
			if n%2 == 0 {
				m.Role, m.Usage = sessions.Assistant, &sessions.Usage{Input: 1}
				return m
			}
			m.Provenance = &sessions.Provenance{Kind: sessions.ExternalUser, Sender: "100200300", Name: "Ann Example", User: "ann_example", Message: "123456",
				Address: channels.Address{Channel: "telegram", Account: "one", Chat: channels.ChatID(fmt.Sprint(-1000000000000 - n)), Type: channels.Group}}
			return m
		}
		for i := range x.people {
			id := sessions.ID(fmt.Sprintf("%036d", i))
			h.put(history{id: id, Msgs: []sessions.Message{message()}})
			for range x.messages - 1 {
				h.add(id, 1<<20, message())
			}
		}
		takes := 0
		for e := h.order.Front(); e != nil; e = e.Next() {
			takes += weight(e.Value.(*history))
		}
		t.Logf("%s: %d of %d transcripts, %.1f MB", name, len(h.m), x.people, float64(takes)/(1<<20))
		if takes > historyBytes || takes < historyBytes/4 || len(h.m) != h.order.Len() {
			t.Errorf("%s: %d transcripts (%d in order) take at least %d bytes; the bound is %d", name, len(h.m), h.order.Len(), takes, historyBytes)
		}
		h.clear()
		if h.bytes != 0 || len(h.m) != 0 {
			t.Errorf("%s: %d bytes of nothing", name, h.bytes)
		}
	}
}
