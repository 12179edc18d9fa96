package transcript

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"parley/sessions"
)

// opaqueBlock is an entry of the column messages.opaque.
type opaqueBlock struct {
	At   int    `json:"at"` // index of the block
	From string `json:"from"`
	Data string `json:"data,omitempty"` // JSON, as a text: so that no byte of it changes
}

// encodeOpaque writes what a provider wants back with the blocks of a message; "" = nothing.
func encodeOpaque(m sessions.Message) (string, error) {
	var list []opaqueBlock
	for i, b := range m.Content {
		if b.Opaque != nil {
			list = append(list, opaqueBlock{At: i, From: b.Opaque.From, Data: string(b.Opaque.Data)})
		}
	}
	if list == nil {
		return "", nil
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(list)
	return strings.TrimSuffix(b.String(), "\n"), err
}

// decodeOpaque puts what was kept beside a message into its blocks. What does not fit is left out: a provider can do without it.
func decodeOpaque(text string, m *sessions.Message) {
	var list []opaqueBlock
	if text == "" || json.Unmarshal([]byte(text), &list) != nil {
		return
	}
	for _, x := range list {
		if x.At >= 0 && x.At < len(m.Content) {
			o := &sessions.Opaque{From: x.From}
			if json.Valid([]byte(x.Data)) {
				o.Data = json.RawMessage(x.Data)
			}
			m.Content[x.At].Opaque = o
		}
	}
}

// maxDropLog bounds the runs that are remembered as named in the log.
const maxDropLog = 256

// dropLog names each run once whose messages had more for their provider than is kept.
type dropLog struct {
	mu   sync.Mutex
	runs map[sessions.RunID]bool
}

// first reports whether a run has not been named.
func (d *dropLog) first(run sessions.RunID) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.runs[run] {
		return false
	}
	if d.runs == nil || len(d.runs) >= maxDropLog {
		d.runs = map[sessions.RunID]bool{}
	}
	d.runs[run] = true
	return true
}

// bounded returns the stored form of a message, and logs dropped data.
func (s *Rows) bounded(m sessions.Message, run sessions.RunID) sessions.Message {
	kept, dropped := m.BoundOpaque()
	if dropped > 0 && s.dropped.first(run) {
		s.log.Info("dropped provider data of a message", "run", string(run), "message", m.ID, "bytes", dropped, "hint", fmt.Sprintf("more than %d bytes in a message, or not JSON", sessions.MaxOpaque))
	}
	return kept
}
