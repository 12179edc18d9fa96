package whatsapp

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"

	"parley/channels"
)

// A mention is an @ with the digits of a person's number or LID in the text, and the same address in a list beside it. The apps show the
// person's name in its place.

// mentions reads who is mentioned, and writes names in the place of digits.
func (d *decoder) mentions(in *channels.Inbound, c *waE2E.ContextInfo) {
	own := false
	for _, text := range c.GetMentionedJID() {
		jid, err := types.ParseJID(text)
		switch {
		case err != nil || jid.User == "":
		case d.me.is(jid):
			own = true
		default:
			in.MentionsOthers = true
		}
	}
	if own {
		in.Mentioned = true
		if rest := withoutOwn(in.Text, "@"+d.me.pn.User, "@"+d.me.lid.User); rest != in.Text {
			in.Addressed = d.named(rest, c)
		}
	}
	in.Text = d.named(in.Text, c)
}

// withoutOwn removes this account's mentions at the beginning and at the end. Inside a sentence one belongs to what is said.
func withoutOwn(text string, own ...string) string {
	for again := true; again; {
		again = false
		text = strings.TrimSpace(text)
		for _, mention := range own {
			if mention == "@" {
				continue
			}
			if rest, ok := strings.CutPrefix(text, mention); ok && (rest == "" || !isDigit(rest[0])) {
				first, more, _ := strings.Cut(rest, "\n")
				text, again = strings.TrimSpace(channels.Typed(strings.TrimSpace(first))+"\n"+more), true // it begins a line now
			}
			if rest, ok := strings.CutSuffix(text, mention); ok && (rest == "" || strings.TrimRight(rest, " \n\t") != rest) {
				text, again = strings.TrimSpace(rest), true
			}
		}
	}
	return text
}

func isDigit(b byte) bool { return b >= '0' && b <= '9' }

// named writes the names of the people and groups that are mentioned in the place of their digits, else the phone number.
func (d *decoder) named(text string, c *waE2E.ContextInfo) string {
	if !strings.Contains(text, "@") || len(c.GetMentionedJID()) == 0 && len(c.GetGroupMentions()) == 0 {
		return text
	}
	names := map[string]string{}
	for _, m := range c.GetMentionedJID()[:min(len(c.GetMentionedJID()), mostMentions)] {
		if jid, err := types.ParseJID(m); err == nil && isNumber(jid.User) {
			names[jid.User] = d.mentioned(jid)
		}
	}
	for _, g := range c.GetGroupMentions()[:min(len(c.GetGroupMentions()), mostMentions)] {
		if jid, err := types.ParseJID(g.GetGroupJID()); err == nil && isNumber(jid.User) {
			names[jid.User] = cutRunes(channels.OneLine(g.GetGroupSubject()), longestName)
			text = strings.ReplaceAll(text, "@"+jid.String(), "@"+jid.User)
		}
	}
	var b strings.Builder
	for {
		before, after, found := strings.Cut(text, "@")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		b.WriteByte('@')
		n := 0
		for n < len(after) && isDigit(after[n]) {
			n++
		}
		if name := names[after[:n]]; name != "" {
			b.WriteString(name)
		} else {
			b.WriteString(after[:n])
		}
		text = after[n:]
	}
}

const (
	mostMentions = 1024 // people of a group
	longestName  = 64   // runes of a name in a text
)

// mentioned is what a person is called in a text; empty = nothing is known but the digits that are there.
func (d *decoder) mentioned(jid types.JID) string {
	jid = plain(jid)
	who := d.canonical(jid, types.EmptyJID)
	for _, address := range []types.JID{who, jid} {
		if name := d.names.person(address); name != "" {
			return cutRunes(channels.OneLine(name), longestName)
		}
	}
	if who.Server == types.DefaultUserServer && who != d.me.pn {
		return "+" + who.User
	}
	return ""
}

// person is somebody who can be mentioned in a chat.
type person struct {
	jid     types.JID // as the chat's members are addressed
	strange bool      // two people have the name
}

// mention finds the people of a chat that a text names with an @, by number or by name. It gives the text as the apps want it, with digits
// in the place of names, and the people's addresses. Code is left alone, and so is whatever names nobody, or two people.
func (o *outbox) mention(ctx context.Context, to types.JID, text string) (string, []string) {
	if !strings.Contains(text, "@") {
		return text, nil
	}
	byDigits, byName := o.mentionable(ctx, to)
	if len(byDigits) == 0 {
		return text, nil
	}
	var b strings.Builder
	var jids []string
	code, last := false, rune(0)
	for rest := text; rest != ""; {
		c, size := utf8.DecodeRuneInString(rest)
		if c == '`' {
			code = !code
		}
		if c == '@' && !code && !joins(last) {
			if who, n := whose(rest[1:], byDigits, byName); who != nil {
				jid := who.jid.String()
				if !slices.Contains(jids, jid) {
					jids = append(jids, jid)
				}
				b.WriteString("@" + who.jid.User)
				rest, last = rest[1+n:], '0'
				continue
			}
		}
		b.WriteString(rest[:size])
		rest, last = rest[size:], c
	}
	return b.String(), jids
}

// joins reports whether an @ behind a character is part of something else, an e-mail address most often.
func joins(c rune) bool {
	return unicode.IsLetter(c) || unicode.IsDigit(c) || strings.ContainsRune("._-+@/", c)
}

// whose finds whose digits or name a text begins with, and how long that is. Of several names the longest counts.
func whose(text string, byDigits, byName map[string]*person) (*person, int) {
	plus := len(text) - len(strings.TrimPrefix(text, "+"))
	n := plus
	for n < len(text) && isDigit(text[n]) {
		n++
	}
	if who := byDigits[text[plus:n]]; who != nil {
		return who, n
	}
	var found *person
	longest := 0
	for name, who := range byName {
		if len(name) <= longest || len(name) > len(text) || !strings.EqualFold(text[:len(name)], name) {
			continue
		}
		if next, _ := utf8.DecodeRuneInString(text[len(name):]); len(name) < len(text) && (unicode.IsLetter(next) || unicode.IsDigit(next)) {
			continue
		}
		found, longest = who, len(name)
	}
	if found == nil || found.strange {
		return nil, 0
	}
	return found, longest
}

// mentionable gives the people of a chat besides this account, by their digits and by their names: the whole one and the first one.
func (o *outbox) mentionable(ctx context.Context, to types.JID) (byDigits, byName map[string]*person) {
	byDigits, byName = map[string]*person{}, map[string]*person{}
	people := []types.GroupParticipant{{JID: o.address(ctx, to), PhoneNumber: to}}
	if to.Server == types.GroupServer {
		people = o.groups.members(ctx, to)
	}
	names := keyFileNames{ctx: ctx, device: o.keys.device, groups: o.groups}
	for _, p := range people[:min(len(people), mostMentions)] {
		who := &person{jid: plain(p.JID)}
		if o.me.is(who.jid) || who.jid.User == "" {
			continue
		}
		number := plain(p.PhoneNumber)
		if number.Server != types.DefaultUserServer {
			number = plain(names.number(plain(p.LID)))
		}
		name := ""
		for _, jid := range []types.JID{who.jid, number, plain(p.LID)} {
			if jid.User != "" {
				byDigits[jid.User] = who
				name = cmp.Or(name, names.person(jid))
			}
		}
		short, _, _ := strings.Cut(name, " ")
		for _, n := range slices.Compact([]string{name, short}) {
			if n = channels.CleanName(n); n == "" {
			} else if twin := byName[n]; twin != nil {
				byName[n] = &person{strange: true}
			} else {
				byName[n] = who
			}
		}
	}
	return byDigits, byName
}
