package discord

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/bwmarrin/discordgo"
	"github.com/cenkalti/backoff/v5"
	"github.com/coder/websocket"

	"parley/channels"
)

const (
	mostResumes = 3 // failed ones in a row before a new session is asked for
	quickRetry  = time.Second
	quietLimit  = 30 * time.Second // a connection that lasted longer is no reason to wait
	mostShort   = 3                // shorter ones in a row that are none either
	stopGrace   = 5 * time.Second  // for events under way when Run is told to end
)

// runner is one Run.
type runner struct {
	c       *Channel
	session session
	queues  *queues
	tries   *backoff.ExponentialBackOff
	short   int  // connections in a row that were live and did not last
	late    bool // events are of the time without a connection
	doubt   suspicion
}

// Run implements channels.Channel. Connections come and go inside of it; it returns an error only when Discord refuses the token
// (Unauthorized) or the bot (Rejected).
func (c *Channel) Run(ctx context.Context, inbox channels.Inbox) error {
	c.health.Set(ctx, channels.Connecting, "")
	r := &runner{c: c, tries: channels.NewBackoff(quickRetry, 40*time.Second)}
	running, cancel := context.WithCancel(ctx)
	c.names.restart()
	r.queues = newQueues(running, c, inbox)
	err := r.loop(running)
	cancel()
	r.queues.finish()
	if c.own {
		c.client.CloseIdleConnections()
	}
	if err == nil {
		c.health.Set(ctx, channels.Stopped, "")
	}
	return err
}

// loop connects until ctx ends or the platform refuses.
func (r *runner) loop(ctx context.Context) error {
	for {
		began := time.Now()
		live, why := r.connect(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if live {
			r.doubt = suspicion{}
		}
		meanwhile, end := r.refused(ctx, why)
		if end != nil {
			return end
		}
		wait := r.after(live, time.Since(began), why)
		if meanwhile == "" {
			meanwhile = r.c.rest.redact(why)
		}
		r.c.health.Set(ctx, channels.Disconnected, meanwhile)
		if !channels.Sleep(ctx, wait) {
			return nil
		}
	}
}

// after says how long to wait before the next connection, and whether the session is of use for it.
func (r *runner) after(live bool, lasted time.Duration, why error) time.Duration {
	if live {
		r.session.failed = 0
		if r.short++; lasted > quietLimit {
			r.short = 0
		}
		if r.short <= mostShort {
			r.tries.Reset()
		}
	} else if r.session.id != "" {
		r.session.failed++
	}
	if r.session.failed >= mostResumes {
		r.session.id = ""
	}
	switch websocket.CloseStatus(why) {
	case 4003, 4007, 4009: // not authenticated, invalid seq, session timed out
		r.session.id = ""
	}
	if invalid, ok := errors.AsType[errInvalid](why); ok {
		if !invalid.Resume {
			r.session.id = ""
		}
		return max(time.Second+rand.N(4*time.Second), r.tries.NextBackOff()) // the platform wants 1 to 5 seconds
	}
	if failed, ok := errors.AsType[*channels.Error](why); ok {
		return max(failed.RetryAfter, r.tries.NextBackOff())
	}
	switch {
	case live && lasted > quietLimit:
		return rand.N(quickRetry / 4)
	case live && r.short <= mostShort:
		return quickRetry/4 + rand.N(quickRetry*3/4)
	}
	return r.tries.NextBackOff()
}

// botPage is where a bot is configured at Discord.
const botPage = "https://discord.com/developers/applications, page Bot"

// One refusal is no verdict: a proxy, an outage or a deployment at the platform may have said it. The account ends when the platform has
// repeated it for so long, so often, and another call confirms it.
const (
	verdictAfter = 3 * time.Minute
	verdictTries = 3
)

// suspicion is a refusal that is not believed yet.
type suspicion struct {
	since time.Time
	times int
}

// refusal is what only a person can change.
type refusal struct {
	state  channels.State
	detail string
	err    *channels.Error
}

// refused gives the error that ends Run when only a person can change what the platform does not like. Until that is certain it gives
// what to tell people meanwhile.
func (r *runner) refused(ctx context.Context, why error) (meanwhile string, end error) {
	no := r.refusal(why)
	if no == nil {
		return "", nil
	}
	if r.doubt.since.IsZero() {
		r.doubt.since = time.Now()
	}
	r.doubt.times++
	if time.Since(r.doubt.since) >= verdictAfter && r.doubt.times >= verdictTries && r.confirmed(ctx, no) {
		r.c.health.Set(ctx, no.state, no.detail)
		return "", no.err
	}
	return no.detail + "; parley tries again, in case this is Discord's error", nil
}

// confirmed asks the platform by another call: it does not know the token there either; or it does, so that it is the platform itself
// that refuses what the bot asks of the gateway.
func (r *runner) confirmed(ctx context.Context, no *refusal) bool {
	_, err := r.c.Identify(ctx)
	if no.state != channels.Revoked {
		return err == nil
	}
	if err == nil {
		r.doubt = suspicion{}
	}
	return err != nil && channels.Classify(err).Class == channels.Unauthorized
}

// refusal reads why a connection ended; nil = not because of something that only a person can change.
func (r *runner) refusal(why error) *refusal {
	const badToken = "Discord rejects the bot token: reset the token at " + botPage + ", and put the new one into the configuration"
	if failed, ok := errors.AsType[*channels.Error](why); ok && failed.Class == channels.Unauthorized {
		return &refusal{channels.Revoked, badToken, failed}
	}
	closed, ok := errors.AsType[websocket.CloseError](why)
	if !ok {
		return nil
	}
	said := &apiError{Call: "gateway", Text: fmt.Sprintf("closed with %d %s", closed.Code, cut(r.c.rest.hide.Replace(channels.CleanText(closed.Reason)), 100))}
	no := &refusal{state: channels.Refused, err: &channels.Error{Class: channels.Rejected, Err: said}}
	switch closed.Code {
	case 4004:
		no.state, no.detail, no.err.Class = channels.Revoked, badToken, channels.Unauthorized
	case 4010, 4011:
		no.detail = "Discord requires sharding because this bot is in too many servers: use a separate bot for this host"
	case 4012:
		no.detail = "Discord's server does not support version " + discordgo.APIVersion + "of the gateway: update parley, or set apiUrl to a URL that ends with a supported version"
	case 4013, 4014:
		no.detail = "Discord denies this bot an intent: enable the Message Content Intent"
		if r.c.cfg.Members {
			no.detail += " and the Server Members Intent (because members is true)"
		}
		no.detail += " at " + botPage + ", then restart the channel"
	default:
		return nil
	}
	return no
}

// connect makes one connection and reads it to its end. live reports whether the gateway accepted a session on it.
func (r *runner) connect(ctx context.Context) (live bool, why error) {
	address := r.session.url
	resuming := r.session.id != ""
	if !resuming {
		var err error
		if address, err = r.admission(ctx); err != nil {
			return false, err
		}
	}
	l, err := dial(ctx, r.c.client, address, &r.session.seq, r.c.health.Seen)
	if err != nil {
		return false, err
	}
	defer l.drop(errStopped)
	left := make(chan struct{})
	stop := context.AfterFunc(ctx, func() { defer close(left); l.leave() })
	defer func() {
		if !stop() {
			<-left
		}
	}()
	return r.converse(l.ctx, l, address, resuming) //nolint:contextcheck // the link outlives ctx by its goodbye
}

// converse begins or resumes a session on a link and takes what comes, until the link ends. ctx is the link's.
func (r *runner) converse(ctx context.Context, l *link, address string, resuming bool) (live bool, why error) {
	var beats sync.WaitGroup
	defer beats.Wait()
	defer l.end(errStopped)
	ready := time.AfterFunc(readyLimit, func() { l.end(errNoReady) })
	defer ready.Stop()
	r.c.health.Deaf(2 * l.interval)

	var err error
	if r.late = resuming; resuming {
		err = l.resume(ctx, r.c.rest.token(), &r.session)
	} else {
		r.session.seq.Store(0)
		r.queues.begin()
		r.c.budget.spend(time.Now())
		err = l.identify(ctx, r.c.rest.token(), r.c.intents())
	}
	if err != nil {
		return false, err
	}
	beats.Go(l.beat)
	for {
		f, err := l.read()
		if err != nil {
			return live, err
		}
		switch f.Op {
		case opDispatch:
			if f.Seq != nil {
				r.session.seq.Store(*f.Seq)
			}
			if r.dispatch(ctx, f, address) {
				live = true
				ready.Stop()
				r.c.health.Set(ctx, channels.Connected, "")
			}
		case opHeartbeat:
			_ = l.heartbeat(ctx)
		case opHeartbeatAck:
			l.acknowledge()
		case opReconnect:
			return live, errReconnect
		case opInvalidSession:
			var again bool
			_ = json.Unmarshal(f.Data, &again)
			return live, errInvalid{again && r.session.id != ""}
		}
	}
}

// admission asks for the gateway's address and waits until another identify is allowed.
func (r *runner) admission(ctx context.Context) (string, error) {
	address, limit, err := r.c.rest.findGateway(ctx)
	if err != nil {
		return "", err
	}
	wait := r.c.budget.wait(limit, time.Now())
	if wait > time.Minute {
		r.c.health.Set(ctx, channels.Disconnected, "Discord allows no new session before "+time.Now().Add(wait).Format(time.RFC3339)+": the bot opened too many sessions")
	}
	if !channels.Sleep(ctx, wait) {
		return "", ctx.Err()
	}
	return address, nil
}

// dispatch takes one event. It reports whether the event says that the gateway accepted the session.
func (r *runner) dispatch(ctx context.Context, f frame, address string) (accepted bool) {
	switch f.Type {
	case "READY":
		return r.ready(ctx, f.Data, address)
	case "RESUMED":
		r.late = false
		return true
	}
	e := event{kind: f.Type, data: f.Data, late: r.late, mark: mark(r.session.id, r.session.seq.Load()), at: time.Now()}
	if list := r.c.names.learn(&e); len(list) > 0 {
		r.queues.note(list)
	}
	if chat := r.c.names.chatOf(e); chat != "" {
		r.queues.push(chat, e)
	}
	return false
}

// ready begins a session: who the bot is, which servers it will hear about, and what was missed.
func (r *runner) ready(ctx context.Context, data json.RawMessage, address string) bool {
	var said struct {
		User        wireUser              `json:"user"`
		SessionID   string                `json:"session_id"`
		ResumeURL   string                `json:"resume_gateway_url"`
		Application struct{ ID string }   `json:"application"`
		Guilds      []struct{ ID string } `json:"guilds"`
		Private     []json.RawMessage     `json:"private_channels"`
	}
	if err := json.Unmarshal(data, &said); err != nil || said.SessionID == "" || said.User.ID == "" {
		r.c.log.WarnContext(ctx, "Discord sent an invalid READY event", "err", err)
		return false
	}
	r.session.id, r.session.url, r.session.failed = said.SessionID, said.ResumeURL, 0
	if _, err := gatewayAddress(said.ResumeURL); err != nil {
		r.session.url = address
	}
	r.c.setSelf(identity{User: said.User.ID, Application: said.Application.ID, Name: said.User.Username})
	guilds := make([]string, len(said.Guilds))
	for i, g := range said.Guilds {
		guilds[i] = g.ID
	}
	r.c.names.expect(guilds)
	for _, raw := range said.Private {
		r.c.names.channel(raw, "")
	}
	r.queues.open(channels.UserID(said.User.ID))
	return true
}
