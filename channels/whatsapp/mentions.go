package whatsapp

import (
	"strings"

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
				text, again = strings.TrimSpace(rest), true
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
			names[jid.User] = cutRunes(channels.CleanText(g.GetGroupSubject()), longestName)
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
			return cutRunes(channels.CleanText(name), longestName)
		}
	}
	if who.Server == types.DefaultUserServer && who != d.me.pn {
		return "+" + who.User
	}
	return ""
}
