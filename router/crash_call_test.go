package router

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"parley/agent"
	"parley/channels"
)

// TestKilledBesideACall kills a process at each commit around a call to a platform that knows no repeats, and never within one: before it, the commit
// that begins to send is made, behind it, the receipt is not. What the process knew of it the next one knows: the answer is shown once, and nobody is told
// that it might be there twice.
//
// proves: D4
func TestKilledBesideACall(t *testing.T) {
	t.Parallel()
	sc := &scenario{
		name:   "one message",
		moves:  []move{{id: "m", to: chatA, by: guest, text: "hello"}},
		answer: func(context.Context, step) (agent.Answer, error) { return text("an answer"), nil },
		want:   want{shows: map[channels.Address][]string{chatA: {"an answer"}}},
	}
	images, _, _ := tell(t, sc, beginning(t), repeats, true)
	var within []string
	for _, im := range images {
		synctest.Test(t, func(t *testing.T) {
			l := live(t, sc, im, repeats, false)
			a := l.look()
			l.stop()
			a.judge()
			if l.unclear {
				within = append(within, strings.TrimLeft(im.name(), "0123456789 "))
			}
			for _, d := range a.deliveries {
				if d.Repeat || d.Unclear {
					t.Errorf("killed %s: %q is %s, marked %t, unclear %t: %s", im.name(), d.Text, d.State, d.Repeat, d.Unclear, d.Error)
				}
			}
		})
	}
	if want := []string{"Finish+begin after-commit", "PartSent+fake before-commit"}; !slices.Equal(within, want) {
		t.Errorf("killed within a send at %q, want %q", within, want)
	}
}
