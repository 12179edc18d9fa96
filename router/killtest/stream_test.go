package killtest

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/agent"
	"parley/channels"
	"parley/router/routertest"
	"parley/router/settings"
	"parley/sessions"
	"parley/sessions/sqlstore"
)

// uttered is a model that says its words one by one.
type uttered struct {
	agent.Model
	pause time.Duration
}

// Stream implements agent.Model.
func (u uttered) Stream(ctx context.Context, p agent.Prompt) iter.Seq2[agent.Delta, error] {
	if u.pause == 0 {
		return u.Model.Stream(ctx, p)
	}
	return func(yield func(agent.Delta, error) bool) {
		for d, err := range u.Model.Stream(ctx, p) {
			words := slices.Collect(strings.SplitAfterSeq(d.Text, " "))
			for _, w := range words[:len(words)-1] {
				if !channels.Sleep(ctx, u.pause) || !yield(agent.Delta{Text: w}, nil) {
					return
				}
			}
			if d.Text = words[len(words)-1]; d.Text == breaksOff {
				yield(agent.Delta{}, errors.New("the line broke"))
				return
			}
			if !yield(d, err) {
				return
			}
		}
	}
}

// streamStory is an answer that takes three seconds and a bit, and how it ends.
func streamStory(name, fails string, limit int) *scenario {
	answer := strings.TrimSpace(strings.Repeat("words ", 33))
	return &scenario{name: name, pause: 100 * time.Millisecond, set: func(s *settings.Snapshot) {
		routertest.Edits(s)
		a := s.Accounts[routertest.Account]
		a.Chunk = limit
		s.Accounts[routertest.Account] = a
	}, moves: []move{{id: "m", at: time.Second, to: routertest.ChatA, by: routertest.Guest, text: "write"}},
		answer: func(context.Context, routertest.Step) (agent.Answer, error) {
			return routertest.Text(answer + fails), nil
		}}
}

// TestKillWhileStreaming ends the process at every commit of an answer that is shown by edits, and of one that breaks off: what is shown
// in the end is the whole answer, in one message or cut as it always is. What is left of a preview is never there besides it, unless the
// platform neither knows repeats nor can be asked, and the process ended before the answer of the platform was on disk: then the answer
// is marked.
func TestKillWhileStreaming(t *testing.T) {
	t.Parallel()
	base := beginning(t)
	for _, sc := range []*scenario{streamStory("answered", "", 0), streamStory("in parts", "", 80), streamStory("breaks off", " "+breaksOff, 0)} {
		t.Run(sc.name, func(t *testing.T) {
			t.Parallel()
			images := judgeStream(t, sc, base, routertest.Repeats, fate{}, true)
			var at fate
			for _, im := range images {
				if im.phase != sqlstore.BeforeCommit {
					switch im.op {
					case "BeginPreview":
						at = fate{there: true, unclear: true}
					case "ShowPreview":
						at.unclear = false
					case "PartSent+fake", "EndPreview":
						at.there = false // what is under way now is another message
					}
				}
				if routertest.Racing && im.n%8 > 0 {
					continue
				}
				at := at
				for _, p := range []routertest.Platform{routertest.Repeats, routertest.Idempotent, routertest.Reconciles} {
					t.Run(im.name()+" "+p.Name, func(t *testing.T) {
						t.Parallel()
						judgeStream(t, sc, im, p, at, false)
					})
				}
			}
		})
	}
}

// breaksOff is the last word of an answer that breaks off there.
const breaksOff = "BREAK"

// fate is what an image knows of a preview: whether there is one, and whether it may have arrived and may not.
type fate struct{ there, unclear bool }

// judgeStream lives on from an image and holds what a chat shows against what was to be said.
func judgeStream(t *testing.T, sc *scenario, from *image, p routertest.Platform, at fate, record bool) (images []*image) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		l := live(t, sc, from, p, record)
		a := l.look()
		left, err := l.store.Previews(t.Context())
		if len(l.fake.Overlaps()) > 0 || err != nil || len(left) > 0 {
			t.Errorf("overlaps %v; previews left: %+v, %v", l.fake.Overlaps(), left, err)
		}
		l.stop()
		d := a.deliveries[len(a.deliveries)-1]
		whole := routertest.Text(strings.TrimSpace(strings.Repeat("words ", 33))).Content[0].Text
		if strings.HasSuffix(sc.name, "off") {
			whole = d.Text
		}
		var parts []string
		for _, part := range channels.Split(whole, channels.Limits{Text: sc.settings().Accounts[routertest.Account].Chunk, Dialect: channels.PlainText, Unit: channels.Runes}) {
			parts = append(parts, part.Text)
		}
		var shown []string
		for _, c := range a.shown {
			if c.To == routertest.ChatA && c.Out.Text != greeting {
				shown = append(shown, c.Out.Text)
			}
		}
		extra := len(shown) - len(parts)
		if extra < 0 || !slices.Equal(shown[extra:], parts) && !slices.Equal(shown[:len(parts)], parts) {
			t.Errorf("shown %q, want %q", shown, parts)
		}
		mayRepeat := p.Name == routertest.Repeats.Name && (at.unclear || l.unclear && (!at.there || d.Kind != sessions.Reply))
		if extra > 0 && !mayRepeat || extra > 1 || extra > 0 && d.Kind == sessions.Reply && !d.Repeat || d.Repeat && !mayRepeat {
			t.Errorf("%d too many: %q; marked %v", extra, shown, d.Repeat)
		}
		if d.State != sessions.Sent || len(d.Receipts) != len(parts) {
			t.Errorf("%+v", d)
		}
		images, _ = l.distinct()
	})
	return images
}
