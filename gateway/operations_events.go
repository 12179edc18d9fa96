package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"parley/channels"
	"parley/gateway/api"
	"parley/router"
)

// eventKinds are those that can be asked for.
var eventKinds = []string{router.EventRun, router.EventText, router.EventTool, router.EventMessage, router.EventDelivery, router.EventSession, router.EventAccount, router.EventPairing, router.EventJob}

const (
	eventsAlive  = 15 * time.Second // between two signs of life
	eventsWithin = 30 * time.Second // a reader that takes nothing for so long is gone
	eventsRetry  = 2 * time.Second  // when a browser comes back
	reload       = "reload"         // read the truth again: events were missed, or may have been
)

func (h *Host) eventOperations() api.Table {
	return api.Table{
		api.Stream[api.EventsQuery, api.Event]("events", "GET /api/events", api.Read, "What happens from now on, as server-sent events.", "text/event-stream", h.events),
	}
}

// events streams what happens. What a reader missed is not kept: a stream that takes up an earlier one, or that could not keep up, begins
// with the event reload.
func (h *Host) events(w http.ResponseWriter, r *http.Request) {
	q, err := api.Decode[api.EventsQuery](w, r)
	if err != nil {
		api.WriteError(w, err)
		return
	}
	what := router.Watching{Run: q.Run}
	if q.Kinds != "" {
		for kind := range strings.SplitSeq(q.Kinds, ",") {
			if kind = strings.TrimSpace(kind); !slices.Contains(eventKinds, kind) {
				api.WriteError(w, api.Bad("kinds: %.100q is none: use %s", kind, strings.Join(eventKinds, ", ")))
				return
			}
			what.Kinds = append(what.Kinds, kind)
		}
	}
	if q.Session != "" {
		if what.Session, err = h.sessionKey(r.Context(), q.Session); err != nil {
			api.WriteError(w, err)
			return
		}
	}
	s := &eventStream{w: w, rc: http.NewResponseController(w), name: fmt.Sprintf("%x", h.deps.Began.UnixMilli())}
	h.stream(r, s, what)
}

// stream writes events until the reader goes or the host stops.
func (h *Host) stream(r *http.Request, s *eventStream, what router.Watching) {
	events, cancel := h.router.Watch(what)
	defer func() { cancel() }()
	for k, v := range map[string]string{"Content-Type": "text/event-stream", "Cache-Control": "no-store", "X-Accel-Buffering": "no"} {
		s.w.Header().Set(k, v)
	}
	s.write(fmt.Sprintf("retry: %d\n\n", eventsRetry.Milliseconds()))
	if r.Header.Get("Last-Event-ID") != "" {
		s.event(api.Event{Kind: reload, Time: time.Now()})
	}
	alive := time.NewTicker(eventsAlive)
	defer alive.Stop()
	for s.err == nil {
		select {
		case e, more := <-events:
			if more {
				s.event(eventOf(e))
				continue
			}
			select { // the router stops, too
			case <-h.done:
				return
			default:
			}
			cancel()
			events, cancel = h.router.Watch(what)
			s.event(api.Event{Kind: reload, Time: time.Now()})
		case <-alive.C:
			s.write(": alive\n\n")
		case <-h.done:
			return
		case <-r.Context().Done():
			return
		}
	}
}

// accountsEvery is how often the accounts are looked at while somebody watches: what an adapter says of itself changes without a call.
const accountsEvery = time.Second

// tellAccounts tells those who watch of each account whose state changes.
func (h *Host) tellAccounts(ctx context.Context) {
	tick := time.NewTicker(accountsEvery)
	defer tick.Stop()
	var was map[router.AccountRef]string
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if !h.router.Watched() {
			was = nil // whoever comes reads how they are
			continue
		}
		now := map[router.AccountRef]string{}
		for _, s := range h.statuses() {
			ref := router.AccountRef{Channel: s.Channel, Account: s.Account}
			now[ref] = s.Line()
			if line, known := was[ref]; was != nil && (!known || line != now[ref]) {
				h.router.Tell(router.Event{Kind: router.EventAccount, Phase: string(s.State), Channel: s.Channel, Account: s.Account})
			}
		}
		for ref := range was {
			if _, there := now[ref]; !there {
				h.router.Tell(router.Event{Kind: router.EventAccount, Phase: string(channels.Stopped), Channel: ref.Channel, Account: ref.Account})
			}
		}
		was = now
	}
}

// eventStream writes server-sent events.
type eventStream struct {
	w    http.ResponseWriter
	rc   *http.ResponseController
	name string // of this process: ids of an earlier one mean nothing
	n    int
	err  error // the reader is gone
}

func (s *eventStream) event(e api.Event) {
	text, err := json.Marshal(e)
	if err != nil {
		s.err = err
		return
	}
	s.n++
	s.write(fmt.Sprintf("event: %s\nid: %s-%d\ndata: %s\n\n", e.Kind, s.name, s.n, text))
}

func (s *eventStream) write(text string) {
	_ = s.rc.SetWriteDeadline(time.Now().Add(eventsWithin)) // a recorder has no deadlines
	if _, s.err = s.w.Write([]byte(text)); s.err == nil {
		s.err = s.rc.Flush()
	}
}

func eventOf(e router.Event) api.Event {
	return api.Event{Kind: e.Kind, Phase: e.Phase, Time: e.Time, Session: e.Session, Run: e.Run, RunKind: e.RunKind, Status: e.Status, Batch: e.Batch, Text: e.Text, Tool: e.Tool, Call: e.Call,
		Message: e.Message, Delivery: e.Delivery, State: e.State, Rule: e.Rule, Channel: e.Channel, Account: e.Account, Job: e.Job}
}
