package transcriptfile

import (
	"context"

	"parley/sessions"
	"parley/sessions/sqlstore/engine"
)

// Pending are the lines of a transaction: the Writer has them when it is committed. It implements engine.State, and is the writer goroutine's own.
type Pending struct {
	to    *Writer
	lines []Line
	saved int // how many there were before the current operation
}

// NewPending returns the pending lines of a writer, attached to the database.
func NewPending(db *engine.DB, to *Writer) *Pending {
	p := &Pending{to: to}
	db.Attach(p)
	return p
}

// Add adds a line.
func (p *Pending) Add(l Line) { p.lines = append(p.lines, l) }

// Remove has the file of a transcript removed. What follows writes it again from the store.
func (p *Pending) Remove(transcript int64, agent sessions.AgentID, id sessions.ID) {
	p.Add(Line{transcript: transcript, path: p.to.Path(agent, id), remove: true})
}

// Load implements engine.State. The files are compared with the store when they are written.
func (p *Pending) Load(context.Context, *engine.Conn) error { return nil }

// Begin implements engine.State.
func (p *Pending) Begin() { p.lines = p.lines[:0] }

// Save implements engine.State.
func (p *Pending) Save() { p.saved = len(p.lines) }

// Restore implements engine.State.
func (p *Pending) Restore() { p.lines = p.lines[:p.saved] }

// Rollback implements engine.State.
func (p *Pending) Rollback() {}

// Committed implements engine.State.
func (p *Pending) Committed() { p.to.Append(p.lines) }
