package turn

import (
	"slices"

	"parley/sessions"
)

// withShownNames gives messages in which the sessions that they come from have the names that the tools of a run's session show and take (contract K1).
// msgs stays as it is.
func withShownNames(msgs []sessions.Message, run sessions.Run, scope sessions.Scope) []sessions.Message {
	own := msgs
	for i, m := range msgs {
		if m.Provenance == nil || m.Provenance.Source == "" {
			continue
		}
		name := sessions.Key(m.Provenance.Source.Display(run.Agent, scope))
		if name == m.Provenance.Source {
			continue
		}
		if &own[0] == &msgs[0] {
			own = slices.Clone(msgs)
		}
		p := *m.Provenance
		p.Source, own[i].Provenance = name, &p
	}
	return own
}
