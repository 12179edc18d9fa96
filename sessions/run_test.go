package sessions

import (
	"encoding/json"
	"testing"
)

// What stands beside a run is encoded where it stood as a field, and what nobody outside reads stays inside.
func TestRunExtras(t *testing.T) {
	run := Run{ID: "r", Key: "k", Status: Queued, System: "s", Exclusive: true}
	if run.With() != "" || run.Client() != nil || run.Home() != "" || run.Brought() != nil || run.TranscriptKey() != "k" {
		t.Errorf("a run without extras has %+v", run.Extras())
	}
	encoded := func(want string) {
		t.Helper()
		b, err := json.Marshal(run)
		if err != nil || string(b) != want {
			t.Errorf("%s, want %s: %v", b, want, err)
		}
		var back Run
		if err := json.Unmarshal(b, &back); err != nil || back.With() != run.With() {
			t.Errorf("with %q, want %q: %v", back.With(), run.With(), err)
		}
	}
	encoded(`{"id":"r","key":"k","status":"queued","system":"s","alone":true}`)
	before := run
	run.SetExtras(RunExtras{With: "w", Client: json.RawMessage(`1`), Home: "h", Brought: &Block{}})
	if before.With() != "" || string(run.Client()) != "1" || run.TranscriptKey() != "h" || run.Brought() == nil {
		t.Errorf("%+v, and before %+v", run.Extras(), before.Extras())
	}
	encoded(`{"id":"r","key":"k","status":"queued","system":"s","with":"w","alone":true}`)
	if run.SetExtras(RunExtras{}); run.RunExtras != nil {
		t.Error("a run that has none of them keeps them")
	}
}
