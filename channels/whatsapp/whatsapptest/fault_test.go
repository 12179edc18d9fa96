package whatsapptest_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"parley/channels/whatsapp/whatsapptest"
)

// texts collects what the client is told until it was n messages.
func (c *client) texts(n int) []string {
	c.t.Helper()
	var all []string
	for len(all) < n {
		all = append(all, await[*events.Message](c).Message.GetConversation())
	}
	return all
}

func TestWhatWaitsWhileTheClientIsAway(t *testing.T) {
	t.Parallel()
	s := whatsapptest.New(t)
	bot, anna := s.NewPhone("Bot"), s.NewPerson("Anna")
	c, path := linked(t, s, bot)
	c.close()
	bot.WaitOffline()
	anna.Say(bot, "one")
	anna.Say(bot, "two")
	if n := bot.Waiting(); n != 2 {
		t.Errorf("%d messages wait", n)
	}
	c = open(t, s, path)
	c.connect()
	if got := c.texts(2); !slices.Equal(got, []string{"one", "two"}) {
		t.Errorf("came: %v", got)
	}
	bot.WaitDelivered()
	bot.Disconnect()
	await[*events.Disconnected](c)
	await[*events.Connected](c)
	anna.Say(bot, "three")
	if got := c.texts(1); got[0] != "three" {
		t.Errorf("came: %v", got)
	}
}

func TestUnreadableMessageIsSentAgain(t *testing.T) {
	t.Parallel()
	s := whatsapptest.New(t)
	bot, anna := s.NewPhone("Bot"), s.NewPerson("Anna")
	c, _ := linked(t, s, bot)
	anna.Say(bot, "first")
	c.text("first")
	bot.Garble(1)
	id := anna.Say(bot, "broken")
	if e := await[*events.UndecryptableMessage](c); e.Info.ID != id {
		t.Errorf("unreadable: %+v", e.Info)
	}
	if m := c.text("broken"); m.Info.ID != id || m.RetryCount != 1 {
		t.Errorf("again: %+v", m.Info)
	}
	bot.WaitDelivered()
}

func TestOrderAndRepeats(t *testing.T) {
	t.Parallel()
	s := whatsapptest.New(t)
	bot, anna := s.NewPhone("Bot"), s.NewPerson("Anna")
	c, _ := linked(t, s, bot)
	bot.Swap(3)
	for _, text := range []string{"a", "b", "c"} {
		anna.Say(bot, text)
	}
	if got := c.texts(3); !slices.Equal(got, []string{"c", "b", "a"}) {
		t.Errorf("came: %v", got)
	}
	bot.Double(1)
	anna.Say(bot, "d")
	anna.Say(bot, "e")
	if got := c.texts(2); !slices.Equal(got, []string{"d", "e"}) { // the library cannot decrypt anything twice
		t.Errorf("came: %v", got)
	}

	for range 2 {
		c.send(anna.JID(), said("once"), whatsmeow.SendRequestExtra{ID: "3EB0AAAAAAAAAAAAAAAAAA"})
	}
	if got := bot.Sent(anna); len(got) != 1 || len(bot.Stanzas()) != 2 || anna.Repeats() != 1 {
		t.Errorf("shown %+v, sent %v, %d repeats", got, bot.Stanzas(), anna.Repeats())
	}
}

func TestSendsThatFail(t *testing.T) {
	t.Parallel()
	s := whatsapptest.New(t)
	bot, anna := s.NewPhone("Bot"), s.NewPerson("Anna")
	c, _ := linked(t, s, bot)
	send := func(text string) error {
		_, err := c.SendMessage(context.Background(), anna.JID(), said(text), whatsmeow.SendRequestExtra{Timeout: 200 * time.Millisecond})
		return err
	}
	bot.Reject(463)
	if err := send("rejected"); !errors.Is(err, whatsmeow.ErrServerReturnedError) {
		t.Errorf("463: %v", err)
	}
	bot.LoseAnswer(1)
	if err := send("lost"); !errors.Is(err, whatsmeow.ErrMessageTimedOut) {
		t.Errorf("lost: %v", err)
	}
	bot.Swallow(1)
	if err := send("swallowed"); !errors.Is(err, whatsmeow.ErrMessageTimedOut) {
		t.Errorf("swallowed: %v", err)
	}
	bot.CutAnswer(1)
	if err := send("cut"); err != nil {
		t.Errorf("the library sends what was cut again: %v", err)
	}
	got := bot.Sent(anna)
	if len(got) != 2 || got[0].Text != "lost" || got[1].Text != "cut" || len(bot.Stanzas()) != 5 {
		t.Errorf("shown: %+v, sent: %v", got, bot.Stanzas())
	}
}

func TestLostConnections(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		do   func(*whatsapptest.Phone)
		want func(any) bool
	}{
		"unlinked": {(*whatsapptest.Phone).Unlink, is[*events.LoggedOut]},
		"replaced": {(*whatsapptest.Phone).Replace, is[*events.StreamReplaced]},
		"503":      {func(p *whatsapptest.Phone) { p.StreamError(503) }, is[*events.Disconnected]},
		"banned": {func(p *whatsapptest.Phone) {
			p.Refuse(&whatsapptest.Failure{Reason: 402, Code: 101, Expire: time.Hour})
			p.Disconnect()
		}, func(e any) bool {
			b, ok := e.(*events.TemporaryBan)
			return ok && b.Expire == time.Hour && b.Code == 101
		}},
		"outdated": {func(p *whatsapptest.Phone) {
			p.Refuse(&whatsapptest.Failure{Reason: 405})
			p.Disconnect()
		}, is[*events.ClientOutdated]},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := whatsapptest.New(t)
			bot := s.NewPhone("Bot")
			d, _ := linked(t, s, bot)
			c.do(bot)
			for !c.want(await[any](d)) { // await has the bound
			}
		})
	}
}

func is[E any](e any) bool {
	_, ok := e.(E)
	return ok
}

func TestSilence(t *testing.T) {
	t.Parallel()
	s := whatsapptest.New(t)
	bot, anna := s.NewPhone("Bot"), s.NewPerson("Anna")
	c, _ := linked(t, s, bot)
	bot.Silence()
	anna.Say(bot, "heard?")
	if err := c.SendPresence(t.Context(), types.PresenceAvailable); err == nil && !c.IsConnected() {
		t.Error("the connection is gone")
	}
	if n := bot.Waiting(); n != 1 {
		t.Errorf("%d messages wait", n)
	}
	c.ResetConnection() // what a watchdog does
	c.text("heard?")
}

func TestHistory(t *testing.T) {
	t.Parallel()
	s := whatsapptest.New(t)
	bot, anna := s.NewPhone("Bot"), s.NewPerson("Anna")
	c, _ := linked(t, s, bot)
	var old []string
	for i := range 50 {
		old = append(old, fmt.Sprint("old ", i))
	}
	bot.Replay(anna, old...)
	e := await[*events.HistorySync](c)
	if got := e.Data.GetConversations(); len(got) != 1 || len(got[0].GetMessages()) != 50 || got[0].GetMessages()[49].GetMessage().GetMessage().GetConversation() != "old 49" {
		t.Errorf("history: %v", e.Data)
	}
	bot.Owner().Say(anna, "from the phone itself")
	if m := c.text("from the phone itself"); !m.Info.IsFromMe || m.Info.Chat != anna.LID() {
		t.Errorf("own message: %+v", m.Info)
	}
	anna.WaitHeard(bot, "from the phone itself")
	if n := len(bot.Stanzas()); n != 0 {
		t.Errorf("the linked device sent %d messages", n)
	}
}
