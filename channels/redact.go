package channels

import (
	"context"
	"errors"
	"net/url"
	"strings"
)

// Redact words an error of an HTTP call without the address that was called, which may have a token in it, and without what hide
// replaces.
func Redact(err error, hide *strings.Replacer) string {
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	return hide.Replace(err.Error())
}

// Cause is what an error that is only told by its Redact may still wrap: that the call was given up or came to its deadline, or one
// of the others, and nothing that could print an address.
func Cause(err error, others ...error) error {
	for _, known := range append([]error{context.Canceled, context.DeadlineExceeded}, others...) {
		if errors.Is(err, known) {
			return known
		}
	}
	return nil
}
