package api

import (
	"strings"
	"testing"

	"parley/sessions"
)

// The one session of session.scope global has one name: no answer of the API shows its key.
//
// proves: K6
func TestMarshalShowsMain(t *testing.T) {
	t.Parallel()
	text, err := Marshal([]any{
		Session{Key: sessions.GlobalKey, SpawnedBy: sessions.GlobalKey, Title: "global"},
		sessions.Run{Key: sessions.GlobalKey, Chain: &sessions.Chain{Hops: []sessions.Key{sessions.GlobalKey}, Requester: sessions.GlobalKey}},
		sessions.Message{Provenance: &sessions.Provenance{Source: sessions.GlobalKey}},
	})
	if err != nil || strings.Count(string(text), `"global"`) != 1 || strings.Count(string(text), `"main"`) != 6 {
		t.Errorf("%s (%v)", text, err)
	}
}
