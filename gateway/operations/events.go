package operations

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"parley/gateway/accounts"
	"parley/gateway/api"
	"parley/router"
	"parley/router/event"
	"parley/sessions"
)

// eventKinds are those that can be asked for.
var eventKinds = []string{event.KindRun, event.KindText, event.KindTool, event.KindMessage, event.KindDelivery, event.KindSession, event.KindAccount, event.KindPairing, event.KindJob}

const (
	eventsKeepAlive     = 15 * time.Second // between two signs of life
	eventsWriteTimeout  = 30 * time.Second // a reader that takes nothing for so long is gone
	eventsRetryInterval = 2 * time.Second  // when a browser comes back
)

// Events is the stream of what happens.
type Events struct {
	router    *router.Router
	accounts  *accounts.Supervisor
	positions Positions
	stopping  <-chan struct{}
	names     *Resolver
}

// Table lists the operations.
func (o *Events) Table() api.Table {
	return api.Table{
		api.Stream[api.EventsQuery, api.Event]("events", "GET /api/events", api.Read, "Events from now on, as server-sent events.", "text/event-stream", o.events),
	}
}

// events streams what happens. What a reader missed is not kept: when something has happened since the position that it comes from, or when
// it could not keep up, it gets the event reload.
func (o *Events) events(w http.ResponseWriter, r *http.Request) {
	q, err := api.Decode[api.EventsQuery](w, r)
	if err != nil {
		api.WriteError(w, err)
		return
	}
	what := event.Filter{Run: q.Run, Since: o.positions.read(cmp.Or(r.Header.Get("Last-Event-ID"), q.Since))}
	if q.Kinds != "" {
		for kind := range strings.SplitSeq(q.Kinds, ",") {
			if kind = strings.TrimSpace(kind); !slices.Contains(eventKinds, kind) {
				api.WriteError(w, api.Bad("kinds: unknown kind %.100q: use %s", kind, strings.Join(eventKinds, ", ")))
				return
			}
			what.Kinds = append(what.Kinds, kind)
		}
	}
	if q.Session != "" {
		if what.Session, err = o.watchable(r.Context(), q.Session); err != nil {
			api.WriteError(w, err)
			return
		}
	}
	o.stream(r, &eventStream{w: w, rc: http.NewResponseController(w), id: o.positions.Name}, what)
}

// watchable resolves the session of a stream. One that is named by its key may be yet to come.
func (o *Events) watchable(ctx context.Context, ref string) (sessions.Key, error) {
	key, err := o.names.sessionKey(ctx, ref)
	if !errors.Is(err, sessions.ErrNotFound) {
		return key, err
	}
	if res, bad := o.names.resolve(ctx, ref); bad == nil && res.Key != "" {
		return res.Key, nil
	}
	return key, err
}

// Positions names positions in the stream of events, with the process: positions of an earlier one mean nothing.
type Positions struct{ Began time.Time }

// Name returns a position as readers have it.
func (s Positions) Name(p event.Position) string {
	return fmt.Sprintf("%x-%d", s.Began.UnixMilli(), p)
}

// read reads a position; none is none.
func (s Positions) read(name string) event.Position {
	if name == "" {
		return 0
	}
	n, err := strconv.ParseInt(name[strings.LastIndexByte(name, '-')+1:], 10, 64)
	if p := event.Position(n); err == nil && p > 0 && s.Name(p) == name {
		return p
	}
	return event.Unknown
}

// stream writes events until the reader goes or the host stops.
func (o *Events) stream(r *http.Request, s *eventStream, what event.Filter) {
	o.accounts.TellChanges()
	events, cancel := o.router.Watch(what)
	defer func() { cancel() }()
	for k, v := range map[string]string{"Content-Type": "text/event-stream", "Cache-Control": "no-store", "X-Accel-Buffering": "no"} {
		s.w.Header().Set(k, v)
	}
	s.write(fmt.Sprintf("retry: %d\n\n", eventsRetryInterval.Milliseconds()))
	alive := time.NewTicker(eventsKeepAlive)
	defer alive.Stop()
	look := time.NewTicker(accounts.ChangesInterval)
	defer look.Stop()
	for s.err == nil {
		select {
		case e, more := <-events:
			if more {
				s.event(e)
				continue
			}
			select { // the router stops, too
			case <-o.stopping:
				return
			default:
			}
			cancel()
			what.Since = event.Unknown
			events, cancel = o.router.Watch(what)
		case <-look.C:
			o.accounts.TellChanges()
		case <-alive.C:
			s.write(": alive\n\n")
		case <-o.stopping:
			return
		case <-r.Context().Done():
			return
		}
	}
}

// eventStream writes server-sent events.
type eventStream struct {
	w   http.ResponseWriter
	rc  *http.ResponseController
	id  func(event.Position) string
	err error // the reader is gone
}

func (s *eventStream) event(e event.Event) {
	text, err := api.Marshal(eventOf(e))
	if err != nil {
		s.err = err
		return
	}
	id := ""
	if e.At != 0 {
		id = "id: " + s.id(e.At) + "\n"
	}
	s.write(fmt.Sprintf("event: %s\n%sdata: %s\n\n", e.Kind, id, text))
}

func (s *eventStream) write(text string) {
	_ = s.rc.SetWriteDeadline(time.Now().Add(eventsWriteTimeout)) // a recorder has no deadlines
	if _, s.err = s.w.Write([]byte(text)); s.err == nil {
		s.err = s.rc.Flush()
	}
}

func eventOf(e event.Event) api.Event {
	return api.Event{Kind: e.Kind, Phase: e.Phase, Time: e.Time, Session: e.Session, Run: e.Run, RunKind: e.RunKind, Status: e.Status, Batch: e.Batch, Text: e.Text, Tool: e.Tool, Call: e.Call,
		Message: e.Message, Delivery: e.Delivery, State: e.State, Rule: e.Rule, Channel: e.Channel, Account: e.Account, Job: e.Job}
}
