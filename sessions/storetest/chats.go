package storetest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"parley/channels"
	"parley/sessions"
)

func positions(_ *testing.T, f *fixture) {
	at := fromMilli(time.Now()).Add(-time.Hour)
	say := func(chat, id string, after time.Duration, skip bool) {
		a := message(chat, id, "x")
		a.In.Time = at.Add(after)
		if skip {
			a = sessions.Arrival{In: a.In, Skip: &sessions.Skip{Reason: "not mentioned"}}
		}
		f.accept(a)
	}
	want := func(list ...channels.Position) {
		f.t.Helper()
		got, err := f.Positions(f.ctx, "telegram", "default")
		f.ok(err)
		f.equal(got, list)
	}
	want()
	say("3", "1", 0, true) // nobody here has a session
	want()
	say("1", "10", 0, false)
	say("2", "20", 0, false)
	say("1", "11", time.Minute, true) // no run, but it is on disk
	say("1", "9", -time.Minute, false)
	f.accept(sessions.Arrival{In: channels.Inbound{Event: channels.Edited, Address: addr("1"), ID: "12", Time: at.Add(time.Hour)}, Skip: &sessions.Skip{Reason: "edited"}})
	other := message("4", "1", "x")
	other.In.Address.Account, other.Change.Session.Last.Account = "default2", "default2"
	f.accept(other)
	one, two := channels.Position{Address: addr("1"), ID: "11", Time: at.Add(time.Minute)}, channels.Position{Address: addr("2"), ID: "20", Time: at}
	want(one, two)
	say("2", "21", 100*time.Hour, false) // a clock that is wrong holds nothing up
	say("2", "22", 0, false)
	say("2", "23", 101*time.Hour, false)
	got, err := f.Positions(f.ctx, "telegram", "default")
	f.ok(err)
	if len(got) != 2 || got[1].ID != "23" || got[1].Time.After(time.Now()) {
		f.t.Errorf("%+v", got)
	}
	f.ok(f.Archive(f.ctx, key("2")))
	want(one)
	f.ok(f.Delete(f.ctx, key("1")))
	want()
}

func ownMessage(_ *testing.T, f *fixture) {
	own := func(chat channels.Address, id channels.MessageID, text string, want bool) {
		f.t.Helper()
		got, is, err := f.OwnMessage(f.ctx, chat, id)
		f.ok(err)
		if got.Text != text || is != want || want != (got.Session == key("1")) {
			f.t.Errorf("%s in %s: %+v, %v, want %q, %v", id, chat, got, is, text, want)
		}
	}
	chat := addr("1")
	chat.Thread = "7"
	d := f.post(delivery(key("1"), chat, "two parts"))
	f.begin(d.ID)
	own(chat, "a", "", false)
	f.ok(f.PartSent(f.ctx, d.ID, channels.Receipt{ID: "a"}, false))
	f.begin(d.ID)
	f.ok(f.PartSent(f.ctx, d.ID, channels.Receipt{ID: "b"}, true))
	f.ok(f.PartSent(f.ctx, d.ID, channels.Receipt{ID: "b"}, true))
	own(chat, "a", "two parts", true)
	own(addr("1"), "b", "two parts", true) // the thread does not matter
	own(addr("2"), "a", "", false)
	own(chat, "", "", false)
	own(chat, "c", "", false)
	to := addr("3")
	f.ok(f.Readdress(f.ctx, addr("1"), to))
	own(to, "a", "two parts", true) // a person's messages keep their ids
	own(addr("1"), "a", "two parts", true)
	group, super := addr("-1"), addr("-100")
	group.Type, super.Type = channels.Group, channels.Group
	d = f.post(delivery(key("1"), group, "two parts"))
	f.begin(d.ID)
	f.ok(f.PartSent(f.ctx, d.ID, channels.Receipt{ID: "c"}, true))
	f.ok(f.Readdress(f.ctx, group, super))
	own(super, "c", "", false) // a supergroup numbers its messages from 1
	own(group, "c", "two parts", true)
	f.ok(f.BeginPreview(f.ctx, sessions.Preview{Run: "r", Session: key("1"), To: chat, Key: "r.preview"}))
	f.ok(f.ShowPreview(f.ctx, "r", "p"))
	own(addr("1"), "p", "", true)
	own(addr("2"), "p", "", false)
	_, err := f.Expire(f.ctx, time.Now().Add(2*time.Hour), time.Hour)
	f.ok(err)
	own(addr("1"), "a", "", false)
	own(addr("1"), "p", "", false)
}

func asked(_ *testing.T, f *fixture) {
	acc := f.accept(message("1", "5", "hello"))
	for chat, want := range map[string]bool{"1": true, "2": false} {
		at := addr(chat)
		at.Thread = "9"
		r, found, err := f.Asked(f.ctx, at, "5")
		f.ok(err)
		if found != want || want && r.ID != acc.Run.ID {
			f.t.Errorf("%s: %+v, %v", chat, r, found)
		}
	}
	for _, id := range []channels.MessageID{"6", ""} {
		if _, found, err := f.Asked(f.ctx, addr("1"), id); err != nil || found {
			f.t.Error(found, err)
		}
	}
}

func newChats(_ *testing.T, f *fixture) {
	now := fromMilli(time.Now())
	day := sessions.FirstContactQuota{Limit: 2, Since: now.Add(-time.Hour), Until: now.Add(time.Hour)}
	try := func(to channels.Address, at time.Time, o sessions.FirstContactQuota, want sessions.DeliveryState) sessions.Delivery {
		f.t.Helper()
		x := delivery("", to, "x")
		x.Kind = sessions.Announce
		d, err := f.BeginSend(f.ctx, f.post(x).ID, at, allow, o)
		f.ok(err)
		f.equal(d.State, want)
		f.equal(f.delivery(d.ID), d)
		return d
	}
	no := delivery("", addr("0"), "x") // what does not leave opens nothing
	no.Kind = sessions.Announce
	_, err := f.BeginSend(f.ctx, f.post(no).ID, now, deny, day)
	f.ok(err)
	for i, kind := range []sessions.DeliveryKind{sessions.Reply, sessions.Notice, sessions.Reply} { // nor do answers
		x := delivery("", addr(fmt.Sprint("asked", i)), "x")
		x.Kind = kind
		d, err := f.BeginSend(f.ctx, f.post(x).ID, now, allow, day)
		f.ok(err)
		f.equal(d.State, sessions.Sending)
	}
	group := addr("g")
	group.Type = channels.Group
	for range 3 {
		try(group, now, day, sessions.Sending)
	}
	try(addr("asked1"), now, day, sessions.Sending)
	try(addr("1"), now, day, sessions.Sending)
	try(addr("1"), now, day, sessions.Sending)
	topic := addr("1")
	topic.Thread = "7"
	try(topic, now, day, sessions.Sending)
	try(addr("2"), now, day, sessions.Sending)
	late := try(addr("3"), now, day, sessions.Pending)
	if !late.NotBefore.Equal(day.Until) || late.Error == "" || late.Attempt != 0 {
		f.t.Errorf("%+v", late)
	}
	if again, err := f.BeginSend(f.ctx, late.ID, now.Add(time.Minute), allow, day); err != nil {
		f.t.Fatal(err)
	} else {
		f.equal(again, late)
	}
	if got, err := f.BeginSend(f.ctx, f.post(delivery("", addr("3b"), "x")).ID, now, allow, day); err != nil || got.State != sessions.Sending { // an answer waits for nothing
		f.t.Errorf("%+v %v", got, err)
	}
	try(addr("2"), now, day, sessions.Sending)
	next := sessions.FirstContactQuota{Limit: 2, Since: now.Add(time.Hour), Until: now.Add(25 * time.Hour)}
	got, err := f.BeginSend(f.ctx, late.ID, now.Add(time.Hour), allow, next)
	f.ok(err)
	f.equal(got.State, sessions.Sending)
	more := day
	more.Limit = 3                                                      // what was begun on the next day does not count: a clock may be set back
	try(addr("4"), now, sessions.FirstContactQuota{}, sessions.Sending) // no bound, and counted all the same
	try(addr("4b"), now, more, sessions.Pending)
	more.Limit = 4
	try(addr("4b"), now, more, sessions.Sending)
	second := addr("5")
	second.Account = "second" // has a bound of its own
	try(second, now, day, sessions.Sending)
	f.ok(f.Readdress(f.ctx, addr("1"), addr("1b")))
	try(addr("1b"), now, day, sessions.Sending)
}

func previews(_ *testing.T, f *fixture) {
	p := sessions.Preview{Run: "r", Session: key("1"), To: addr("1"), Key: "r.preview", State: sessions.PreviewSending, Text: "first *words*", ReplyTo: "4"}
	is := func(want sessions.Preview, there bool) {
		f.t.Helper()
		all, err := f.Previews(f.ctx)
		f.ok(err)
		all = slices.DeleteFunc(all, func(p sessions.Preview) bool { return p.Run != "r" })
		f.equal(len(all) == 1, there)
		if there {
			f.equal(all[0], want)
		}
	}
	is(sessions.Preview{}, false)
	f.is(f.ShowPreview(f.ctx, "r", "1"), sessions.ErrNotFound)
	careful := p
	careful.Known = true
	f.is(f.BeginPreview(f.ctx, careful), sessions.ErrConflict) // the account has never written there
	f.ok(f.BeginPreview(f.ctx, p))
	is(p, true)
	f.ok(f.ShowPreview(f.ctx, "r", "77"))
	late := p
	late.Text, late.ReplyTo = "more", "5"
	f.ok(f.BeginPreview(f.ctx, late)) // changes nothing
	p.State, p.ID = sessions.PreviewShown, "77"
	is(p, true)
	careful.Run = "other" // now it has
	f.ok(f.BeginPreview(f.ctx, careful))
	all, err := f.Previews(f.ctx)
	f.ok(err)
	other := careful
	other.Known = false
	f.equal(all, []sessions.Preview{other, p})
	f.ok(f.EndPreview(f.ctx, "r"))
	f.ok(f.EndPreview(f.ctx, "r"))
	is(sessions.Preview{}, false)
}

// files are as they were given.
func files(_ *testing.T, f *fixture) {
	d := delivery(key("1"), addr("1"), "look")
	d.Files = []sessions.File{{Kind: channels.Image, Name: "a b.png", MIME: "image/png", Size: 12, Hash: "ab"}, {Kind: channels.Document, Name: "c", Hash: "cd"}}
	made := f.post(d)
	f.equal(made.Files, d.Files)
	f.equal(f.delivery(d.ID).Files, d.Files)
}

// aside is an event that nobody answers.
func aside(kind channels.Event, chat string, n int, target channels.MessageID, events ...sessions.SkipEvent) sessions.Arrival {
	return sessions.Arrival{In: channels.Inbound{Event: kind, Address: addr(chat), ID: channels.MessageID(fmt.Sprint("e", n)), Target: target}, Skip: &sessions.Skip{Reason: "event", Events: events}}
}

func amend(_ *testing.T, f *fixture) {
	pic := sessions.Block{Type: sessions.ImageBlock, MIME: "image/png", Data: "aGk="}
	first, second, third := message("1", "1", "one"), message("1", "2", "two"), message("1", "3", "three")
	second.Change.Run.Input.Content = append(second.Change.Run.Input.Content, pic)
	third.Change.Run.Input.Content = []sessions.Block{pic}
	runs := []sessions.RunID{f.accept(first).Run.ID, f.accept(second).Run.ID, f.accept(third).Run.ID, f.accept(message("1", "4", "four")).Run.ID}
	f.claim(key("1"))
	n := 0
	change := func(i int, a sessions.AmendRun, lines int) sessions.Accepted {
		f.t.Helper()
		target := channels.MessageID(fmt.Sprint(i + 1))
		a.Run = runs[i]
		x := aside(channels.Edited, "1", n, target, sessions.AppendContext{Key: key("1"), Event: channels.Edited, Sender: "7", Text: a.Text, Message: target, Keep: 10}, a)
		n++
		acc := f.accept(x)
		f.equal(len(f.overheard(key("1"))), lines)
		if !f.accept(x).Duplicate {
			f.t.Error("an edit was not remembered")
		}
		return acc
	}
	change(1, sessions.AmendRun{Text: "zwei"}, 0)
	f.equal(f.run(runs[1]).Input.Content, []sessions.Block{{Type: sessions.TextBlock, Text: "zwei"}, pic})
	change(2, sessions.AmendRun{Text: "drei"}, 0)
	f.equal(f.run(runs[2]).Input.Content, []sessions.Block{{Type: sessions.TextBlock, Text: "drei"}, pic})
	quoted := sessions.Block{Type: sessions.FileBlock, Media: &channels.Media{Kind: channels.Document, Ref: "quoted", Other: true}}
	change(2, sessions.AmendRun{Text: "drei", Files: []sessions.Block{quoted, {Type: sessions.FileBlock, Media: &channels.Media{Kind: channels.Document, Ref: "own"}}}}, 0)
	change(2, sessions.AmendRun{Text: "drei", Files: []sessions.Block{}}, 0) // its own go, those of others stay
	f.equal(f.run(runs[2]).Input.Content, []sessions.Block{{Type: sessions.TextBlock, Text: "drei"}, quoted, pic})
	acc := change(3, sessions.AmendRun{Gone: true}, 0)
	f.equal(acc.Stopped, []sessions.StoppedRun{{Key: key("1"), ID: runs[3]}})
	if r := f.run(runs[3]); r.Status != sessions.Stopped || r.Error == "" {
		f.t.Errorf("%+v", r)
	}
	change(0, sessions.AmendRun{Text: "eins"}, 1) // it is running: a line for the next turn
	f.equal(f.run(runs[0]).Input.Text(), "one")
	f.equal(len(change(0, sessions.AmendRun{Gone: true}, 1).Stopped), 0)
	f.finish(runs[0], sessions.Outcome{})
	f.equal(f.claim(key("1")).Input.Text(), "zwei")
	if _, _, err := f.Recover(f.ctx); err != nil {
		f.t.Fatal(err)
	}
	change(1, sessions.AmendRun{Text: "two again"}, 2) // it was begun before the restart
	f.equal(f.run(runs[1]).Input.Text(), "zwei")
	x := aside(channels.Edited, "1", 99, "1", sessions.AmendRun{Run: runs[1]})
	x.Change = &sessions.Change{}
	if _, err := f.Accept(f.ctx, x); err == nil {
		f.t.Error("an edit was answered")
	}
}

// What an event says about a line that is still there changes the line.
func overheardEvents(_ *testing.T, f *fixture) {
	k := sessions.Key("agent:main:telegram:group:a")
	n := 0
	happens := func(x sessions.ContextLine, want ...string) {
		f.t.Helper()
		n++
		x.Key, x.Keep, x.Time = k, 5, time.UnixMilli(1_700_000_000_000+int64(n))
		f.accept(aside(x.Event, "1", n, x.Message, sessions.AppendContext(x)))
		lines, err := f.ContextLines(f.ctx, k)
		f.ok(err)
		var got []string
		for _, l := range lines {
			got = append(got, fmt.Sprintf("%s %s %s %s<%s", l.Event, l.Sender, l.Message, l.Text, l.About))
		}
		f.equal(got, want)
	}
	happens(sessions.ContextLine{Event: channels.Message, Sender: "7", Message: "1", Text: "helo"}, " 7 1 helo<")
	happens(sessions.ContextLine{Event: channels.Edited, Sender: "7", Message: "1", Text: "hello"}, " 7 1 hello<")
	happens(sessions.ContextLine{Event: channels.Edited, Sender: "7", Message: "2", Text: "soon"}, " 7 1 hello<", "edited 7 2 soon<") // ahead of its message
	happens(sessions.ContextLine{Event: channels.Message, Sender: "7", Message: "2", Text: "late"}, " 7 1 hello<", "edited 7 2 soon<", " 7 2 late<")
	happens(sessions.ContextLine{Event: channels.Edited, Sender: "7", Message: "2", Text: "at last"}, " 7 1 hello<", " 7 2 at last<")
	happens(sessions.ContextLine{Event: channels.Deleted, Sender: "7", Message: "2"}, " 7 1 hello<")
	happens(sessions.ContextLine{Event: channels.Edited, Sender: "8", Message: "1", Text: "no"}, " 7 1 hello<", "edited 8 1 no<") // not theirs
	happens(sessions.ContextLine{Event: channels.Deleted, Sender: "7", Message: "1"}, "edited 8 1 no<")
	happens(sessions.ContextLine{Event: channels.Edited, Sender: "8", Message: "1", Text: "yes", About: "x"}, "edited 8 1 yes<")
	happens(sessions.ContextLine{Event: channels.Deleted, Sender: "8", Message: "1"}, "deleted 8 1 <")
	happens(sessions.ContextLine{Event: channels.Deleted, Sender: "8", Message: "1"}, "deleted 8 1 <")
	happens(sessions.ContextLine{Event: channels.Reacted, Sender: "8", Message: "5", Text: "+", About: "ours"}, "deleted 8 1 <", "reacted 8 5 +<ours")
	happens(sessions.ContextLine{Event: channels.Reacted, Sender: "9", Message: "5", Text: "-"}, "deleted 8 1 <", "reacted 8 5 +<ours", "reacted 9 5 -<")
	happens(sessions.ContextLine{Event: channels.Reacted, Sender: "8", Message: "5", Text: "!"}, "deleted 8 1 <", "reacted 9 5 -<", "reacted 8 5 !<")
	happens(sessions.ContextLine{Event: channels.Reacted, Sender: "8", Message: "5"}, "deleted 8 1 <", "reacted 9 5 -<")
	happens(sessions.ContextLine{Event: channels.Reacted, Sender: "8", Message: "5"}, "deleted 8 1 <", "reacted 9 5 -<", "reacted 8 5 <")
	happens(sessions.ContextLine{Event: channels.Joined, Sender: "8"}, "deleted 8 1 <", "reacted 9 5 -<", "reacted 8 5 <", "joined 8  <")
	happens(sessions.ContextLine{Event: channels.Left, Sender: "8"}, "deleted 8 1 <", "reacted 9 5 -<", "reacted 8 5 <", "joined 8  <", "left 8  <")
	happens(sessions.ContextLine{Sender: "8"}, "reacted 9 5 -<", "reacted 8 5 <", "joined 8  <", "left 8  <", " 8  <")
}

// Somebody else's deletion, an admin's may be, is told of and takes no line away; where the platform does not say who it was, it does.
func foreignDeletion(_ *testing.T, f *fixture) {
	k := sessions.Key("agent:main:telegram:group:b")
	for n, c := range []struct {
		sender string
		event  channels.Event
		want   []string
	}{
		{"7", channels.Message, []string{" 7"}},
		{"8", channels.Edited, []string{" 7", "edited 8"}},
		{"9", channels.Deleted, []string{" 7", "edited 8", "deleted 9"}},
		{"9", channels.Deleted, []string{" 7", "edited 8", "deleted 9"}},
		{"", channels.Deleted, []string{"edited 8", "deleted 9"}},
		{"", channels.Deleted, []string{"deleted "}},
	} {
		f.accept(aside(c.event, "1", n, "1", sessions.AppendContext{Key: k, Event: c.event, Sender: c.sender, Message: "1", Text: "x", Keep: 5}))
		lines, err := f.ContextLines(f.ctx, k)
		f.ok(err)
		var got []string
		for _, l := range lines {
			got = append(got, string(l.Event)+" "+l.Sender)
		}
		f.equal(got, c.want)
	}
}

func titles(_ *testing.T, f *fixture) {
	f.session(key("1"))
	for n, k := range []sessions.Key{key("1"), key("nobody")} {
		f.accept(aside(channels.Renamed, "1", n, "", sessions.RenameSession{Key: k, Title: "Cats & dogs"}))
	}
	f.equal(f.get(key("1")).Title, "Cats & dogs")
	_, err := f.Get(f.ctx, key("nobody"))
	f.is(err, sessions.ErrNotFound)
	// A message in a topic does not always tell what the topic is called.
	// source: https://core.telegram.org/bots/api#message (reply_to_message), #directmessagestopic (user is optional)
	chat := sessions.Parts{Form: sessions.FormGroup, Agent: "main", Channel: "telegram", Account: channels.DefaultAccount, ID: "-1"}
	topic := chat
	topic.Thread = "17"
	for _, k := range []sessions.Key{topic.Key(), chat.Key()} {
		for _, title := range []string{"Forum / Trains", "Forum"} {
			f.submit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: k, Agent: "main", Title: title}}})
		}
	}
	f.equal(f.get(topic.Key()).Title, "Forum / Trains")
	f.equal(f.get(chat.Key()).Title, "Forum")
	if list, err := f.List(f.ctx, sessions.Query{Search: "cats"}); err != nil || len(list) != 1 {
		f.t.Error(list, err)
	}
}

// The key of a chat that another one became finds the session of that one.
func movedChat(_ *testing.T, f *fixture) {
	group := func(chat, thread string) (channels.Address, sessions.Key) {
		a := channels.Address{Channel: "telegram", Account: "second", Chat: channels.ChatID(chat), Thread: channels.ThreadID(thread), Type: channels.Group}
		return a, sessions.Parts{Form: sessions.FormGroup, Agent: "main", Channel: a.Channel, Account: a.Account, ID: chat, Thread: a.Thread}.Key()
	}
	said := map[sessions.Key]sessions.ID{}
	for _, thread := range []string{"", "7"} {
		a, k := group("-1", thread)
		said[k] = f.submit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: k, Agent: "main", Last: a}}}).Session.ID
	}
	from, _ := group("-1", "")
	main := f.submit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: sessions.MainKey("main"), Agent: "main", Last: from}}}).Session
	at := func(chat string) {
		f.t.Helper()
		for _, thread := range []string{"", "7"} {
			_, old := group("-1", thread)
			a, k := group(chat, thread)
			if got := f.get(k); got.Key != old || got.ID != said[old] || got.Last != a {
				f.t.Errorf("%s: %+v", k, got)
			}
		}
	}
	moved, _ := group("-100", "")
	move := aside(channels.Moved, "x", 1, "", sessions.MoveChat{To: moved})
	move.In.Address = from
	f.accept(move)
	at("-100")
	moves, err := f.Moves(f.ctx)
	f.ok(err)
	f.equal(moves, map[channels.Address]channels.Address{moved: from})
	to, _ := group("-200", "")
	f.ok(f.Readdress(f.ctx, moved, to)) // and once more
	f.ok(f.Readdress(f.ctx, moved, to))
	at("-200")
	if got := f.get(sessions.MainKey("main")); got.ID != main.ID {
		f.t.Errorf("%+v", got)
	}
	if ks, err := f.Known(f.ctx, to); err != nil || len(ks) != 2 {
		f.t.Error(ks, err)
	}

	// What is done by the new key is done to that session: also what was decided before the chat moved.
	a, byNew := group("-200", "")
	_, was := group("-1", "")
	f.accept(sessions.Arrival{In: channels.Inbound{Event: channels.Message, Address: from, ID: "talk"}, Skip: &sessions.Skip{Reason: "no mention", Events: []sessions.SkipEvent{sessions.AppendContext{Key: was, Text: "x", Keep: 5}}}})
	r := newRun(byNew, "hello")
	acc := f.submit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: byNew, Agent: "main", Last: a, Title: "Cats"}, Mode: sessions.Require, Ops: []sessions.SessionOp{sessions.ConsumeContext{UpTo: 1000}}}, Run: &sessions.Enqueue{Run: *r}, Ops: []sessions.Op{sessions.EnqueueDelivery(delivery(byNew, a, "hi"))}})
	if acc.Session.Key != was || acc.Run.Key != was || acc.Run.Session != said[was] || acc.Deliveries[0].Session != was || f.get(was).Title != "Cats" || len(f.overheard(was)) != 0 {
		f.t.Errorf("%+v", acc)
	}
	f.claim(was)
	acc = f.submit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: byNew}}, Run: &sessions.Enqueue{Run: *newRun(byNew, "now"), Interrupt: true}})
	f.equal(acc.Stopped, []sessions.StoppedRun{{Key: was, ID: r.ID}})

	// A place that has a session of its own keeps it.
	last, own := group("-300", "")
	mine := f.session(own)
	f.ok(f.Readdress(f.ctx, to, last))
	f.equal(f.get(own).ID, mine.ID)

	// Deleted is deleted, by whatever name.
	if moves, err = f.Moves(f.ctx); err != nil || len(moves) != 3 || moves[to] != moved {
		f.t.Error(moves, err)
	}
	_, old := group("-1", "7")
	f.ok(f.Delete(f.ctx, old))
	for _, chat := range []string{"-1", "-100", "-200", "-300"} {
		_, k := group(chat, "7")
		_, err := f.Get(f.ctx, k)
		f.is(err, sessions.ErrNotFound)
	}
}
