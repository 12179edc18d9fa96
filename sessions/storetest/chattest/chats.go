package chattest

import (
	"time"

	"parley/channels"
	"parley/sessions"
	"parley/sessions/storetest/fixture"
)

func positions(f *fixture.Store) {
	at := fixture.StoredTime(time.Now()).Add(-time.Hour)
	say := func(chat, id string, after time.Duration, skip bool) {
		a := fixture.NewArrival(chat, id, "x")
		a.In.Time = at.Add(after)
		if skip {
			a = sessions.Arrival{In: a.In, Skip: &sessions.Skip{Reason: "not mentioned"}}
		}
		f.MustAccept(a)
	}
	want := func(list ...channels.Position) {
		f.Helper()
		got, err := f.Positions(f.Context(), "telegram", "default")
		f.OK(err)
		f.Equal(got, list)
	}
	want()
	say("3", "1", 0, true) // nobody here has a session
	want()
	say("1", "10", 0, false)
	say("2", "20", 0, false)
	say("1", "11", time.Minute, true) // no run, but it is on disk
	say("1", "9", -time.Minute, false)
	f.MustAccept(sessions.Arrival{In: channels.Inbound{Event: channels.Edited, Address: fixture.Address("1"), ID: "12", Time: at.Add(time.Hour)}, Skip: &sessions.Skip{Reason: "edited"}})
	other := fixture.NewArrival("4", "1", "x")
	other.In.Address.Account, other.Change.Session.Last.Account = "default2", "default2"
	f.MustAccept(other)
	one, two := channels.Position{Address: fixture.Address("1"), ID: "11", Time: at.Add(time.Minute)}, channels.Position{Address: fixture.Address("2"), ID: "20", Time: at}
	want(one, two)
	say("2", "21", 100*time.Hour, false) // a clock that is wrong holds nothing up
	say("2", "22", 0, false)
	say("2", "23", 101*time.Hour, false)
	got, err := f.Positions(f.Context(), "telegram", "default")
	f.OK(err)
	if len(got) != 2 || got[1].ID != "23" || got[1].Time.After(time.Now()) {
		f.Errorf("%+v", got)
	}
	f.OK(f.Archive(f.Context(), fixture.Key("2")))
	want(one)
	f.OK(f.Delete(f.Context(), fixture.Key("1")))
	want()
}

func ownMessage(f *fixture.Store) {
	own := func(chat channels.Address, id channels.MessageID, text string, want bool) {
		f.Helper()
		got, is, err := f.OwnMessage(f.Context(), chat, id)
		f.OK(err)
		if got.Text != text || is != want || want != (got.Session == fixture.Key("1")) {
			f.Errorf("%s in %s: %+v, %v, want %q, %v", id, chat, got, is, text, want)
		}
	}
	chat := fixture.Address("1")
	chat.Thread = "7"
	d := f.QueueDelivery(fixture.NewDelivery(fixture.Key("1"), chat, "two parts"))
	f.MustBeginSend(d.ID)
	own(chat, "a", "", false)
	f.OK(f.PartSent(f.Context(), d.ID, channels.Receipt{ID: "a"}, false))
	f.MustBeginSend(d.ID)
	f.OK(f.PartSent(f.Context(), d.ID, channels.Receipt{ID: "b"}, true))
	f.OK(f.PartSent(f.Context(), d.ID, channels.Receipt{ID: "b"}, true))
	own(chat, "a", "two parts", true)
	own(fixture.Address("1"), "b", "two parts", true) // the thread does not matter
	own(fixture.Address("2"), "a", "", false)
	own(chat, "", "", false)
	own(chat, "c", "", false)
	to := fixture.Address("3")
	f.OK(f.Readdress(f.Context(), fixture.Address("1"), to))
	own(to, "a", "two parts", true) // a person's messages keep their ids
	own(fixture.Address("1"), "a", "two parts", true)
	group, super := fixture.Address("-1"), fixture.Address("-100")
	group.Type, super.Type = channels.Group, channels.Group
	d = f.QueueDelivery(fixture.NewDelivery(fixture.Key("1"), group, "two parts"))
	f.MustBeginSend(d.ID)
	f.OK(f.PartSent(f.Context(), d.ID, channels.Receipt{ID: "c"}, true))
	f.OK(f.Readdress(f.Context(), group, super))
	own(super, "c", "", false) // a supergroup numbers its messages from 1
	own(group, "c", "two parts", true)
	f.OK(f.BeginPreview(f.Context(), sessions.Preview{Run: "r", Session: fixture.Key("1"), To: chat, Key: "r.preview"}))
	f.OK(f.ShowPreview(f.Context(), "r", "p"))
	own(fixture.Address("1"), "p", "", true)
	own(fixture.Address("2"), "p", "", false)
	_, err := f.Expire(f.Context(), time.Now().Add(2*time.Hour), time.Hour)
	f.OK(err)
	own(fixture.Address("1"), "a", "", false)
	own(fixture.Address("1"), "p", "", false)
}

func asked(f *fixture.Store) {
	acc := f.MustAccept(fixture.NewArrival("1", "5", "hello"))
	for chat, want := range map[string]bool{"1": true, "2": false} {
		at := fixture.Address(chat)
		at.Thread = "9"
		r, found, err := f.Asked(f.Context(), at, "5")
		f.OK(err)
		if found != want || want && r.ID != acc.Run.ID {
			f.Errorf("%s: %+v, %v", chat, r, found)
		}
	}
	for _, id := range []channels.MessageID{"6", ""} {
		if _, found, err := f.Asked(f.Context(), fixture.Address("1"), id); err != nil || found {
			f.Error(found, err)
		}
	}
}

func titles(f *fixture.Store) {
	f.MakeSession(fixture.Key("1"))
	for n, k := range []sessions.Key{fixture.Key("1"), fixture.Key("nobody")} {
		f.MustAccept(fixture.NewEvent(channels.Renamed, "1", n, "", sessions.RenameSession{Key: k, Title: "Cats & dogs"}))
	}
	f.Equal(f.MustGet(fixture.Key("1")).Title, "Cats & dogs")
	_, err := f.Get(f.Context(), fixture.Key("nobody"))
	f.ErrorIs(err, sessions.ErrNotFound)
	// A message in a topic does not always tell what the topic is called.
	// source: https://core.telegram.org/bots/api#message (reply_to_message), #directmessagestopic (user is optional)
	chat := sessions.Parts{Form: sessions.FormGroup, Agent: "main", Channel: "telegram", Account: channels.DefaultAccount, ID: "-1"}
	topic := chat
	topic.Thread = "17"
	for _, k := range []sessions.Key{topic.Key(), chat.Key()} {
		for _, title := range []string{"Forum / Trains", "Forum"} {
			f.MustSubmit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: k, Agent: "main", Title: title}}})
		}
	}
	f.Equal(f.MustGet(topic.Key()).Title, "Forum / Trains")
	f.Equal(f.MustGet(chat.Key()).Title, "Forum")
	if list, err := f.List(f.Context(), sessions.Query{Search: "cats"}); err != nil || len(list) != 1 {
		f.Error(list, err)
	}
}

func writers(f *fixture.Store) {
	at := fixture.StoredTime(time.Now()).Add(-time.Hour)
	main := sessions.MainKey("main")
	said := 0
	say := func(chat string) {
		f.Helper()
		said++
		a := fixture.NewArrival(chat, fixture.NewID(), "x")
		a.In.Time = at.Add(time.Duration(said) * time.Minute)
		a.Change.Session.Key, a.Change.Run.Key = main, main
		f.MustAccept(a)
	}
	want := func(list ...channels.Address) {
		f.Helper()
		got, err := f.Writers(f.Context(), main)
		f.OK(err)
		f.Equal(got, list)
	}
	want()
	f.MustAccept(fixture.NewArrival("9", "1", "x")) // in a session of its own
	f.MustSubmit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: main, Agent: "main"}}})
	want()
	say("1")
	say("2")
	say("3")
	want(fixture.Address("3"), fixture.Address("2"), fixture.Address("1"))
	say("1")
	want(fixture.Address("1"), fixture.Address("3"), fixture.Address("2"))
	f.OK(f.Readdress(f.Context(), fixture.Address("1"), fixture.Address("5")))
	want(fixture.Address("5"), fixture.Address("3"), fixture.Address("2"))
	f.OK(f.Delete(f.Context(), main))
	want()
}
