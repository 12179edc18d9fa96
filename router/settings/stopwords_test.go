package settings_test

import (
	"testing"

	"parley/router/settings"
	"parley/sessions"
)

// A message is a request to stop when it is nothing but a stop word, in any of ten languages, whatever surrounds it.
//
// source: openclaw/openclaw#25103, #26113, #61075, #69386
// proves: X5
func TestIsStopWord(t *testing.T) {
	t.Parallel()
	all := &settings.Snapshot{}
	german := &settings.Snapshot{Messages: sessions.MessagesConfig{StopWords: sessions.StopWords{Languages: []string{"de"}, Words: []string{"Ruhe jetzt"}}}}
	none := &settings.Snapshot{Messages: sessions.MessagesConfig{StopWords: sessions.StopWords{Languages: []string{}}}}
	for _, c := range []struct {
		text              string
		all, german, none bool
	}{
		{"stop", true, false, false}, {"STOP!!!", true, false, false}, {" ¡Para! ", true, false, false}, {"stop please", true, false, false}, {"Please  STOP.", true, false, false},
		{"cancel", true, false, false}, {"停止", true, false, false}, {"停止！🛑", true, false, false}, {"ｓｔｏｐ", true, false, false}, {"🛑 stop 🛑️", true, false, false},
		{"arrête", true, false, false}, {"arre\u0302te !", true, false, false}, {"Стоп", true, false, false}, {"やめて。", true, false, false}, {"그만!", true, false, false}, {"fermati…", true, false, false},
		{"Hör auf!", true, true, false}, {"„Stopp“", true, true, false}, {"abbrechen", true, true, false}, {"ruhe jetzt!!", false, true, false},
		{"stop it", false, false, false}, {"stops", false, false, false}, {"how do I stop a container?", false, false, false}, {"please stop the server", false, false, false},
		{"wait a moment", false, false, false}, {"sag ruhe jetzt zu ihm", false, false, false}, {"非停止", false, false, false}, {"…", false, false, false}, {"", false, false, false}, {"🛑", false, false, false}, {"stop1", false, false, false},
	} {
		for name, x := range map[string]struct {
			set  *settings.Snapshot
			want bool
		}{"all": {all, c.all}, "german": {german, c.german}, "none": {none, c.none}} {
			if got := x.set.IsStopWord(c.text); got != x.want {
				t.Errorf("%s: %q is a stop word: %t", name, c.text, got)
			}
		}
	}
}
