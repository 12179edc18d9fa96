package web

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"parley/gateway/api"
)

const sessionsPage = 50

// sessionsView is what view_sessions.html shows.
type sessionsView struct {
	Query    api.SessionsQuery
	Rows     []api.Session
	Names    names
	Agents   []api.Agent // none when there is only one
	Kinds    []string
	Self     string // this page's address
	Newer    string // the pages beside it; empty = none
	Older    string
	Filtered bool
	First    int // number of the first row
}

// Last is the number of the last row.
func (v sessionsView) Last() int { return v.First + len(v.Rows) - 1 }

func (s site) sessions(r *http.Request) (any, error) {
	f := r.URL.Query()
	number := func(name string, most int) int {
		n, err := strconv.Atoi(f.Get(name))
		if err != nil || n < 0 {
			return 0 // nothing is left out
		}
		return min(n, most)
	}
	q := api.SessionsQuery{Search: strings.TrimSpace(f.Get("search")), Agent: f.Get("agent"), Kind: f.Get("kind"), SpawnedBy: f.Get("spawnedBy"),
		Minutes: number("active", 5256000), Archived: f.Get("archived") != "", Offset: number("offset", 1e6), Limit: sessionsPage + 1}
	rows, err := call[[]api.Session](s, r, "sessions.list", &q)
	if err != nil {
		return nil, err
	}
	v := sessionsView{Query: q, Rows: rows, Kinds: []string{"main", "group", "cron", "hook", "node", "other"}, First: q.Offset + 1,
		Filtered: q.Search+q.Agent+q.Kind+q.SpawnedBy != "" || q.Minutes > 0 || q.Archived || q.Offset > 0}
	v.Self = sessionsAt(f, q.Offset)
	if len(rows) > sessionsPage {
		v.Rows, v.Older = rows[:sessionsPage], sessionsAt(f, q.Offset+sessionsPage)
	}
	if q.Offset > 0 {
		v.Newer = sessionsAt(f, max(0, q.Offset-sessionsPage))
	}
	agents, err := call[[]api.Agent](s, r, "agents.list", &api.None{})
	if err == nil && len(agents) > 1 {
		v.Agents = agents // without them there is one filter less
	}
	v.Names = s.namesOf(r, v.Rows, agents)
	return v, nil
}

// sessionsAt is the address of a page of the list with the same filters.
func sessionsAt(f url.Values, offset int) string {
	keep := url.Values{}
	for _, name := range []string{"search", "agent", "kind", "spawnedBy", "active", "archived"} {
		if v := f.Get(name); v != "" {
			keep.Set(name, v)
		}
	}
	if offset > 0 {
		keep.Set("offset", strconv.Itoa(offset))
	}
	if len(keep) == 0 {
		return "/sessions"
	}
	return "/sessions?" + keep.Encode()
}
