package turn

import (
	"context"
	"fmt"

	"parley/router/budget"
	"parley/sessions"
)

// What stands below replies (Settings.Footer).
const (
	FooterTokens = "tokens"
	FooterFull   = "full"
)

// footer is what stands below a run's reply: what its calls took, where the session wants that.
func (w *Worker) footer(ctx context.Context, run sessions.Run, u sessions.Usage) string {
	s, err := w.store.Get(ctx, run.Key)
	if err != nil {
		return "" // finishing the run says why
	}
	return FooterWords(s.Settings.Footer, u)
}

// FooterWords returns the line below an answer that says what it used; "" = none is wanted.
func FooterWords(footer string, u sessions.Usage) string {
	switch {
	case footer == "":
		return ""
	case footer == FooterFull && u.Cost > 0:
		return fmt.Sprintf("\n\n· %s in, %s out, %s", sessions.ShortCount(u.Input), sessions.ShortCount(u.Output), budget.Dollars(u.Cost))
	}
	return fmt.Sprintf("\n\n· %s in, %s out", sessions.ShortCount(u.Input), sessions.ShortCount(u.Output))
}
