package web

import (
	"cmp"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"parley/gateway/api"
	"parley/policy"
	"parley/sessions"
)

const transcriptPage = 60

// sessionView is what view_session.html shows.
type sessionView struct {
	api.SessionDetail
	Name       string
	Names      names
	Chat       string // its own chat in words; empty = it has none
	Lines      []utterance
	Older      int64       // the page before is asked for with it; 0 = there is none
	Transcript sessions.ID // an earlier one that is shown; empty = the current one
	Steps      []policy.Step
	Models     []api.Model
	MayChange  bool
	MayTalk    bool
}

// Talker is who is written to, in words.
func (v sessionView) Talker() string {
	if p, err := v.Key.Parse(); err == nil && p.Form == sessions.FormMain && p.Thread == "" && v.Label == "" && v.Title == "" {
		return v.Names.Agent(v.Agent)
	}
	return v.Name
}

// QueueMode is the mode of a session's own queue setting; empty = as configured.
func (v sessionView) QueueMode() string {
	mode, _, _ := strings.Cut(v.Queue, " ")
	return mode
}

// sessionPages shows and changes one session.
type sessionPages struct{ site }

func (s sessionPages) sessionHead(r *http.Request) (sessionView, error) {
	d, err := call[api.SessionDetail](s.site, r, "sessions.get", &api.SessionCall{Session: r.PathValue("key")})
	if err != nil {
		return sessionView{}, err
	}
	v := sessionView{SessionDetail: d, MayChange: api.Caller(r.Context()).Scope.Allows(api.Admin), MayTalk: hasScope(r, api.Write)}
	if d.SpawnedBy == "" {
		agents, _ := call[[]api.Agent](s.site, r, "agents.list", &api.None{}) // without them their ids are shown
		v.Names = s.namesOf(r, []api.Session{d.Session}, agents)
	} else {
		v.Names = s.names(r, d.Session)
	}
	v.Name = v.Names.Of(d.Key)
	if d.Last != "" {
		v.Chat = d.Channel
		if d.Title != "" {
			v.Chat += " (" + d.Title + ")"
		}
	}
	return v, nil
}

// session shows a session; htmx asks for its newest lines (log) or for those before (older).
func (s sessionPages) session(r *http.Request) (any, error) {
	v, err := s.sessionHead(r)
	if err != nil {
		return nil, err
	}
	q := api.HistoryQuery{Session: string(v.Key), Tools: true, Limit: transcriptPage, SessionID: r.URL.Query().Get("transcript")}
	q.Before, _ = strconv.ParseInt(r.URL.Query().Get("before"), 10, 64) // what is no number is the newest page
	if q.SessionID == string(v.ID) {
		q.SessionID = ""
	}
	v.Transcript = sessions.ID(q.SessionID)
	h, err := call[api.History](s.site, r, "sessions.history", &q)
	if err != nil {
		return nil, err
	}
	v.Lines, v.Older = utterances(h.Messages, v.Working && q.SessionID == "" && q.Before == 0), older(h)
	s.nameLines(r, v)
	if partOnly(r) {
		return v, nil
	}
	return s.withSettings(r, v)
}

// nameLines says who speaks in the lines of a transcript as people call them.
func (s sessionPages) nameLines(r *http.Request, v sessionView) {
	n := v.Names
	if slices.ContainsFunc(v.Lines, func(u utterance) bool { return u.From != "" }) && v.SpawnedBy == "" {
		n = s.names(r, v.Session)
	}
	for i := range v.Lines {
		u := &v.Lines[i]
		if u.From != "" {
			u.FromName = n.Of(u.From)
		} else if u.Side == "agent" {
			u.Who = cmp.Or(n.agents[v.Agent], u.Who)
		}
		for j := range u.Marks {
			m := &u.Marks[j]
			if m.State == sessions.Sent && m.To == v.Last { // the usual case needs no more words
				m.To, m.Rule = "", ""
			}
			m.To = n.Place(m.To)
		}
	}
}

// sessionPanel shows a session's settings.
func (s sessionPages) sessionPanel(r *http.Request) (any, error) {
	v, err := s.sessionHead(r)
	if err != nil {
		return nil, err
	}
	return s.withSettings(r, v)
}

// withSettings adds what the settings need: how the policy decides, and which models there are.
func (s sessionPages) withSettings(r *http.Request, v sessionView) (any, error) {
	if v.Last != "" {
		x, err := call[api.Explanation](s.site, r, "policy.explain", &api.ExplainQuery{Session: string(v.Key), To: v.Last})
		if err != nil {
			return nil, err
		}
		v.Verdict, v.Steps = x.Verdict, x.Steps
	}
	models, err := call[[]api.Model](s.site, r, "models.list", &api.None{})
	v.Models = models
	return v, err
}

// patchSession changes the settings that a form names, one at a time as the page does it.
func (s sessionPages) patchSession(r *http.Request) (any, error) {
	p := api.SessionPatch{Session: r.PathValue("key")}
	for name, field := range map[string]*api.Optional[string]{"sendPolicy": &p.SendPolicy, "model": &p.Model, "thinking": &p.Thinking,
		"verbose": &p.Verbose, "activation": &p.Activation, "footer": &p.Footer, "queue": &p.Queue, "label": &p.Label} {
		switch {
		case !r.PostForm.Has(name):
		case r.PostForm.Get(name) == "":
			*field = api.Clear[string]()
		default:
			*field = api.Some(r.PostForm.Get(name))
		}
	}
	if _, err := call[api.SessionDetail](s.site, r, "sessions.patch", &p); err != nil {
		return nil, err
	}
	v, err := s.sessionPanel(r)
	return changeResult{Say: "Saved.", Data: v}, err
}

func (s sessionPages) resetSession(r *http.Request) (any, error) {
	if _, err := call[api.StartedOver](s.site, r, "sessions.reset", &api.SessionCall{Session: r.PathValue("key")}); err != nil {
		return nil, err
	}
	return changeResult{Go: "/sessions/" + url.PathEscape(r.PathValue("key"))}, nil
}

func (s sessionPages) archiveSession(r *http.Request) (any, error) {
	if _, err := call[api.Session](s.site, r, "sessions.archive", &api.SessionCall{Session: r.PathValue("key")}); err != nil {
		return nil, err
	}
	return changeResult{Go: "/sessions"}, nil
}

func (s sessionPages) deleteSession(r *http.Request) (any, error) {
	if _, err := call[api.Deleted](s.site, r, "sessions.delete", &api.SessionCall{Session: r.PathValue("key")}); err != nil {
		return nil, err
	}
	return changeResult{Go: "/sessions"}, nil
}

func (s sessionPages) compactSession(r *http.Request) (any, error) {
	if _, err := call[any](s.site, r, "sessions.compact", &api.CompactCall{Session: r.PathValue("key"), Instructions: r.PostForm.Get("instructions")}); err != nil {
		return nil, err
	}
	return changeResult{Say: "Compaction started. The context size shrinks when it is done."}, nil
}

// markdownPart gives safe HTML of an answer that is still being written.
func (s site) markdownPart(r *http.Request) (any, error) {
	return template.HTML(RenderMarkdown(r.PostForm.Get("text"))), nil //nolint:gosec // RenderMarkdown escapes
}
