package transcriptfile

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"parley/sessions"
)

// fileEnd is the state of the end of a transcript file.
type fileEnd struct {
	keep  int64           // bytes up to the last whole line; 0 = start again
	seq   int64           // of the last message
	id    string          // of the same
	first int64           // of the first message that was looked at
	have  map[string]bool // the deliveries whose ends are in it, as far as was looked
}

// readLine holds the fields that are read of a line.
type readLine struct {
	Type     string                 `json:"type"`
	Seq      int64                  `json:"seq"`
	ID       string                 `json:"id"`
	Delivery string                 `json:"delivery"`
	State    sessions.DeliveryState `json:"state"`
	Time     json.RawMessage        `json:"timestamp"`
}

// isOld reports whether a line is as earlier versions wrote it, with its time as text (contract T3).
func (l readLine) isOld() bool { return bytes.HasPrefix(l.Time, []byte(`"`)) }

// readEnd looks at the last lines of a file, at so many that a message is among them.
func readEnd(f *os.File) (end fileEnd, err error) {
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return end, err
	}
	for window := int64(64 << 10); ; window *= 16 {
		from := max(0, size-window)
		b := make([]byte, size-from)
		if _, err := f.ReadAt(b, from); err != nil && err != io.EOF {
			return end, err
		}
		end = fileEnd{have: map[string]bool{}}
		n := bytes.LastIndexByte(b, '\n') + 1
		end.keep = from + int64(n)
		b = b[:n]
		if from > 0 { // the first line may have lost its beginning
			b = b[bytes.IndexByte(b, '\n')+1:]
		}
		if !end.read(b) {
			return fileEnd{have: map[string]bool{}}, nil // not ours, damaged or of an earlier version: it is written again
		}
		if end.seq > 0 || from == 0 {
			return end, nil
		}
	}
}

func (e *fileEnd) read(b []byte) bool {
	for raw := range bytes.Lines(b) {
		var l readLine
		if json.Unmarshal(raw, &l) != nil || l.isOld() {
			return false
		}
		switch l.Type {
		case "session":
		case "message":
			if e.first == 0 {
				e.first = l.Seq
			}
			e.seq, e.id = l.Seq, l.ID
		case "delivery":
			e.have[endName(l.Delivery, l.State)] = true
		default:
			return false
		}
	}
	return true
}

// endName names the end of a delivery: one that is sent again may end twice.
func endName(id string, state sessions.DeliveryState) string { return id + " " + string(state) }

// header is the first line of a file, which describes the session.
func (t Transcript) header() string {
	b, _ := json.Marshal(struct { // cannot fail: texts
		Type    string          `json:"type"`
		ID      string          `json:"id"`
		Key     string          `json:"key"`
		Agent   string          `json:"agentId"`
		Created sessions.Millis `json:"timestamp"`
	}{"session", string(t.ID), string(t.Key.Shown()), string(t.Agent), sessions.Millis{Time: t.Created}})
	return string(b)
}

// deliveryLine says what became of a message that was to leave.
func deliveryLine(d sessions.Delivery) string {
	rule := ""
	if d.Verdict != nil {
		rule = d.Verdict.Rule
	}
	b, _ := json.Marshal(struct { // cannot fail: texts
		Type     string                 `json:"type"`
		Delivery string                 `json:"delivery"`
		Message  string                 `json:"message"`
		State    sessions.DeliveryState `json:"state"`
		To       string                 `json:"to"`
		Rule     string                 `json:"rule,omitempty"`
		Error    string                 `json:"error,omitempty"`
		Time     sessions.Millis        `json:"timestamp"`
	}{"delivery", string(d.ID), d.Message, d.State, d.To.String(), rule, d.Error, sessions.Millis{Time: d.Updated}})
	return string(b)
}

// endedLines collects the lines of deliveries that ended, by the number of the message that they carry.
func (m *Writer) endedLines(ctx context.Context, transcript, lo, hi int64, have map[string]bool) (map[int64][]string, error) {
	list, err := m.from.Deliveries(ctx, transcript, lo, hi)
	if err != nil {
		return nil, err
	}
	out := map[int64][]string{}
	for _, d := range list {
		if name := endName(string(d.ID), d.State); d.State.Final() && !have[name] {
			have[name] = true
			out[d.MessageSeq] = append(out[d.MessageSeq], deliveryLine(d.Delivery))
		}
	}
	return out, nil
}

// rebuild writes a transcript's file again, beside the old one, and puts it in its place.
func (m *Writer) rebuild(ctx context.Context, id sessions.ID) error {
	t, err := m.from.TranscriptOf(ctx, id)
	if err != nil {
		return err
	}
	num, path := t.Num, m.Path(t.Agent, t.ID)
	delete(m.files, num)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	w, err := os.OpenFile(path+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	if _, err = w.WriteString(t.header() + "\n"); err == nil {
		_, err = m.fill(ctx, w, num, fileEnd{have: map[string]bool{}})
	}
	if e := w.Close(); err == nil {
		err = e
	}
	if err != nil {
		return fmt.Errorf("rebuilding %s: %w", path, err)
	}
	return os.Rename(path+".new", path)
}

// Path returns the path of the copy of a session's transcript (contract T1).
func (m *Writer) Path(agent sessions.AgentID, id sessions.ID) string {
	return filepath.Join(m.dir, "agents", segment(string(agent)), "sessions", segment(string(id))+".jsonl")
}

// segment makes one path segment of an id. What is not a plain character is escaped, so that no id can point elsewhere and two ids
// never share a file.
func segment(id string) string {
	const maxNameLength = 120
	var b strings.Builder
	for i := 0; i < len(id); i++ {
		c := id[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c == '.' && i > 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	switch s := b.String(); {
	case s == "":
		return "%"
	case len(s) > maxNameLength:
		sum := sha256.Sum256([]byte(id))
		return s[:maxNameLength-34] + "%%" + hex.EncodeToString(sum[:16])
	default:
		return s
	}
}
