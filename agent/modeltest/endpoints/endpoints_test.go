package endpoints

import (
	"regexp"
	"slices"
	"testing"
)

// concerned are the faults of model endpoints, MCP servers and clients that were known when the table began.
var concerned = []string{
	"C1", "C2", "C3", "H1", "H2", "H3", "H4", "H5", "H6", "H7", "H8", "H9", "H10", "H11", "M1", "M2", "M3", "M4", "M5", "M6", "M7", "M8", "M9", "M10", "M11", "M12", "M13", "M14", "M15", "L1", "L2",
	"L3", "L4", "L5", "L6",
}

// TestTable: rows are named, sourced and told, each fault has a row, and each mechanism has a row that is killed in the short run.
func TestTable(t *testing.T) {
	t.Parallel()
	rows := Table()
	if len(rows) < 150 {
		t.Errorf("%d rows", len(rows))
	}
	id := regexp.MustCompile(`^[a-z0-9]+([.-][a-z0-9]+)*$`)
	source := regexp.MustCompile(`^(https://[^ ]+(, https://[^ ]+)*|[\w.-]+/[\w.-]+#\d+)$`)
	seen, kinds := map[string]bool{}, map[string]bool{}
	for _, r := range rows {
		if !id.MatchString(r.ID) || seen[r.ID] {
			t.Errorf("the id %q is used already, or is not of words with hyphens", r.ID)
		}
		if !source.MatchString(r.Source) || r.Vendor == "" || r.Does == "" {
			t.Errorf("%s lacks a source, a vendor or what it does: %q, %q, %q", r.ID, r.Source, r.Vendor, r.Does)
		}
		for _, c := range r.Clients {
			r.Want.Sends = append(r.Want.Sends, c.Want)
		}
		for _, want := range append(slices.Clone(r.Want.Sends), r.Mount.Ready, r.Want.Plain, r.Want.Tool, r.Want.Follow, r.Want.Image, r.Want.Killed, r.Want.Restart, r.Want.Fallback, r.Want.Back, r.Want.Log) {
			if _, err := regexp.Compile(want); err != nil {
				t.Errorf("%s: %v", r.ID, err)
			}
		}
		seen[r.ID], kinds[r.Kind] = true, true
	}
	faults := Faults()
	for _, f := range concerned {
		if len(faults[f]) == 0 {
			t.Errorf("no row has fault %s", f)
		}
	}
	for _, k := range []string{KindReasoning, KindSignature, KindEncrypted, KindThinking, KindLearned, KindCallID, KindWholeReply, KindMarkup} {
		if !kinds[k] {
			t.Errorf("no row proves %s over a kill", k)
		}
	}
}
