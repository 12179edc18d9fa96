package telegram_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/channels"
	"parley/channels/telegram/telegramtest"
)

// pictures are the parts of an album.
func pictures(n int) (list []telegramtest.Option) {
	for i := range n {
		list = append(list, telegramtest.Photo(fmt.Sprint("p", i)))
	}
	return list
}

func refs(in channels.Inbound) string {
	var list []string
	for _, m := range in.Media {
		list = append(list, strings.TrimSuffix(m.Ref, "-1280"))
	}
	return strings.Join(list, " ")
}

func TestAlbumIsOneEvent(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		synctest.Wait()
		for _, at := range []int{0, 2, -1} { // the caption is on any part, or on none
			began, n := time.Now(), len(r.wait(0))
			parts := r.srv.Album(team, anna, "@"+telegramtest.BotUsername+" look", at, pictures(3), nil)
			r.srv.Say(bert, bert, "meanwhile")
			if other := r.wait(n + 1)[n]; other.Text != "meanwhile" || time.Since(began) > 100*time.Millisecond {
				t.Errorf("others waited: %+v after %s", other, time.Since(began))
			}
			in := r.wait(n + 2)[n+1]
			if took := time.Since(began); took < 900*time.Millisecond || took > 1500*time.Millisecond {
				t.Errorf("the album came after %s", took)
			}
			if refs(in) != "p0 p1 p2" || in.ID != channels.MessageID(fmt.Sprint(parts[2].MessageID)) || in.Mentioned != (at >= 0) || at >= 0 && in.Addressed != "look" {
				t.Errorf("caption on %d: %+v", at, in)
			}
			if err := r.srv.WaitConfirmed(t.Context(), parts[2].UpdateID); err != nil {
				t.Error(err)
			}
			synctest.Wait()
			if more := len(r.wait(0)) - n; more != 2 {
				t.Errorf("%d events", more)
			}
		}
	})
}

// A group id is the sender's: the pictures of two people are two messages whatever the server calls their albums.
//
// source: core.telegram.org/bots/api#message (media_group_id: the media message group that this message belongs to)
func TestAlbumsOfTwoPeople(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		synctest.Wait()
		same := telegramtest.With("media_group_id", "same")
		r.srv.Say(team, anna, "of Anna", telegramtest.Photo("a"), same)
		r.srv.Say(team, bert, "of Bert", telegramtest.Photo("b"), same)
		for i, want := range []string{"of Anna", "of Bert"} {
			if in := r.wait(2)[i]; in.Text != want || len(in.Media) != 1 {
				t.Errorf("%+v", in)
			}
		}
	})
}

// The parts arrive over some time, and what follows in the chat shows that the album is whole.
func TestAlbumArrivesSlowly(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		synctest.Wait()
		slow := func(d time.Duration) func(int) { return func(int) { time.Sleep(d) } } // virtual time
		r.srv.Album(anna, anna, "slow", 0, pictures(3), slow(800*time.Millisecond))
		if in := r.wait(1)[0]; refs(in) != "p0 p1 p2" {
			t.Errorf("%+v", in)
		}
		synctest.Wait()
		r.srv.Album(anna, anna, "an upload", 0, pictures(6), slow(300*time.Millisecond))
		if in := r.wait(2)[1]; refs(in) != "p0 p1 p2 p3 p4 p5" {
			t.Errorf("%+v", in)
		}
		synctest.Wait()
		began := time.Now()
		r.srv.Album(anna, anna, "whole", 0, pictures(2), nil)
		r.srv.Say(anna, anna, "that is all")
		if in := r.wait(4)[2]; refs(in) != "p0 p1" || time.Since(began) > 150*time.Millisecond {
			t.Errorf("waited %s: %+v", time.Since(began), in)
		}
		synctest.Wait()
		began = time.Now()
		go r.srv.Album(anna, anna, "endless", 0, pictures(10), slow(700*time.Millisecond))
		r.wait(5)
		if took := time.Since(began); took > 5100*time.Millisecond {
			t.Errorf("an album was waited for %s", took)
		}
		time.Sleep(10 * time.Second) // virtual time
		total := 0
		for _, in := range r.wait(6)[4:] {
			total += len(in.Media)
		}
		if total != 10 {
			t.Errorf("%d of 10 pictures", total)
		}
	})
}

// Whichever part of an album is changed, the change is one of the message that was offered, with everything that it says now.
func TestEditOfAnAlbum(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		synctest.Wait()
		parts := r.srv.Album(anna, anna, "first", 0, pictures(3), nil)
		r.srv.Edit(parts[0], "at once") // it comes in the same answer
		got := r.wait(2)
		if want := got[0].ID; want != channels.MessageID(fmt.Sprint(parts[2].MessageID)) || got[1].Event != channels.Edited || got[1].Target != want || got[1].Text != "at once" {
			t.Errorf("%+v", got)
		}
		other := r.srv.Say(anna, anna, "not of it")
		r.wait(3)
		for i, c := range []struct {
			of     telegramtest.Posted
			text   string
			target int64
			want   string
		}{
			{parts[0], "@" + telegramtest.BotUsername + " later", parts[2].MessageID, "@" + telegramtest.BotUsername + " later"},
			{parts[1], "second", parts[2].MessageID, "@" + telegramtest.BotUsername + " later\nsecond"},
			{parts[0], "", parts[2].MessageID, "second"},
			{other, "changed", other.MessageID, "changed"},
		} {
			r.srv.Edit(c.of, c.text)
			in := r.wait(4 + i)[3+i]
			if in.Event != channels.Edited || in.Target != channels.MessageID(fmt.Sprint(c.target)) || in.Text != c.want || (in.Addressed != "") != (i == 0) ||
				i < 3 && refs(in) != "p0 p1 p2" { // the other parts bring what they did
				t.Errorf("%d: %+v", i, in)
			}
		}
		for range 256 { // what is forgotten is a message like others
			r.srv.Album(bert, bert, "", -1, pictures(2), nil)
			r.srv.Say(bert, bert, "next")
		}
		n := 7 + 2*256
		r.wait(n)
		r.srv.Edit(parts[0], "too late")
		if in := r.wait(n + 1)[n]; in.Target != channels.MessageID(fmt.Sprint(parts[0].MessageID)) || in.Text != "too late" || !in.SameFiles {
			t.Errorf("%+v", in)
		}
	})
}

// After a restart the other parts of an album are not known: a change of one takes neither their files nor their caption away.
// source: https://core.telegram.org/bots/api#update ("edited_message"), https://core.telegram.org/bots/api#message ("media_group_id")
func TestEditOfAnAlbumOverARestart(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		parts := r.srv.Album(anna, anna, "first", 0, pictures(3), nil)
		if err := r.srv.WaitConfirmed(t.Context(), parts[2].UpdateID); err != nil {
			t.Fatal(err)
		}
		_ = r.stop()
		r.ch = r.open()
		r.start()
		r.srv.Edit(parts[2], "") // as for a reaction: nothing has changed
		r.srv.Edit(parts[2], "last")
		in := r.wait(2)[1]
		if in.Event != channels.Edited || in.Target != channels.MessageID(fmt.Sprint(parts[2].MessageID)) || in.Text != "last" || !in.SameFiles {
			t.Errorf("%+v", in)
		}
		one := r.srv.Say(anna, anna, "", pictures(1)...)
		r.wait(3)
		if r.srv.Edit(one, ""); r.wait(4)[3].SameFiles {
			t.Error("a picture that is no part of an album stays although it was changed")
		}
	})
}

// Nothing of an album is confirmed before the one commit.
func TestAlbumIsConfirmedAfterItsCommit(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		tries := 0
		r.refusing(func(channels.Inbound) error {
			if tries++; tries < 3 {
				return errors.New("disk full")
			}
			return nil
		})
		parts := r.srv.Album(anna, anna, "", -1, pictures(4), nil)
		if err := r.srv.Wait(t.Context(), func() bool { return len(r.srv.Calls("getUpdates")) > 3 }); err != nil {
			t.Fatal(err)
		}
		if r.srv.Confirmed() >= parts[0].UpdateID {
			t.Error("confirmed before the commit")
		}
		if in := r.wait(1)[0]; refs(in) != "p0 p1 p2 p3" || tries != 3 {
			t.Errorf("%d tries, %+v", tries, in)
		}
		if err := r.srv.WaitConfirmed(t.Context(), parts[3].UpdateID); err != nil {
			t.Error(err)
		}
	})
}

// A crash after a part of an album was taken, and before Telegram was told: it comes again with what has come since. A store that drops
// repeats has every picture once, however the album comes apart, and the rest says what it belongs to.
// source: https://core.telegram.org/bots/api#getupdates ("An update is considered confirmed as soon as getUpdates is called with an offset higher than its update_id")
func TestAlbumOverRestarts(t *testing.T) {
	t.Parallel()
	for before := 1; before < 4; before++ {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t)
			position := ""
			r.cursor = func(context.Context) (string, error) { return position, nil }
			r.ch = r.open()
			r.start()
			synctest.Wait()
			seen := map[channels.MessageID]bool{}
			kept := map[string]int{}
			var taken []channels.Inbound
			r.refusing(func(in channels.Inbound) error {
				if seen[in.ID] {
					return nil // a duplicate
				}
				seen[in.ID], taken = true, append(taken, in)
				for ref := range strings.FieldsSeq(refs(in)) {
					kept[ref]++
				}
				if in.Cursor != "" {
					position = in.Cursor
				}
				if len(seen) == 1 {
					r.srv.Down(true) // the commit is the last sign of life
				}
				return nil
			})
			r.srv.Album(anna, anna, "look", 0, pictures(4), func(i int) {
				if i == before {
					r.wait(1)
					_ = r.stop()
				}
			})
			r.srv.Down(false)
			r.ch = r.open()
			r.start()
			time.Sleep(5 * time.Second) // virtual time
			_ = r.stop()
			for _, ref := range []string{"p0", "p1", "p2", "p3"} {
				if kept[ref] != 1 {
					t.Errorf("%d pictures came before the crash: %s is shown %d times", before, ref, kept[ref])
				}
			}
			if len(taken) != 2 || taken[1].Text != "" || taken[1].Quote == nil || taken[1].Quote.ID != taken[0].ID || taken[1].Quote.Text != "look" ||
				len(taken[1].Quote.Media) != before || taken[1].Quote.Media[0].Ref != "" {
				t.Errorf("%d pictures came before the crash: %+v", before, taken)
			}
		})
	}
}

// A crash before anything of an album was taken: it is one event, whatever of it had come.
func TestAlbumOverARestartBeforeItsCommit(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		_ = r.stop()
		r.cursor = func(context.Context) (string, error) { return "1", nil }
		r.srv.Album(anna, anna, "look", 0, pictures(4), func(i int) {
			if i == 2 {
				r.ch = r.open()
				r.start()
				synctest.Wait()
				_ = r.stop()
			}
		})
		r.ch = r.open()
		r.start()
		if in := r.wait(1)[0]; refs(in) != "p0 p1 p2 p3" || in.Text != "look" {
			t.Errorf("%+v", in)
		}
	})
}
