package chatclient

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"parley/agent/control"
	"parley/channels/webchat"
	"parley/gateway/api"
	"parley/gateway/web"
	"parley/router/chain"
	"parley/sessions"
)

const sessionLines = 40 // of the transcript that are shown at the start

// session is a chat with the agent of any session: the API's chat.send and events.
type session struct {
	hostAPI
	key string

	mu      sync.Mutex
	asked   map[sessions.RunID]string // our client ids of the runs that answer them
	unread  []web.Line                // what we said that no transcript has yet: it waits, or it ended before its turn
	notices []web.Line                // answers to commands, and turns that ended without one
	on      func(webchat.Event)       // of the stream that is open
	told    map[string]bool           // transcript messages that were shown
	made    chan struct{}             // closed by the first post: then a session that was not there is
}

func newSession(w hostAPI, key string) *session {
	return &session{hostAPI: w, key: key, asked: map[sessions.RunID]string{}, told: map[string]bool{}, made: make(chan struct{})}
}

// at is a path of the session.
func (s *session) at(rest string) string { return "/api/sessions/" + url.PathEscape(s.key) + rest }

func (s *session) info(ctx context.Context) (web.Info, error) {
	var d api.SessionDetail
	err := s.do(ctx, http.MethodGet, s.at(""), nil, "", nil, &d)
	if e, ok := errors.AsType[*statusError](err); ok && e.status == http.StatusNotFound {
		return web.Info{Agent: s.key}, nil // the first message makes it
	}
	name := string(d.Agent)
	if label := d.Label; label != "" {
		name = label
	}
	return web.Info{Agent: name, Model: d.ModelUsed}, err
}

func (s *session) post(ctx context.Context, id, text string) error {
	body, err := json.Marshal(map[string]string{"message": text})
	if err != nil {
		return err
	}
	var said api.Said
	if err := s.do(ctx, http.MethodPost, s.at("/messages"), nil, id, body, &said); err != nil {
		return err
	}
	s.mu.Lock()
	if len(s.asked) == 0 && said.Run != "" {
		close(s.made)
	}
	if said.Run != "" {
		s.asked[said.Run] = id
		s.unread = append(s.unread, web.Line{ID: "said-" + id, Role: web.User, Text: text, Client: id, Run: said.Run, Time: time.Now()})
	}
	s.mu.Unlock()
	if said.Answer != "" || said.Run == "" {
		s.notice(web.Line{ID: "answer-" + id, Role: web.Notice, Command: true, Text: said.Answer, ReplyTo: id, Time: time.Now()})
	}
	return nil
}

// notice keeps and shows a line that no transcript has.
func (s *session) notice(l web.Line) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if slices.ContainsFunc(s.notices, func(n web.Line) bool { return n.ID == l.ID }) {
		return
	}
	l.Deliveries = []string{l.ID} // how a live message and its line find each other
	s.notices = append(s.notices, l)
	if s.on != nil {
		s.on(webchat.Event{Kind: webchat.MessageEvent, ID: l.ID, Text: l.Text, Time: l.Time})
	}
}

func (s *session) history(ctx context.Context) ([]web.Line, error) {
	var h api.History
	err := s.do(ctx, http.MethodGet, s.at("/messages"), url.Values{"limit": {"100"}}, "", nil, &h)
	if e, ok := errors.AsType[*statusError](err); ok && e.status == http.StatusNotFound {
		h, err = api.History{}, nil
	}
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var lines []web.Line
	for _, m := range h.Messages {
		if l, ok := s.line(m); ok {
			lines = append(lines, l)
		}
	}
	s.unread = slices.DeleteFunc(s.unread, func(u web.Line) bool {
		return slices.ContainsFunc(lines, func(l web.Line) bool { // one that another turn took up has that turn's run
			return l.Run == u.Run || l.Role == web.User && l.Text == strings.TrimSpace(u.Text) && l.Time.After(u.Time.Add(-time.Minute))
		})
	})
	lines = append(lines, s.unread...)
	lines = lines[max(len(lines)-sessionLines, 0):]
	for _, n := range s.notices {
		i := slices.IndexFunc(lines, func(l web.Line) bool { return l.Time.After(n.Time) })
		if i < 0 {
			i = len(lines)
		}
		lines = slices.Insert(lines, i, n)
	}
	return lines, nil
}

// line makes a line of a message. Steps of a turn that is not over are none.
func (s *session) line(m sessions.Message) (web.Line, bool) {
	l := web.Line{ID: m.ID, Text: strings.TrimSpace(m.Said()), Time: m.Time}
	if m.Role == sessions.Assistant {
		l.Text = control.Read(l.Text).Text
	}
	switch {
	case l.Text == "" && m.Error == "":
		return l, false
	case m.Role == sessions.User:
		l.Role, l.Client, l.Run = web.User, s.asked[m.Run], m.Run
		if v := m.Provenance; l.Client == "" && v != nil {
			for _, who := range []string{v.Name, v.User, v.Sender, string(v.Source), v.Kind} {
				if l.From = who; who != "" {
					break
				}
			}
		}
	case m.Role == sessions.Assistant && len(m.ToolCalls()) == 0:
		l.Role, l.Deliveries = web.Assistant, []string{m.ID}
		if l.Text == "" {
			l.Text = "(the turn failed: " + m.Error + ")"
		}
	default:
		return l, false
	}
	return l, true
}

// stream reads the host's events about the session, and tells them as those of a chat.
func (s *session) stream(ctx context.Context, on func(webchat.Event)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	dead := time.AfterFunc(silence, cancel)
	defer dead.Stop()
	res, err := s.open(ctx, http.MethodGet, "/api/events", url.Values{"session": {s.key}, "kinds": {"run,text,message"}}, "", nil)
	if e, ok := errors.AsType[*statusError](err); ok && e.status == http.StatusNotFound {
		return s.unmade(ctx, dead, on)
	} else if err != nil {
		return err
	}
	defer res.Body.Close()
	s.mu.Lock()
	s.on = on
	s.mu.Unlock()
	if lines, err := s.history(ctx); err == nil {
		s.mu.Lock()
		for _, l := range lines {
			s.told[l.ID] = true
		}
		s.mu.Unlock()
	}
	on(webchat.Event{Kind: webchat.HelloEvent})
	return events(res.Body, func() { dead.Reset(silence) }, func(name string, data []byte) error {
		if name == string(webchat.ReloadEvent) {
			return errReload
		}
		var e api.Event
		if err := json.Unmarshal(data, &e); err != nil {
			return err
		}
		return s.event(ctx, e, on)
	})
}

// unmade waits for the message that makes the session.
func (s *session) unmade(ctx context.Context, dead *time.Timer, on func(webchat.Event)) error {
	dead.Stop()
	on(webchat.Event{Kind: webchat.HelloEvent})
	select {
	case <-s.made:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// event tells one event of the host.
func (s *session) event(ctx context.Context, e api.Event, on func(webchat.Event)) error {
	switch {
	case e.Kind == "text":
		on(webchat.Event{Kind: webchat.DraftEvent, ID: string(e.Run), Text: e.Text})
	case e.Kind == "run" && e.Status == sessions.Running:
		on(webchat.Event{Kind: webchat.TypingEvent})
	case e.Kind == "message", e.Kind == "run" && e.Status != sessions.Queued:
		if e.Kind == "run" {
			on(webchat.Event{Kind: webchat.DraftEvent, ID: string(e.Run)})
		}
		if err := s.news(ctx, on); err != nil {
			return err
		}
		if e.Kind == "run" {
			return s.ended(ctx, e.Run)
		}
	}
	return nil
}

// news shows what the transcript has and was not shown: answers as they are, the words of others by reading all of it again.
func (s *session) news(ctx context.Context, on func(webchat.Event)) error {
	lines, err := s.history(ctx)
	if err != nil {
		return err
	}
	others := false
	for _, l := range lines {
		s.mu.Lock()
		known := s.told[l.ID]
		s.told[l.ID] = true
		s.mu.Unlock()
		switch {
		case known || l.Role == web.Notice:
		case l.Role == web.Assistant:
			on(webchat.Event{Kind: webchat.MessageEvent, ID: l.ID, Text: l.Text, Time: l.Time})
		case l.Client == "":
			others = true
		}
	}
	if others {
		on(webchat.Event{Kind: webchat.HelloEvent})
	}
	return nil
}

// ended says what became of a turn of ours that left no answer.
func (s *session) ended(ctx context.Context, id sessions.RunID) error {
	s.mu.Lock()
	mine := s.asked[id] != ""
	s.mu.Unlock()
	if !mine {
		return nil
	}
	var r sessions.Run
	if err := s.do(ctx, http.MethodGet, "/api/runs/"+url.PathEscape(string(id)), nil, "", nil, &r); err != nil || r.MergedInto != "" {
		return err
	}
	switch {
	case r.Status == sessions.Done && strings.TrimSpace(r.Result) != "" && chain.Silence(r) == control.Speak: // it is in the transcript
	case r.Status == sessions.Done:
		s.notice(web.Line{ID: "end-" + string(id), Role: web.Notice, Text: "(the agent has nothing to say)", Time: time.Now()})
	default:
		s.notice(web.Line{ID: "end-" + string(id), Role: web.Notice, Text: "(the turn ended as " + string(r.Status) + ": " + r.Error + ")", Time: time.Now()})
	}
	return nil
}
