package openai

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"

	"parley/agent"
	"parley/channels"
	"parley/gateway/api"
	"parley/router/chain"
	"parley/router/event"
	"parley/router/inbound"
	"parley/sessions"
)

// The headers that the endpoints know besides the usual ones.
const (
	sessionHeader = "X-Parley-Session"
	keyHeader     = "Idempotency-Key"
)

const (
	word          = channels.Kind("openai") // agent:<a>:openai:<principal>/<user>
	maxUser       = 256                     // bytes
	maxKey        = 200
	oneRequestTTL = time.Hour           // a session of one request
	responseTTL   = 30 * 24 * time.Hour // one that a later request may continue with
)

// sessionPlace is the session that a request speaks in.
type sessionPlace struct {
	key  sessions.Key
	lone bool // it was made for this request
	keep time.Duration
}

// name writes a principal or a user as a part of a session's id: it has no slash.
func name(s string) string {
	return strings.NewReplacer("%", "%25", "/", "%2F").Replace(s)
}

func keyOf(a sessions.AgentID, id string) sessions.Key {
	return sessions.Parts{Form: sessions.FormOther, Agent: a, Channel: word, ID: id}.Key()
}

// mine reports whether a session belongs to a principal: it was made for it here.
func mine(key sessions.Key, p api.Principal) bool {
	parts, err := key.Parse()
	return err == nil && parts.Form == sessions.FormOther && parts.Channel == word && strings.HasPrefix(parts.ID, name(p.Name)+"/")
}

// place finds the session of a request: the one that the header names, the one of the user, or one of its own. A user is only known
// within what one token says.
func (h *handler) place(r *http.Request, a sessions.AgentID, user string, keep time.Duration) (sessionPlace, error) {
	p := api.Caller(r.Context())
	if k := r.Header.Get(sessionHeader); k != "" {
		key := sessions.Key(k)
		parts, err := key.Parse()
		switch {
		case err != nil || parts.Agent == "":
			return sessionPlace{}, bad(sessionHeader, "%s: %.200q is not a session key", sessionHeader, k)
		case !mine(key, p) && !p.Scope.Allows(api.Admin):
			return sessionPlace{}, refuse(http.StatusForbidden, sessionHeader, "insufficient_permissions", "%s: the token %q may name only its own sessions (agent:…:openai:%s/…); other sessions need the scope admin", sessionHeader, p.Name, name(p.Name))
		case parts.Agent != a:
			return sessionPlace{}, bad("model", "the session belongs to the agent %q, but the model names %q", parts.Agent, a)
		}
		return sessionPlace{key: key}, nil
	}
	switch {
	case len(user) > maxUser:
		return sessionPlace{}, bad("user", "user: at most %d bytes", maxUser)
	case user != "":
		return sessionPlace{key: keyOf(a, name(p.Name)+"/"+name(user))}, nil
	}
	return sessionPlace{key: keyOf(a, name(p.Name)+"//"+uuid.NewString()), lone: true, keep: keep}, nil
}

// ask is what a request wants said.
type ask struct {
	place    sessionPlace
	words    messageContent
	system   string
	thinking string
	source   string
	record   json.RawMessage // kept with the run
}

// source is the dedupe key of a request; "" without an idempotency key.
func source(r *http.Request, endpoint string) (string, error) {
	key := r.Header.Get(keyHeader)
	if key == "" {
		return "", nil
	}
	if len(key) > maxKey || strings.ContainsFunc(key, func(c rune) bool { return c < '!' || c > '~' }) {
		return "", bad(keyHeader, "%s: use 1 to %d visible ASCII characters", keyHeader, maxKey)
	}
	return "openai:" + name(api.Caller(r.Context()).Name) + ":" + endpoint + ":" + key, nil
}

// order is what a request of either endpoint asks for.
type order struct {
	model    string
	user     string
	previous string // the response that it continues with
	keep     time.Duration
	talk     talk
	thinking string
	record   json.RawMessage // what the endpoint keeps with the run
}

// begin reads a request and begins its run. Call close at the end.
func begin[Q any](h *handler, w http.ResponseWriter, r *http.Request, endpoint string, parse func(body []byte, ignoreTools bool) (Q, order, error)) (q Q, t *pendingTurn, err error) {
	select {
	case <-h.Done:
		return q, nil, notBegun(http.StatusServiceUnavailable, codeStopping, "parley is stopping and started nothing: try again when it is back")
	default:
	}
	body, err := read(w, r)
	if err != nil {
		return q, nil, err
	}
	q, o, err := parse(body, h.IgnoreTools())
	if err != nil {
		return q, nil, err
	}
	a, err := h.agent(o.model)
	if err != nil {
		return q, nil, err
	}
	var at sessionPlace
	if o.previous != "" {
		at, err = h.goOn(r, a, o.previous)
	} else {
		at, err = h.place(r, a, o.user, o.keep)
	}
	if err != nil {
		return q, nil, err
	}
	say := ask{place: at, words: o.talk.newest, system: o.talk.system, thinking: o.thinking, record: o.record}
	if at.lone || o.previous != "" { // there everything in the request is new
		if err = h.resolve(r, o.talk.before); err != nil {
			return q, nil, err
		}
		say.words = o.talk.alone()
	}
	if say.source, err = source(r, endpoint); err != nil {
		return q, nil, err
	}
	if t, err = h.say(r.Context(), say); err != nil {
		return q, nil, sayProblem(w, err, say.source != "")
	}
	return q, t, nil
}

// sayProblem is the error of a request whose run could not be begun. After a fault of the store it is unknown whether it was.
func sayProblem(w http.ResponseWriter, err error, keyed bool) *problem {
	p := problemOf(w, err)
	if !keyed && (p.status == http.StatusInternalServerError || p.status == http.StatusGatewayTimeout) {
		p.setStatus(statusRunFailed)
		p.final = true
	}
	return p
}

// pendingTurn is a run under way, and what is heard of it.
type pendingTurn struct {
	h      *handler
	run    sessions.Run
	ours   bool // nobody else waits for its answer, nor asks for it again
	keyed  bool // the request has an idempotency key: when it comes again it gets this run's answer
	stored bool // GET /v1/responses/{id} has its answer
	events <-chan event.Event
	close  func()
}

// say begins the run. Call close at the end.
func (h *handler) say(ctx context.Context, q ask) (*pendingTurn, error) {
	p := api.Caller(ctx)
	events, stop := h.Host.Watch(event.Filter{Session: q.place.key, Kinds: []string{event.KindText}})
	heard, err := h.Receiver.Submit(ctx, inbound.Request{Source: q.source, Session: q.place.key, Text: q.words.text, Pictures: q.words.pictures, Sender: channels.Sender{ID: channels.UserID(p.Name)},
		Owner: p.Scope.Allows(api.Admin), Via: string(word), Exclusive: true, System: q.system, Thinking: q.thinking, Keep: q.place.keep, Client: q.record})
	if err != nil {
		stop()
		return nil, err
	}
	if heard.Run.Key != q.place.key { // a repeat: it was begun in a session of its own
		stop()
		events, stop = h.Host.Watch(event.Filter{Run: heard.Run.ID, Kinds: []string{event.KindText}})
	}
	return &pendingTurn{h: h, run: heard.Run, ours: q.place.lone && q.source == "", keyed: q.source != "", stored: q.record != nil, events: events, close: stop}, nil
}

// answer is how a run ended well.
type answer struct {
	text   string
	finish string // stop, length, content_filter
	usage  sessions.Usage
	ended  time.Time
	steps  []sessions.Message
	// refusal is the host's notice of a refused answer without words; nil otherwise.
	refusal *string
}

// wait follows the run to its end and gives what it says to hear, which may be nil. When the client hangs up, the run of a session of
// its own is stopped; in a kept session it continues, and so it does when the request has an idempotency key: it may come again.
func (t *pendingTurn) wait(ctx context.Context, hear func(soFar string) error, idle func() error) (answer, error) {
	type end struct {
		run sessions.Run
		err error
	}
	ended := make(chan end, 1)
	waiting, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		run, err := t.h.Host.Outcome(waiting, t.run.ID)
		ended <- end{run, err}
	}()
	tick := time.NewTicker(pingInterval)
	defer tick.Stop()
	events := t.events
	for {
		var err error
		select {
		case e, ok := <-events:
			if !ok {
				events = nil // too slow a reader: the end has all of it
			} else if e.Run == t.run.ID && hear != nil {
				err = hear(e.Text)
			}
		case <-tick.C:
			if idle != nil {
				err = idle()
			}
		case x := <-ended:
			if x.err == nil {
				return t.h.answer(ctx, x.run)
			}
			err = x.err
		case <-t.h.Done:
			return answer{}, t.stopping()
		case <-ctx.Done():
			err = ctx.Err()
		}
		if err != nil {
			t.left(ctx)
			return answer{}, err
		}
	}
}

// stopping is the error of a run that the host resumes after it has stopped.
func (t *pendingTurn) stopping() *problem {
	if t.keyed {
		return notBegun(http.StatusServiceUnavailable, codeStopping, "parley is stopping; the run %s continues after its restart: repeat the same request with the same %s to get the answer", t.run.ID, keyHeader)
	}
	where := "its answer is then in the session " + string(t.run.Key)
	if t.stored {
		where = "GET /v1/responses/" + responsePrefix + string(t.run.ID) + " then has its answer"
	}
	return runProblem(codeStopping, "parley is stopping; the run %s continues after its restart: %s", t.run.ID, where)
}

// problem is the error of a request whose run was begun. Without an idempotency key its status is one that clients do not repeat.
func (t *pendingTurn) problem(w http.ResponseWriter, err error) *problem {
	p := problemOf(w, err)
	if !t.keyed && isRepeated(p.status) {
		p.setStatus(statusRunFailed)
		p.final = true
	}
	return p
}

// left does what follows when no caller waits for the answer any more.
func (t *pendingTurn) left(ctx context.Context) {
	if !t.ours {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	if _, _, err := t.h.Host.CancelRun(ctx, "openai:left:"+string(t.run.ID), t.run.ID); err != nil && !errors.Is(err, sessions.ErrConflict) && !errors.Is(err, sessions.ErrNotFound) {
		t.h.Log.Warn("cannot stop the run of a disconnected client", "run", t.run.ID, "err", err)
	}
}

// answer words how a run ended.
func (h *handler) answer(ctx context.Context, run sessions.Run) (answer, error) {
	steps, err := h.Store.Steps(ctx, run.ID)
	if err != nil {
		return answer{}, err
	}
	return answerOf(run, steps)
}

// yieldedStop is Message.Stop of a tool's result that ended the turn: no words follow it.
const yieldedStop = "yield"

// answerOf words how a run with these steps ended. An answer of silence, which the agent chose, is an empty text; a model that gave an
// empty text has failed.
func answerOf(run sessions.Run, steps []sessions.Message) (answer, error) {
	var last sessions.Message
	yielded := false
	for _, m := range steps {
		if m.Role == sessions.Assistant {
			last = m
		}
		yielded = yielded || m.Stop == yieldedStop
	}
	if run.Status != sessions.Done {
		return answer{}, ended(run, strings.TrimSpace(last.Text()))
	}
	a := answer{finish: "stop", usage: run.Usage, ended: run.Ended, steps: steps}
	switch last.Stop {
	case agent.StopLength, agent.StopUnclear:
		a.finish = "length"
	case agent.StopFilter:
		a.finish = "content_filter"
	}
	if chain.Silence(run) != agent.Speak {
		return a, nil
	}
	a.text = strings.TrimSpace(run.Result)
	switch {
	case a.text != "" || yielded:
	case a.finish == "content_filter":
		refusal := "The language model refused to answer."
		a.refusal = &refusal
	case a.finish == "stop":
		return a, endedProblem(codeEmptyAnswer, "The language model gave an empty answer.")
	}
	return a, nil
}

// ended is the error of a run that did not end well. notice is what its session was told.
func ended(run sessions.Run, notice string) *problem {
	switch run.Status {
	case sessions.TimedOut:
		return endedProblem(codeRunTimeout, "%s", first(notice, "the run timed out"))
	case sessions.Stopped:
		return endedProblem(codeRunStopped, "the run was stopped before it had an answer")
	}
	return endedProblem(codeRunFailed, "%s", first(notice, "the run failed; parley's log has the reason"))
}

func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// grow tells what is new of a text that grows. The next step of a run begins its text again: that is a paragraph of its own.
type grow struct{ sent string }

// next gives what to send after a text; "" for nothing.
func (g *grow) next(text string) string {
	text = strings.TrimLeft(text, " \t\r\n")
	if strings.HasPrefix(g.sent, text) { // nothing new, or the same text again from its beginning
		return ""
	}
	return g.add(text)
}

// last gives what is still to be sent of the whole answer.
func (g *grow) last(text string) string {
	if text == "" || strings.TrimSpace(g.sent) == text {
		return ""
	}
	return g.add(text)
}

func (g *grow) add(text string) string {
	new, more := strings.CutPrefix(text, g.sent)
	if !more {
		new = "\n\n" + text
	}
	g.sent = text
	return new
}
