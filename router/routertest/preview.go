package routertest

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"testing"
	"time"

	"parley/agent"
	"parley/channels"
	"parley/channels/channeltest"
	"parley/router/settings"
)

// Scribe is a model that writes word by word.
type Scribe struct {
	Pause  time.Duration // before each word
	Answer string
	Fails  error           // in the place of an end
	hold   <-chan struct{} // before it ends
}

// Stream implements agent.Model.
func (w Scribe) Stream(ctx context.Context, p agent.Prompt) iter.Seq2[agent.Delta, error] {
	return func(yield func(agent.Delta, error) bool) {
		for word := range strings.SplitAfterSeq(w.Answer, " ") {
			if !channels.Sleep(ctx, w.Pause) {
				yield(agent.Delta{}, ctx.Err())
				return
			}
			if !yield(agent.Delta{Text: word}, nil) {
				return
			}
		}
		if w.hold != nil {
			select {
			case <-w.hold:
			case <-ctx.Done():
				yield(agent.Delta{}, ctx.Err())
				return
			}
		}
		if w.Fails != nil {
			yield(agent.Delta{}, w.Fails)
			return
		}
		a := Text(w.Answer)
		yield(agent.Delta{Final: &a}, nil)
	}
}

// Writes starts a rig whose model is a scribe.
func Writes(t *testing.T, w Scribe, o channeltest.Options, with ...func(*settings.Snapshot)) *Rig {
	t.Helper()
	g := &Rig{T: t, Dir: Folder(t), Settings: SettingsFor(with...), Fake: channeltest.NewFake(o), Model: &Script{}}
	g.Models = func(name string) (agent.Candidate, error) {
		return agent.Candidate{Model: w, Name: "m", Label: name}, nil
	}
	g.Start()
	return g
}

// TenSeconds is an answer of a hundred words in ten seconds.
func TenSeconds() Scribe {
	var b strings.Builder
	for i := range 100 {
		fmt.Fprintf(&b, "word%02d ", i)
	}
	return Scribe{Pause: 100 * time.Millisecond, Answer: strings.TrimSpace(b.String())}
}
