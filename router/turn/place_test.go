package turn

import (
	"testing"

	"parley/agent/control"
	"parley/channels"
	"parley/sessions"
)

// Somebody waits for the answer to a direct message, to a mention and to a call of the API, and for the late reply to a question; nobody does in a group that talks, nor behind a hook.
// proves: W2
func TestPlaceOf(t *testing.T) {
	t.Parallel()
	said := func(p sessions.Provenance) sessions.Message {
		p.Kind = sessions.ExternalUser
		return sessions.Message{Role: sessions.User, Provenance: &p}
	}
	group := channels.Address{Channel: "fake", Chat: "-1", Type: channels.Group}
	mention, talk := said(sessions.Provenance{Address: group, Addressed: true}), said(sessions.Provenance{Address: group})
	for name, c := range map[string]struct {
		run   sessions.Run
		steps []sessions.Message
		want  control.Place
	}{
		"a direct message":          {run: sessions.Run{Kind: sessions.TurnRun, Input: said(sessions.Provenance{Address: channels.Address{Chat: "1", Type: channels.Direct}})}, want: control.Waited},
		"a mention":                 {run: sessions.Run{Kind: sessions.TurnRun, Input: mention}, want: control.Waited},
		"group talk":                {run: sessions.Run{Kind: sessions.TurnRun, Input: talk}, want: control.Unasked},
		"a mention behind the talk": {sessions.Run{Kind: sessions.TurnRun, Input: talk}, []sessions.Message{mention}, control.Waited},
		"the API":                   {run: sessions.Run{Kind: sessions.TurnRun, Input: said(sessions.Provenance{Tool: "api"})}, want: control.Waited},
		"a hook":                    {run: sessions.Run{Kind: sessions.TurnRun, Input: said(sessions.Provenance{Tool: "hook", Untrusted: true})}, want: control.Unasked},
		"an ask":                    {run: sessions.Run{Kind: sessions.AskRun}, want: control.Waited},
		"a reply":                   {run: sessions.Run{Kind: sessions.ReplyRun}, want: control.Loop},
		"a sub-agent":               {run: sessions.Run{Kind: sessions.ChildRun}, want: control.Waited},
		"an announce":               {run: sessions.Run{Kind: sessions.AnnounceRun}, want: control.Unasked},
		"a follow-up":               {run: sessions.Run{Kind: sessions.FollowUpRun}, want: control.Waited},
		"a result":                  {run: sessions.Run{Kind: sessions.ResultRun}, want: control.Unasked},
		"a job":                     {run: sessions.Run{Kind: sessions.JobRun}, want: control.Unasked},
	} {
		if got := placeOf(c.run, c.steps); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}
