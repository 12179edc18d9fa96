package web

import (
	"net/http"
	"slices"
	"strings"

	"parley/gateway/api"
	"parley/sessions"
)

// pick gives what the API calls the session that a person names in a filter: by its key, its id or the beginning of that, main, or a part
// of its title or label, as the command line takes it. The zero ref is none.
func (s site) pick(r *http.Request, ref string) (string, error) {
	ref = strings.TrimSpace(ref)
	if ref == "" || ref == "main" {
		return ref, nil
	}
	if _, err := sessions.Key(ref).Parse(); err == nil {
		return ref, nil
	}
	d, err := call[api.SessionDetail](s, r, "sessions.get", &api.SessionCall{Session: ref})
	if err == nil {
		return string(d.Key), nil
	}
	if _, ok := refusedBy(err); !ok {
		return "", err
	}
	list, err := call[[]api.Session](s, r, "sessions.list", &api.SessionsQuery{Search: ref, Limit: namesRead})
	if err != nil {
		return "", err
	}
	switch found := fitting(list, strings.ToLower(ref)); len(found) {
	case 0:
		return "", api.Refuse(http.StatusNotFound, "session: no session matches %.100q: enter its key, its id, or part of its title or label", ref)
	case 1:
		return string(found[0].Key), nil
	default:
		return "", api.Bad("session: %.100q matches %d sessions: enter more of the name, or the key", ref, len(found))
	}
}

// fitting gives the sessions that a name in lower case fits best.
func fitting(list []api.Session, name string) []api.Session {
	for _, fits := range []func(label, title, key string) bool{
		func(label, title, _ string) bool { return label == name || title == name },
		func(label, title, _ string) bool {
			return strings.Contains(label, name) || strings.Contains(title, name)
		},
		func(_, _, key string) bool { return strings.Contains(key, name) },
	} {
		found := slices.DeleteFunc(slices.Clone(list), func(s api.Session) bool {
			return !fits(strings.ToLower(s.Label), strings.ToLower(s.Title), strings.ToLower(string(s.Key)))
		})
		if len(found) > 0 {
			return found
		}
	}
	return nil
}
