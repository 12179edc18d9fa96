package chatclient

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/channels/webchat"
	"parley/gateway/api"
	"parley/gateway/web"
	"parley/sessions"
)

// endedTurns is a chat whose turns end without a message.
type endedTurns struct {
	lines []web.Line
	said  string // a notice that stands behind each message; "" = none
	end   api.Waited
}

func (b *endedTurns) info(context.Context) (web.Info, error) { return web.Info{}, nil }

func (b *endedTurns) history(context.Context) ([]web.Line, error) { return b.lines, nil }

func (b *endedTurns) post(_ context.Context, id, text string) error {
	b.lines = append(b.lines, web.Line{ID: "u" + id, Role: web.User, Text: text, Client: id, Run: "run"})
	if b.said != "" {
		b.lines = append(b.lines, web.Line{ID: "n" + id, Role: web.Notice, Text: b.said, Deliveries: []string{"d" + id}, State: sessions.Sent})
	}
	return nil
}

func (b *endedTurns) stream(ctx context.Context, on func(webchat.Event)) error {
	on(webchat.Event{Kind: webchat.HelloEvent})
	<-ctx.Done()
	return ctx.Err()
}

func (b *endedTurns) outcome(context.Context, sessions.RunID) (api.Waited, error) { return b.end, nil }

// A turn that ends without an answer ends the wait for it, and the next line is sent; how it ended is told.
func TestLinesEndWithTheTurn(t *testing.T) {
	for outcome, said := range map[api.Outcome]string{api.Silent: "", api.Done: "", api.Stopped: "", api.TimedOut: "", api.Empty: "", api.Failed: "It broke."} {
		t.Run(string(outcome), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				failed := errors.New("it ended as " + string(outcome))
				var out bytes.Buffer
				told, b := 0, &endedTurns{said: said, end: api.Waited{Run: "run", Final: true, Outcome: outcome}}
				c := &client{Options{In: strings.NewReader("one\ntwo\n"), Out: &out, Patience: time.Hour, Ended: func(w api.Waited) error {
					told++
					if w.Outcome == api.Silent || w.Outcome == api.Done {
						return nil
					}
					return failed
				}}, b}
				began := time.Now()
				err := c.run(t.Context())
				if succeeds := outcome == api.Silent || outcome == api.Done; succeeds != (err == nil) || !succeeds && !errors.Is(err, failed) || told != 2 {
					t.Errorf("told %d times, error %v", told, err)
				}
				if took := time.Since(began); took > time.Minute {
					t.Errorf("it took %s", took)
				}
				if want := strings.Repeat(said+"\n", 2); said != "" && out.String() != want || said == "" && out.Len() > 0 {
					t.Errorf("printed %q", out.String())
				}
			})
		})
	}
}
