package transcripttest

import (
	"fmt"

	"parley/sessions"
	"parley/sessions/storetest/fixture"
)

func notes(f *fixture.Store) {
	for i, text := range []string{"The cat is called Mimi", "Mimi likes FISH", "dogs"} {
		f.MustSubmit(sessions.Change{Ops: []sessions.Op{sessions.AddNote{Agent: "main", Key: fixture.Key(fmt.Sprint(i)), Text: text}}})
	}
	f.MustSubmit(sessions.Change{Ops: []sessions.Op{sessions.AddNote{Agent: "ops", Key: fixture.Key("9"), Text: "Mimi"}}})
	for _, c := range []struct {
		query string
		limit int
		want  []string
	}{{"mimi", 0, []string{"Mimi likes FISH", "The cat is called Mimi"}}, {"fish mimi", 0, []string{"Mimi likes FISH"}}, {"", 2, []string{"dogs", "Mimi likes FISH"}}, {"%", 0, nil},
		{"fi Mim", 0, []string{"Mimi likes FISH"}}, {"imi", 0, nil}, {"mimi: likes; \"fish\"*", 0, []string{"Mimi likes FISH"}}, {"mimi", 1, []string{"Mimi likes FISH"}}, {"ops", 0, nil},
		{"dogs OR mimi", 0, nil}, {"dog", 0, []string{"dogs"}}} {
		list, err := f.Notes(f.Context(), sessions.NoteQuery{Agent: "main", Text: c.query, Limit: c.limit})
		f.OK(err)
		var got []string
		for _, n := range list {
			got = append(got, n.Text)
			if n.ID == 0 || n.Key == "" || n.Time.IsZero() {
				f.Errorf("%+v", n)
			}
		}
		f.Equal(got, c.want)
	}
}

// Notes and sessions that are not asked for take nobody's place in a limit. source: CWE-203
//
// proves: V4
func notesOf(f *fixture.Store) {
	own, child := fixture.Key("1"), sessions.SubagentKey("main", "c")
	f.MustSubmit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: child, Agent: "main", SpawnedBy: own}}})
	f.MustSubmit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: "agent:ops:subagent:d", Agent: "ops", SpawnedBy: own}}})
	for _, k := range []sessions.Key{own, child, fixture.Key("2"), fixture.Key("2"), fixture.Key("3"), "agent:main:subagent:deleted"} {
		f.MustSubmit(sessions.Change{Ops: []sessions.Op{sessions.AddNote{Agent: "main", Key: k, Text: "tango " + string(k)}}})
	}
	for _, c := range []struct {
		q    sessions.NoteQuery
		want []sessions.Key
	}{
		{sessions.NoteQuery{Of: own}, []sessions.Key{own}}, {sessions.NoteQuery{Of: own, Text: "tan", Limit: 1}, []sessions.Key{own}},
		{sessions.NoteQuery{Of: own, Children: true}, []sessions.Key{child, own}}, {sessions.NoteQuery{Of: own, Children: true, Text: "tan", Limit: 2}, []sessions.Key{child, own}},
		{sessions.NoteQuery{Of: own, Children: true, Text: "tax"}, nil}, {sessions.NoteQuery{Of: child, Children: true}, []sessions.Key{child}},
		{sessions.NoteQuery{Limit: 2}, []sessions.Key{"agent:main:subagent:deleted", fixture.Key("3")}}, {sessions.NoteQuery{Of: fixture.Key("4"), Children: true}, nil},
	} {
		c.q.Agent = "main"
		list, err := f.Notes(f.Context(), c.q)
		f.OK(err)
		var got []sessions.Key
		for _, n := range list {
			got = append(got, n.Key)
		}
		f.Equal(got, c.want)
	}
	for _, c := range []struct {
		agents []sessions.AgentID
		want   int
	}{{nil, 2}, {[]sessions.AgentID{"main"}, 1}, {[]sessions.AgentID{"main", "ops"}, 2}, {[]sessions.AgentID{}, 0}} {
		list, err := f.List(f.Context(), sessions.Query{SpawnedBy: own, Agents: c.agents})
		f.OK(err)
		f.Equal(len(list), c.want)
	}
}
