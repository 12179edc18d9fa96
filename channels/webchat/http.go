package webchat

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"strings"
	"time"

	"parley/channels"
)

// HandlerOptions fit the HTTP side to its surroundings.
type HandlerOptions struct {
	// User gives who is behind a request. nil, or an empty id, is the chat itself (Posted.UserID).
	User func(*http.Request) (channels.UserID, string)
	// Render turns Markdown into HTML that is safe to show, for readers that ask with ?as=html; nil = they get Markdown.
	Render func(markdown string) string
}

const (
	maxBody    = 6*MaxText + 4096 // JSON may write a byte as six
	keepAlive  = 15 * time.Second
	writeLimit = 30 * time.Second // a reader that takes nothing for so long is gone
	retryHint  = time.Second
	draftPause = 40 * time.Millisecond // between two drafts, and more for long ones: each carries the whole text
)

type endpoint struct {
	c *Channel
	o HandlerOptions
}

// Handler serves the two requests of a reader, to be mounted behind authentication:
//
//	POST /messages?chat=…        {"id": "…", "text": "…"} → 200 {"id": "…", "time": "…"} once durable; 4xx {"error"}: never; 503: again, same id
//	GET  /events?chat=…&as=html  server-sent events: hello, then message, draft, typing, posted; reload ends the stream
//
// Without chat it is DefaultChat. Without id the host makes one, and repeating the request makes a second message.
func (c *Channel) Handler(o HandlerOptions) http.Handler {
	e := endpoint{c, o}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /messages", e.post)
	mux.HandleFunc("GET /events", e.events)
	return mux
}

func (e endpoint) post(w http.ResponseWriter, r *http.Request) {
	if t, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || t != "application/json" {
		refuse(w, http.StatusUnsupportedMediaType, errors.New(`send JSON: Content-Type: application/json, body {"id": "…", "text": "…"}`))
		return
	}
	var body struct {
		ID   string `json:"id"`
		Text string `json:"text"`
	}
	dec := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&body); err != nil {
		if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
			refuse(w, http.StatusRequestEntityTooLarge, ErrTooLong)
			return
		}
		refuse(w, http.StatusBadRequest, fmt.Errorf(`the body is not {"id": "…", "text": "…"}%s`, because(err)))
		return
	}
	if body.ID == "" {
		body.ID = rand.Text()
	}
	msg := Posted{Chat: channels.ChatID(r.URL.Query().Get("chat")), ID: body.ID, Text: body.Text}
	if e.o.User != nil {
		msg.UserID, msg.Name = e.o.User(r)
	}
	at := time.Now() // the host's clock: what the message causes is never older
	err := e.c.Post(r.Context(), msg)
	switch {
	case err == nil:
		reply(w, http.StatusOK, map[string]string{"id": body.ID, "time": at.Format(time.RFC3339Nano)})
	case errors.Is(err, ErrTooLong):
		refuse(w, http.StatusRequestEntityTooLarge, ErrTooLong)
	case channels.Classify(err).Class == channels.Rejected:
		refuse(w, http.StatusBadRequest, channels.Classify(err).Err)
	case errors.Is(err, ErrNotRunning):
		w.Header().Set("Retry-After", "1")
		refuse(w, http.StatusServiceUnavailable, ErrNotRunning)
	default:
		// The store's own words are for the log, not for whoever holds the page.
		e.c.log.Warn("webchat message not stored", "chat", string(msg.Chat), "error", err)
		w.Header().Set("Retry-After", "1")
		refuse(w, http.StatusServiceUnavailable, errors.New("cannot store the message: post it again with the same id; the host's log has the cause"))
	}
}

// because words what is wrong with a JSON text.
func because(err error) string {
	if t, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return strings.TrimSuffix(": "+t.Field, ": ") + ": a " + t.Value + " has the wrong type"
	}
	return ": " + strings.TrimPrefix(err.Error(), "json: ")
}

// codes are what programs read of a refusal, as everywhere in the host's API.
var codes = map[int]string{
	http.StatusBadRequest: "invalid", http.StatusRequestEntityTooLarge: "too_large", http.StatusUnsupportedMediaType: "media_type", http.StatusServiceUnavailable: "unavailable",
}

func refuse(w http.ResponseWriter, status int, err error) {
	reply(w, status, map[string]string{"error": err.Error(), "code": codes[status]})
}

func reply(w http.ResponseWriter, status int, v map[string]string) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client is gone: nobody is left to tell
}

func (e endpoint) events(w http.ResponseWriter, r *http.Request) {
	id := channels.ChatID(r.URL.Query().Get("chat"))
	if id == "" {
		id = DefaultChat
	}
	if err := CheckChat(id); err != nil {
		refuse(w, http.StatusBadRequest, err)
		return
	}
	if e.c.Health().State != channels.Connected { // a stream opened now would outlive a server that is closing
		w.Header().Set("Retry-After", "1")
		refuse(w, http.StatusServiceUnavailable, ErrNotRunning)
		return
	}
	in, cancel := e.c.Subscribe(id)
	defer cancel()
	s := stream{w: w, rc: http.NewResponseController(w)}
	if r.URL.Query().Get("as") == "html" {
		s.render = e.o.Render
	}
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // a proxy that collects events would break streaming
	s.raw(fmt.Sprintf("retry: %d\n\n", retryHint.Milliseconds()))
	s.event(Event{Kind: HelloEvent, Time: time.Now()})
	s.follow(r.Context().Done(), in)
}

// stream writes events to one HTTP response. The first error ends it.
type stream struct {
	w      http.ResponseWriter
	rc     *http.ResponseController
	render func(string) string
	err    error
}

// follow writes events until done, the end of in, or an error. Of drafts that come faster than they can be read only the newest
// is written.
func (s *stream) follow(done <-chan struct{}, in <-chan Event) {
	alive := time.NewTicker(keepAlive)
	defer alive.Stop()
	pause := time.NewTimer(0)
	defer pause.Stop()
	<-pause.C
	var draft *Event // waiting for the pause to end
	resting := false
	for s.err == nil {
		select {
		case <-done:
			return
		case e, ok := <-in:
			switch {
			case !ok:
				s.event(Event{Kind: ReloadEvent, Time: time.Now()})
				return
			case e.Kind == DraftEvent && resting:
				draft = &e
				continue
			case e.Kind == MessageEvent:
				draft = nil
			}
			s.event(e)
			if e.Kind == DraftEvent {
				pause.Reset(draftRest(e))
				resting = true
			}
		case <-pause.C:
			resting = draft != nil
			if resting {
				s.event(*draft)
				pause.Reset(draftRest(*draft))
				draft = nil
			}
		case <-alive.C:
			s.raw(": keep-alive\nevent: ping\ndata: {}\n\n")
		}
	}
}

// draftRest grows with the text, so that a long answer does not cost the square of its length.
func draftRest(e Event) time.Duration {
	return draftPause + time.Duration(len(e.Text)/1024)*4*time.Millisecond
}

func (s *stream) event(e Event) {
	if s.render != nil && (e.Kind == MessageEvent || e.Kind == DraftEvent && e.Text != "") {
		e.HTML = s.render(e.Text)
		if e.Kind == DraftEvent {
			e.Text = "" // nobody copies it, and it comes again and again
		}
	}
	data, err := json.Marshal(e)
	if err != nil {
		s.err = err
		return
	}
	s.raw(fmt.Sprintf("event: %s\ndata: %s\n\n", e.Kind, data))
}

func (s *stream) raw(text string) {
	if s.err != nil {
		return
	}
	// A server or test recorder without deadlines still streams.
	if err := s.rc.SetWriteDeadline(time.Now().Add(writeLimit)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		s.err = err
		return
	}
	if _, s.err = s.w.Write([]byte(text)); s.err == nil {
		s.err = s.rc.Flush()
	}
}
