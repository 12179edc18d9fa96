package transcripttest

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"parley/sessions"
	"parley/sessions/storetest/fixture"
)

func search(f *fixture.Store) {
	q1, a1 := exchange(f, "1", "1", "Where is the blue bicycle?", "The bicycle is in the cellar.")
	q2, a2 := exchange(f, "2", "1", "A bicycle, please", strings.Repeat("long ", 300)+"bicycle "+strings.Repeat("tail ", 300))
	ops := sessions.Key("agent:ops:main")
	f.MustSubmit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: ops, Agent: "ops"}}, Run: &sessions.Enqueue{Run: sessions.Run{ID: "ops-run", Kind: sessions.TurnRun, Key: ops, Input: sessions.Message{ID: "ops-in", Role: sessions.User, Content: sessions.TextContent("bicycle of ops")}}}})
	f.MustClaim(ops)
	hidden := fixture.Assistant("")
	hidden.Content = []sessions.Block{{Type: sessions.ThinkingBlock, Text: "unicorn"}, {Type: sessions.ToolCallBlock, ID: "c", Name: "unicorn"}}
	f.OK(f.Record(f.Context(), "ops-run", hidden, fixture.ToolResult("c", "unicorn")))
	for name, c := range map[string]struct {
		q    sessions.SearchQuery
		want []string
	}{
		"newest first":  {sessions.SearchQuery{Text: "bicycle"}, []string{"ops-in", a2.ID, q2.ID, a1.ID, q1.ID}},
		"limit":         {sessions.SearchQuery{Text: "bicycle", Limit: 2}, []string{"ops-in", a2.ID}},
		"all words":     {sessions.SearchQuery{Text: "BLUE bicycle!"}, []string{q1.ID}},
		"agent":         {sessions.SearchQuery{Text: "bicycle", Agents: []sessions.AgentID{"ops"}}, []string{"ops-in"}},
		"agent or key":  {sessions.SearchQuery{Text: "bicycle", Agents: []sessions.AgentID{"ops"}, Also: []sessions.Key{fixture.Key("1")}}, []string{"ops-in", a1.ID, q1.ID}},
		"key":           {sessions.SearchQuery{Text: "bicycle", Keys: []sessions.Key{fixture.Key("1")}}, []string{a1.ID, q1.ID}},
		"two keys":      {sessions.SearchQuery{Text: "bicycle", Keys: []sessions.Key{ops, fixture.Key("2"), fixture.Key("7")}}, []string{"ops-in", a2.ID, q2.ID}},
		"two agents":    {sessions.SearchQuery{Text: "bicycle", Agents: []sessions.AgentID{"ops", "main"}, Limit: 2}, []string{"ops-in", a2.ID}},
		"key and agent": {sessions.SearchQuery{Text: "bicycle", Agents: []sessions.AgentID{"ops"}, Keys: []sessions.Key{fixture.Key("1"), fixture.Key("2")}}, nil},
		"offset":        {sessions.SearchQuery{Text: "bicycle", Limit: 2, Offset: 2}, []string{q2.ID, a1.ID}},
		"past the end":  {sessions.SearchQuery{Text: "bicycle", Offset: 9}, nil},
		"no keys":       {sessions.SearchQuery{Text: "bicycle", Keys: []sessions.Key{}}, nil},
		"no agents":     {sessions.SearchQuery{Text: "bicycle", Agents: []sessions.AgentID{}}, nil},
		"nobody's key":  {sessions.SearchQuery{Text: "bicycle", Keys: []sessions.Key{fixture.Key("7")}}, nil},
		"no thoughts":   {sessions.SearchQuery{Text: "unicorn"}, nil},
		"part of word":  {sessions.SearchQuery{Text: "bicyc"}, nil},
		"nothing":       {sessions.SearchQuery{Text: " ?! "}, nil},
		"unknown words": {sessions.SearchQuery{Text: "bicycle zebra"}, nil},
	} {
		hits, err := f.Search(f.Context(), c.q)
		f.OK(err)
		var got []string
		for _, h := range hits {
			got = append(got, h.Message)
			if n := utf8.RuneCountInString(h.Snippet); n > 300 || !strings.Contains(strings.ToLower(h.Snippet), "bicycle") {
				f.Errorf("%s: snippet of %d characters: %s", name, n, h.Snippet)
			}
		}
		if !slices.Equal(got, c.want) {
			f.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	hits, err := f.Search(f.Context(), sessions.SearchQuery{Text: "cellar"})
	f.OK(err)
	if h := hits[0]; h.Key != fixture.Key("1") || h.Session != f.MustGet(fixture.Key("1")).ID || h.Role != sessions.Assistant || !h.Time.Equal(a1.Time) {
		f.Errorf("%+v", h)
	}
	// The transcript from before a reset is found too.
	if _, err := f.Reset(f.Context(), fixture.Key("1")); err != nil {
		f.Fatal(err)
	}
	if hits, err = f.Search(f.Context(), sessions.SearchQuery{Text: "cellar", Keys: []sessions.Key{fixture.Key("1")}}); err != nil || len(hits) != 1 {
		f.Error(hits, err)
	}
}

func searchWords(f *fixture.Store) {
	exchange(f, "1", "1", "foo-bar_baz user@example.com C++ 3.14 Straße ÄPFEL naïve 東京タワー привет", "NEAR AND OR NOT col:x \"quoted\" it's "+strings.Repeat("x", 500))
	for _, c := range []struct {
		text string
		want int
	}{
		{"foo-bar", 1}, {"baz", 1}, {"user@example.com", 1}, {"c++", 1}, {"3.14", 1}, {"straße", 1}, {"äpfel", 1}, {"NAÏVE", 1}, {"東京", 1}, {"タワー", 1}, {"ПРИВЕТ", 1},
		{"大阪", 0}, {"NEAR", 1}, {"AND OR NOT", 1}, {"col:x", 1}, {`"quoted"`, 1}, {"it's", 1}, {`x" OR "y`, 0}, {"foo*", 1}, {"fo*", 0}, {"-foo", 1}, {"^foo", 1}, {"(foo", 1}, {"foo & !bar", 1}, {"foo | zzz", 0}, {"'; DROP TABLE messages", 0}, {"\x00foo", 1},
		{strings.Repeat("x", 500), 1}, {strings.Repeat("foo ", 1000), 1},
	} {
		hits, err := f.Search(f.Context(), sessions.SearchQuery{Text: c.text})
		if err != nil {
			f.Errorf("%.30q: %v", c.text, err)
		} else if len(hits) != c.want {
			f.Errorf("%.30q: %d hits, want %d", c.text, len(hits), c.want)
		}
	}
}

// A search in some sessions finds nothing of others, whatever their keys look like and however many they are.
//
// proves: V4
func searchKeys(f *fixture.Store) {
	odd := []sessions.Key{`agent:a:x" OR "train`, `agent:a:x') | 'train`, "agent:a:NEAR(train)", "agent:a:*", "agent:a:train", "agent:a:\uE000train", "agent:a:", "agent:a:ü/%_!?"}
	ids := make(map[sessions.Key]string)
	for _, k := range odd {
		run := fixture.NewRun(k, "the train")
		f.MustSubmit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: k, Agent: "a"}}, Run: &sessions.Enqueue{Run: *run}})
		ids[k] = f.MustClaim(k).Input.ID
	}
	found := func(keys ...sessions.Key) []string {
		hits, err := f.Search(f.Context(), sessions.SearchQuery{Text: "train", Keys: keys})
		f.OK(err)
		return messageIDs(hits)
	}
	for i, k := range odd {
		f.Equal(found(k), []string{ids[k]})
		f.Equal(len(found(k+"x", "train", k[:len(k)-1]+"é")), 0)
		if i > 0 {
			f.Equal(found(odd[0], k), []string{ids[k], ids[odd[0]]})
		}
	}
	// Among many others, some of them named twice: in order, and page by page.
	var many []sessions.Key
	var want []string
	for i := range 3000 {
		if many = append(many, fixture.Key(fmt.Sprint(i))); i%300 == 0 {
			many = append(many, odd[i/300%len(odd)])
		}
	}
	for _, k := range slices.Backward(odd) {
		want = append(want, ids[k])
	}
	f.Equal(found(many...), want)
	for _, c := range []struct {
		q    sessions.SearchQuery
		want []string
	}{{sessions.SearchQuery{Offset: 2, Limit: 3}, want[2:5]}, {sessions.SearchQuery{Offset: 7}, want[7:]}, {sessions.SearchQuery{Offset: 8}, nil}, {sessions.SearchQuery{Agents: []sessions.AgentID{"b"}}, nil}} {
		c.q.Text, c.q.Keys = "train", many
		hits, err := f.Search(f.Context(), c.q)
		f.OK(err)
		f.Equal(messageIDs(hits), c.want)
	}
}

// What lies far back is found, whether or not something newer is.
func searchOld(f *fixture.Store) {
	r := f.MustAccept(fixture.NewArrival("1", "1", "the oldest needle")).Run
	f.MustClaim(fixture.Key("1"))
	var hay []sessions.Message
	for range 2100 {
		hay = append(hay, fixture.Assistant("hay"))
	}
	f.OK(f.Record(f.Context(), r.ID, hay...))
	newest := fixture.Assistant("the newest needle")
	f.OK(f.Record(f.Context(), r.ID, newest))
	for _, c := range []struct {
		q    sessions.SearchQuery
		want []string
	}{
		{sessions.SearchQuery{Text: "needle"}, []string{newest.ID, r.Input.ID}},
		{sessions.SearchQuery{Text: "needle", Limit: 1}, []string{newest.ID}},
		{sessions.SearchQuery{Text: "needle", Limit: 1, Offset: 1}, []string{r.Input.ID}},
		{sessions.SearchQuery{Text: "needle oldest", Agents: []sessions.AgentID{"main"}}, []string{r.Input.ID}},
		{sessions.SearchQuery{Text: "hay", Limit: 1, Offset: 2099}, []string{hay[0].ID}},
	} {
		hits, err := f.Search(f.Context(), c.q)
		f.OK(err)
		f.Equal(messageIDs(hits), c.want)
	}
}

func messageIDs(hits []sessions.Hit) (ids []string) {
	for _, h := range hits {
		ids = append(ids, h.Message)
	}
	return ids
}

// exchange puts a user message and an answer into a transcript.
func exchange(f *fixture.Store, chat, platformID, question, answer string) (q, a sessions.Message) {
	f.Helper()
	f.MustAccept(fixture.NewArrival(chat, platformID, question))
	r := f.MustClaim(fixture.Key(chat))
	m := fixture.Assistant(answer)
	f.MustFinish(r.ID, sessions.Outcome{Messages: []sessions.Message{m}})
	return r.Input, m
}
