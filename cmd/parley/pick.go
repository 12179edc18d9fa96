package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"parley/gateway/api"
	"parley/sessions"
)

const candidatesMost = 8 // sessions that are named when a name fits several

// pick gives the key of the session that somebody means: a key, an id, main, or a part of the title or label that only one has.
// What is no session at all is given back as it is where mayBeNew says so: the host makes it.
func pick(e *env, name string, mayBeNew bool) (string, error) {
	if strings.TrimSpace(name) == "" {
		return "", misuse("name a session: its key, its id, main, or a part of its title or label")
	}
	s, err := request[api.SessionDetail](e, "GET /api/sessions/{session}", api.SessionCall{Session: name})
	if err == nil {
		return string(s.Key), nil
	}
	f, ok := errors.AsType[*failure](err)
	if !ok || f.exit != exitMissing && f.exit != exitUsage {
		return "", err
	}
	if name == "main" { // not yet there: the host makes it when it is spoken to, and says no to all else
		return name, nil
	}
	list, searched := request[[]api.Session](e, "GET /api/sessions", api.SessionsQuery{Search: name, Limit: 200})
	if searched != nil {
		return "", searched
	}
	switch found := fitting(list, name); {
	case len(found) == 1:
		return string(found[0].Key), nil
	case len(found) > 1:
		return "", failed(exitUsage, "ambiguous", "%q matches %d sessions; did you mean%s", name, len(found), candidates(found))
	case mayBeNew && strings.Contains(name, ":"):
		return name, nil
	}
	near, searched := request[[]api.Session](e, "GET /api/sessions", api.SessionsQuery{Limit: 200})
	if searched != nil {
		return "", searched
	}
	text := fmt.Sprintf("there is no session %q", name)
	if near = nearest(near, name); len(near) > 0 {
		text += "; did you mean" + candidates(near)
	} else {
		text += " (parley sessions list shows the sessions)"
	}
	return "", &failure{exit: exitMissing, code: "not_found", text: text}
}

// fitting gives the sessions that a name fits best: as a whole title or label, otherwise as a part of one, otherwise of the key.
func fitting(list []api.Session, name string) []api.Session {
	name = strings.ToLower(name)
	for _, fits := range []func(api.Session) bool{
		func(s api.Session) bool { return strings.ToLower(s.Label) == name },
		func(s api.Session) bool { return strings.ToLower(s.Title) == name },
		func(s api.Session) bool {
			return strings.Contains(strings.ToLower(s.Title), name) || strings.Contains(strings.ToLower(s.Label), name)
		},
		func(s api.Session) bool { return strings.Contains(strings.ToLower(string(s.Key)), name) },
	} {
		var found []api.Session
		for _, s := range list {
			if fits(s) {
				found = append(found, s)
			}
		}
		if len(found) > 0 {
			return found
		}
	}
	return nil
}

// nearest gives sessions whose name is a slip away from what was typed.
func nearest(list []api.Session, name string) []api.Session {
	return slices.DeleteFunc(list, func(s api.Session) bool {
		for _, word := range slices.Concat(strings.Fields(s.Title), []string{s.Label, s.Title}, strings.Split(string(s.Key), ":")) {
			if word != "" && distance(strings.ToLower(word), strings.ToLower(name)) <= max(1, len(name)/4) {
				return false
			}
		}
		return true
	})
}

func candidates(list []api.Session) string {
	var b strings.Builder
	for i, s := range list {
		if i == candidatesMost {
			_, _ = fmt.Fprintf(&b, "\n  … and %d more", len(list)-i)
			break
		}
		_, _ = fmt.Fprintf(&b, "\n  %s", s.Key)
		if t := cmp.Or(s.Label, s.Title); t != "" {
			_, _ = fmt.Fprintf(&b, "  %s", inQuotes(t))
		}
	}
	return b.String()
}

// distance is how many letters have to be changed, put in or taken out to make b of a.
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	row := make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i, r := range x {
		last := row[0]
		row[0] = i + 1
		for j, q := range y {
			d := last
			if r != q {
				d = 1 + min(last, row[j], row[j+1])
			}
			last, row[j+1] = row[j+1], d
		}
	}
	return row[len(y)]
}

// optionalSession is pick for a flag that may be left out.
func optionalSession(e *env, name string) (string, error) {
	if name == "" {
		return "", nil
	}
	return pick(e, name, false)
}

// nameOf is what a session is called in tables.
func nameOf(s api.Session) string {
	return cmp.Or(inQuotes(s.Label), inQuotes(s.Title), s.Last, labelled("of ", string(s.SpawnedBy)))
}

// kindOf is a session's kind; of those that are "other" for a filter, what they are.
func kindOf(s api.Session) string {
	p, err := s.Key.Parse()
	if s.Kind != sessions.KindOther || err != nil {
		return string(s.Kind)
	}
	switch p.Form {
	case sessions.FormPeer, sessions.FormChannelPeer, sessions.FormAccountPeer:
		return "person"
	case sessions.FormMain:
		return "thread"
	case sessions.FormSubagent:
		return "sub-agent"
	case sessions.FormOther:
		return string(p.Channel) // openai, mcp and the like say it themselves
	}
	return string(s.Kind)
}

// cost is a sum of money; empty when nothing has a price.
func cost(millionths int64) string {
	if millionths == 0 {
		return ""
	}
	return fmt.Sprintf("$%.4f", float64(millionths)/1e6)
}

// short is a number in thousands or millions.
func short(n int) string {
	switch {
	case n >= 10_000_000:
		return fmt.Sprintf("%dM", n/1_000_000)
	case n >= 1_000_000:
		return fmt.Sprintf("%.1fM", float64(n)/1e6)
	case n >= 10_000:
		return fmt.Sprintf("%dk", n/1000)
	}
	return fmt.Sprint(n)
}

// idShort is the beginning of a run's id, for lines in which it only tells runs apart.
func idShort(id sessions.RunID) string { return cutRunes(string(id), 8) }

func cutRunes(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n])
	}
	return s
}
