package channels

import (
	"context"
	"errors"
	"strings"
	"testing"
)

// A message that the platform finds too long counts as sent once its first part is shown; a text that cannot be cut stays refused.
// source: the Bot API's sendMessage; Discord documentation, Create Message
func TestSendSmaller(t *testing.T) {
	t.Parallel()
	refused := errors.New("too long")
	lim := Limits{Text: 4096, Unit: UTF16, Dialect: DiscordMD}
	out := Outbound{Key: "k", Text: strings.Repeat("word ", 100), ReplyTo: "7"}
	for name, c := range map[string]struct {
		out   Outbound
		fails int // the first call that fails; 0 = none
		calls int
		left  string
		err   error
	}{
		"sent":              {out: out, calls: 2},
		"first is refused":  {out: out, fails: 1, calls: 1, err: refused},
		"second is refused": {out: out, fails: 2, calls: 2, left: "the end of the text, from part 2 of 2"},
		"nowhere to cut":    {out: Outbound{Key: "k", Text: "word"}, err: refused},
	} {
		calls := 0
		r, err := c.out.SendSmaller(t.Context(), lim, refused, func(_ context.Context, part Outbound) (Receipt, error) {
			calls++
			if (part.ReplyTo != "") != (calls == 1) || (part.Key == "k") != (calls == 1) || len(part.Text) > 260 {
				t.Errorf("%s: part %d: %+v", name, calls, part)
			}
			if calls == c.fails {
				return Receipt{}, &Error{Class: Rejected, Err: refused}
			}
			return Receipt{ID: "9"}, nil
		})
		if calls != c.calls || r.LeftOut != c.left || !errors.Is(err, c.err) || (err == nil) != (r.ID == "9") {
			t.Errorf("%s: %d calls, %+v, %v", name, calls, r, err)
		}
	}
}
