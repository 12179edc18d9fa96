package sqlstore

import "parley/sessions"

// also notes for Config.Trace what an operation does besides what it is named after: "Submit+reset" is work that starts a session over.
// A receipt says of which platform it is, "PartSent+whatsapp".
func (t *tx) also(done bool, what string) {
	if done && t.s.conf.Trace != nil {
		t.did += "+" + what
	}
}

// alsoEffects notes what effects did. One that found nothing to end has ended nothing.
func (t *tx) alsoEffects(e *effects, acc sessions.Accepted) {
	ended := len(acc.Stopped) > 0
	t.also(e.Patch != nil, "patch")
	t.also(e.Reset && (e.ResetOf == "" || e.ResetOf != acc.Session.ID), "reset")
	t.also(ended && (len(e.Stop) > 0 || e.StopRun != ""), "stop")
	t.also(ended && e.Interrupt, "interrupt")
	t.also(ended && e.Drop > 0, "drop")
	t.also(e.Note != nil, "note")
	t.also(e.Overheard != nil, "overheard")
	t.also(e.Heard > 0, "heard")
	t.also(e.Lift != nil, "lift")
	t.also(e.Job != nil, "job")
	t.also(e.DropJob != "", "dropjob")
	t.also(e.Pairing != nil, "pairing")
	t.also(e.Unpair != nil, "unpair")
	t.also(e.Archive, "archive")
	t.also(e.Delete, "delete")
}

// alsoAside notes what an event caused that nobody answers.
func (t *tx) alsoAside(a sessions.Arrival, amended, revised bool) {
	t.also(a.Listed, "listed")
	t.also(amended && !revised, "amend")
	t.also(revised, "revise")
	t.also(a.Overheard != nil && !amended, "overheard")
	t.also(a.Title != nil, "title")
	t.also(!a.Moved.IsZero(), "moved")
}
