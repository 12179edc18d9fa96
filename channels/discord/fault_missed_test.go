package discord_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"parley/channels"
	"parley/channels/discord/discordtest"
)

// breaks are the ends of a connection whose session is over: nothing is replayed.
func breaks() []end {
	over := []string{"op 9", "session forgotten", "resume refused for ever", "more missed than kept", "guilds before READY", "close 4009"}
	return slices.DeleteFunc(ends(), func(e end) bool { return !slices.Contains(over, e.name) })
}

// once waits until texts were taken, and sees that nothing else was, or not as often.
func (h *host) once(want map[string][]string) {
	h.Helper()
	for chat, texts := range want {
		if len(texts) > 0 {
			h.arrives(chat, texts[len(texts)-1])
		}
	}
	<-time.After(time.Minute)
	for chat, texts := range want {
		h.same(chat, texts)
	}
}

// The first words of a channel or a thread, written while the bot is away and its session is over, are read when it is back, once:
// whether the place was there before or was made meanwhile.
func TestFaultDiscordFirstWords(t *testing.T) {
	t.Parallel()
	list := breaks()
	if len(list) != 6 {
		t.Fatalf("%d ends", len(list))
	}
	virtual(t, func(t *testing.T, h *host) {
		n, want := times(2*len(list), 120), map[string][]string{}
		for i := range n {
			h.connected()
			<-time.After(31 * time.Second)
			old, thread := fmt.Sprint(410000000000000000+i), fmt.Sprint(510000000000000000+i)
			if i%2 == 0 { // else both are made while the bot is away
				h.srv.AddChannel(house, old, "old")
				h.srv.AddThread(general, thread, "old thread", anna)
				h.srv.Invalidate(false)
				h.connected()
				<-time.After(31 * time.Second)
			}
			h.srv.Expire()
			list[i%len(list)].do(h.srv)
			if i%2 == 1 {
				h.srv.AddChannel(house, old, "new")
				h.srv.AddThread(general, thread, "new thread", anna)
			}
			for _, chat := range []string{old, thread, plans} {
				text := fmt.Sprintf("%d: %s", i, list[i%len(list)].name)
				want[chat] = append(want[chat], text)
				h.srv.Say(chat, anna, text)
			}
			h.arrives(old, want[old][0])
			h.arrives(thread, want[thread][0])
			h.srv.Replay(1000)
		}
		h.once(want)
		t.Logf("%d sessions ended, %d first words; %d offered again", n, 2*n, h.again)
		if h.again > 0 || len(h.lost) > 0 {
			t.Errorf("%d offered again, lost: %q", h.again, h.lost)
		}
	})
}

// What was written in channels of which nothing is on disk while the host was stopped is read when it is started again. What is older
// than the host is not, nor what was written before the bot came into a server.
func TestFaultDiscordFirstWordsOverRestart(t *testing.T) {
	t.Parallel()
	virtual(t, func(t *testing.T, h *host) {
		const other, hall = "310000000000000001", "410000000000000001"
		hourAgo := discordtest.At(time.Now().Add(-time.Hour))
		h.connected()
		<-time.After(time.Minute)
		h.srv.AddGuild(other, "Other", anna)
		h.srv.AddChannel(other, hall, "hall")
		h.srv.Leave(other, discordtest.BotID)
		h.srv.Miss(hall, anna, "before the bot came", hourAgo)
		h.srv.Miss(garden, anna, "before the host", hourAgo)
		h.srv.Join(other, discordtest.BotID)
		want := map[string][]string{general: nil, garden: nil, plans: nil, hall: nil}
		say := func(chat, text string) { want[chat] = append(want[chat], text); h.srv.Say(chat, anna, text) }
		for i := range times(3, 100) {
			say(general, fmt.Sprint("heard ", i))
			h.once(map[string][]string{general: want[general]})
			h.stop()
			for _, chat := range []string{garden, plans, hall} {
				say(chat, fmt.Sprint("first words ", i))
				delete(h.disk.newest, channels.Address{Channel: "discord", Account: channels.DefaultAccount, Chat: channels.ChatID(chat), Type: channels.Room})
			}
			<-time.After(time.Hour)
			h.start()
			h.once(want)
		}
		h.srv.Leave(other, discordtest.BotID)
		h.srv.Miss(hall, anna, "before the bot came again")
		<-time.After(time.Minute)
		h.srv.Join(other, discordtest.BotID)
		h.once(want)
		t.Logf("%d texts; %d offered again", len(want[garden])*3, h.again)
	})
}

// A message that waits in memory when the host is stopped is not passed over because later ones of other chats are on disk.
func TestFaultDiscordWaitingOverRestart(t *testing.T) {
	t.Parallel()
	virtual(t, func(_ *testing.T, h *host) {
		h.connected()
		full := true
		h.mu.Lock()
		h.refuse = func(in channels.Inbound) error {
			if full && in.Address.Chat == garden {
				return errDisk
			}
			return nil
		}
		h.mu.Unlock()
		h.srv.Say(general, anna, "before")
		h.srv.Say(garden, anna, "waits")
		for i := range 20 {
			<-time.After(time.Minute)
			h.srv.Say(general, anna, fmt.Sprint("later ", i))
		}
		h.arrives(general, "later 19")
		h.stop()
		full = false
		h.start()
		h.once(map[string][]string{garden: {"waits"}})
	})
}

// No session tells of a direct chat. What somebody whom the bot does not know wrote while it was away is read when they write again.
func TestFaultDiscordFirstDirectWords(t *testing.T) {
	t.Parallel()
	for name, away := range map[string]func(*host){
		"op 9":    func(h *host) { h.srv.Invalidate(false) },
		"restart": func(h *host) { h.stop(); <-time.After(time.Hour); defer h.start() },
	} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(_ *testing.T, h *host) {
				h.connected()
				h.srv.Say(general, anna, "heard")
				h.arrives(general, "heard")
				<-time.After(2 * time.Minute)
				dm := h.srv.AddDM(bert)
				if name == "op 9" {
					away(h)
				}
				h.srv.Miss(dm, bert, "missed")
				if name != "op 9" {
					away(h)
				}
				h.connected()
				<-time.After(time.Minute)
				h.same(dm, nil)
				h.srv.Say(dm, bert, "anybody there?")
				h.once(map[string][]string{dm: {"missed", "anybody there?"}})
				if h.again > 0 {
					h.Errorf("%d offered again", h.again)
				}
			})
		})
	}
}

// A channel that the bot may not read is asked for once, not at every new session.
func TestFaultDiscordClosedChannel(t *testing.T) {
	t.Parallel()
	virtual(t, func(_ *testing.T, h *host) {
		h.connected()
		h.srv.Refuse(garden, 50001)
		for i := range 5 {
			<-time.After(time.Minute)
			h.srv.Invalidate(false)
			h.srv.Miss(garden, anna, fmt.Sprint("not for the bot ", i))
			h.connected()
			<-time.After(time.Minute)
		}
		asked := 0
		for _, call := range h.srv.Calls("GET " + discordtest.RouteMessages) {
			if call.Channel == garden {
				asked++
			}
		}
		if asked != 1 {
			h.Errorf("asked %d times", asked)
		}
		h.srv.Refuse(garden, 0)
		h.srv.Say(garden, anna, "open now")
		h.arrives(garden, "open now")
		h.srv.Invalidate(false)
		h.srv.Miss(garden, anna, "missed")
		h.once(map[string][]string{garden: {"open now", "missed"}})
	})
}

// What was written before the bot came into a server is not read, also when the host was away as it came.
func TestFaultDiscordJoinedWhileAway(t *testing.T) {
	virtual(t, func(t *testing.T, h *host) {
		const other, hall = "310000000000000001", "410000000000000001"
		h.connected()
		h.srv.AddGuild(other, "Other", anna)
		h.srv.AddChannel(other, hall, "hall")
		h.srv.Leave(other, discordtest.BotID)
		<-time.After(time.Minute)
		h.srv.Say(general, anna, "heard")
		h.arrives(general, "heard")
		h.stop()
		<-time.After(time.Hour)
		h.srv.Miss(hall, anna, "before the bot came")
		<-time.After(time.Hour)
		h.srv.Join(other, discordtest.BotID)
		<-time.After(time.Minute)
		h.start()
		h.connected()
		<-time.After(2 * time.Minute)
		h.same(hall, nil)
	})
}
