package web

// How to add a view:
//
//  1. view_runs.html: {{define "title"}}Runs{{end}} and {{define "main"}}…{{end}}. The dot is what the handler gave. Classes: style.css.
//  2. view_runs.go: func (s site) runs(r *http.Request) (any, error) {
//     list, err := call[[]api.Run](s, r, "runs.list", &api.RunsQuery{Limit: 50}); return runsView{list}, err }
//  3. a line in views below: {"GET /runs", "runs", site.runs}. It is in the navigation already (menu.go).
//  4. what follows by itself: {{define "rows"}}<div id="rows" hx-get="/runs" hx-trigger="live" data-live="run tool">…</div>{{end}} and
//     {{template "rows" .}} in main. A request of htmx gets the template that is named like the id of its target, alone. data-live names
//     kinds of events (api.Event); they are collected for a moment before the part is loaded again.
//  5. what changes something: {"POST /runs/{run}/cancel", "runs", site.cancelRun} gives done{Say: "It is stopped.", Data: …}; Data is for the
//     part again, Go leads to another page. <form hx-post="/runs/{{seg .ID}}/cancel" hx-target="#rows" hx-confirm="Stop it?">.
//
// An error of call is shown with the API's words: as a page, or as a toast when htmx asked. In-process calls skip the defaults and
// bounds of query parameters: set Limit. Functions for templates: funcs.go. A script or style of a view's own: {{define "head"}}.

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"slices"
	"strings"
	"sync"
	"unicode/utf16"

	"parley/gateway/api"
)

// view is one page of the frame, or one change that is made on it.
type view struct {
	route string // as http.ServeMux has it
	page  string // its templates are in view_<page>.html
	load  func(site, *http.Request) (any, error)
}

// views is every view.
var views = []view{
	{"GET /{$}", "chat", site.chat},
	{"GET /parts/health", "parts", site.healthPart},
	{"GET /parts/menu", "parts", site.menuPart},
	{"POST /parts/markdown", "markdown", site.markdownPart},
	{"GET /sessions", "sessions", site.sessions},
	{"GET /sessions/{key}", "session", pagesOf(sessionPages.session)},
	{"GET /sessions/{key}/panel", "session", pagesOf(sessionPages.sessionPanel)},
	{"POST /sessions/{key}/settings", "session", pagesOf(sessionPages.patchSession)},
	{"POST /sessions/{key}/compact", "session", pagesOf(sessionPages.compactSession)},
	{"POST /sessions/{key}/reset", "session", pagesOf(sessionPages.resetSession)},
	{"POST /sessions/{key}/archive", "session", pagesOf(sessionPages.archiveSession)},
	{"POST /sessions/{key}/delete", "session", pagesOf(sessionPages.deleteSession)},
	{"GET /search", "search", site.search},
}

// pagesOf has a part of the site load a view.
func pagesOf[P ~struct{ site }](load func(P, *http.Request) (any, error)) func(site, *http.Request) (any, error) {
	return func(s site, r *http.Request) (any, error) { return load(P{s}, r) }
}

// maxForm is the longest form of a change.
const maxForm = 1 << 20

// Routes are the patterns of all views, as http.ServeMux has them.
func Routes() (patterns []string) {
	for _, v := range slices.Concat(views, hostViews) {
		patterns = append(patterns, v.route)
	}
	return patterns
}

// changeResult is what a change gives instead of data.
type changeResult struct {
	Say  string // shown as a toast
	Go   string // a page to go on to; empty = stay
	Data any    // for the part that htmx swaps; nil = nothing is swapped
}

// call does an operation of the API as whoever sent the request. in points to its parameters.
func call[Out any](s site, r *http.Request, name string, in any) (out Out, err error) {
	if s.Call == nil {
		return out, api.Refuse(http.StatusServiceUnavailable, "the page has no API")
	}
	v, err := s.Call(r.Context(), name, in)
	if err != nil {
		return out, err
	}
	out, ok := api.Shown(v).(Out)
	if !ok {
		return out, fmt.Errorf("%s gave a %T", name, v)
	}
	return out, nil
}

// hasScope reports whether who sent a request has a scope; where nobody guards the door, all do.
func hasScope(r *http.Request, need api.Scope) bool {
	p := api.Caller(r.Context())
	return p.Scope == "" || p.Scope.Allows(need)
}

// shell is what base.html is made from.
type shell struct {
	Menu   menuView
	Health health
	Scope  string // of who looks; empty = not known
	Since  string // where in the host's events the data was read: live.js goes on from there
	Data   any
}

func (s site) mount(mux *http.ServeMux, v view) {
	mux.HandleFunc(v.route, func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			if r.Header.Get("HX-Request") == "" { // another site's form cannot set it
				s.fail(w, r, api.Refuse(http.StatusForbidden, "make this change on the page itself: other sites cannot send it"))
				return
			}
			r.Body = http.MaxBytesReader(w, r.Body, maxForm)
			if err := r.ParseForm(); err != nil {
				s.fail(w, r, api.FormProblem(err, maxForm))
				return
			}
			if key := r.Header.Get("Idempotency-Key"); key != "" { // frame.js: a change whose answer got lost is asked for again with it
				ctx, err := api.Once(r.Context(), key)
				if err != nil {
					s.fail(w, r, err)
					return
				}
				r = r.WithContext(ctx)
			}
		}
		since := s.Now() // before anything is read: what happens meanwhile is told by the stream
		data, err := v.load(s, r)
		if err != nil {
			s.fail(w, r, err)
			return
		}
		if d, ok := data.(changeResult); ok {
			if data = s.finish(w, d); data == nil {
				return
			}
		}
		s.render(w, r, http.StatusOK, v.page, since, data)
	})
}

// finish answers a change; what it gives is to be rendered, nil when all is said.
func (s site) finish(w http.ResponseWriter, d changeResult) any {
	if d.Say != "" {
		w.Header().Set("HX-Trigger", ascii(map[string]string{"toast": d.Say}))
	}
	switch {
	case d.Go != "":
		w.Header().Set("HX-Redirect", d.Go)
		w.WriteHeader(http.StatusNoContent)
		return nil
	case d.Data == nil:
		w.Header().Set("HX-Reswap", "none")
		w.WriteHeader(http.StatusNoContent)
	}
	return d.Data
}

// render answers with a whole page, or with a part when htmx asked for one.
func (s site) render(w http.ResponseWriter, r *http.Request, status int, page, since string, data any) {
	t := templates()[page]
	var out bytes.Buffer
	err := error(nil)
	if part := r.Header.Get("HX-Target"); partOnly(r) && part != "" && t.Lookup(part) != nil {
		err = t.ExecuteTemplate(&out, part, data)
	} else if partOnly(r) {
		err = t.ExecuteTemplate(&out, "main", data)
	} else {
		info := s.Info(r.Context())
		err = t.ExecuteTemplate(&out, "base.html", shell{Menu: s.menu(r, r.URL.Path), Health: healthOf(info), Scope: string(api.Caller(r.Context()).Scope), Since: since, Data: data})
	}
	if err != nil {
		s.Logger.Error("cannot show a view", "view", page, "error", err)
		http.Error(w, "The host could not show this view. Its log says why.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(out.Bytes()) // the client is gone: nobody is left to tell
}

func partOnly(r *http.Request) bool {
	return r.Header.Get("HX-Request") != "" && r.Header.Get("HX-History-Restore-Request") == ""
}

// fail answers with what is wrong: as the API says it to htmx, as a page to people.
func (s site) fail(w http.ResponseWriter, r *http.Request, err error) {
	if errors.Is(err, context.Canceled) && r.Context().Err() != nil {
		return // nobody is left to tell
	}
	e := api.Problem(w, err)
	if partOnly(r) {
		api.WriteError(w, e)
		return
	}
	s.render(w, r, e.Status, "error", "", trouble{Status: e.Status, Text: e.Message})
}

// trouble is what view_error.html shows.
type trouble struct {
	Status int
	Text   string
}

// Title says in a word or two what kind of trouble it is.
func (t trouble) Title() string {
	switch t.Status {
	case http.StatusNotFound:
		return "Not found"
	case http.StatusForbidden, http.StatusUnauthorized:
		return "Not allowed"
	case http.StatusBadRequest:
		return "Invalid request"
	}
	return "Request failed"
}

// templates gives for each page of a view base.html and parts.html with the page's own.
var templates = sync.OnceValue(func() map[string]*template.Template {
	base := template.Must(template.New("base.html").Funcs(funcs).ParseFS(pageFiles, "base.html", "parts*.html"))
	all := map[string]*template.Template{"parts": base}
	files, err := fs.Glob(pageFiles, "view_*.html")
	if err != nil {
		panic(err) // the pattern is right
	}
	for _, f := range files {
		name := strings.TrimSuffix(strings.TrimPrefix(f, "view_"), ".html")
		all[name] = template.Must(template.Must(base.Clone()).ParseFS(pageFiles, f))
	}
	return all
})

// ascii is JSON for a header: browsers read headers as Latin-1.
func ascii(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return "{}"
	}
	var out strings.Builder
	for _, u := range utf16.Encode([]rune(string(b))) {
		if u < 0x7f {
			out.WriteByte(byte(u))
		} else {
			fmt.Fprintf(&out, `\u%04x`, u)
		}
	}
	return out.String()
}
