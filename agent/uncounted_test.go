package agent

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"parley/sessions"
)

// What a provider does not count is estimated, so that it is paid for and bounded; the log says so once. What is counted stays as it
// is, and the model that is built in costs nothing.
func TestUncountedIsEstimated(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	l := Loop{Logger: slog.New(slog.NewTextHandler(&log, nil))}
	for _, free := range []bool{false, false, true} {
		a := say(strings.Repeat("abc", 100))
		a.Usage = sessions.Usage{}
		m := &script{answers: []any{a}}
		p := purse{}
		turn := Turn{Model: m, Name: "m", Label: "p/m", System: strings.Repeat("abc", 1000), Facts: ModelFacts{Output: 2, free: free},
			History: []sessions.Message{{ID: "u", Role: sessions.User, Content: sessions.TextContent("hello")}}, Afford: p.afford}
		out, err := l.Run(t.Context(), turn)
		if err != nil {
			t.Fatal(err)
		}
		u := *out.Final.Usage
		switch {
		case free && u != (sessions.Usage{}):
			t.Errorf("built in: %+v", u)
		case !free && (u.Input < 1000 || u.Input > 1100 || u.Output < 100 || u.Output > 110 || u.Cost != int64(2*u.Output)):
			t.Errorf("%+v", u)
		}
		if len(p.settled) != 1 || p.settled[0] != u || out.Usage != u {
			t.Errorf("settled %+v, the turn took %+v, the answer %+v", p.settled, out.Usage, u)
		}
	}
	if n := strings.Count(log.String(), "no token counts"); n != 1 {
		t.Errorf("said %d times: %s", n, log.String())
	}
}
