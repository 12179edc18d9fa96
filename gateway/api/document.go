package api

import (
	"net/http"
	"sync"
)

// WithDocument adds the operation that gives the OpenAPI document of the table, itself included.
func (t Table) WithDocument(version string) Table {
	var all Table
	text := sync.OnceValues(func() ([]byte, error) { return all.OpenAPI(version) })
	all = append(t, Stream[None, map[string]any]("openapi", "GET /api/openapi.json", Read, "This document.", "application/json", func(w http.ResponseWriter, r *http.Request) {
		b, err := text()
		if _, bad := Decode[None](w, r); bad != nil {
			err = bad
		}
		if err != nil {
			WriteError(w, err)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(b) // a client that went away needs no answer
	}))
	return all
}
