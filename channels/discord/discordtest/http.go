package discordtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Call is one request to the REST API.
type Call struct {
	Method  string
	Route   string // as the API's description writes it, such as RouteMessages
	Path    string
	Channel string // empty where the path names none
	Query   url.Values
	Body    []byte // JSON; of a multipart request the part payload_json
	Status  int    // 0 = no answer (cut, hanging or still under way)
	At      time.Time
}

// Calls gives the requests so far in the order of arrival; with routes only those, each as "POST /channels/{channel_id}/messages".
func (s *Server) Calls(routes ...string) []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(s.calls), func(c Call) bool { return len(routes) > 0 && !slices.Contains(routes, c.Method+" "+c.Route) })
}

// request is a call with what its path and body hold.
type request struct {
	Call
	vars      map[string]string
	kind      string // media type of the body
	files     []multipartPart
	auth      string
	agent     string
	violation string // found while it was read
	cut       bool   // it ended before its end
}

type multipartPart struct {
	field string
	File
}

// reply is an answer before it is written.
type reply struct {
	status int
	header http.Header
	body   []byte
	cut    bool // the connection ends without an answer
}

func ok(v any) reply { return answer(http.StatusOK, v) }

func answer(status int, v any) reply {
	body, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("discordtest: answer: %v", err))
	}
	return reply{status: status, body: body}
}

func nothing() reply { return reply{status: http.StatusNoContent} }

// failure is an error as Discord writes it.
func failure(status, code int, message string) reply {
	return answer(status, object{"code": code, "message": message})
}

// invalid is what a field gets that Discord does not take.
func invalid(field, code, message string) reply {
	return answer(http.StatusBadRequest, object{
		"code": 50035, "message": "Invalid Form Body",
		"errors": object{field: object{"_errors": []any{object{"code": code, "message": message}}}},
	})
}

var versionPattern = regexp.MustCompile(`^/api/v(9|10)(/.*)$`)

// ServeHTTP answers one request: of the REST API, of the host of files, or the start of a gateway connection.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	down := s.down
	if !down {
		s.served.Add(1) // under the lock: Close waits
		defer s.served.Done()
	}
	s.mu.Unlock()
	switch {
	case down:
		panic(http.ErrAbortHandler)
	case strings.EqualFold(r.Header.Get("Upgrade"), "websocket"):
		s.serveGateway(w, r)
		return
	case strings.HasPrefix(r.URL.Path, "/attachments/"):
		s.serveFile(w, r)
		return
	}
	a := s.serve(r)
	if a.cut {
		panic(http.ErrAbortHandler)
	}
	maps.Copy(w.Header(), a.header)
	if a.body != nil {
		w.Header().Set("Content-Type", "application/json")
	}
	w.WriteHeader(a.status)
	_, _ = w.Write(a.body)
}

// serve handles one request from its arrival to its answer; it blocks as long as the real server would.
func (s *Server) serve(r *http.Request) reply {
	q := readRequest(r)
	if q.cut {
		return reply{cut: true}
	}
	s.mu.Lock()
	index := len(s.calls)
	s.calls = append(s.calls, q.Call)
	fault := s.takeFault(&q.Call)
	s.notify()
	s.mu.Unlock()

	var a reply
	if fault == nil || fault.Arrives || fault.slow() {
		a = s.handle(q)
	}
	if fault != nil {
		if bad := fault.apply(r.Context()); bad.cut || !fault.slow() {
			a = bad
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !a.cut && index < len(s.calls) {
		s.calls[index].Status = a.status
	}
	s.notify()
	return a
}

// readRequest takes a request apart.
func readRequest(r *http.Request) *request {
	q := &request{
		Call:  Call{Method: r.Method, Path: r.URL.Path, Query: r.URL.Query(), At: time.Now()},
		auth:  r.Header.Get("Authorization"),
		agent: r.Header.Get("User-Agent"),
	}
	path := r.URL.EscapedPath()
	if m := versionPattern.FindStringSubmatch(path); m == nil {
		q.violation = "not below /api/v9 or /api/v10"
	} else {
		q.Route, q.vars = match(r.Method, m[2])
	}
	q.Channel = q.vars["channel_id"]
	switch err := q.read(r); {
	case err != nil && (errors.Is(err, io.ErrUnexpectedEOF) || r.Context().Err() != nil):
		q.cut = true
	case err != nil:
		q.violation = fmt.Sprintf("body: %v", err)
	}
	return q
}

func (q *request) read(r *http.Request) error {
	kind, params, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	q.kind = kind
	if kind != "multipart/form-data" {
		var err error
		q.Body, err = io.ReadAll(r.Body)
		return err
	}
	_ = params
	reader, err := r.MultipartReader()
	if err != nil {
		return err
	}
	for {
		p, err := reader.NextPart()
		if err == io.EOF { //nolint:errorlint // NextPart gives it bare
			return nil
		}
		if err != nil {
			return err
		}
		data, err := io.ReadAll(p)
		if err != nil {
			return err
		}
		switch {
		case p.FormName() == "payload_json":
			q.Body = data
		case p.FileName() != "":
			q.files = append(q.files, multipartPart{p.FormName(), File{Name: p.FileName(), Type: p.Header.Get("Content-Type"), Data: data}})
		default:
			return fmt.Errorf("part %q is neither payload_json nor a file", p.FormName())
		}
	}
}

// decode reads the body into v.
func (q *request) decode(v any) error {
	dec := json.NewDecoder(bytes.NewReader(q.Body))
	dec.UseNumber()
	return dec.Decode(v)
}

// handle does what a request asks for, checked before and after against the API's description.
func (s *Server) handle(q *request) reply {
	s.mu.Lock()
	defer s.mu.Unlock()
	name := q.Method + " " + q.Path
	if q.violation != "" {
		s.violate("%s: %s", name, q.violation)
		return failure(http.StatusBadRequest, 50109, "The request body contains invalid JSON.")
	}
	r := find(q.Method, q.Route)
	if r == nil {
		s.violate("%s: no such path", name)
		return failure(http.StatusNotFound, 0, "404: Not Found")
	}
	if !strings.HasPrefix(q.agent, "DiscordBot (") {
		s.violate("%s: User-Agent %q: Discord wants DiscordBot ($url, $version)", name, q.agent)
	}
	if !r.open && q.auth != "Bot "+s.token {
		return failure(http.StatusUnauthorized, 0, "401: Unauthorized")
	}
	if s.spec != nil {
		for _, v := range s.spec.Request(q) {
			s.violate("%s: %s", name, v)
		}
	}
	header, over := s.limit(q)
	a := over
	if over.status == 0 {
		a = r.do(s, q)
	}
	if s.spec != nil {
		for _, v := range s.spec.Response(q.Method, q.Route, a.status, a.body) {
			s.violate("answer to %s: %d: %s", name, a.status, v)
		}
	}
	if a.header == nil {
		a.header = http.Header{}
	}
	maps.Copy(a.header, header)
	return a
}

// Client gives an HTTP client that reaches the server for the hosts of Discord, and nothing else.
func (s *Server) Client() *http.Client { return &http.Client{Transport: rewrite{s}} }

type rewrite struct{ s *Server }

func (w rewrite) RoundTrip(req *http.Request) (*http.Response, error) {
	own := w.s.listener.Addr().String()
	switch req.URL.Host {
	case "discord.com", "cdn.discordapp.com", "media.discordapp.net", own:
	default:
		return nil, fmt.Errorf("discordtest: %s is not a host of Discord", req.URL.Host)
	}
	req = req.Clone(req.Context())
	req.URL.Scheme, req.URL.Host, req.Host = "http", own, ""
	return w.s.transport.RoundTrip(req)
}
