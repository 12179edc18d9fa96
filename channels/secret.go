package channels

import (
	"fmt"
	"io"
	"log/slog"
)

// Secret is a text that cannot be printed, logged or marshalled: every verb and encoder shows "[secret]". Reveal gives the text;
// call it where the text is used and nowhere else.
type Secret struct{ text string }

// NewSecret wraps a text.
func NewSecret(text string) Secret { return Secret{text} }

// Reveal gives the text.
func (s Secret) Reveal() string { return s.text }

// IsZero reports whether there is no text.
func (s Secret) IsZero() bool { return s.text == "" }

func (s Secret) mask() string {
	if s.text == "" {
		return ""
	}
	return "[secret]"
}

func (s Secret) String() string                { return s.mask() }
func (s Secret) GoString() string              { return s.mask() }
func (s Secret) LogValue() slog.Value          { return slog.StringValue(s.mask()) }
func (s Secret) MarshalText() ([]byte, error)  { return []byte(s.mask()), nil }
func (s *Secret) UnmarshalText(b []byte) error { s.text = string(b); return nil }

// Format implements fmt.Formatter, so that no verb looks inside.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, s.mask()) }
