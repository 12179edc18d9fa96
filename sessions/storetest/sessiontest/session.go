package sessiontest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"parley/policy"
	"parley/sessions"
	"parley/sessions/storetest/fixture"
)

// A reset of one certain transcript happens once, also for repeated requests.
func resetOf(f *fixture.Store) {
	k := fixture.Key("1")
	old := f.MakeSession(k)
	one := f.MustSubmit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: k}, Ops: []sessions.SessionOp{sessions.ResetSession{IfID: old.ID}}}, Run: &sessions.Enqueue{Run: *fixture.NewRun(k, "a")}})
	two := f.MustSubmit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: k}, Ops: []sessions.SessionOp{sessions.ResetSession{IfID: old.ID}}}, Run: &sessions.Enqueue{Run: *fixture.NewRun(k, "b")}})
	if one.Session.ID == old.ID || two.Session.ID != one.Session.ID || two.Run.Session != one.Run.Session {
		f.Errorf("%s, then %s, then %s", old.ID, one.Session.ID, two.Session.ID)
	}
}

func list(f *fixture.Store) {
	base := time.Now().Add(time.Hour)
	for i := range 6 {
		agent := []sessions.AgentID{"main", "ops"}[i%2]
		s := &sessions.Session{Key: sessions.Key(fmt.Sprintf("agent:%s:telegram:direct:%d", agent, i)), Agent: agent, Title: fmt.Sprintf("Räume %d%%", i), Updated: base.Add(time.Duration(i) * time.Second)}
		if i > 3 {
			s.SpawnedBy = fixture.Key("parent")
		}
		if i == 2 {
			s.Label = "Lab_el"
		}
		f.MustSubmit(sessions.Change{Session: &sessions.Target{Session: *s}})
	}
	k := func(i int) sessions.Key {
		return sessions.Key(fmt.Sprintf("agent:%s:telegram:direct:%d", []string{"main", "ops"}[i%2], i))
	}
	f.OK(f.Archive(f.Context(), k(0)))
	for name, c := range map[string]struct {
		q    sessions.Query
		want []int
	}{
		"all":             {sessions.Query{}, []int{5, 4, 3, 2, 1}},
		"limit":           {sessions.Query{Limit: 2}, []int{5, 4}},
		"offset":          {sessions.Query{Limit: 2, Offset: 2}, []int{3, 2}},
		"agent":           {sessions.Query{Agent: "ops"}, []int{5, 3, 1}},
		"parent":          {sessions.Query{SpawnedBy: fixture.Key("parent")}, []int{5, 4}},
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
		got, err := f.List(f.Context(), c.q)
		f.OK(err)
		var want []sessions.Key
		for _, i := range c.want {
			want = append(want, k(i))
		}
		if !slices.Equal(sessionKeys(got), want) {
			f.Errorf("%s: %v, want %v", name, sessionKeys(got), want)
		}
	}
	f.Equal(f.MustGet(k(0)).Archived, true)
	// A message moves a session to the front.
	f.MustSubmit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: k(1), Updated: base.Add(time.Minute)}}})
	got, err := f.List(f.Context(), sessions.Query{Limit: 1})
	f.OK(err)
	f.Equal(sessionKeys(got), []sessions.Key{k(1)})
}

// proves: P3
func patch(f *fixture.Store) {
	k := fixture.Key("1")
	_, err := f.Patch(f.Context(), k, sessions.Patch{})
	f.ErrorIs(err, sessions.ErrNotFound)
	made := f.MakeSession(k)
	deny, model, think := policy.Deny, "p/m", "high"
	s, err := f.Patch(f.Context(), k, sessions.Patch{SendPolicy: &deny, Model: &model, Thinking: &think})
	f.OK(err)
	f.Equal(s.Settings, sessions.Settings{SendPolicy: policy.Deny, Model: model, Thinking: think})
	f.Equal(s.Updated, made.Updated)
	empty, verbose, activation := "", "on", "always"
	s, err = f.Patch(f.Context(), k, sessions.Patch{Model: &empty, Verbose: &verbose, Activation: &activation})
	f.OK(err)
	wait, footer := 0, "full"
	queue, none := sessions.Queue{Mode: sessions.Steer, DebounceMs: &wait, Cap: 3, Drop: sessions.DropOld}, sessions.Queue{}
	s, err = f.Patch(f.Context(), k, sessions.Patch{Queue: &queue, Footer: &footer})
	f.OK(err)
	f.Equal(s.Settings.Queue, queue)
	s, err = f.Patch(f.Context(), k, sessions.Patch{Queue: &none})
	f.OK(err)
	want := sessions.Settings{SendPolicy: policy.Deny, Thinking: think, Verbose: verbose, Activation: activation, Footer: footer}
	f.Equal(s.Settings, want)
	// Settings survive a reset and later messages.
	if s, err = f.Reset(f.Context(), k); err != nil || s.Settings != want {
		f.Error(s, err)
	}
	f.MustAccept(fixture.NewArrival("1", "1", "x"))
	f.Equal(f.MustGet(k).Settings, want)
}

func reset(f *fixture.Store) {
	k := fixture.Key("1")
	a := f.MustAccept(fixture.NewArrival("1", "1", "old words"))
	f.MustFinish(f.MustClaim(k).ID, sessions.Outcome{Usage: sessions.Usage{Input: 5}, Context: 7})
	old := f.MustGet(k)
	s, err := f.Reset(f.Context(), k)
	f.OK(err)
	want := old
	want.ID, want.Usage, want.Turns, want.Context, want.Updated, want.LastInput = s.ID, sessions.Usage{}, 0, 0, s.Updated, s.LastInput
	f.Equal(s, want)
	if s.LastInput.Before(old.LastInput) {
		f.Errorf("%s, heard %s before", s.LastInput, old.LastInput)
	}
	if s.ID == old.ID || s.ID == "" {
		f.Fatal("the id stayed")
	}
	f.Equal(f.MustGet(k), s)
	if got, err := f.GetByID(f.Context(), s.ID); err != nil || got.Key != k {
		f.Error(got, err)
	}
	_, err = f.GetByID(f.Context(), old.ID)
	f.ErrorIs(err, sessions.ErrNotFound)
	f.Equal(len(f.MustTail(s.ID, sessions.TailQuery{})), 0)
	f.Equal(fixture.Texts(f.MustTail(a.Session.ID, sessions.TailQuery{})), []string{"old words"})
	if all, err := f.Transcripts(f.Context(), k, 0); err != nil || len(all) != 1 || all[0].ID == s.ID || all[0].Began.IsZero() {
		f.Errorf("transcripts %+v, %v; the new one is empty", all, err)
	}
	_, err = f.Reset(f.Context(), fixture.Key("nobody"))
	f.ErrorIs(err, sessions.ErrNotFound)
}

// heard tells what people write from all else that moves a session.
func heard(f *fixture.Store) {
	k := fixture.Key("1")
	at := &sessions.Session{Key: k}
	f.MustSubmit(sessions.Change{Session: &sessions.Target{Session: *at}})
	f.Equal(f.MustGet(k).LastInput.IsZero(), true)
	before := time.Now().Truncate(time.Millisecond)
	f.MustAccept(fixture.NewArrival("1", "1", "hello"))
	was := f.MustGet(k).LastInput
	f.Equal(was.Before(before) || was.After(time.Now()), false)

	for !time.Now().Truncate(time.Millisecond).After(was) { // until the clock has moved
	}
	f.MustFinish(f.MustClaim(k).ID, sessions.Outcome{Usage: sessions.Usage{Input: 5}})
	command := fixture.NewArrival("1", "2", "/status")
	command.Change.Run = nil
	f.MustAccept(command)
	job := fixture.NewArrival("1", "3", "look")
	job.Change.Run.Kind = sessions.JobRun
	f.MustSubmit(*job.Change)
	f.MustFinish(f.MustClaim(k).ID, sessions.Outcome{})
	f.Equal(f.MustGet(k).LastInput, was)
	f.Equal(f.MustGet(k).Updated.After(was), true)
	f.MustAccept(fixture.NewArrival("1", "4", "hello again"))
	f.Equal(f.MustGet(k).LastInput.After(was), true)
}

func archive(f *fixture.Store) {
	k := fixture.Key("1")
	a := f.MustAccept(fixture.NewArrival("1", "1", "x"))
	f.OK(f.Archive(f.Context(), k))
	f.OK(f.Archive(f.Context(), k))
	_, err := f.GetByID(f.Context(), a.Session.ID)
	f.ErrorIs(err, sessions.ErrNotFound)
	f.MustClaim(k)
	f.Equal(fixture.Texts(f.MustTail(a.Session.ID, sessions.TailQuery{})), []string{"x"}) // still readable
	s := f.MustAccept(fixture.NewArrival("1", "2", "y")).Session
	if s.Archived || s.ID != a.Session.ID {
		f.Errorf("a new message did not bring it back: %+v", s)
	}
	f.ErrorIs(f.Archive(f.Context(), fixture.Key("nobody")), sessions.ErrNotFound)
}

func remove(f *fixture.Store) {
	k := fixture.Key("1")
	a := f.MustAccept(fixture.NewArrival("1", "1", "secret words"))
	f.MustClaim(k)
	d := fixture.NewDelivery(k, fixture.Address("1"), "kept")
	f.MustFinish(a.Run.ID, sessions.Outcome{Deliveries: []sessions.Delivery{d}})
	old := f.MustGet(k).ID
	if _, err := f.Reset(f.Context(), k); err != nil {
		f.Fatal(err)
	}
	queued := f.MustAccept(fixture.NewArrival("1", "2", "more secret words"))
	f.MustClaim(k)
	other := f.MustAccept(fixture.NewArrival("2", "1", "secret of another"))
	f.MustClaim(fixture.Key("2"))
	f.OK(f.Delete(f.Context(), k))
	f.OK(f.Delete(f.Context(), k)) // repeated
	_, err := f.Get(f.Context(), k)
	f.ErrorIs(err, sessions.ErrNotFound)
	for _, s := range []sessions.ID{old, queued.Session.ID} {
		_, err = f.Tail(f.Context(), s, sessions.TailQuery{})
		f.ErrorIs(err, sessions.ErrNotFound)
	}
	for _, r := range []sessions.RunID{a.Run.ID, queued.Run.ID} {
		_, err = f.GetRun(f.Context(), r)
		f.ErrorIs(err, sessions.ErrNotFound)
	}
	hits, err := f.Search(f.Context(), sessions.SearchQuery{Text: "secret"})
	f.OK(err)
	if len(hits) != 1 || hits[0].Message != other.Run.Input.ID {
		f.Errorf("%+v", hits)
	}
	f.Equal(f.MustGetDelivery(d.ID).Text, "kept")
	// The key is free for a new session.
	if s := f.MustAccept(fixture.NewArrival("1", "3", "fresh")).Session; s.ID == queued.Session.ID {
		f.Error("the id came back")
	}
	f.MustClaim(k)
	f.Equal(len(f.MustTail(f.MustGet(k).ID, sessions.TailQuery{})), 1)
}

// proves: N14
func expire(f *fixture.Store) {
	now := time.Now()
	for i, at := range []time.Time{now.Add(-time.Minute), now.Add(time.Hour), {}} {
		f.MustSubmit(sessions.Change{IdempotencyKey: fmt.Sprint("s", i), Session: &sessions.Target{Session: sessions.Session{Key: fixture.Key(fmt.Sprint(i)), ArchiveAt: at}}})
	}
	ks, err := f.Expire(f.Context(), now, 30*24*time.Hour)
	f.OK(err)
	f.Equal(ks, []sessions.Key{fixture.Key("0")})
	f.Equal(f.MustGet(fixture.Key("0")).Archived, true)
	f.Equal(f.MustGet(fixture.Key("1")).Archived, false)
	if ks, err = f.Expire(f.Context(), now, 30*24*time.Hour); err != nil || len(ks) != 0 {
		f.Error(ks, err)
	}
	for i := range 700 {
		f.MustAccept(sessions.Arrival{In: fixture.NewArrival("9", fmt.Sprint(i), "x").In, Skip: &sessions.Skip{Reason: "x"}})
	}
	first := f.MustAccept(fixture.NewArrival("9", "run", "x"))
	// Young rows stay, old ones go, however many.
	if _, err = f.Expire(f.Context(), time.Now(), time.Hour); err != nil {
		f.Fatal(err)
	}
	if !f.MustAccept(fixture.NewArrival("9", "run", "x")).Duplicate {
		f.Error("forgotten too early")
	}
	if _, err = f.Expire(f.Context(), time.Now().Add(2*time.Hour), time.Hour); err != nil {
		f.Fatal(err)
	}
	for _, id := range []string{"0", "699", "run"} {
		if f.MustAccept(fixture.NewArrival("9", id, "x")).Duplicate {
			f.Errorf("%s is remembered for ever", id)
		}
	}
	f.Equal(f.MustGetRun(first.Run.ID).Status, sessions.Queued)
}

func notFound(f *fixture.Store) {
	_, err := f.Get(f.Context(), "agent:main:main")
	f.ErrorIs(err, sessions.ErrNotFound)
	_, err = f.GetByID(f.Context(), "x")
	f.ErrorIs(err, sessions.ErrNotFound)
	_, err = f.GetRun(f.Context(), "x")
	f.ErrorIs(err, sessions.ErrNotFound)
	_, err = f.GetDelivery(f.Context(), "x")
	f.ErrorIs(err, sessions.ErrNotFound)
	_, err = f.Steps(f.Context(), "x")
	f.ErrorIs(err, sessions.ErrNotFound)
	if !strings.Contains(err.Error(), "x") {
		f.Errorf("%v does not say what was looked for", err)
	}
}

func sessionKeys(list []sessions.Session) (out []sessions.Key) {
	for _, s := range list {
		out = append(out, s.Key)
	}
	return out
}
