package command

import "parley/sessions"

// Result is the answer of a command, and the change that is committed with it.
type Result struct {
	Text   string           // "" = the run that it queues answers
	Change *sessions.Change // nil = nothing. Its session is the one that the command was given in, which On fills in
}

// onSession is a change of the session that a command was given in.
func onSession(ops ...sessions.SessionOp) *sessions.Change {
	return &sessions.Change{Session: &sessions.Target{Ops: ops}}
}

// On returns the change of a result with the session that the command was given in.
func (r Result) On(s sessions.Session) *sessions.Change {
	var c sessions.Change
	if r.Change != nil {
		c = *r.Change
	}
	target := sessions.Target{Session: s}
	if c.Session != nil {
		target.Mode, target.Ops = c.Session.Mode, c.Session.Ops
	}
	c.Session = &target
	return &c
}
