package gateway

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"parley/channels"
	"parley/gateway/api"
	"parley/router"
	"parley/sessions"
)

// eventKinds are those that can be asked for.
var eventKinds = []string{router.EventRun, router.EventText, router.EventTool, router.EventMessage, router.EventDelivery, router.EventSession, router.EventAccount, router.EventPairing, router.EventJob}

const (
	eventsAlive  = 15 * time.Second // between two signs of life
	eventsWithin = 30 * time.Second // a reader that takes nothing for so long is gone
	eventsRetry  = 2 * time.Second  // when a browser comes back
)

func (h *Host) eventOperations() api.Table {
	return api.Table{
		api.Stream[api.EventsQuery, api.Event]("events", "GET /api/events", api.Read, "What happens from now on, as server-sent events.", "text/event-stream", h.events),
	}
}

// events streams what happens. What a reader missed is not kept: when something has happened since the position that it comes from, or when
// it could not keep up, it gets the event reload.
func (h *Host) events(w http.ResponseWriter, r *http.Request) {
	q, err := api.Decode[api.EventsQuery](w, r)
	if err != nil {
		api.WriteError(w, err)
		return
	}
	what := router.Watching{Run: q.Run, Since: h.place(cmp.Or(r.Header.Get("Last-Event-ID"), q.Since))}
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
		if what.Session, err = h.watchable(r.Context(), q.Session); err != nil {
			api.WriteError(w, err)
			return
		}
	}
	h.stream(r, &eventStream{w: w, rc: http.NewResponseController(w), id: h.placeName}, what)
}

// watchable resolves the session of a stream. One that is named by its key may be yet to come.
func (h *Host) watchable(ctx context.Context, ref string) (sessions.Key, error) {
	key, err := h.sessionKey(ctx, ref)
	if !errors.Is(err, sessions.ErrNotFound) {
		return key, err
	}
	if res, bad := h.resolve(ctx, ref); bad == nil && res.Key != "" {
		return res.Key, nil
	}
	return key, err
}

// placeName is a position as readers have it: with the process, since positions of an earlier one mean nothing.
func (h *Host) placeName(p router.Position) string {
	return fmt.Sprintf("%x-%d", h.deps.Began.UnixMilli(), p)
}

// place reads a position; none is none.
func (h *Host) place(name string) router.Position {
	if name == "" {
		return 0
	}
	n, err := strconv.ParseInt(name[strings.LastIndexByte(name, '-')+1:], 10, 64)
	if p := router.Position(n); err == nil && p > 0 && h.placeName(p) == name {
		return p
	}
	return router.Unknown
}

// stream writes events until the reader goes or the host stops.
func (h *Host) stream(r *http.Request, s *eventStream, what router.Watching) {
	h.lookAtAccounts()
	events, cancel := h.router.Watch(what)
	defer func() { cancel() }()
	for k, v := range map[string]string{"Content-Type": "text/event-stream", "Cache-Control": "no-store", "X-Accel-Buffering": "no"} {
		s.w.Header().Set(k, v)
	}
	s.write(fmt.Sprintf("retry: %d\n\n", eventsRetry.Milliseconds()))
	alive := time.NewTicker(eventsAlive)
	defer alive.Stop()
	look := time.NewTicker(accountsEvery)
	defer look.Stop()
	for s.err == nil {
		select {
		case e, more := <-events:
			if more {
				s.event(e)
				continue
			}
			select { // the router stops, too
			case <-h.done:
				return
			default:
			}
			cancel()
			what.Since = router.Unknown
			events, cancel = h.router.Watch(what)
		case <-look.C:
			h.lookAtAccounts()
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

// seenAccounts are the accounts as they were last told of.
type seenAccounts struct {
	mu    sync.Mutex
	at    time.Time // when they were looked at
	lines map[router.AccountRef]string
}

// lookAtAccounts tells of each account whose state has changed since the last look. It is called when a page is rendered, when a stream
// opens and each second while one is open: a host that nobody watches has nothing to do.
func (h *Host) lookAtAccounts() {
	h.seen.mu.Lock()
	defer h.seen.mu.Unlock()
	was := h.seen.lines
	if was != nil && time.Since(h.seen.at) < accountsEvery {
		return
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
	h.seen.at, h.seen.lines = time.Now(), now
}

// eventStream writes server-sent events.
type eventStream struct {
	w   http.ResponseWriter
	rc  *http.ResponseController
	id  func(router.Position) string
	err error // the reader is gone
}

func (s *eventStream) event(e router.Event) {
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
	_ = s.rc.SetWriteDeadline(time.Now().Add(eventsWithin)) // a recorder has no deadlines
	if _, s.err = s.w.Write([]byte(text)); s.err == nil {
		s.err = s.rc.Flush()
	}
}

func eventOf(e router.Event) api.Event {
	return api.Event{Kind: e.Kind, Phase: e.Phase, Time: e.Time, Session: e.Session, Run: e.Run, RunKind: e.RunKind, Status: e.Status, Batch: e.Batch, Text: e.Text, Tool: e.Tool, Call: e.Call,
		Message: e.Message, Delivery: e.Delivery, State: e.State, Rule: e.Rule, Channel: e.Channel, Account: e.Account, Job: e.Job}
}
