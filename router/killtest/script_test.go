package killtest

import (
	"context"
	"testing"
	"time"

	"parley/agent"
	"parley/channels"
	"parley/channels/channeltest"
	"parley/router"
	"parley/router/routertest"
	"parley/router/settings"
	"parley/sessions"
	"parley/sessions/sqlstore"
)

// scenario is a story that is told once to its end, and again from each of its crash images. What the model answers is a function
// of what it is shown: a process that takes over hears the same.
type scenario struct {
	name   string
	set    func(*settings.Snapshot)
	moves  []move
	answer func(ctx context.Context, s routertest.Step) (agent.Answer, error)
	want   want
	twice  bool          // kill the processes that take over as well
	pause  time.Duration // before each word of an answer

	limits  channels.Limits                                       // of the platform, besides those of its kind
	script  []channeltest.Step                                    // of the platform, for the first process
	prepare func(ctx context.Context, store sessions.Store) error // before the first message; may be repeated
}

func (sc *scenario) settings() *settings.Snapshot {
	if sc.set == nil {
		return routertest.SettingsFor()
	}
	return routertest.SettingsFor(sc.set)
}

// move is what somebody writes, some time after epoch.
type move struct {
	id   channels.MessageID
	at   time.Duration
	to   channels.Address
	by   string
	text string
	in   func(*channels.Inbound)                           // changes it to something else than a message that is meant for the bot
	do   func(ctx context.Context, r *router.Router) error // instead of writing: may be repeated
}

// asked is one call of the model and what it answered.
type asked struct {
	routertest.Step
	mark   string
	empty  bool // the answer said nothing and called nothing
	prompt agent.Prompt
}

// transcripts reads every transcript of a store.
func transcripts(t *testing.T, store *sqlstore.Store) map[sessions.Key][]sessions.Message {
	t.Helper()
	out := map[sessions.Key][]sessions.Message{}
	for _, archived := range []bool{false, true} {
		list, err := store.List(t.Context(), sessions.Query{Archived: archived, Limit: 1000})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range list {
			if out[s.Key], err = store.Tail(t.Context(), s.ID, sessions.TailQuery{Limit: 1000, IncludeTool: true}); err != nil {
				t.Fatal(err)
			}
		}
	}
	return out
}
