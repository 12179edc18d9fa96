package inbound

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"parley/channels"
	"parley/router/chain"
	"parley/router/rights"
	"parley/router/settings"
	"parley/sessions"
)

// Request is a message to an agent that comes through the host itself: API, OpenAI endpoints, hooks.
type Request struct {
	Source    string           // dedupe key; "" = never a repeat
	Session   sessions.Key     // made when it is new; its agent answers
	Text      string           // may be empty when there are pictures
	Pictures  [][]byte         // that the model looks at: JPEG, PNG, GIF or WebP, at most turn.MaxPictures of filestore.MaxPicture bytes each
	Sender    channels.Sender  // ID: the principal's name
	Owner     bool             // the text is an owner's
	Via       string           // what it came through, for people and traces: api, openai, mcp, hook
	Reply     channels.Address // the answer is posted there as well, which must have written to this host; zero = it is in the transcript only
	MustLeave bool             // with Reply: a policy.BlockedError at once where the send policy lets nothing out; otherwise the answer is withheld when it would leave
	Exclusive bool             // a turn of its own: it is not collected with others that wait
	System    string           // stands at the end of this turn's system prompt
	Model     string           // for this turn, provider/model
	Thinking  string           // for this turn
	Timeout   time.Duration    // of the turn; 0 = the agent's
	Label     string           // of the run
	Client    json.RawMessage  // kept with the run for the API that it comes through; may be nil
	Title     string           // of a session that is made now
	Keep      time.Duration    // a session that is made now is archived so long after; 0 = never
	Data      bool             // the text is data from an external program, not a person's request
	Commands  bool             // a text that is a chat command is one; its answer is Submitted.Answer, not a delivery
}

// Submitted is the result of Submit.
type Submitted struct {
	Run       sessions.Run // zero for a command that causes none
	Duplicate bool         // the Source was known: this is the first time's run
	Command   string       // that the text was; "" = none
	Answer    string       // of the command
}

// Submit queues a run that answers a text. The run is durable when Submit returns.
func (r *Receiver) Submit(ctx context.Context, w Request) (h Submitted, err error) {
	defer channels.RecoverPanic(r.log, "say", &err)
	set := r.settings()
	if again, known, err := r.saidBefore(ctx, w); known || err != nil {
		return again, err
	}
	s, err := r.spokenTo(ctx, set, w.Session)
	if err != nil {
		return h, err
	}
	if w.Commands {
		cmd, arg, ok := r.commands.Parse(w.Text)
		if !ok {
			if ok, _, err = r.commands.IsStop(ctx, s, channels.Inbound{Sender: w.Sender}, w.Text, w.Owner); ok {
				cmd, arg, _ = r.commands.Parse("/stop")
			}
		}
		if err != nil {
			return h, err
		}
		if ok {
			return r.sayCommand(ctx, set, s, w, cmd, arg)
		}
	}
	if strings.TrimSpace(w.Text) == "" && len(w.Pictures) == 0 {
		return h, fmt.Errorf("%w: the text is empty", sessions.ErrBadRequest)
	}
	run, err := r.runOf(ctx, set, s, w)
	if err != nil {
		return h, err
	}
	c := &sessions.Change{IdempotencyKey: w.Source, Session: &sessions.Target{Session: freshFor(s, w)}, Run: &sessions.Enqueue{Run: *run}}
	if err := r.checkQueueLimit(ctx, set, s, c); err != nil {
		return h, err
	}
	if err := r.autoReset(ctx, set, s, s.Last, c); err != nil {
		return h, err
	}
	if err := r.attachContext(ctx, set, c); err != nil {
		return h, err
	}
	return r.submitWords(ctx, *c, "", "")
}

// saidBefore finds the run of words that were said before.
func (r *Receiver) saidBefore(ctx context.Context, w Request) (h Submitted, known bool, err error) {
	if w.Source == "" {
		return h, false, nil
	}
	run, err := r.store.GetRun(ctx, sessions.RunID(sessions.IDFor(w.Source, "run")))
	if errors.Is(err, sessions.ErrNotFound) {
		return h, false, nil
	}
	return Submitted{Run: run, Duplicate: true}, err == nil, err
}

func (r *Receiver) submitWords(ctx context.Context, c sessions.Change, command, answer string) (Submitted, error) {
	acc, err := r.commit.Submit(ctx, c)
	if err != nil {
		return Submitted{}, err
	}
	if acc.Duplicate && acc.Run.ID == "" && c.Run != nil { // it is deleted since
		acc.Run = sessions.Run{ID: c.Run.ID, Key: c.Run.Key, Agent: c.Run.Agent}
	}
	if p, ok := sessions.FindOp[sessions.PatchSession](c); ok && p.SendPolicy != nil {
		err = r.gate.WaitInFlight(ctx, acc.Session.Key) // contract P7
	}
	return Submitted{Run: acc.Run, Duplicate: acc.Duplicate, Command: command, Answer: answer}, err
}

// spokenTo returns the session that a text is for; a new one has only Key and Agent.
func (r *Receiver) spokenTo(ctx context.Context, set *settings.Snapshot, key sessions.Key) (sessions.Session, error) {
	s, err := r.store.Get(ctx, key)
	if !errors.Is(err, sessions.ErrNotFound) {
		return s, err
	}
	parts, err := key.Parse()
	if err != nil {
		return s, fmt.Errorf("%w: session: %w", sessions.ErrBadRequest, err)
	}
	s.Key, s.Agent = key, parts.Agent
	ids, def := set.Agents.IDs()
	switch parts.Form {
	case sessions.FormGlobal:
		s.Agent = def
	case sessions.FormSubagent:
		return s, fmt.Errorf("sub-agent %s: %w", key, sessions.ErrNotFound)
	case sessions.FormUnknown:
		return s, fmt.Errorf("%w: session %q is reserved", sessions.ErrBadRequest, key)
	default:
		if !slices.Contains(ids, parts.Agent) {
			return s, fmt.Errorf("%w: session %s: there is no agent %q; there are %s", sessions.ErrBadRequest, key, parts.Agent, sessions.JoinIDs(ids))
		}
	}
	return s, nil
}

// freshFor is the session as words leave it: its chat stays.
func freshFor(s sessions.Session, w Request) sessions.Session {
	fresh := sessions.Session{Key: s.Key, Agent: s.Agent}
	if s.ID == "" {
		fresh.Title = w.Title
		if w.Keep > 0 {
			fresh.ArchiveAt = time.Now().Add(w.Keep)
		}
	}
	return fresh
}

// runOf makes the run that answers words.
func (r *Receiver) runOf(ctx context.Context, set *settings.Snapshot, s sessions.Session, w Request) (*sessions.Run, error) {
	if w.Model != "" {
		if err := r.host.ModelKnown(w.Model); err != nil {
			return nil, fmt.Errorf("%w: model: %w", sessions.ErrBadRequest, err)
		}
	}
	text := strings.TrimSpace(w.Text)
	if s.Last.Type.Several() { // the others of the chat are named as well
		text = channels.Speaker(w.Sender) + ": " + channels.BehindSpeaker(text)
	}
	pictures, err := r.worker.Pictures.Keep(w.Pictures)
	if err != nil {
		return nil, err
	}
	id := sessions.RunID(sessions.IDFor(w.Source, "run"))
	run := &sessions.Run{ID: id, Kind: sessions.TurnRun, Key: s.Key, Agent: s.Agent, Source: w.Source, Exclusive: w.Exclusive, System: w.System,
		Model: w.Model, Thinking: w.Thinking, Timeout: w.Timeout, Label: w.Label,
		Input: sessions.Message{ID: uuid.NewString(), Role: sessions.User, Content: append(sessions.TextContent(text), pictures...), Time: time.Now(), Run: id,
			Provenance: &sessions.Provenance{Kind: sessions.ExternalUser, Sender: string(w.Sender.ID), Name: cmp.Or(w.Sender.Name, w.Sender.Username),
				User: w.Sender.Username, Owner: w.Owner, Untrusted: w.Data, Tool: w.Via}}}
	run.SetExtras(sessions.RunExtras{Client: w.Client})
	if err := r.answerTo(ctx, set, s, w, run); err != nil || !w.MustLeave || w.Reply.IsZero() {
		return run, err
	}
	return run, r.host.CheckMayAnswer(ctx, s, w.Reply, !run.Reply.IsZero())
}

// answerTo says in a run where its answer goes. Into the session's own chat it is an answer like any other; into that of another
// session the host posts it, and that session knows of it.
func (r *Receiver) answerTo(ctx context.Context, set *settings.Snapshot, s sessions.Session, w Request, run *sessions.Run) error {
	if w.Reply.IsZero() {
		return nil
	}
	w.Reply = set.Moved.Current(w.Reply)
	if w.Reply == s.Last {
		run.Reply = w.Reply
		return nil
	}
	there, err := r.host.ChatOf(ctx, w.Reply)
	if err != nil {
		return err
	}
	if slices.Contains(there, s.Key) {
		run.Reply = w.Reply
		return nil
	}
	run.Chain = &sessions.Chain{Kind: chain.Relay, Root: run.ID, Requester: there[0], Target: s.Key, Request: w.Text, Origin: w.Reply, Owner: w.Owner,
		Places: []sessions.Place{{Chat: w.Reply, Session: there[0]}}}
	who := rights.Requesters{Owner: w.Owner}
	who.Add(run.Input)
	run.Chain.People = who.People
	return nil
}
