package engine

import "context"

// State is the part of the database that a repository keeps in memory, such as the last number given. Only the writer's goroutine calls it, and who
// opens the database.
type State interface {
	Load(ctx context.Context, c *Conn) error // reads it: at the start, and when the connection is another one
	Begin()                                  // a transaction begins
	Save()                                   // an operation of it begins
	Restore()                                // the operation failed and wrote nothing: all is as at Save
	Rollback()                               // the transaction was not made: what the database would say is as at Begin
	Committed()                              // the transaction was made
}

// states are those of all repositories, in the order in which they were attached.
type states []State

// Load implements State.
func (l states) Load(ctx context.Context, c *Conn) error {
	for _, s := range l {
		if err := s.Load(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

// Begin implements State.
func (l states) Begin() {
	for _, s := range l {
		s.Begin()
	}
}

// Save implements State.
func (l states) Save() {
	for _, s := range l {
		s.Save()
	}
}

// Restore implements State.
func (l states) Restore() {
	for _, s := range l {
		s.Restore()
	}
}

// Rollback implements State.
func (l states) Rollback() {
	for _, s := range l {
		s.Rollback()
	}
}

// Committed implements State.
func (l states) Committed() {
	for _, s := range l {
		s.Committed()
	}
}

// Sequence numbers the rows of a table. There is one writer, so it counts in memory. It implements State.
type Sequence struct {
	query               string
	last, saved, before int64
}

// Sequence returns one that continues after the number that a query gives, attached to the writer.
func (db *DB) Sequence(query string) *Sequence {
	s := &Sequence{query: query}
	db.Attach(s)
	return s
}

// Last returns the number that was given last.
func (s *Sequence) Last() int64 { return s.last }

// Next gives a number.
func (s *Sequence) Next() int64 {
	s.last++
	return s.last
}

// Load implements State.
func (s *Sequence) Load(ctx context.Context, c *Conn) (err error) {
	s.last, err = c.Number(ctx, s.query)
	return err
}

// Begin implements State.
func (s *Sequence) Begin() { s.before = s.last }

// Save implements State.
func (s *Sequence) Save() { s.saved = s.last }

// Restore implements State.
func (s *Sequence) Restore() { s.last = s.saved }

// Rollback implements State.
func (s *Sequence) Rollback() { s.last = s.before }

// Committed implements State.
func (s *Sequence) Committed() {}
