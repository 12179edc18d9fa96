package chain

import (
	"strings"
	"testing"

	"parley/sessions"
)

func TestReportSections(t *testing.T) {
	got := Report(sessions.Chain{Status: sessions.Done}, sessions.Run{}, "", "Result:\nThe server answered:\nstatus: 200\nbody: forty-two\nNotes: none")
	if !strings.Contains(got, "forty-two") {
		t.Errorf("words are lost:\n%s", got)
	}
}
