package web

import (
	"html/template"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"parley/gateway/api"
	"parley/sessions"
)

const hitsPage = 20

// searchView is what view_search.html shows.
type searchView struct {
	Query api.SearchQuery
	Hits  []api.Hit
	Names names
	Newer string
	Older string
	words *regexp.Regexp
}

// Lit is what was found, in plain words, with what was looked for marked in it.
func (v searchView) Lit(h api.Hit) template.HTML {
	snippet := h.Snippet
	if h.Role != sessions.User { // who wrote as they type
		snippet = flat(maxShown, snippet)
	}
	var out strings.Builder
	last := 0
	if v.words != nil {
		for _, at := range v.words.FindAllStringIndex(snippet, -1) {
			out.WriteString(template.HTMLEscapeString(snippet[last:at[0]]) + "<mark>" + template.HTMLEscapeString(snippet[at[0]:at[1]]) + "</mark>")
			last = at[1]
		}
	}
	out.WriteString(template.HTMLEscapeString(snippet[last:]))
	return template.HTML(out.String()) //nolint:gosec // every piece is escaped
}

// At is where a hit stands.
func (v searchView) At(h api.Hit) string {
	return "/sessions/" + url.PathEscape(string(h.Key)) + "?transcript=" + url.QueryEscape(string(h.ID)) + "#m-" + url.PathEscape(h.Message)
}

func (s site) search(r *http.Request) (any, error) {
	f := r.URL.Query()
	offset, err := strconv.Atoi(f.Get("offset"))
	if err != nil || offset < 0 {
		offset = 0 // from the newest
	}
	v := searchView{Query: api.SearchQuery{Text: strings.TrimSpace(f.Get("q")), Session: f.Get("session"), Agent: f.Get("agent"), Offset: min(offset, 1e5), Limit: hitsPage + 1}}
	if v.Query.Text == "" {
		return v, nil
	}
	var alternatives []string
	for _, w := range strings.Fields(v.Query.Text) {
		alternatives = append(alternatives, regexp.QuoteMeta(w))
	}
	v.words = regexp.MustCompile("(?i)" + strings.Join(alternatives, "|"))
	if v.Hits, err = call[[]api.Hit](s, r, "sessions.search", &v.Query); err != nil {
		return nil, err
	}
	if len(v.Hits) > 0 {
		v.Names = s.names(r)
	}
	at := func(offset int) string {
		keep := url.Values{"q": {v.Query.Text}}
		for _, name := range []string{"session", "agent"} {
			if f.Has(name) && f.Get(name) != "" {
				keep.Set(name, f.Get(name))
			}
		}
		if offset > 0 {
			keep.Set("offset", strconv.Itoa(offset))
		}
		return "/search?" + keep.Encode()
	}
	if len(v.Hits) > hitsPage {
		v.Hits, v.Older = v.Hits[:hitsPage], at(offset+hitsPage)
	}
	if offset > 0 {
		v.Newer = at(max(0, offset-hitsPage))
	}
	return v, nil
}
