package sqlstore

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"parley/sessions"
)

// A second import adds what is new: sessions, and messages of sessions that have a beginning of the history. Sessions with other messages,
// or that a person started over, are left as they were.
func TestImportAgain(t *testing.T) {
	t.Parallel()
	for name, conf := range map[string]func(*testing.T) Config{
		"sqlite":   func(t *testing.T) Config { return Config{Dir: t.TempDir()} },
		"postgres": func(t *testing.T) Config { return Config{Dir: t.TempDir(), DSN: postgresDSN(t)} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, s := t.Context(), open(t, conf(t))
			full := importList(6, 4)
			for _, x := range full {
				x.Messages[1].Usage = &sessions.Usage{Input: 7, Output: 7}
			}
			first := slices.Clone(full[:5])
			for i := range first {
				first[i].Messages = first[i].Messages[:2]
			}
			run := func(list []sessions.Import, want ...sessions.ImportOutcome) {
				t.Helper()
				got, err := s.Import(ctx, list)
				if diff := cmp.Diff(want, got); diff != "" || err != nil {
					t.Errorf("%v %s", err, diff)
				}
			}
			made, same, left := sessions.ImportOutcome{State: sessions.ImportNew, Added: 2}, sessions.ImportOutcome{State: sessions.ImportSame}, sessions.ImportOutcome{State: sessions.ImportLeft}
			run(first, made, made, made, made, made)
			run(first, same, same, same, same, same)

			if _, err := s.Reset(ctx, first[1].Session.Key); err != nil { // started over
				t.Fatal(err)
			}
			other := importList(3, 3)[2] // its second message is another one
			other.Messages = slices.Clone(other.Messages)
			other.Messages[1].ID = "00000000-0000-4000-8000-000000000001"
			shorter := first[3]
			shorter.Messages = shorter.Messages[:1]
			moved := full[4] // the same history under another key
			moved.Session.Key = "agent:main:telegram:direct:77"
			full[0].Session.Updated = full[0].Session.Updated.Add(time.Hour)
			run([]sessions.Import{full[0], full[1], other, shorter, moved, full[5]},
				sessions.ImportOutcome{State: sessions.ImportExtended, Added: 2}, left, left, left, left, sessions.ImportOutcome{State: sessions.ImportNew, Added: 4})
			got, err := s.Get(ctx, full[0].Session.Key)
			if err != nil || !got.Updated.Equal(full[0].Session.Updated) {
				t.Errorf("%+v, %v", got, err)
			}
			checkHistory(ctx, t, s, full[0], 4)
			checkHistory(ctx, t, s, first[2], 2)
			hits, err := s.Search(ctx, sessions.SearchQuery{Text: "garden 3 of 0"})
			if err != nil || !slices.ContainsFunc(hits, func(h sessions.Hit) bool { return h.Key == full[0].Session.Key }) {
				t.Errorf("the new messages are not found: %v, %v", hits, err)
			}
			if spent, err := s.Spent(ctx, sessions.SpentQuery{}); err != nil || spent != (sessions.Spent{}) {
				t.Errorf("an import was charged: %+v, %v", spent, err)
			}
		})
	}
}

func checkHistory(ctx context.Context, t *testing.T, s *Store, x sessions.Import, n int) {
	t.Helper()
	msgs, err := s.Tail(ctx, x.Session.ID, sessions.TailQuery{IncludeTool: true})
	if err != nil || len(msgs) != n {
		t.Errorf("%s: %d messages, %v", x.Session.Key, len(msgs), err)
		return
	}
	for i, m := range msgs {
		if m.ID != x.Messages[i].ID || !m.Time.Equal(x.Messages[i].Time) {
			t.Errorf("%s: message %d is %s", x.Session.Key, i, m.ID)
		}
	}
}
