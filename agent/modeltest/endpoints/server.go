package endpoints

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
)

// Seen is one request as the server answered it.
type Seen struct {
	Path    string
	Raw     string
	Refused bool // a check objected
	Failed  bool // a failure answered
	Reply   string
}

// Server plays a row. It is an http.Handler; its methods may be called at any time from any goroutine.
type Server struct {
	row    Row
	memory *issuedIDs

	mu      sync.Mutex
	log     []Seen
	down    bool
	waiting chan struct{} // closed when a request waits; nil = none is held
	after   string        // the role of the last message of the request that is held
	release chan struct{}
}

// NewServer makes the server of a row.
func NewServer(r Row) *Server {
	if r.Model == "" {
		r = r.filled()
	}
	return &Server{row: r, memory: newMemory()}
}

// Log gives all requests so far.
func (s *Server) Log() []Seen {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Seen(nil), s.log...)
}

// SetDown has every request fail with 503, or ends that.
func (s *Server) SetDown(down bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down = down
}

// Hold has the next request that ends with a tool's result (tool), or with what a person wrote (user), wait until release is called or its client goes away.
// waits is closed when it has come.
func (s *Server) Hold(role string) (waits <-chan struct{}, release func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting, s.release, s.after = make(chan struct{}), make(chan struct{}), role
	return s.waiting, sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		close(s.release)
	})
}

func (s *Server) held(c *Call) (release chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.waiting == nil || c.resulted() != (s.after == "tool") {
		return nil
	}
	close(s.waiting)
	s.waiting = nil
	return s.release
}

func (s *Server) note(x Seen) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log = append(s.log, x)
}

func (s *Server) isDown() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.down
}

// readable shows the characters that JSON for web pages escapes.
var readable = strings.NewReplacer("\\u003c", "<", "\\u003e", ">", "\\u0026", "&")

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for _, p := range s.row.Pages {
		if r.URL.Path == p.Path {
			p.write(w, r)
			return
		}
	}
	if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/models") {
		send(w, "application/json", encode(obj{"object": "list", "data": list{obj{"id": s.row.Model, "object": "model", "created": 0, "owned_by": s.row.Vendor}}}), 0)
		return
	}
	if !strings.HasSuffix(r.URL.Path, "/chat/completions") && !strings.HasSuffix(r.URL.Path, "/responses") && !strings.HasSuffix(r.URL.Path, "/messages") {
		http.NotFound(w, r) // asked for facts, which this server has none of
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 64<<20))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	c := &Call{API: s.row.Protocol(), Path: r.URL.Path, Query: r.URL.Query(), Header: r.Header, Raw: body, memory: s.memory}
	seen := Seen{Path: r.URL.Path, Raw: readable.Replace(string(body))}
	if s.isDown() {
		no := openAI(503, "server_error", nil, nil, "The server is down for maintenance.")
		seen.Failed, seen.Reply = true, no.Body
		s.note(seen)
		no.write(w)
		return
	}
	if no := s.refuse(c, r); no != nil {
		seen.Refused, seen.Reply = true, no.Body
		s.note(seen)
		no.write(w)
		return
	}
	if release := s.held(c); release != nil {
		select {
		case <-release:
		case <-r.Context().Done():
			return
		}
	}
	for _, f := range s.row.Fails {
		if no := f(c); no != nil {
			seen.Failed, seen.Reply = true, no.Body
			s.note(seen)
			no.write(w)
			return
		}
	}
	mind := s.row.Mind
	if mind == nil {
		mind = Usual
	}
	say := mind(c)
	seen.Reply = say.Text
	s.note(seen)
	wire := s.row.Wire
	if wire == nil {
		wire = usualWire(c.API)
	}
	wire(w, c, say)
}

// usualWire is the way of the API's own vendor, without reasoning.
func usualWire(api API) Wire {
	switch api {
	case Responses:
		return ResponsesWire{}.Wire()
	case Messages:
		return MessagesWire{}.Wire()
	}
	return ChatWire{}.Wire()
}

// refuse says what is wrong with a request: the path, the checks of the API, those of the row.
func (s *Server) refuse(c *Call, r *http.Request) *Refusal {
	paths := map[API]string{Chat: "/chat/completions", Responses: "/responses", Messages: "/v1/messages"}
	if want := s.row.Path + paths[c.API]; r.URL.Path != want || r.Method != http.MethodPost {
		return raw(404, fmt.Sprintf(`{"error":{"message":"Not found: %s %s","type":"invalid_request_error","param":null,"code":null}}`, r.Method, r.URL.Path))
	}
	if err := c.read(); err != nil {
		return invalid(nil, nil, "We could not parse the JSON body of your request: %v", err)
	}
	if c.Body["model"] != s.row.Model {
		return openAI(404, "invalid_request_error", nil, "model_not_found", "The model `%v` does not exist or you do not have access to it.", c.Body["model"])
	}
	checks := s.row.Checks
	if !s.row.Lax {
		checks = append(basics(c.API), checks...)
	}
	for _, check := range checks {
		if no := check(c); no != nil {
			return no
		}
	}
	return nil
}

// write sends a refusal. A client that may come again need not wait.
func (no *Refusal) write(w http.ResponseWriter) {
	for k, v := range no.Header {
		w.Header().Set(k, v)
	}
	if w.Header().Get("Retry-After") == "" && (no.Status == 429 || no.Status >= 500) {
		w.Header().Set("Retry-After-Ms", "1")
	}
	kind := no.Type
	if kind == "" {
		kind = "application/json"
	}
	if kind == noType {
		w.Header()["Content-Type"] = nil
	} else {
		w.Header().Set("Content-Type", kind)
	}
	w.WriteHeader(no.Status)
	_, _ = w.Write([]byte(no.Body)) // the client sees what is missing
}

func basics(api API) []Check {
	switch api {
	case Responses:
		return responsesBasics
	case Messages:
		return claudeBasics
	}
	return chatBasics
}

// write answers with the page; a model that it does not know is not found.
func (p Page) write(w http.ResponseWriter, r *http.Request) {
	body := p.Body
	if p.ByModel != nil {
		var asked struct{ Model, Name string }
		_ = json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20)).Decode(&asked) // an empty name is not found
		var known bool
		if body, known = p.ByModel[cmp.Or(asked.Model, asked.Name)]; !known {
			http.Error(w, `{"error":"model not found"}`, http.StatusNotFound)
			return
		}
	}
	send(w, "application/json", body, 0)
}
