package chain

import (
	"context"
	"log/slog"
	"strings"
	"time"

	"github.com/google/uuid"

	"parley/agent"
	"parley/router/clock"
	"parley/router/settings"
	"parley/sessions"
)

// Config has what an Advancer works with.
type Config struct {
	Store    sessions.Store
	Settings func() *settings.Snapshot
	Ages     *clock.Steady
	Retry    *clock.Retrier
	Log      *slog.Logger
	// TranscriptPath says where a session's transcript file is (contract N13); nil = nowhere.
	TranscriptPath func(sessions.AgentID, sessions.ID) string
}

// Advancer puts what follows on a run of a chain into its outcome.
type Advancer struct {
	store          sessions.Store
	settings       func() *settings.Snapshot
	clock          *clock.Steady
	retry          *clock.Retrier
	log            *slog.Logger
	transcriptPath func(sessions.AgentID, sessions.ID) string
}

// New returns an Advancer.
func New(c Config) *Advancer {
	return &Advancer{store: c.Store, settings: c.Settings, clock: c.Ages, retry: c.Retry, log: c.Log, transcriptPath: c.TranscriptPath}
}

// Complete adds to a finished run's outcome what its chain does next, so that both are committed together. notice is what people may read
// about a run that failed. It reports false when the store could not be asked before the host stopped: the run is then taken up again.
func (a *Advancer) Complete(ctx context.Context, set *settings.Snapshot, run sessions.Run, said agent.Outcome, notice string, o *sessions.Outcome) bool {
	return a.complete(ctx, set, Facts{Run: run, Said: said, Notice: notice}, o)
}

// CompleteExpired is Complete for a run that is past its time to live.
func (a *Advancer) CompleteExpired(ctx context.Context, set *settings.Snapshot, run sessions.Run, o *sessions.Outcome) bool {
	return a.complete(ctx, set, Facts{Run: run, Expired: true}, o)
}

func (a *Advancer) complete(ctx context.Context, set *settings.Snapshot, f Facts, o *sessions.Outcome) bool {
	if f.Run.Chain == nil {
		return true
	}
	if !a.load(ctx, set, &f, o) {
		return false
	}
	s := Advance(f)
	if s.Warning != "" {
		a.log.Warn(s.Warning, s.Attrs...) //nolint:sloglint // each is a constant of the rules
	}
	fillStep(s, f.Run, set, o)
	if f.Asker != nil && !f.CallEnded { // it may have its result by the time of the commit
		f.CallEnded = true
		if o.IfAnswered = Advance(f).Next; o.IfAnswered != nil {
			identify(o.IfAnswered)
		}
	}
	return true
}

// fillStep fills in ids and times, and puts a step into the outcome of the run.
func fillStep(s Step, run sessions.Run, set *settings.Snapshot, o *sessions.Outcome) {
	if s.Unreported != "" {
		if o.Status == sessions.Done {
			o.Status = sessions.Stopped
		}
		o.Error = strings.TrimPrefix(o.Error+"; not reported: "+s.Unreported, "; ")
	}
	if o.Next = s.Next; s.Next != nil {
		identify(s.Next)
	}
	if s.Message != nil {
		o.Messages = append(o.Messages, postedMessage(run.ID, s.Message.Text()))
	}
	if s.Delete {
		o.Delete = &run.Chain.Target
	}
	if s.Post == nil {
		return
	}
	d := *s.Post
	d.ID = sessions.DeliveryID(uuid.NewString())
	switch s.Lasts {
	case announceTime:
		d.Expires = time.Now().Add(set.Delivery.TTL(sessions.Announce))
	case replyTime:
		d.Expires = time.Now().Add(set.Delivery.TTL(sessions.Reply))
	case jobTime:
		d.Expires = time.Now().Add(set.Delivery.JobTTL())
	case noTime: // not by when it was made: the clock may have been set back since
		d.Expires = time.Now()
	}
	switch {
	case d.Message != "":
	case s.Next != nil:
		d.Message = s.Next.Run.Input.ID
	case s.Message != nil:
		d.Message = o.Messages[len(o.Messages)-1].ID
	}
	o.Deliveries = append(o.Deliveries, d)
}

// identify gives a run to queue, and its input, an id and a time.
func identify(c *sessions.Change) {
	id := sessions.RunID(uuid.NewString())
	in := &c.Run.Input
	c.Run.ID, in.Run, in.ID, in.Time = id, id, uuid.NewString(), time.Now()
}

// Posted puts a text into a session's transcript as its agent's words: people in its chat read it there, so the agent must know it.
// It is a run without a turn, so that it never lands between a tool call and its result.
func (a *Advancer) Posted(key sessions.Key, agentID sessions.AgentID, source, text string) *sessions.Change {
	c := posted(key, agentID, source, text)
	identify(c)
	return c
}

func posted(key sessions.Key, agentID sessions.AgentID, source, text string) *sessions.Change {
	return require(key, agentID, sessions.Run{Kind: sessions.PostRun, Source: source,
		Input: sessions.Message{Role: sessions.Assistant, Content: sessions.TextContent(text), Model: PostModel, Stop: "stop"}})
}

// PostedBy notes which session's words a post has.
func PostedBy(c *sessions.Change, from sessions.Key, tool string) *sessions.Change {
	c.Run.Input.Provenance = &sessions.Provenance{Kind: sessions.InterSession, Source: from, Tool: tool}
	return c
}

func postedMessage(run sessions.RunID, text string) sessions.Message {
	return sessions.Message{ID: uuid.NewString(), Role: sessions.Assistant, Content: sessions.TextContent(text), Time: time.Now(), Run: run, Model: PostModel, Stop: "stop"}
}

// Requester is the session that a sub-agent's run works for.
func Requester(run sessions.Run) sessions.Key {
	if c := run.Chain; c != nil && c.Kind == Spawn {
		return c.Requester
	}
	return ""
}

// LeftAbove returns how long the further turns of a sub-agent may still take. Until of its chain must be set.
func (a *Advancer) LeftAbove(c sessions.Chain) time.Duration {
	if c.StartedMs == 0 { // as earlier versions have stored it
		return c.Until.Sub(a.clock.Now())
	}
	return a.clock.Left(c.Until, time.UnixMilli(c.StartedMs))
}
