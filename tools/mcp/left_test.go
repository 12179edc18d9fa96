package mcp

import (
	"fmt"
	"log/slog"
	"testing"

	"parley/tools"
)

// A server that gives the tools that are left out ever new names does not fill the memory with them.
func TestLeftOutIsBounded(t *testing.T) {
	t.Parallel()
	s := New(Deps{Log: slog.New(slog.DiscardHandler), Taken: []string{"x_taken"}})
	srv := newServer(s, slot{name: "x"}, tools.MCPServer{})
	s.running[slot{name: "x"}] = srv
	for n := range 3 * mostLeft {
		srv.tools = []*tool{{server: srv, name: fmt.Sprint("taken ", n), spec: tools.Spec{Name: "x_taken"}}}
		s.rebuild()
	}
	if len(s.left) != mostLeft {
		t.Errorf("%d tools are remembered", len(s.left))
	}
}
