package inbound

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"parley/channels"
	"parley/router/settings"
	"parley/router/turn"
	"parley/sessions"
)

// earlier keeps what people said last that was not meant for the bot, and may have been sent with one gesture with what they say next: the
// beginning of a text that the platform's app has cut, and what is forwarded ahead of its comment. They are lines of group talk, cut like
// others; when the message comes that is meant for the bot, it brings them along whole, with their files. A restart in between forgets
// that, and they stay lines.
type earlier struct {
	mu sync.Mutex
	m  map[sessions.Key][]parted
}

// parted is a message that may belong to one that comes.
type parted struct {
	m    sessions.Message
	line string    // its text as a context line: one that was changed since then says something else
	came time.Time // by the host's clock
}

const partsTTL = time.Minute // the platform's clock decides what belongs together

// part makes of group talk what a message brings along that it belongs to; nil = it can belong to none.
func (r *Receiver) part(in channels.Inbound, s sessions.Session, text string, owner bool) *sessions.Message {
	cut := r.atLimit(in)
	if !cut && !in.More && !in.Forwarded || in.Sender.Bot {
		return nil
	}
	m := turn.NewRun(in, s.Key, s.Agent, PassedOn(in, text), turn.OfOther(in.Media, channels.SenderName(in.Sender)), owner).Input
	m.Provenance.Cut = cut
	return &m
}

// note keeps a message that may belong to one that comes.
func (e *earlier) note(key sessions.Key, m sessions.Message, line string, now time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	maps.DeleteFunc(e.m, func(_ sessions.Key, list []parted) bool { return now.Sub(list[len(list)-1].came) > partsTTL })
	list := slices.DeleteFunc(e.m[key], func(p parted) bool { return p.m.Provenance.Message == m.Provenance.Message }) // offered again
	if list = append(list, parted{m, line, now}); len(list) > turn.GestureBack {
		list = list[1:]
	}
	if e.m == nil {
		e.m = make(map[sessions.Key][]parted)
	}
	e.m[key] = list
}

// forget is for a message that was changed or deleted: its line says how it is now. Its id says nothing about another chat.
func (e *earlier) forget(at channels.Address, id channels.MessageID) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for key, list := range e.m {
		list = slices.DeleteFunc(list, func(p parted) bool {
			a := p.m.Provenance.Address
			return p.m.Provenance.Message == string(id) && settings.Ref(a) == settings.Ref(at) && a.Chat == at.Chat
		})
		if len(list) == 0 {
			delete(e.m, key)
			continue
		}
		e.m[key] = list
	}
}

// join puts what belongs to the message of a run in front of what it says, as far as no turn was told of it: it is among the lines then.
// It gives the other lines.
func (e *earlier) join(run *sessions.Run, lines []sessions.ContextLine) []sessions.ContextLine {
	e.mu.Lock()
	defer e.mu.Unlock()
	var before, files []sessions.Block
	var brought []sessions.ContextLine
	at := run.Input
	for _, p := range slices.Backward(e.m[run.Key]) {
		if p.m.Provenance.Sender != run.Input.Provenance.Sender {
			continue
		}
		i := slices.IndexFunc(lines, func(l sessions.ContextLine) bool {
			return l.Event == "" && string(l.Message) == p.m.Provenance.Message && l.Text == p.line
		})
		if i < 0 || !turn.Belongs(p.m, at) {
			break
		}
		brought = slices.Insert(brought, 0, lines[i])
		lines, at = slices.Concat(lines[:i], lines[i+1:]), p.m
		words := sessions.TextContent(strings.TrimSpace(p.m.Text()) + "\n")
		before, files = append(words, before...), slices.Concat(p.m.Content[1:], files)
	}
	if len(brought) > 0 {
		own := slices.IndexFunc(run.Input.Content, func(b sessions.Block) bool { return b.Media != nil })
		if own < 0 {
			own = len(run.Input.Content)
		}
		block := sessions.NewContextBlock(brought)
		run.Input.Content = slices.Concat(before, run.Input.Content[:own], files, run.Input.Content[own:])
		x := run.Extras()
		x.Brought = &block
		run.SetExtras(x)
	}
	return lines
}
