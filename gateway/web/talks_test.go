package web_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/channels"
	"parley/gateway/access"
	"parley/gateway/api"
	"parley/gateway/web"
	"parley/policy"
	"parley/sessions"
)

// talks is a host whose sessions are made up: nobody in them is real.
type talks struct {
	site  http.Handler // as the owner
	URL   string       // behind the door
	door  *access.Door
	scope api.Scope

	mu        sync.Mutex
	now       time.Time
	rows      []api.Session
	said      map[sessions.ID][]sessions.Message
	hits      []api.Hit
	listed    api.SessionsQuery
	patched   api.SessionPatch
	compacted api.CompactCall
	called    []string
}

func newTalks(t testing.TB) *talks {
	t.Helper()
	w := &talks{now: time.Now(), scope: api.Admin, said: map[sessions.ID][]sessions.Message{}}
	table := w.table()
	w.site = web.New(web.Deps{
		Call: func(ctx context.Context, name string, in any) (any, error) {
			return api.Call[any](ctx, table, name, in)
		},
		Info: func(context.Context) web.Info {
			return web.Info{Agent: "Ada", Model: "anthropic/claude-sonnet", Channels: []web.ChannelInfo{{Name: "telegram", State: channels.Connected}, {Name: "discord", State: channels.Connected}, {Name: "webchat", State: channels.Connected}}}
		},
	})
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/events", func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Content-Type", "text/event-stream")
		rw.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	mux.Handle("/", w.site)
	w.door = access.New(access.Config{Page: web.Door, Settings: access.Settings{Tokens: []access.Token{{Name: api.Owner, Token: channels.NewSecret("test-token"), Scope: api.Admin}}}})
	srv := httptest.NewServer(w.door.Guard(mux))
	w.URL = srv.URL
	t.Cleanup(func() {
		srv.CloseClientConnections() // the streams of events
		srv.Close()
	})
	return w
}

func (w *talks) login() string {
	inv, _ := w.door.Invite(api.Principal{Name: api.Owner, Scope: api.Admin})
	return w.URL + inv.Path
}

// ask does a request as whoever has w.scope; part is the id of what htmx wants to fill, empty = a browser asks.
func (w *talks) ask(method, path, part, form string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, strings.NewReader(form))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if part != "" {
		r.Header.Set("HX-Request", "true")
		r.Header.Set("HX-Target", part)
	}
	rec := httptest.NewRecorder()
	w.site.ServeHTTP(rec, r.WithContext(api.With(r.Context(), api.Principal{Name: "somebody", Scope: w.scope})))
	return rec
}

func (w *talks) find(key string) (*api.Session, error) {
	for i := range w.rows {
		if string(w.rows[i].Key) == key || string(w.rows[i].ID) == key {
			return &w.rows[i], nil
		}
	}
	return nil, fmt.Errorf("session %s: %w", key, sessions.ErrNotFound)
}

// does makes an operation on the host's data, one at a time.
func does[In, Out any](w *talks, name, route string, scope api.Scope, do func(In) (Out, error)) api.Operation {
	return api.Op(name, route, scope, name, func(_ context.Context, in In) (Out, error) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.called = append(w.called, name)
		return do(in)
	})
}

func (w *talks) table() api.Table {
	row := func(c api.SessionCall) (s api.Session, err error) {
		p, err := w.find(c.Session)
		if err == nil {
			s = *p
		}
		return s, err
	}
	return api.Table{
		does(w, "agents.list", "GET /api/agents", api.Read, func(api.None) ([]api.Agent, error) {
			return []api.Agent{{ID: "main", Name: "Ada"}, {ID: "research"}}, nil
		}),
		does(w, "models.list", "GET /api/models", api.Read, func(api.None) ([]api.Model, error) {
			return []api.Model{{Name: "anthropic/claude-sonnet", Default: true}, {Name: "openai/gpt-mini"}}, nil
		}),
		does(w, "sessions.list", "GET /api/sessions", api.Read, func(q api.SessionsQuery) ([]api.Session, error) {
			w.listed = q
			rows := slices.DeleteFunc(slices.Clone(w.rows), func(s api.Session) bool { return q.Search != "" && !strings.Contains(string(s.Key)+s.Title, q.Search) })
			rows = rows[min(q.Offset, len(rows)):]
			return rows[:min(q.Limit, len(rows))], nil
		}),
		does(w, "sessions.get", "GET /api/sessions/{session}", api.Read, func(c api.SessionCall) (d api.SessionDetail, err error) {
			d.Session, err = row(c)
			d.ModelUsed, d.Window = "anthropic/claude-sonnet", 200000
			if q := w.patched.Queue; q.Value != "" {
				d.Queue = q.Value + " debounce:1s cap:20 drop:old"
			}
			d.Earlier = []sessions.Transcript{{ID: "earlier", Began: w.now.Add(-40 * 24 * time.Hour)}}
			return d, err
		}),
		does(w, "sessions.history", "GET /api/sessions/{session}/messages", api.Read, func(q api.HistoryQuery) (h api.History, err error) {
			s, err := w.find(q.Session)
			if err != nil {
				return h, err
			}
			h.ID = sessions.ID(q.SessionID)
			if h.ID == "" {
				h.ID = s.ID
			}
			all := slices.DeleteFunc(slices.Clone(w.said[h.ID]), func(m sessions.Message) bool { return q.Before > 0 && m.Seq >= q.Before })
			h.Messages, h.More = all[max(0, len(all)-q.Limit):], len(all) > q.Limit
			return h, nil
		}),
		does(w, "sessions.patch", "PATCH /api/sessions/{session}", api.Admin, func(p api.SessionPatch) (api.SessionDetail, error) {
			w.patched = p
			s, err := w.find(p.Session)
			if err == nil && p.SendPolicy.Set {
				s.SendPolicy = policy.Override(p.SendPolicy.Value)
			}
			return api.SessionDetail{}, err
		}),
		does(w, "sessions.compact", "POST /api/sessions/{session}/compact", api.Admin, func(c api.CompactCall) (api.Said, error) {
			w.compacted = c
			return api.Said{}, nil
		}),
		does(w, "sessions.delete", "DELETE /api/sessions/{session}", api.Admin, func(c api.SessionCall) (d api.Deleted, err error) {
			return d, fmt.Errorf("%s is at work: %w", c.Session, sessions.ErrConflict)
		}),
		does(w, "sessions.archive", "POST /api/sessions/{session}/archive", api.Admin, row),
		does(w, "sessions.search", "GET /api/search", api.Read, func(q api.SearchQuery) ([]api.Hit, error) {
			hits := slices.DeleteFunc(slices.Clone(w.hits), func(h api.Hit) bool { return !strings.Contains(h.Snippet, q.Text) })
			return hits[:min(q.Limit, len(hits))], nil
		}),
		does(w, "policy.explain", "GET /api/policy/explain", api.Read, func(q api.ExplainQuery) (x api.Explanation, err error) {
			s, err := w.find(q.Session)
			if err != nil {
				return x, err
			}
			to, _ := channels.ParseAddress(q.To) // what does not parse is no chat
			p := policy.SendPolicy{Default: policy.Allow}
			about := policy.Subject{Key: q.Session, Override: s.SendPolicy, To: to}
			return api.Explanation{Verdict: p.Evaluate(about), Steps: p.Explain(about)}, nil
		}),
	}
}

const club = "agent:main:telegram:group:-1001"

// family is what a host of a family might show.
func family(w *talks) {
	ago := func(d time.Duration) time.Time { return w.now.Add(-d) }
	w.rows = []api.Session{
		{Key: "agent:main:main", ID: "s1", Kind: "main", Agent: "main", Title: "Anna", Channel: "telegram", Last: "telegram/default/direct/4711", Tokens: 184200, Context: 41200, Cost: 1260000, Turns: 214, Working: true, Updated: ago(40 * time.Second), Created: ago(1900 * time.Hour)},
		{Key: club, ID: "s2", Kind: "group", Agent: "main", Title: "Garden club", Channel: "telegram", Last: "telegram/default/group/-1001", SendPolicy: policy.Deny, Tokens: 61300, Context: 18400, Cost: 410000, Turns: 58, Updated: ago(41 * time.Minute), Created: ago(900 * time.Hour)},
		{Key: "agent:research:subagent:7c1d40aa", ID: "s3", Kind: "other", Agent: "research", Label: "huts with room", SpawnedBy: "agent:main:main", Tokens: 22900, Turns: 3, Working: true, Updated: ago(49 * time.Second), Created: ago(50 * time.Second)},
		{Key: "agent:main:discord:channel:42", ID: "s4", Kind: "group", Agent: "main", Title: "#parents", Channel: "discord", Last: "discord/default/channel/42", Tokens: 9100, Turns: 12, Aborted: true, Updated: ago(3 * time.Hour), Created: ago(400 * time.Hour)},
		{Key: "agent:main:cron:morning", ID: "s5", Kind: "cron", Agent: "main", Label: "Morning", Tokens: 33800, Turns: 21, Updated: ago(15 * time.Hour), Created: ago(900 * time.Hour)},
	}
	group := chatAt("telegram/default/group/-1001")
	by := func(id, name string) *sessions.Provenance {
		return &sessions.Provenance{Kind: sessions.ExternalUser, Sender: id, Name: name, Address: group}
	}
	user := func(id string, back time.Duration, p *sessions.Provenance, text string) sessions.Message {
		return sessions.Message{ID: id, Role: sessions.User, Time: ago(back), Run: sessions.RunID("r" + id), Provenance: p, Content: sessions.TextContent(text)}
	}
	says := func(id string, back time.Duration, state sessions.DeliveryState, rule, text string) sessions.Message {
		return sessions.Message{ID: id, Role: sessions.Assistant, Time: ago(back), Content: sessions.TextContent(text), MessageExtras: &sessions.MessageExtras{Deliveries: []sessions.Mark{{Delivery: sessions.DeliveryID("d" + id), State: state, To: group.String(), Rule: rule}}}}
	}
	w.said["s2"] = []sessions.Message{
		user("1", 3*time.Hour, by("4712", "Cleo"), "@ada when do we meet to mulch the beds?"),
		says("2", 3*time.Hour, sessions.Sent, "session.sendPolicy.default", "**Saturday at ten**, by the compost. Bring\n\n- gloves\n- a wheelbarrow, if you have one"),
		user("3", 42*time.Minute, by("4713", "Dan"), "@ada who has the key to the shed?"),
		{ID: "4", Role: sessions.Assistant, Time: ago(41 * time.Minute), Content: []sessions.Block{{Type: sessions.ToolCallBlock, ID: "c1", Name: "sessions_send", Arguments: json.RawMessage(`{"sessionKey":"agent:main:main","message":"The garden club asks who has the key to the shed."}`)}}},
		{ID: "5", Role: sessions.ToolResult, Time: ago(41 * time.Minute), ToolCallID: "c1", ToolName: "sessions_send", Content: sessions.TextContent(`{"status":"ok","reply":"Cleo took it on Thursday."}`)},
		says("6", 41*time.Minute, sessions.Withheld, "session override", "Cleo took it on Thursday and said that she brings it back on Sunday."),
		user("7", 20*time.Minute, &sessions.Provenance{Kind: sessions.InterSession, Source: "agent:main:main", Tool: "sessions_send"}, "Anna can bring the key on Sunday before noon."),
		{ID: "8", Role: sessions.Assistant, Time: ago(20 * time.Minute), Content: sessions.TextContent("Good. I tell them when I am asked.")},
	}
	for i := range w.said["s2"] {
		w.said["s2"][i].Seq = int64(i + 1)
	}
	w.said["earlier"] = []sessions.Message{user("e1", 2000*time.Hour, by("4712", "Cleo"), "Hello, garden!")}
	w.hits = []api.Hit{{Key: club, ID: "s2", Message: "6", Role: sessions.Assistant, Time: sessions.Millis{Time: ago(41 * time.Minute)}, Snippet: "Cleo took it on Thursday and said that she brings it back on Sunday."}, {Key: club, ID: "earlier", Message: "e1", Role: sessions.User, Time: sessions.Millis{Time: ago(2000 * time.Hour)}, Snippet: "<b>Cleo</b> & the garden"}}
}

func chatAt(text string) channels.Address {
	a, err := channels.ParseAddress(text)
	if err != nil {
		panic(err)
	}
	return a
}
