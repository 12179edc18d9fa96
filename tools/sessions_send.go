package tools

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"parley/sessions"
)

//go:embed sessions_send.md
var sessionsSendText string

const (
	sendWait    = 30        // seconds, default (contract S1)
	maxSendWait = 3600      // seconds: nothing waits for ever
	maxText     = 64 * 1024 // bytes of a message or task
	maxReply    = 32_000    // characters of an inline reply
)

type sendArgs struct {
	SessionKey     string  `json:"sessionKey" jsonschema:"key or session id; main is your main session"`
	Message        string  `json:"message" jsonschema:"what to say to the agent of that session"`
	TimeoutSeconds integer `json:"timeoutSeconds,omitzero" jsonschema:"how long to wait for the reply; default 30, at most 3600, 0 = do not wait"`
}

type sendResult struct {
	RunID      sessions.RunID `json:"runId"`
	Status     string         `json:"status"` // accepted, ok, timeout, error
	SessionKey string         `json:"sessionKey"`
	Reply      *string        `json:"reply,omitempty"`
	Silent     string         `json:"silent,omitempty"` // the control word that stands for an empty reply
	Cut        bool           `json:"replyTruncated,omitempty"`
	Error      string         `json:"error,omitempty"`
	Delivery   *sendDelivery  `json:"delivery,omitempty"`
}

// sendDelivery tells that an announce follows; it promises nothing (contract S11).
type sendDelivery struct {
	Status string `json:"status"`
	Mode   string `json:"mode"`
}

var announceFollows = &sendDelivery{Status: "pending", Mode: "announce"}

type sessionsSend struct {
	deps  Deps
	pace  *pace
	waits *waitGraph
}

// SessionsSend is the tool sessions_send (contract S1–S6, S12, S14).
func SessionsSend(d Deps) Tool {
	return sessionsSend{d, &pace{sent: map[route][]stamp{}}, &waitGraph{}}
}

var sessionsSendSchema = schemaOf[sendArgs](nil)

func (sessionsSend) Spec() Spec {
	return Spec{Name: "sessions_send", Description: sessionsSendText, Schema: sessionsSendSchema}
}

func (t sessionsSend) Call(ctx context.Context, c Call) (Result, error) {
	args, bad := decode[sendArgs](c.Args)
	if bad == nil {
		bad = sendArguments(args)
	}
	if bad != nil {
		return bad.result(), nil
	}
	target, bad, err := t.target(ctx, c.Caller, args.SessionKey)
	if err != nil || bad != nil {
		return bad.orError(err)
	}
	if bad, err := t.storm(ctx, c, target.Key); err != nil || bad != nil {
		return bad.orError(err)
	}
	wait := time.Duration(args.TimeoutSeconds.or(sendWait)) * time.Second
	if wait > 0 {
		circle, done := t.waits.begin(c.Caller.Session.Key, target.Key)
		defer done()
		if circle != nil {
			return forbidden("That session already waits for this one: %s. Answer with what you have, or send with timeoutSeconds 0.", t.chain(c.Caller, circle)).result(), nil
		}
	}
	run, err := t.deps.Host.Ask(ctx, AskRequest{Source: c.Source(), From: c.Caller, To: target.Key, Message: args.Message, Waits: wait > 0})
	if err != nil {
		return refusal(err)
	}
	r := sendResult{RunID: run.ID, SessionKey: t.deps.display(c.Caller, target)}
	if wait == 0 {
		r.Status, r.Delivery = "accepted", announceFollows
		return reply(r), nil
	}
	timed, stop := context.WithTimeout(ctx, wait)
	defer stop()
	end, err := t.deps.Host.Wait(timed, run.ID)
	switch {
	case err == nil:
		r.ended(end)
	case errors.Is(err, sessions.ErrNotFound):
		r.Status, r.Error = statusError, "the session was deleted before it answered"
	case ctx.Err() == nil && errors.Is(timed.Err(), context.DeadlineExceeded):
		r.Status = "timeout"
		r.Error = fmt.Sprintf("No reply within %s. The run continues. Its reply, or its failure, reaches you later as a message and is in sessions_history.", wait)
	default:
		return Result{}, fmt.Errorf("sessions_send: wait for run %s: %w", run.ID, err)
	}
	out := reply(r)
	out.IsError = r.Status == statusError
	return out, nil
}

func sendArguments(a sendArgs) *problem {
	switch {
	case strings.TrimSpace(a.SessionKey) == "":
		return mistake("sessionKey is required: a key or session id from sessions_list")
	case strings.TrimSpace(a.Message) == "":
		return mistake("message is required: what to say to the agent of that session")
	case len(a.Message) > maxText:
		return mistake("message has %d bytes; %d are allowed", len(a.Message), maxText)
	}
	return seconds("timeoutSeconds", a.TimeoutSeconds, maxSendWait, "do not wait")
}

func seconds(name string, v integer, most int, zero string) *problem {
	if n := v.or(0); n < 0 || n > most {
		return mistake("%s must be 0 to %d seconds (0 = %s)", name, most, zero)
	}
	return nil
}

// ended fills in how the run ended.
func (r *sendResult) ended(end Ended) {
	run := end.Run
	switch run.Status {
	case sessions.Done:
		text, cut := clip(end.Reply, maxReply)
		r.Status, r.Reply, r.Silent, r.Cut, r.Delivery = "ok", &text, end.Silent, cut, announceFollows
		return
	case sessions.TimedOut:
		r.Error = "the run timed out"
	case sessions.Stopped:
		r.Error = "the run was stopped"
	default:
		r.Error = "agent error"
	}
	r.Status = statusError
	if run.Error != "" {
		r.Error = run.Error
	}
}

// storm refuses what would make agents talk in circles (contract S12).
func (t sessionsSend) storm(ctx context.Context, c Call, to sessions.Key) (*problem, error) {
	from := c.Caller.Session.Key
	if to == from {
		return forbidden("A session cannot send to itself. Say it in your own reply instead."), nil
	}
	var chain []sessions.Key
	if ch := c.Caller.Run.Chain; ch != nil {
		chain = slices.Clone(ch.Hops)
	}
	if !slices.Contains(chain, from) {
		chain = append(chain, from)
	}
	if slices.Contains(chain, to) {
		return forbidden("This chain of messages has already passed through that session: %s. Answer with what you have.", t.chain(c.Caller, append(chain, to))), nil
	}
	limits := t.deps.limits()
	if len(chain) > limits.MaxHops {
		return forbidden("This chain of messages has %d hops, the limit of session.agentToAgent.maxHops: %s. Answer with what you have.", limits.MaxHops, t.chain(c.Caller, chain)), nil
	}
	if full, err := t.deps.full(ctx, c, to, limits.MaxTurnsPerHour); err != nil || full {
		return forbidden("Other agents have started %d turns of that session within an hour, the limit of session.agentToAgent.maxTurnsPerHour. Continue without that session.", limits.MaxTurnsPerHour), err
	}
	if !t.pace.allow(route{from, to}, c.Source(), t.deps.now(), limits.MaxPerMinute) {
		return forbidden("More than %d messages to that session within a minute (session.agentToAgent.maxPerMinute). Wait, or put everything into one message.", limits.MaxPerMinute), nil
	}
	return nil, nil
}

// full reports whether a session has had as many turns by other agents as it may have within an hour. A call that is repeated has
// its turn already (contract S14).
func (d Deps) full(ctx context.Context, c Call, key sessions.Key, most int) (bool, error) {
	n, err := d.byAgents(ctx, key, most)
	if err != nil || n < most {
		return false, err
	}
	runs, err := d.Store.ListRuns(ctx, sessions.RunQuery{Key: key, Limit: 2 * most})
	return !slices.ContainsFunc(runs, func(r sessions.Run) bool { return r.Source == c.Source() }), err
}

func (t sessionsSend) chain(c Caller, keys []sessions.Key) string {
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = t.deps.name(c, k)
	}
	return strings.Join(names, " → ")
}

// pace counts what went from one session to another within the last minute. It is kept in memory: a restart forgives.
type pace struct {
	mu   sync.Mutex
	sent map[route][]stamp
}

type route struct{ from, to sessions.Key }

type stamp struct {
	at     time.Time
	source string
}

// allow reports whether one more message may go, and counts it. A call that is repeated counts once.
func (p *pace) allow(r route, source string, now time.Time, most int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.sent) > 1000 {
		for k := range p.sent {
			p.prune(k, now)
		}
	}
	recent := p.prune(r, now)
	if slices.ContainsFunc(recent, func(s stamp) bool { return s.source == source }) {
		return true
	}
	if len(recent) >= most {
		return false
	}
	p.sent[r] = append(recent, stamp{now, source})
	return true
}

// prune forgets what is older than a minute.
func (p *pace) prune(r route, now time.Time) []stamp {
	recent := slices.DeleteFunc(p.sent[r], func(s stamp) bool { return now.Sub(s.at) >= time.Minute })
	if len(recent) == 0 {
		delete(p.sent, r)
		return nil
	}
	p.sent[r] = recent
	return recent
}

// RepliedInline reports whether a requester's agent got the reply as the result of its tool call: the last result of that call
// among the recorded steps of its run says ok. A router that words the first reply-back turn asks this, so that the reply
// reaches the requester's context exactly once (contract S13).
func RepliedInline(steps []sessions.Message, callID string) bool {
	return statusOf(steps, callID) == "ok"
}

// ToldInline reports whether a requester's agent got the reply, or the failure, as the result of its tool call.
func ToldInline(steps []sessions.Message, callID string) bool {
	status := statusOf(steps, callID)
	return status == "ok" || status == statusError
}

// statusOf gives the status in the last result of a call; "" = there is none.
func statusOf(steps []sessions.Message, callID string) string {
	for _, m := range slices.Backward(steps) {
		if m.Role == sessions.ToolResult && m.ToolCallID == callID {
			status, _ := resultStatus(m.Text())
			return status
		}
	}
	return ""
}
