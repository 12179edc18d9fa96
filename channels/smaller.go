package channels

import (
	"context"
	"fmt"
	"strconv"
	"time"
)

// SendSmaller sends a message without files as several that are half as long, for a platform that finds it too long although it keeps to l:
// it counts otherwise than this host. Each is tried once, and a part after the first once more when the platform asks to wait; once the
// first is shown the message counts as sent. A text that has nowhere to be cut gives refused. Markup that cannot be cut again is left out.
func (o Outbound) SendSmaller(ctx context.Context, l Limits, refused error, send func(context.Context, Outbound) (Receipt, error)) (Receipt, error) {
	if !within(o.counted(l), l) {
		return Receipt{}, refused // it is too long indeed
	}
	text, left := o.Text, ""
	l.Text = measure(o.counted(l), l.Unit)/2 + 1
	html := l.Dialect == TelegramHTML
	if html {
		text, l.Dialect, left = o.Plain, Markdown, "the formatting"
	}
	parts := Split(text, l)
	if len(parts) < 2 {
		return Receipt{}, refused
	}
	var first Receipt
	for i, p := range parts {
		part := o
		part.Text, part.Plain = p.Text, p.Plain
		if html {
			part.Text, part.Plain = escapeHTML(p.Text), p.Text
		}
		if i > 0 {
			part.ReplyTo = ""
			if o.Key != "" {
				part.Key = o.Key + "/" + strconv.Itoa(i)
			}
		}
		r, err := send(ctx, part)
		if e := Classify(err); err != nil && i > 0 && (e.Class == Limited || e.Class == Transient) && Sleep(ctx, max(e.RetryAfter, time.Second)) {
			r, err = send(ctx, part) // the gate paces messages, and this is another one of its send
		}
		switch {
		case err != nil && i == 0:
			return r, err
		case err != nil:
			first.LeftOut = joined(first.LeftOut, fmt.Sprintf("the end of the text, from part %d of %d", i+1, len(parts)))
			return first, nil
		case i == 0:
			first = r
			first.LeftOut = joined(r.LeftOut, left)
		}
	}
	return first, nil
}

// joined adds words to a list of what was left out.
func joined(list, more string) string {
	if list == "" || more == "" {
		return list + more
	}
	return list + ", " + more
}
