package column

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"parley/channels"
	"parley/sessions"
)

// maxKey bounds a text from outside in an index, in bytes: PostgreSQL refuses index rows of more than 2,704.
const maxKey = 1000

// Key gives a text that an index takes. One that is too long keeps its beginning, and a hash of the whole tells it from others.
func Key(s string) string {
	if len(s) <= maxKey {
		return s
	}
	h := sha256.Sum256([]byte(s))
	return strings.ToValidUTF8(s[:maxKey-64], "") + "#" + hex.EncodeToString(h[:16])
}

// JSON writes a JSON body. The error wraps ErrInvalid: it is the value's.
func JSON(v any) (string, error) {
	var b strings.Builder // json.Marshal's bytes would be copied into the text
	if err := json.NewEncoder(&b).Encode(v); err != nil {
		return "", fmt.Errorf("%w: %w", sessions.ErrInvalid, err)
	}
	return b.String()[:b.Len()-1], nil // without its line's end
}

// Encode writes a JSON body; the zero value is the empty text.
func Encode[T comparable](v T) (string, error) {
	var zero T
	if v == zero {
		return "", nil
	}
	return JSON(v)
}

// EncodeList writes a list; the empty one is the empty text.
func EncodeList[T any](v []T) (string, error) {
	if len(v) == 0 {
		return "", nil
	}
	return JSON(v)
}

// Decode reads a JSON body; the empty text is the zero value. One that does not decode is ErrCorruptRow.
func Decode(s string, v any) error {
	if s == "" {
		return nil
	}
	if err := json.Unmarshal([]byte(s), v); err != nil {
		return fmt.Errorf("%w: %w", sessions.ErrCorruptRow, err)
	}
	return nil
}

// Message reads the body of a message with a number.
func Message(seq int64, body string) (m sessions.Message, err error) {
	if m, err = sessions.ReadStored(body); err != nil {
		return m, fmt.Errorf("message %d: %w: %w", seq, sessions.ErrCorruptRow, err)
	}
	m.Seq = seq
	return m, nil
}

// Address reads an address back. Unlike ParseAddress it takes empty parts, which addresses made inside the host may have.
func Address(s string) channels.Address {
	if a, err := channels.ParseAddress(s); err == nil {
		return a
	}
	p := strings.SplitN(s, "/", 5)
	for i := range p {
		if v, err := url.PathUnescape(p[i]); err == nil {
			p[i] = v
		}
	}
	for len(p) < 5 {
		p = append(p, "")
	}
	return channels.Address{Channel: channels.Kind(p[0]), Account: channels.AccountID(p[1]), Type: channels.ChatType(p[2]), Chat: channels.ChatID(p[3]), Thread: channels.ThreadID(p[4])}
}

// Chat gives the address of a chat without a thread in it.
func Chat(a channels.Address) channels.Address {
	a.Thread = ""
	return a
}

// Account is the key of an account in the store.
func Account(kind channels.Kind, id channels.AccountID) string {
	return string(kind) + "/" + string(id)
}

// AccountPrefix is how the addresses of an account begin, without the "/" behind it.
func AccountPrefix(kind channels.Kind, id channels.AccountID) string {
	return url.PathEscape(string(kind)) + "/" + url.PathEscape(string(id))
}

// Nameless selects columns under a name of one letter. Rows are read by position, and the driver makes a text of each column's name
// whenever a statement runs: those of one letter cost nothing.
func Nameless(columns string) string { return strings.ReplaceAll(columns, ",", " AS a,") + " AS a" }
