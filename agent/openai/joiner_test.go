package openai

import (
	"strings"
	"testing"
)

// TestJoinerIsBounded: of an answer that is longer than what is kept of it, the joiner keeps no more, and it changes nothing.
func TestJoinerIsBounded(t *testing.T) {
	t.Parallel()
	var j joiner
	piece := strings.Repeat("I should look. ", 1000)
	given, said := 0, 0
	for given < 3*maxJoined {
		given += len(piece)
		said += len(j.add(piece, false))
	}
	if said += len(j.end()); said != given {
		t.Errorf("%d bytes of %d", said, given)
	}
	if kept := j.text.Len(); kept > maxJoined+len(piece) {
		t.Errorf("%d bytes are kept", kept)
	}
}
