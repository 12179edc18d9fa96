package main

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// TestDeafHost: a host that takes connections and says nothing is named with its process; one that answers anything, or is not there, is
// the command's own business.
func TestDeafHost(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0") // the system takes connections, nobody reads them
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	deaf := &host{base: "http://" + l.Addr().String(), client: &http.Client{Transport: &http.Transport{}}}
	err = deaf.answers(t.Context(), 4711, 10*time.Millisecond)
	if exit, code := exitOf(err); exit != exitTimeout || code != "no_answer" || !strings.Contains(err.Error(), "kill -CONT 4711") {
		t.Errorf("exit %d, %s: %v", exit, code, err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := deaf.answers(gone, 4711, time.Minute); err != nil {
		t.Errorf("Ctrl-C meanwhile: %v", err)
	}
	s := httptest.NewServer(http.NotFoundHandler())
	there := &host{base: s.URL, client: s.Client()}
	if err := there.answers(t.Context(), 4711, time.Minute); err != nil {
		t.Errorf("one that answers: %v", err)
	}
	s.Close()
	if err := there.answers(t.Context(), 4711, time.Minute); err != nil {
		t.Errorf("nobody there: %v", err)
	}
}
