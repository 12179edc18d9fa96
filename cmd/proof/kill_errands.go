package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"go.mau.fi/whatsmeow/types"

	"parley/channels/telegram/telegramtest"
	"parley/channels/whatsapp/whatsapptest"
	"parley/gateway/prooftest"
)

// errand has people, or programs outside, do what leads to a kind of transaction, mostly in a chat made for it on Telegram. Its ctx ends
// with the host's life: then it stops where it is, and errors mean nothing. What is said there without a token is not judged, but for what
// has to be taken up (see want).
type errand func(ctx context.Context, e *errands)

// errands do errands, one at a time.
type errands struct {
	r      *run
	plans  planner                  // of their own: the others' are under way at the same time
	n      int64                    // chats, strangers
	moves  int                      // of chats and people
	places map[prooftest.Place]bool // made for errands
	pause  context.Context          // of promises, which outlive a host

	asked   []wanted
	refused []prooftest.Refusal // where what is sent was made to fail
	stops   []stopped
}

// wanted is a message that is owed no answer of its own: it is steered into a turn, collected with others, or dropped.
type wanted struct {
	prooftest.Place
	token string // in round brackets in its text
	text  string
	once  bool // a prompt has it once: a change of a message is told or stands in it
}

// The ids that errands use.
const (
	errandGroups    = -910000 // and below
	budgetGroups    = -950000 // and below: the agent there may spend nothing more after one answer
	mostBudgets     = 40
	errandStrangers = 610000
	errandTokens    = 1_000_000
	hookToken       = "hook-token-of-the-proof-0123456789"
)

// Orders that are no tool of chains. They stand in messages without a token, too.
const (
	orderSlow  = "take your time"   // the model thinks for a second
	orderNote  = "note it"          // remember is called
	orderWrite = "write in pieces"  // the answer comes bit by bit
	orderTalk  = "talk without end" // the same without a token
)

// group makes a group in which only bot one and Olga are.
func (e *errands) group() (*place, int64) {
	e.n++
	return e.groupAt(errandGroups - e.n)
}

func (e *errands) groupAt(chat int64) (*place, int64) {
	e.r.w.one.AddGroup(chat, fmt.Sprint("Errand ", -chat))
	return e.known(chat), chat
}

// known is a group that is there already.
func (e *errands) known(chat int64) *place {
	at := prooftest.Place{Platform: "telegram", Account: "one", Chat: id(chat)}
	e.places[at] = true
	return &place{Place: at, Session: "agent:a:telegram:one:group:" + at.Chat, Say: func(text string) string {
		return id(e.r.w.one.Say(chat, telegramOwner, text).MessageID)
	}}
}

// mover is the chat of the host's account on WhatsApp with somebody, under one of their ids.
func (e *errands) mover(who *whatsapptest.Person, as types.JID) *place {
	at := prooftest.Place{Platform: whatsappServer, Account: "default", Chat: as.String()}
	e.places[at] = true
	peer := who.Number()
	if as == who.LID() {
		peer = as.String()
	}
	return &place{Place: at, Session: "agent:b:whatsapp:default:direct:" + peer, Say: func(text string) string { return who.Say(e.r.w.bot, text) }}
}

// say says something that is owed nothing that is judged.
func (e *errands) say(at *place, text string) {
	order := e.r.crowd.lock(at)
	order.Lock()
	defer order.Unlock()
	at.Say(text)
}

// want says something that the model has to see, or people have to be told of. It gives what was said.
func (e *errands) want(at *place, text string) string {
	token := fmt.Sprintf("e%d", len(e.asked)+1)
	text += " (" + token + ")"
	e.asked = append(e.asked, wanted{Place: at.Place, token: token, text: text})
	e.say(at, text)
	return text
}

// change changes something that was said to what the model has to see, once.
func (e *errands) change(at *place, chat int64, was string) {
	p, found := e.r.w.one.Find(chat, was)
	if !found {
		return
	}
	token := fmt.Sprintf("e%d", len(e.asked)+1)
	text := was + ", on second thoughts (" + token + ")"
	e.asked = append(e.asked, wanted{Place: at.Place, token: token, text: text, once: true})
	e.r.w.one.Edit(p, text)
}

// forward passes something on that the model has to see.
func (e *errands) forward(at *place, chat int64, o telegramtest.Option) {
	token := fmt.Sprintf("e%d", len(e.asked)+1)
	text := "We offer you 50k (" + token + ")"
	e.asked = append(e.asked, wanted{Place: at.Place, token: token, text: text})
	order := e.r.crowd.lock(at)
	order.Lock()
	defer order.Unlock()
	e.r.w.one.Say(chat, telegramOwner, text, o)
}

// album sends four pictures with one gesture. What the last one says the model has to see, once: it is of no half that may come again.
func (e *errands) album(at *place, chat int64, between func(i int)) {
	token := fmt.Sprintf("e%d", len(e.asked)+1)
	text := "our garden (" + token + ")"
	e.asked = append(e.asked, wanted{Place: at.Place, token: token, text: text, once: true})
	var pictures []telegramtest.Option
	for i := range 4 {
		pictures = append(pictures, telegramtest.Photo(fmt.Sprint("garden", i)))
	}
	order := e.r.crowd.lock(at)
	order.Lock()
	defer order.Unlock()
	e.r.w.one.Album(chat, telegramOwner, text, len(pictures)-1, pictures, between)
}

// dropped is how people are told that messages are not taken up.
const dropped = "Too many messages are waiting here"

// unseen finds what was wanted and came to nothing: no turn had it, and neither a full queue nor a turn that was given up is told of in
// its chat. A change is a fault, too, that a prompt has twice.
func (e *errands) unseen(list []prooftest.Listed, seen func(token string) int) (faults []prooftest.Fault) {
	told := map[prooftest.Place]bool{}
	for _, d := range list {
		if strings.Contains(d.Text, dropped) || slices.ContainsFunc(notices, func(n prooftest.Notice) bool { return strings.Contains(d.Text, n.Text) }) {
			told[d.Place] = true
		}
	}
	for _, m := range e.asked {
		if m.once && seen(m.token) > 1 {
			faults = append(faults, prooftest.Fault{Kind: prooftest.AnsweredTwice, Token: m.token, Place: m.Place, Why: fmt.Sprintf("a turn has the change %q %d times", m.text, seen(m.token))})
		}
		if seen(m.token) == 0 && !told[m.Place] {
			faults = append(faults, prooftest.Fault{Kind: prooftest.Lost, Token: m.token, Place: m.Place, Why: fmt.Sprintf("no turn took up %q, and nobody was told", m.text)})
		}
	}
	return faults
}

// owed says something with a token: the answer is owed in a place.
func (e *errands) owed(at *place, to prooftest.Place, orders string) {
	p := e.plans.message(at, nil, 0)
	p.text += orders
	p.said.Text, p.said.Owes[0].Place = p.text, to
	e.r.crowd.say(p)
}

// busy waits until the model was asked in the session of a place.
func (e *errands) busy(ctx context.Context, at *place) bool {
	return until(ctx, errandLimit, "the model is asked", func() bool { return e.r.model.askedIn(at.Session) > 0 }) == nil
}

// there waits until a place has a session.
func (e *errands) there(ctx context.Context, at *place) bool {
	return until(ctx, errandLimit, "the session is there", func() bool {
		return e.r.w.ask(ctx, http.MethodGet, sessionPath(at), nil, nil, nil) == nil
	}) == nil
}

// aside takes what has no token and is no notice in the chats of errands out of a history: answers to commands, turns that were stopped,
// codes for strangers.
func (e *errands) aside(h *prooftest.History) {
	type message struct {
		at prooftest.Place
		id string
	}
	judged := func(text string) bool {
		return bracketed.MatchString(text) || slices.ContainsFunc(h.Notices, func(n prooftest.Notice) bool { return strings.Contains(text, n.Text) })
	}
	told := map[prooftest.Place]bool{} // there a notice stands for something with a token
	for _, d := range h.Listed {
		told[d.Place] = told[d.Place] || len(d.For) > 0
	}
	named := map[message]bool{}
	for _, s := range h.Shown {
		if bracketed.MatchString(s.Text) || judged(s.Text) && told[s.Place] {
			named[message{s.Place, s.ID}] = true
		}
	}
	h.Shown = slices.DeleteFunc(h.Shown, func(s prooftest.Shown) bool { return e.places[s.Place] && !named[message{s.Place, s.ID}] })
	h.Listed = slices.DeleteFunc(h.Listed, func(d prooftest.Listed) bool {
		return e.places[d.Place] && d.State != "pending" && d.State != "sending" && (!judged(d.Text) || !bracketed.MatchString(d.Text) && len(d.For) == 0)
	})
}

const errandLimit = 10 * time.Second

func sessionPath(at *place) string { return "/api/sessions/" + url.PathEscape(at.Session) }

func (e *errands) api(ctx context.Context, method, path string, in any) {
	_ = until(ctx, errandLimit, "the host takes requests", func() bool { // it may be gone, or not there yet
		err := e.r.w.ask(ctx, method, path, nil, in, nil)
		_, missed := errors.AsType[*url.Error](err)
		return !missed
	})
}

// begun is a group with a session in it.
func (e *errands) begun(ctx context.Context) (*place, bool) {
	at, _ := e.group()
	e.say(at, "hello")
	return at, e.there(ctx, at)
}

// atWork is a group whose session is at work.
func (e *errands) atWork(ctx context.Context, first ...string) (at *place, chat int64, ok bool) {
	at, chat = e.group()
	for _, text := range first {
		e.say(at, text)
	}
	e.want(at, orderSlow)
	return at, chat, e.busy(ctx, at)
}
