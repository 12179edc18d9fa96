package turn

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"parley/agent"
	"parley/router/chain"
	"parley/sessions"
)

// TestAcceptable: what is left of transcripts. A word is a message: who (u a person, a the model, t a tool, p a post of the host, n a notice),
// the run, and ! where the notice says that the provider refused; A is an answer that was given without what came before, b and B are
// answers of another model, and s is the summary.
func TestAcceptable(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ all, want string }{
		{"u1 a1 u2 a2", "u1 a1 u2 a2"},
		{"u1 a1 u2 n2", "u1 a1 u2 n2"},             // it failed for another reason
		{"u1 a1 u2 n2! u3 a3", "u1 a1 u3 a3"},      // a message
		{"u1 a1 u2 a2 t2 n2! u3", "u1 a1 u3"},      // what a tool said
		{"u1 a1 u2 a2 t2 u2 n2! u3", "u1 a1 u3"},   // a message taken up
		{"u1 a1 u2 u3 n3! u4", "u1 a1 u4"},         // u2 was stopped before it was answered
		{"u1 a1 u2 n2 u3 n3! u4", "u1 a1 u4"},      // the provider was down
		{"u1 a1 t1 u2 n2! u3", "u1 a1 u3"},         // t1 was stopped before the next step
		{"u1 a1 p2 u3 n3! u4", "u1 a1 p2 u4"},      // a post is likely to be harmless
		{"u1 a1 u2 n2! u3 n3! u4", "u1 a1 u4"},     // two that are refused by themselves: nothing before them is to blame
		{"u1 a1 p2 u3 A3 u4", "p2 u3 A3 u4"},       // nothing else was untaken: the newest turn goes, with its question
		{"u1 a1 u2 a2 u3 A3 u4", "u1 a1 u3 A3 u4"}, // the answer itself is what is refused, or its question
		{"u1 a1 u2 a2 t2 a2 u3 A3 u4", "u1 a1 u3 A3 u4"},
		{"u1 a1 u2 n2 u3 A3 u4", "u1 a1 u3 A3 u4"}, // u2 was never read
		{"u1 a1 u2 n2 p2 u3 A3 u4", "u1 a1 p2 u3 A3 u4"},
		{"u1 a1 u2 a2 u3 a3 u4 a4 u5 A5 u6", "u1 a1 u2 a2 u3 a3 u5 A5 u6"},                               // the newest turn first
		{"u1 a1 u2 a2 u3 a3 u4 a4 u5 A5 u6 A6 u7", "u2 a2 u3 a3 u5 A5 u6 A6 u7"},                         // then half of the others
		{"u1 a1 u2 a2 u3 a3 u4 a4 u5 A5 u6 A6 u7 A7 u8", "u3 a3 u5 A5 u6 A6 u7 A7 u8"},                   // then half of that
		{"u1 a1 u2 a2 u3 a3 u4 a4 u5 A5 u6 A6 u7 A7 u8 a8", "u1 a1 u3 a3 u4 a4 u5 A5 u6 A6 u7 A7 u8 a8"}, // it was the second turn: all others are shown
		{"u1 a1 u2 a2 u3 a3 u4 a4 u5 A5 u6 A6 u7 a7", "u2 a2 u3 a3 u4 a4 u5 A5 u6 A6 u7 a7"},             // it was the first one
		{"u1 b1 u2 b2 u3 A3 u4 a4 u5", "u1 b1 u3 A3 u4 a4 u5"},                                           // another model took it
		{"u1 a1 u2 a2 u3 B3 u4", "u1 a1 u2 a2 u3 B3 u4"},                                                 // another model did not take it: this one did
		{"u1 a1 u2 b2 u3 b3 u4 A4 u5", "u1 a1 u4 A4 u5"},                                                 // what came since another model was asked
		{"u1 a1 u2 b2 u3 b3 u4 A4 u5 a5", "u1 a1 u3 b3 u4 A4 u5 a5"},                                     // half of that
		{"u1 a1 u2 b2 u3 b3 u4 A4 u5 A5 u6", "u2 b2 u3 b3 u4 A4 u5 A5 u6"},                               // it was what it had taken
		{"u1 a1 u2 a2 u3 A3 u4 a4 u5 A5 u6", "u1 a1 u3 A3 u5 A5 u6"},                                     // not in a row: the newest turn that was not taken alone
		{"u1 a1 u2 A2 u3 A3 u4", "u3 A3 u4"},                                                             // what was answered alone is the reason itself
		{"u1 a1 u2 A2 u3 A3 u4 A4 u5", "u4 A4 u5"},
		{"s u1 A1 u2", "u1 A1 u2"}, // the summary
		{"s u1 a1 u2 A2 u3 A3 u4", "u1 a1 u2 A2 u3 A3 u4"},
		{"u1 A1 u2", "u1 A1 u2"},       // nothing that could be it
		{"u0 a0 u1 A1 u2", "u1 A1 u2"}, // imported: no run
		{"u0 a0 u1 a1 u2 A2 u3 A3 u4", "u1 a1 u2 A2 u3 A3 u4"},
		{"u0 a0 u0 a0 u0 a0 u1 A1 u2 A2 u3 a3", "u0 a0 u0 a0 u1 A1 u2 A2 u3 a3"}, // one of several that were imported
		{"u1 a1 u2 A2 t2 A2 u3 a3", "u2 A2 t2 A2 u3 a3"},
		{"u1 a1 u2 A2 t2 a2 u3", "u2 A2 t2 a2 u3"},
		{"u1 a1 u2 A2 t2 n2! u3", "u3"}, // both what came before and the tool's result
		{"u1 n1! u2 n2! u3", "u3"},
		{"u1 n1! u2 n2! u3 a3", "u3 a3"},
		{"u1 a1 u2 n2! u3 a3 u4 n4! u5", "u1 a1 u3 a3 u5"}, // not in a row
		{"u1 a1 u2 u3 a3 t3 n3! u4", "u1 a1 u2 u4"},        // u2 was taken with a3
		{"n1! u2", "u2"}, // the beginning is summed up
		{"u1 a1 u2 a2 t2 n2! u3 n3! u4 a4", "u1 a1 u4 a4"},             // the step was taken
		{"u1 a1 u2 n2! p3 u4 a4", "u1 a1 p3 u4 a4"},                    // a post behind it
		{"u1 a1 u0 a0 n0! u2", "u1 a1 u0 a0 n0! u2"},                   // imported: no run
		{"u1 a1 u2 nold u3", "u1 a1 u3"},                               // by an earlier version
		{"u1 a1 u2 a2 t2 u3 a3 t3 n3! u4 n4! u5", "u1 a1 u2 a2 t2 u5"}, // t2 was taken with a3
	} {
		var x history
		for i, w := range strings.Fields(c.all) {
			if w == "s" {
				x.Sum = sessions.Summary{ID: "s", Text: "s"}
				continue
			}
			m := sessions.Message{ID: fmt.Sprint(i), Role: sessions.User, Run: sessions.RunID(strings.Trim(w[1:], "!")), Content: sessions.TextContent(w), MessageExtras: &sessions.MessageExtras{Refused: strings.HasSuffix(w, "!")}}
			switch w[0] {
			case 'a', 'A':
				m.Role, m.Model, m.MessageExtras.WithoutHistory = sessions.Assistant, "mock/m", w[0] == 'A'
			case 'b', 'B':
				m.Role, m.Model, m.MessageExtras.WithoutHistory = sessions.Assistant, "mock/b", w[0] == 'B'
			case 't':
				m.Role = sessions.ToolResult
			case 'p':
				m.Role, m.Model = sessions.Assistant, chain.PostModel
			case 'n':
				m.Role, m.Model = sessions.Assistant, sessions.NoticeModel
			}
			switch m.Run {
			case "0":
				m.Run = ""
			case "old":
				m.Run, m.Error = "2", (&agent.ModelError{Class: agent.BadRequest, Provider: "p", Tries: 1, Status: 400, Err: errors.New("no")}).Error()
			}
			m.Time = time.Unix(1, 0)
			x.Msgs = append(x.Msgs, m)
		}
		var got []string
		j := judge(x, "mock/m")
		if x.Sum.ID != "" && j.sum.state == partShown {
			got = append(got, "s")
		}
		for _, m := range j.Shown() {
			got = append(got, m.Text())
		}
		if g := strings.Join(got, " "); g != c.want {
			t.Errorf("%s: %s, want %s", c.all, g, c.want)
		}
	}
}
