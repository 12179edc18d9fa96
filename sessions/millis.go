package sessions

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"
)

// Millis is a time that JSON has as milliseconds since 1970, as a number (contract T3). It reads RFC 3339 as well, as earlier versions wrote it.
type Millis struct{ time.Time }

// MarshalJSON implements json.Marshaler.
func (t Millis) MarshalJSON() ([]byte, error) { return fmt.Appendf(nil, "%d", t.UnixMilli()), nil }

// UnmarshalJSON implements json.Unmarshaler.
func (t *Millis) UnmarshalJSON(b []byte) error {
	if bytes.HasPrefix(b, []byte(`"`)) {
		return t.Time.UnmarshalJSON(b)
	}
	var ms int64
	err := json.Unmarshal(b, &ms)
	t.Time = time.UnixMilli(ms).UTC()
	return err
}

// StoredMessage is a Message in the form that databases have it, with its time as RFC 3339: programs of earlier versions read it.
type StoredMessage Message

// ShownMessage is a Message in the form that JSON has it everywhere but in databases. It encodes as a Message does, in one pass.
type ShownMessage struct {
	StoredMessage

	Time Millis `json:"timestamp"`
}

// JSON returns the message as an encoder takes it fastest.
func (m Message) JSON() ShownMessage { return ShownMessage{StoredMessage(m), Millis{m.Time}} }

// MarshalJSON implements json.Marshaler.
func (m Message) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // the encoder of the whole decides
	err := e.Encode(m.JSON())
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// UnmarshalJSON implements json.Unmarshaler.
func (m *Message) UnmarshalJSON(b []byte) error {
	x := struct {
		*StoredMessage
		Time Millis `json:"timestamp"`
	}{(*StoredMessage)(m), Millis{m.Time}}
	err := json.Unmarshal(b, &x)
	m.Time = x.Time.Time
	return err
}

// ReadStored reads a message as databases have it. Those of some versions have its time as milliseconds.
func ReadStored(body string) (m Message, err error) {
	if err = json.Unmarshal([]byte(body), (*StoredMessage)(&m)); err != nil {
		m = Message{}
		err = json.Unmarshal([]byte(body), &m)
	}
	return m, err
}
