package sqlstore

import "parley/sessions"

// alsoEffects notes what effects did. One that found nothing to end has ended nothing.
func (s *changes) alsoEffects(t *tx, e *effects, acc sessions.Accepted) {
	ended := len(acc.Stopped) > 0
	t.Label(e.Patch != nil, "patch")
	t.Label(e.Reset && (e.ResetOf == "" || e.ResetOf != acc.Session.ID), "reset")
	t.Label(ended && (len(e.Stop) > 0 || e.StopRun != ""), "stop")
	t.Label(ended && e.Interrupt, "interrupt")
	t.Label(ended && e.Drop > 0, "drop")
	t.Label(e.Note != nil, "note")
	t.Label(e.Overheard != nil, "overheard")
	t.Label(e.Heard > 0, "heard")
	t.Label(e.Lift != nil, "lift")
	t.Label(e.Job != nil, "job")
	t.Label(e.DropJob != "", "dropjob")
	t.Label(e.Pairing != nil, "pairing")
	t.Label(e.Unpair != nil, "unpair")
	t.Label(e.Archive, "archive")
	t.Label(e.Delete, "delete")
}

// alsoAside notes what an event caused that nobody answers.
func (s *changes) alsoAside(t *tx, a sessions.Arrival, amended, revised bool) {
	t.Label(a.Listed, "listed")
	t.Label(amended && !revised, "amend")
	t.Label(revised, "revise")
	t.Label(a.Overheard != nil && !amended, "overheard")
	t.Label(a.Title != nil, "title")
	t.Label(!a.Moved.IsZero(), "moved")
}
