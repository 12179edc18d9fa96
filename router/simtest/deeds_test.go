package simtest

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"parley/channels"
	"parley/router/routertest"
	"parley/sessions"
)

// gesture makes a message one that was sent with the one before it: a comment with what it is about, or the next part of a text that the
// platform's app has cut.
func (w *world) gesture(before *letter, l *letter) {
	s := w.s
	l.to, l.by, l.at = before.to, before.by, before.at+s.within(gestureApart*9/10)
	if s.chance(250) {
		before.text += pasted
		return
	}
	first, second := before, l
	if s.chance(500) {
		first, second = l, before
	}
	first.forwarded = true
	first.quiet = s.chance(500) && l.to.Type.Several()
	second.quiet = false
}

// pasted makes a text one that the platforms of the simulation may have cut.
var pasted = strings.Repeat(" and so on", (cutFrom+99)/len(" and so on"))

// What the contract says of how messages are taken together, cut and kept waiting.
const (
	gestureApart = time.Second // between a comment and what it was forwarded with
	cutFrom      = 1000        // bytes of a text that an app may have cut
	replyTTL     = time.Hour   // of an answer, where the settings do not say
)

// mostReceived is how long a message of their people is at most.
const mostReceived = cutFrom + 100

// deeds draws what people do besides: they change what they wrote, and the account's owner writes by hand.
func (w *world) deeds(p *plan, busy []haunt) {
	s := w.s
	edit := func(l letter, after time.Duration) letter {
		n := len(p.deeds) + 1
		words := strings.Fields(l.text)
		e := letter{id: channels.MessageID(fmt.Sprintf("d%d", n)), at: l.at + after, to: l.to, by: l.by, event: channels.Edited, target: l.id, text: fmt.Sprintf("%s e%d please", words[0], n)}
		if strings.HasSuffix(l.text, pasted) {
			e.text += pasted
		}
		p.deeds = append(p.deeds, e)
		return e
	}
	for _, l := range p.letters {
		if l.isCommand() || !s.chance(120) {
			continue
		}
		e := edit(l, s.within(pick(s, time.Second, 10*time.Second, 40*time.Second)))
		if s.chance(250) {
			edit(l, e.at-l.at+s.within(20*time.Second))
		}
	}
	last := p.letters[len(p.letters)-1].at
	for range s.upTo(2) {
		n := len(p.deeds) + 1
		p.deeds = append(p.deeds, letter{id: channels.MessageID(fmt.Sprintf("d%d", n)), at: s.within(last + time.Minute), to: pick(s, busy...).to, byHand: true, text: fmt.Sprintf("h%d by hand", n)})
	}
}

// happening gives all that is offered of a chat, by the time at which it is.
func (p *plan) happening(at channels.Address) (out []letter) {
	for _, l := range slices.Concat(p.letters, p.deeds) {
		if l.to == at {
			out = append(out, l)
		}
	}
	slices.SortStableFunc(out, func(a, b letter) int { return int(a.at - b.at) })
	return out
}

// edits gives what the sender of a message changed it to, in the order of the plan.
func (p *plan) edits(id channels.MessageID) (out []letter) {
	for _, d := range p.deeds {
		if d.event == channels.Edited && d.target == id {
			out = append(out, d)
		}
	}
	return out
}

// says reports whether a text is what a message says, as it was written or changed, whole or cut to a line.
func (p *plan) says(l letter, text string) bool {
	text = behindOthers.ReplaceAllString(text, "")
	name := ""
	if l.to.Type.Several() {
		name = l.by + ": "
	}
	for _, v := range append(p.edits(l.id), l) {
		whole := name + v.text
		if text == whole || strings.HasPrefix(text, routertest.Shortened(whole)) && len(whole) > routertest.ShortLength {
			return true
		}
	}
	return false
}

// behindOthers is what the host puts behind a message that is cut to a line, in place of the talk that came along with it.
var behindOthers = regexp.MustCompile(` \[behind \d+ messages? of the group\]$`)

// brought gives what a message brings along of what its sender forwarded ahead of it, and what it says itself.
func (p *plan) brought(m sessions.Message) (ahead []letter, own string) {
	own = m.Text()
	for i := 0; i < len(p.letters); i++ {
		l := p.letters[i]
		line := l.by + ": [forwarded from somebody else]\n" + l.text
		rest, ok := strings.CutPrefix(own, line+"\n")
		if !ok { // all of it was cut to a line
			if rest, ok = strings.CutPrefix(own, routertest.Shortened(line)+" "); !ok { // another one was ahead, too
				rest, ok = strings.CutPrefix(own, routertest.Shortened(line)+"\n")
			}
		}
		if ok && l.quiet {
			ahead, own, i = append(ahead, l), rest, -1
		}
	}
	return ahead, own
}
