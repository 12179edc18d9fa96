package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"time"

	"parley/agent/modeltest"
	"parley/channels/discord/discordtest"
	"parley/channels/telegram/telegramtest"
	"parley/gateway/prooftest"
)

// mostNewcomers is how many chats of people who have come lately are written in. Those before them are quiet from then on.
const mostNewcomers = 8

// atOnce is answer without a pause.
func (p *puppet) atOnce(r modeltest.Request) modeltest.Reply {
	reply := p.answer(r)
	reply.Delay = 0
	return reply
}

// forget empties the log.
func (p *puppet) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked, p.begun = nil, nil
}

// newcomer makes a chat with somebody who has never written before: a group on Telegram, or a channel on Discord. On Discord the host has
// to be connected until what is written there first has been read.
func (s *soak) newcomer(mayDiscord bool) {
	s.people++
	var p *place
	if mayDiscord && s.people%3 == 0 {
		channel := id(3400000000000000000 + int64(s.people))
		s.w.discord.AddChannel(discordGuild, channel, fmt.Sprint("room-", s.people))
		s.w.onDiscord(channel, "channel:"+channel)
		p = s.w.places[len(s.w.places)-1]
		s.w.places = s.w.places[:len(s.w.places)-1]
	} else {
		who, chat := 500000+int64(s.people), -800000-int64(s.people)
		s.w.one.AddUser(telegramtest.User{ID: who, Name: fmt.Sprint("Person ", s.people)})
		s.w.one.AddGroup(chat, fmt.Sprint("Group ", s.people))
		at := prooftest.Place{Platform: "telegram", Account: "one", Chat: id(chat)}
		p = &place{Place: at, Session: "agent:a:telegram:one:group:" + at.Chat, Say: func(text string) string {
			if strings.Contains(text, photoWord) {
				return id(s.w.one.Say(chat, who, text, telegramtest.Photo("photo")).MessageID)
			}
			return id(s.w.one.Say(chat, who, text).MessageID)
		}}
	}
	s.crowd.mu.Lock()
	defer s.crowd.mu.Unlock()
	if s.newcomers = append(s.newcomers, p); len(s.newcomers) > mostNewcomers {
		delete(s.crowd.locks, s.newcomers[0])
		s.newcomers = slices.Delete(s.newcomers, 0, 1)
	}
}

// plain is a message without orders.
func (s *soak) plain(at *place) plan {
	s.plans.n++
	token := fmt.Sprintf("m%d", s.plans.n)
	text := "[" + token + "]"
	if s.dice.IntN(4) == 0 {
		text = photoWord + " " + text
	}
	return plan{at: at, text: text, said: prooftest.Said{Token: token, Place: at.Place, Text: text, Owes: []prooftest.Debt{{Token: token, Kind: prooftest.Answer, Place: at.Place}}}}
}

// photoWord in a text has it come with a picture, where the chat can do that.
const photoWord = "(look)"

// newcomerEvery is how many messages of newcomers a short run has for each one who is new.
const newcomerEvery = 6

// resets is in how many chats a window begins with /new. It gives up what its session is at, so that the host has done it before anything
// else is asked for: a chat whose connection has just ended takes it later than other chats take what was said behind it.
const resets = 2

// reset starts the sessions of some chats over, beside the work of nobody.
func (s *soak) reset() {
	for range resets {
		s.crowd.command(s.w.places[s.dice.IntN(len(s.w.places))], "/new")
	}
}

// rate is how many messages a second the window that begins has. The last fifth of the time to get warm is as what comes after: what a
// burst took is given back.
func (s *soak) rate() float64 {
	if s.For >= longEnough && time.Since(s.began) < warmUp(s.For)*4/5 {
		return s.WarmRate
	}
	return s.Rate
}

// speak writes one message after the other until the end of the window.
func (s *soak) speak(ctx context.Context, rate float64, until time.Time) {
	tick := time.NewTicker(time.Duration(float64(time.Second) / rate))
	defer tick.Stop()
	over := time.NewTimer(time.Until(until)) // it may come long before the next message
	defer over.Stop()
	for {
		select {
		case <-tick.C:
		case <-over.C:
			return
		case <-ctx.Done():
			return
		}
		if s.dice.IntN(3) == 0 {
			if s.For < longEnough && s.dice.IntN(newcomerEvery) == 0 { // many, so that what each leaves behind is seen
				s.newcomer(false)
			}
			s.crowd.say(s.plain(s.newcomers[s.dice.IntN(len(s.newcomers))]))
		} else {
			s.crowd.say(s.plans.next())
		}
		s.messages++
	}
}

// flips denies one place and allows it again, so that each window ends with everything allowed.
func (s *soak) flip(ctx context.Context, dice *rand.Rand, until time.Time) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(time.Duration(1000+dice.IntN(2000)) * time.Millisecond):
		}
		if !time.Now().Add(flipMargin).Before(until) {
			return nil
		}
		at := s.w.places[dice.IntN(len(s.w.places))]
		for _, deny := range []bool{true, false} {
			if err := s.crowd.flip(ctx, at, deny, dice.IntN(2)); err != nil {
				return err
			}
		}
	}
}

const flipMargin = 2 * time.Second

// breach is one way in which a connection ends.
type breach struct {
	platform string
	do       func(*world)
	back     func(*world) bool // it is there again
}

func telegramBack(w *world) bool { return w.one.Polling() && w.two.Polling() }
func discordBack(w *world) bool  { return w.discord.Ready() }
func whatsappBack(w *world) bool { return w.bot.Online() }

// breaches are taken in turn.
func breaches() []breach {
	polls := func(f telegramtest.Fault) func(*world) {
		return func(w *world) {
			w.one.EndPoll(f)
			w.two.EndPoll(f)
		}
	}
	return []breach{
		{"telegram", polls(telegramtest.Fault{Cut: true}), telegramBack},
		{"discord", func(w *world) { w.discord.Reconnect() }, discordBack},
		{whatsappServer, func(w *world) { w.bot.Disconnect() }, whatsappBack},
		{"telegram", polls(telegramtest.Conflict(1)), telegramBack},
		{"discord", func(w *world) { w.discord.Invalidate(false) }, discordBack},
		{whatsappServer, func(w *world) { w.bot.StreamError(503) }, whatsappBack},
		{"telegram", polls(telegramtest.Fault{Code: http.StatusBadGateway, Description: "Bad Gateway"}), telegramBack},
		{"discord", func(w *world) { w.discord.Disconnect(4000) }, discordBack},
		{whatsappServer, func(w *world) { w.bot.StreamError(515) }, whatsappBack},
		{"discord", func(w *world) { w.discord.Invalidate(true) }, discordBack},
		{"discord", func(w *world) { w.discord.Disconnect(discordtest.CloseAbnormal) }, discordBack},
	}
}

// disturbance is a time in which a platform was not there, or not for all of it.
type disturbance struct {
	platform   string
	begin, end time.Time
}

// disturb ends a connection and waits until there is another one.
func (s *soak) disturb(ctx context.Context) error {
	all := breaches()
	b := all[s.breaches%len(all)]
	s.breaches++
	d := disturbance{platform: b.platform, begin: time.Now()}
	b.do(s.w)
	select {
	case <-time.After(settling):
	case <-ctx.Done():
		return nil
	}
	err := until(ctx, backWithin, b.platform+" is connected again", func() bool { return b.back(s.w) })
	d.end = time.Now().Add(settling)
	s.disturbed = append(s.disturbed, d)
	return err
}

const (
	settling   = 500 * time.Millisecond
	backWithin = 2 * time.Minute
)
