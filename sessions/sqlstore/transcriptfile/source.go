package transcriptfile

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"parley/sessions"
	"parley/sessions/sqlstore/engine"
)

// Source reads what the store has of transcripts. The writer's goroutine calls it.
type Source interface {
	// Transcript returns a transcript by its number; false when it is gone.
	Transcript(ctx context.Context, num int64) (Transcript, bool, error)
	// TranscriptOf returns the transcript with a session's id. The error wraps ErrNotFound when there is none.
	TranscriptOf(ctx context.Context, id sessions.ID) (Transcript, error)
	// MessageID returns the id of the message with a number in a transcript; false when there is none.
	MessageID(ctx context.Context, transcript, seq int64) (string, bool, error)
	// Messages returns the first messages of a transcript behind a number, oldest first.
	Messages(ctx context.Context, transcript, after int64, limit int) ([]Message, error)
	// Deliveries returns the deliveries of the messages from lo to hi, in the order of those and then of their own.
	Deliveries(ctx context.Context, transcript, lo, hi int64) ([]Delivery, error)
}

// Transcript is the first line of a file, and the transcript's number.
type Transcript struct {
	Num     int64
	ID      sessions.ID
	Key     sessions.Key
	Agent   sessions.AgentID
	Created time.Time
}

// Message is a message as the store keeps it.
type Message struct {
	Seq  int64
	Body string // JSON
}

// Delivery is a delivery and the number of the message that it carries.
type Delivery struct {
	sessions.Delivery
	MessageSeq int64
}

// MessageLine returns the line of a message, of what Readable made of it.
func MessageLine(transcript, seq int64, readable string) Line {
	return Line{transcript: transcript, seq: seq, text: messageLine(seq, readable)}
}

// DeliveryLine returns the line of a delivery that ended.
func DeliveryLine(transcript int64, d sessions.Delivery) Line {
	return Line{transcript: transcript, delivery: endName(string(d.ID), d.State), text: deliveryLine(d)}
}

// messageLine is the raw transcript format of a message with its type and number in front.
func messageLine(seq int64, readable string) string {
	return `{"type":"message","seq":` + strconv.FormatInt(seq, 10) + "," + readable[1:]
}

// Readable returns a message as a file has it, in JSON: see sessions.Message.Readable.
func Readable(m sessions.Message) (string, error) {
	if m.Provenance != nil && m.Provenance.Source != m.Provenance.Source.Shown() {
		p := *m.Provenance
		p.Source = p.Source.Shown()
		m.Provenance = &p
	}
	var b strings.Builder // json.Marshal's bytes would be copied into the text
	if err := json.NewEncoder(&b).Encode(m.Readable().JSON()); err != nil {
		return "", err
	}
	return b.String()[:b.Len()-1], nil // without its line's end
}

// storedLine is messageLine of a message as the store keeps it.
func storedLine(x Message) (string, error) {
	m, err := sessions.ReadStored(x.Body)
	if err != nil {
		return "", fmt.Errorf("message %d: %w: %w", x.Seq, sessions.ErrCorruptRow, err)
	}
	text, err := Readable(m)
	return messageLine(x.Seq, text), err
}

// Close writes what is left and ends Run.
func (m *Writer) Close() {
	close(m.stop)
	<-m.done
}

// Rebuild writes the file of a transcript again from the store.
func (m *Writer) Rebuild(ctx context.Context, id sessions.ID) error {
	j := rebuildRequest{id: id, done: make(chan error, 1)}
	select {
	case m.rebuilds <- j:
		return <-j.done
	case <-m.done:
		return fmt.Errorf("rebuild the transcript file of session %s: %w", id, engine.ErrClosed)
	case <-ctx.Done():
		return ctx.Err()
	}
}
