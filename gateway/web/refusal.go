package web

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"parley/gateway/api"
	"parley/sessions"
)

// refusal is why a form was not taken, in the API's words, and the field that they are about.
type refusal struct {
	Field, Text string
}

// At gives the words that belong to a field.
func (f refusal) At(field string) string {
	if f.Field == field {
		return f.Text
	}
	return ""
}

// refusedBy reads what a person can mend in their form; ok is false for all other errors. The API's words begin with the field's name;
// where they do not, they belong to none of the fields.
func refusedBy(err error, fields ...string) (f refusal, ok bool) {
	e, known := errors.AsType[*api.Error](err)
	switch {
	case known && e.Status >= http.StatusBadRequest && e.Status < http.StatusInternalServerError && e.Status != http.StatusUnauthorized && e.Status != http.StatusForbidden:
	case errors.Is(err, sessions.ErrNotFound), errors.Is(err, sessions.ErrConflict):
	default:
		return f, false
	}
	f.Text = err.Error()
	if i := strings.IndexAny(f.Text, ": "); i > 0 && slices.Contains(fields, f.Text[:i]) {
		f.Field = f.Text[:i]
	}
	return f, true
}
