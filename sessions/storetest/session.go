package storetest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/channels"
	"parley/policy"
	"parley/sessions"
)

func list(_ *testing.T, f *fixture) {
	base := time.Now().Add(time.Hour)
	for i := range 6 {
		agent := []sessions.AgentID{"main", "ops"}[i%2]
		s := &sessions.Session{Key: sessions.Key(fmt.Sprintf("agent:%s:telegram:direct:%d", agent, i)), Agent: agent, Title: fmt.Sprintf("Räume %d%%", i), Updated: base.Add(time.Duration(i) * time.Second)}
		if i > 3 {
			s.SpawnedBy = key("parent")
		}
		if i == 2 {
			s.Label = "Lab_el"
		}
		f.submit(sessions.Change{Session: &sessions.Target{Session: *s}})
	}
	k := func(i int) sessions.Key {
		return sessions.Key(fmt.Sprintf("agent:%s:telegram:direct:%d", []string{"main", "ops"}[i%2], i))
	}
	f.ok(f.Archive(f.ctx, k(0)))
	for name, c := range map[string]struct {
		q    sessions.Query
		want []int
	}{
		"all":             {sessions.Query{}, []int{5, 4, 3, 2, 1}},
		"limit":           {sessions.Query{Limit: 2}, []int{5, 4}},
		"offset":          {sessions.Query{Limit: 2, Offset: 2}, []int{3, 2}},
		"agent":           {sessions.Query{Agent: "ops"}, []int{5, 3, 1}},
		"parent":          {sessions.Query{SpawnedBy: key("parent")}, []int{5, 4}},
		"keys":            {sessions.Query{Keys: []sessions.Key{k(1), k(3), k(0), "x"}}, []int{3, 1}},
		"no keys":         {sessions.Query{Keys: []sessions.Key{}}, nil},
		"archived":        {sessions.Query{Archived: true}, []int{0}},
		"label":           {sessions.Query{Label: "Lab_el"}, []int{2}},
		"since":           {sessions.Query{Since: base.Add(3 * time.Second)}, []int{5, 4, 3}},
		"title":           {sessions.Query{Search: "RÄUME 3"}, []int{3}},
		"percent":         {sessions.Query{Search: "4%"}, []int{4}},
		"underscore":      {sessions.Query{Search: "lab_"}, []int{2}},
		"no wildcard":     {sessions.Query{Search: "r_ume"}, nil},
		"key":             {sessions.Query{Search: ":ops:"}, []int{5, 3, 1}},
		"agent and since": {sessions.Query{Agent: "ops", Since: base.Add(4 * time.Second)}, []int{5}},
	} {
		got, err := f.List(f.ctx, c.q)
		f.ok(err)
		var want []sessions.Key
		for _, i := range c.want {
			want = append(want, k(i))
		}
		if !slices.Equal(keys(got), want) {
			f.t.Errorf("%s: %v, want %v", name, keys(got), want)
		}
	}
	f.equal(f.get(k(0)).Archived, true)
	// A message moves a session to the front.
	f.submit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: k(1), Updated: base.Add(time.Minute)}}})
	got, err := f.List(f.ctx, sessions.Query{Limit: 1})
	f.ok(err)
	f.equal(keys(got), []sessions.Key{k(1)})
}

// proves: P3
func patch(_ *testing.T, f *fixture) {
	k := key("1")
	_, err := f.Patch(f.ctx, k, sessions.Patch{})
	f.is(err, sessions.ErrNotFound)
	made := f.session(k)
	deny, model, think := policy.Deny, "p/m", "high"
	s, err := f.Patch(f.ctx, k, sessions.Patch{SendPolicy: &deny, Model: &model, Thinking: &think})
	f.ok(err)
	f.equal(s.Settings, sessions.Settings{SendPolicy: policy.Deny, Model: model, Thinking: think})
	f.equal(s.Updated, made.Updated)
	empty, verbose, activation := "", "on", "always"
	s, err = f.Patch(f.ctx, k, sessions.Patch{Model: &empty, Verbose: &verbose, Activation: &activation})
	f.ok(err)
	wait, footer := 0, "full"
	queue, none := sessions.Queue{Mode: sessions.Steer, DebounceMs: &wait, Cap: 3, Drop: sessions.DropOld}, sessions.Queue{}
	s, err = f.Patch(f.ctx, k, sessions.Patch{Queue: &queue, Footer: &footer})
	f.ok(err)
	f.equal(s.Settings.Queue, queue)
	s, err = f.Patch(f.ctx, k, sessions.Patch{Queue: &none})
	f.ok(err)
	want := sessions.Settings{SendPolicy: policy.Deny, Thinking: think, Verbose: verbose, Activation: activation, Footer: footer}
	f.equal(s.Settings, want)
	// Settings survive a reset and later messages.
	if s, err = f.Reset(f.ctx, k); err != nil || s.Settings != want {
		f.t.Error(s, err)
	}
	f.accept(message("1", "1", "x"))
	f.equal(f.get(k).Settings, want)
}

func reset(_ *testing.T, f *fixture) {
	k := key("1")
	a := f.accept(message("1", "1", "old words"))
	f.finish(f.claim(k).ID, sessions.Outcome{Usage: sessions.Usage{Input: 5}, Context: 7})
	old := f.get(k)
	s, err := f.Reset(f.ctx, k)
	f.ok(err)
	want := old
	want.ID, want.Usage, want.Turns, want.Context, want.Updated, want.LastInput = s.ID, sessions.Usage{}, 0, 0, s.Updated, s.LastInput
	f.equal(s, want)
	if s.LastInput.Before(old.LastInput) {
		f.t.Errorf("%s, heard %s before", s.LastInput, old.LastInput)
	}
	if s.ID == old.ID || s.ID == "" {
		f.t.Fatal("the id stayed")
	}
	f.equal(f.get(k), s)
	if got, err := f.GetByID(f.ctx, s.ID); err != nil || got.Key != k {
		f.t.Error(got, err)
	}
	_, err = f.GetByID(f.ctx, old.ID)
	f.is(err, sessions.ErrNotFound)
	f.equal(len(f.tail(s.ID, sessions.TailQuery{})), 0)
	f.equal(texts(f.tail(a.Session.ID, sessions.TailQuery{})), []string{"old words"})
	if all, err := f.Transcripts(f.ctx, k, 0); err != nil || len(all) != 1 || all[0].ID == s.ID || all[0].Began.IsZero() {
		f.t.Errorf("transcripts %+v, %v; the new one is empty", all, err)
	}
	_, err = f.Reset(f.ctx, key("nobody"))
	f.is(err, sessions.ErrNotFound)
}

// heard tells what people write from all else that moves a session.
func heard(_ *testing.T, f *fixture) {
	k := key("1")
	at := &sessions.Session{Key: k}
	f.submit(sessions.Change{Session: &sessions.Target{Session: *at}})
	f.equal(f.get(k).LastInput.IsZero(), true)
	before := time.Now().Truncate(time.Millisecond)
	f.accept(message("1", "1", "hello"))
	was := f.get(k).LastInput
	f.equal(was.Before(before) || was.After(time.Now()), false)

	for !time.Now().Truncate(time.Millisecond).After(was) { // until the clock has moved
	}
	f.finish(f.claim(k).ID, sessions.Outcome{Usage: sessions.Usage{Input: 5}})
	command := message("1", "2", "/status")
	command.Change.Run = nil
	f.accept(command)
	job := message("1", "3", "look")
	job.Change.Run.Kind = sessions.JobRun
	f.submit(*job.Change)
	f.finish(f.claim(k).ID, sessions.Outcome{})
	f.equal(f.get(k).LastInput, was)
	f.equal(f.get(k).Updated.After(was), true)
	f.accept(message("1", "4", "hello again"))
	f.equal(f.get(k).LastInput.After(was), true)
}

func archive(_ *testing.T, f *fixture) {
	k := key("1")
	a := f.accept(message("1", "1", "x"))
	f.ok(f.Archive(f.ctx, k))
	f.ok(f.Archive(f.ctx, k))
	_, err := f.GetByID(f.ctx, a.Session.ID)
	f.is(err, sessions.ErrNotFound)
	f.claim(k)
	f.equal(texts(f.tail(a.Session.ID, sessions.TailQuery{})), []string{"x"}) // still readable
	s := f.accept(message("1", "2", "y")).Session
	if s.Archived || s.ID != a.Session.ID {
		f.t.Errorf("a new message did not bring it back: %+v", s)
	}
	f.is(f.Archive(f.ctx, key("nobody")), sessions.ErrNotFound)
}

func remove(_ *testing.T, f *fixture) {
	k := key("1")
	a := f.accept(message("1", "1", "secret words"))
	f.claim(k)
	d := delivery(k, addr("1"), "kept")
	f.finish(a.Run.ID, sessions.Outcome{Deliveries: []sessions.Delivery{d}})
	old := f.get(k).ID
	if _, err := f.Reset(f.ctx, k); err != nil {
		f.t.Fatal(err)
	}
	queued := f.accept(message("1", "2", "more secret words"))
	f.claim(k)
	other := f.accept(message("2", "1", "secret of another"))
	f.claim(key("2"))
	f.ok(f.Delete(f.ctx, k))
	f.ok(f.Delete(f.ctx, k)) // repeated
	_, err := f.Get(f.ctx, k)
	f.is(err, sessions.ErrNotFound)
	for _, s := range []sessions.ID{old, queued.Session.ID} {
		_, err = f.Tail(f.ctx, s, sessions.TailQuery{})
		f.is(err, sessions.ErrNotFound)
	}
	for _, r := range []sessions.RunID{a.Run.ID, queued.Run.ID} {
		_, err = f.GetRun(f.ctx, r)
		f.is(err, sessions.ErrNotFound)
	}
	hits, err := f.Search(f.ctx, sessions.SearchQuery{Text: "secret"})
	f.ok(err)
	if len(hits) != 1 || hits[0].Message != other.Run.Input.ID {
		f.t.Errorf("%+v", hits)
	}
	f.equal(f.delivery(d.ID).Text, "kept")
	// The key is free for a new session.
	if s := f.accept(message("1", "3", "fresh")).Session; s.ID == queued.Session.ID {
		f.t.Error("the id came back")
	}
	f.claim(k)
	f.equal(len(f.tail(f.get(k).ID, sessions.TailQuery{})), 1)
}

// proves: N14
func expire(_ *testing.T, f *fixture) {
	now := time.Now()
	for i, at := range []time.Time{now.Add(-time.Minute), now.Add(time.Hour), {}} {
		f.submit(sessions.Change{IdempotencyKey: fmt.Sprint("s", i), Session: &sessions.Target{Session: sessions.Session{Key: key(fmt.Sprint(i)), ArchiveAt: at}}})
	}
	ks, err := f.Expire(f.ctx, now, 30*24*time.Hour)
	f.ok(err)
	f.equal(ks, []sessions.Key{key("0")})
	f.equal(f.get(key("0")).Archived, true)
	f.equal(f.get(key("1")).Archived, false)
	if ks, err = f.Expire(f.ctx, now, 30*24*time.Hour); err != nil || len(ks) != 0 {
		f.t.Error(ks, err)
	}
	for i := range 700 {
		f.accept(sessions.Arrival{In: message("9", fmt.Sprint(i), "x").In, Skip: &sessions.Skip{Reason: "x"}})
	}
	first := f.accept(message("9", "run", "x"))
	// Young rows stay, old ones go, however many.
	if _, err = f.Expire(f.ctx, time.Now(), time.Hour); err != nil {
		f.t.Fatal(err)
	}
	if !f.accept(message("9", "run", "x")).Duplicate {
		f.t.Error("forgotten too early")
	}
	if _, err = f.Expire(f.ctx, time.Now().Add(2*time.Hour), time.Hour); err != nil {
		f.t.Fatal(err)
	}
	for _, id := range []string{"0", "699", "run"} {
		if f.accept(message("9", id, "x")).Duplicate {
			f.t.Errorf("%s is remembered for ever", id)
		}
	}
	f.equal(f.run(first.Run.ID).Status, sessions.Queued)
}

func tail(_ *testing.T, f *fixture) {
	a := f.accept(message("1", "1", "q"))
	f.claim(key("1"))
	var want []string
	for i := range 10 {
		m := assistant(fmt.Sprint(i))
		if i%2 == 1 {
			m = toolResult("c", fmt.Sprint(i))
		}
		f.ok(f.Record(f.ctx, a.Run.ID, m))
		want = append(want, fmt.Sprint(i))
	}
	for _, c := range []struct {
		q    sessions.TailQuery
		want []string
	}{
		{sessions.TailQuery{IncludeTool: true}, append([]string{"q"}, want...)},
		{sessions.TailQuery{}, []string{"q", "0", "2", "4", "6", "8"}},
		{sessions.TailQuery{Limit: 2}, []string{"6", "8"}},
		{sessions.TailQuery{Limit: 2, Offset: 1}, []string{"4", "6"}},
		{sessions.TailQuery{Limit: 3, Offset: 1, IncludeTool: true}, []string{"6", "7", "8"}},
		{sessions.TailQuery{Offset: 100}, nil},
	} {
		f.equal(texts(f.tail(a.Session.ID, c.q)), c.want)
	}
	_, err := f.Tail(f.ctx, "nobody", sessions.TailQuery{})
	f.is(err, sessions.ErrNotFound)
}

// say puts a user message and an answer into a transcript.
func (f *fixture) say(chat, platformID, question, answer string) (q, a sessions.Message) {
	f.t.Helper()
	f.accept(message(chat, platformID, question))
	r := f.claim(key(chat))
	m := assistant(answer)
	f.finish(r.ID, sessions.Outcome{Messages: []sessions.Message{m}})
	return r.Input, m
}

func pairing(_ *testing.T, f *fixture) {
	now := time.Now()
	put := func(user, hash string, account channels.AccountID) (bool, sessions.DeliveryID) {
		d := delivery("", addr(user), "code")
		ok, err := f.PutPairing(f.ctx, sessions.Pairing{Channel: "telegram", Account: account, User: channels.UserID(user), Name: "N" + user, Address: addr(user), Hash: hash, Created: now, Expires: now.Add(time.Hour), Delivery: &d}, 2)
		f.ok(err)
		return ok, d.ID
	}
	ok, d := put("1", "h1", "default")
	f.equal(ok, true)
	f.equal(f.delivery(d).State, sessions.Pending)
	ok, d = put("1", "h1b", "default")
	f.equal(ok, false) // one code for a person
	_, err := f.GetDelivery(f.ctx, d)
	f.is(err, sessions.ErrNotFound)
	ok, _ = put("2", "h2", "default")
	f.equal(ok, true)
	ok, _ = put("3", "h3", "default")
	f.equal(ok, false) // two wait
	ok, _ = put("3", "h3", "second")
	f.equal(ok, true) // another account
	waiting, err := f.Pairings(f.ctx, now)
	f.ok(err)
	if len(waiting) != 3 || waiting[0].User != "1" || waiting[0].Hash != "h1" || waiting[0].Name != "N1" || waiting[0].Address != addr("1") || !waiting[0].Expires.Equal(fromMilli(now.Add(time.Hour))) {
		f.t.Fatalf("%+v", waiting)
	}
	if ok, err := f.Paired(f.ctx, "telegram", "default", "1"); err != nil || ok {
		f.t.Error(ok, err)
	}
	const unknown = "no pairing on telegram is waiting for this code (it may have expired or been used)" // people read it
	end := func(a sessions.DecidePairing) error {
		told := delivery("", addr("1"), "told")
		_, err := f.Submit(f.ctx, sessions.Change{Ops: []sessions.Op{a, sessions.EnqueueDelivery(told)}})
		_, none := f.GetDelivery(f.ctx, told.ID)
		f.equal(none == nil, err == nil) // nobody is told what did not happen
		return err
	}
	for _, a := range []sessions.DecidePairing{{Channel: "telegram", Hash: "wrong", Approve: true, Time: now}, {Channel: "telegram", Hash: "wrong", Time: now}} {
		err := end(a)
		f.is(err, sessions.ErrNotFound)
		f.equal(err.Error(), unknown)
	}
	f.is(end(sessions.DecidePairing{Channel: "discord", Hash: "h1", Approve: true, Time: now}), sessions.ErrNotFound)
	f.is(end(sessions.DecidePairing{Channel: "telegram", Hash: "h1", Approve: true, Time: now.Add(time.Hour)}), sessions.ErrNotFound) // past its time
	f.ok(end(sessions.DecidePairing{Channel: "telegram", Hash: "h1", Approve: true, Time: now}))
	for _, c := range []struct {
		account channels.AccountID
		user    channels.UserID
		want    bool
	}{{"default", "1", true}, {"second", "1", false}, {"default", "2", false}} {
		ok, err := f.Paired(f.ctx, "telegram", c.account, c.user)
		f.ok(err)
		f.equal(ok, c.want)
	}
	f.ok(end(sessions.DecidePairing{Channel: "telegram", Hash: "h2", Time: now}))
	f.is(end(sessions.DecidePairing{Channel: "telegram", Hash: "h2", Time: now}), sessions.ErrNotFound)
	if ok, err := f.Paired(f.ctx, "telegram", "default", "2"); err != nil || ok {
		f.t.Error(ok, err)
	}
	later := now.Add(2 * time.Hour)
	if waiting, err = f.Pairings(f.ctx, later); err != nil || len(waiting) != 1 || !waiting[0].Rejected {
		f.t.Error(waiting, err)
	}
	// What is past its time makes room, for the same person too.
	ok, err = f.PutPairing(f.ctx, sessions.Pairing{Channel: "telegram", Account: "second", User: "3", Hash: "h4", Created: later, Expires: later.Add(time.Hour)}, 1)
	f.ok(err)
	f.equal(ok, true)
}

func fromMilli(t time.Time) time.Time { return time.UnixMilli(t.UnixMilli()) }

func notes(_ *testing.T, f *fixture) {
	for i, text := range []string{"The cat is called Mimi", "Mimi likes FISH", "dogs"} {
		f.submit(sessions.Change{Ops: []sessions.Op{sessions.AddNote{Agent: "main", Key: key(fmt.Sprint(i)), Text: text}}})
	}
	f.submit(sessions.Change{Ops: []sessions.Op{sessions.AddNote{Agent: "ops", Key: key("9"), Text: "Mimi"}}})
	for _, c := range []struct {
		query string
		limit int
		want  []string
	}{{"mimi", 0, []string{"Mimi likes FISH", "The cat is called Mimi"}}, {"fish mimi", 0, []string{"Mimi likes FISH"}}, {"", 2, []string{"dogs", "Mimi likes FISH"}}, {"%", 0, nil},
		{"fi Mim", 0, []string{"Mimi likes FISH"}}, {"imi", 0, nil}, {"mimi: likes; \"fish\"*", 0, []string{"Mimi likes FISH"}}, {"mimi", 1, []string{"Mimi likes FISH"}}, {"ops", 0, nil},
		{"dogs OR mimi", 0, nil}, {"dog", 0, []string{"dogs"}}} {
		list, err := f.Notes(f.ctx, sessions.NoteQuery{Agent: "main", Text: c.query, Limit: c.limit})
		f.ok(err)
		var got []string
		for _, n := range list {
			got = append(got, n.Text)
			if n.ID == 0 || n.Key == "" || n.Time.IsZero() {
				f.t.Errorf("%+v", n)
			}
		}
		f.equal(got, c.want)
	}
}

// Notes and sessions that are not asked for take nobody's place in a limit. source: CWE-203
//
// proves: V4
func notesOf(_ *testing.T, f *fixture) {
	own, child := key("1"), sessions.SubagentKey("main", "c")
	f.submit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: child, Agent: "main", SpawnedBy: own}}})
	f.submit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: "agent:ops:subagent:d", Agent: "ops", SpawnedBy: own}}})
	for _, k := range []sessions.Key{own, child, key("2"), key("2"), key("3"), "agent:main:subagent:deleted"} {
		f.submit(sessions.Change{Ops: []sessions.Op{sessions.AddNote{Agent: "main", Key: k, Text: "tango " + string(k)}}})
	}
	for _, c := range []struct {
		q    sessions.NoteQuery
		want []sessions.Key
	}{
		{sessions.NoteQuery{Of: own}, []sessions.Key{own}}, {sessions.NoteQuery{Of: own, Text: "tan", Limit: 1}, []sessions.Key{own}},
		{sessions.NoteQuery{Of: own, Children: true}, []sessions.Key{child, own}}, {sessions.NoteQuery{Of: own, Children: true, Text: "tan", Limit: 2}, []sessions.Key{child, own}},
		{sessions.NoteQuery{Of: own, Children: true, Text: "tax"}, nil}, {sessions.NoteQuery{Of: child, Children: true}, []sessions.Key{child}},
		{sessions.NoteQuery{Limit: 2}, []sessions.Key{"agent:main:subagent:deleted", key("3")}}, {sessions.NoteQuery{Of: key("4"), Children: true}, nil},
	} {
		c.q.Agent = "main"
		list, err := f.Notes(f.ctx, c.q)
		f.ok(err)
		var got []sessions.Key
		for _, n := range list {
			got = append(got, n.Key)
		}
		f.equal(got, c.want)
	}
	for _, c := range []struct {
		agents []sessions.AgentID
		want   int
	}{{nil, 2}, {[]sessions.AgentID{"main"}, 1}, {[]sessions.AgentID{"main", "ops"}, 2}, {[]sessions.AgentID{}, 0}} {
		list, err := f.List(f.ctx, sessions.Query{SpawnedBy: own, Agents: c.agents})
		f.ok(err)
		f.equal(len(list), c.want)
	}
}

func notFound(_ *testing.T, f *fixture) {
	_, err := f.Get(f.ctx, "agent:main:main")
	f.is(err, sessions.ErrNotFound)
	_, err = f.GetByID(f.ctx, "x")
	f.is(err, sessions.ErrNotFound)
	_, err = f.GetRun(f.ctx, "x")
	f.is(err, sessions.ErrNotFound)
	_, err = f.GetDelivery(f.ctx, "x")
	f.is(err, sessions.ErrNotFound)
	_, err = f.Steps(f.ctx, "x")
	f.is(err, sessions.ErrNotFound)
	if !strings.Contains(err.Error(), "x") {
		f.t.Errorf("%v does not say what was looked for", err)
	}
}
