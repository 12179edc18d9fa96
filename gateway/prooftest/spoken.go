package prooftest

import (
	"regexp"
	"slices"
	"strings"
)

// spoken holds the words of what stands in the chats against what the model said. A text with a token is one that the model said with it, in a
// step that may owe it, or that between the words of a frame of the host's. What stood there before an edit, was removed or is a draft, is the
// beginning of such a text. The host's own words have rules of their own.
func (c *check) spoken() {
	if !slices.ContainsFunc(c.h.Asked, func(a Asked) bool { return a.Says != "" }) {
		return // the log does not have it
	}
	var frames []*regexp.Regexp
	for _, f := range c.h.Frames {
		re, err := regexp.Compile(f)
		if err != nil {
			c.fault(BadLog, &debt{}, Place{}, "what the host puts around what the model said is no pattern: "+err.Error())
			continue
		}
		frames = append(frames, re)
	}
	said, there := map[string][]string{}, map[Place][]string{}
	for i := range c.h.Asked {
		a := &c.h.Asked[i]
		text := plain(a.Says)
		for _, t := range distinct(tokens(a.Says)) {
			if d := c.byToken[t]; d != nil && d.saidIn(a.Step) && !slices.Contains(said[t], text) {
				said[t], there[d.Place] = append(said[t], text), append(there[d.Place], text)
			}
		}
	}
	for i := range c.h.Shown {
		s, at := &c.h.Shown[i], c.chats.calls[i]
		if s.Verb == Typing && !slices.ContainsFunc(there[at], func(text string) bool { return begins(s.Text, text) }) && s.Text != "" {
			c.fault(OtherWords, &debt{}, at, "a draft that is the beginning of nothing that the model said: "+tellShown(s))
		}
	}
	for _, l := range c.chats.lines {
		for _, v := range l.versions {
			d, strange := c.of(l, v)
			switch whole := v == l.last() && !l.gone; {
			case whole && len(l.tokens) == 0: // the host's own words
			case strange: // a fault of its own
			case d.Kind == Report && slices.ContainsFunc(frames, func(re *regexp.Regexp) bool { return framed(re, v.Text, said[d.Token]) }):
				if word := ending(frames, v.Text); d.Ends != "" && word != "" && word != d.Ends && !c.givenUp(v.Text) {
					c.fault(OtherWords, d, l.place, "it says that the work ended as "+word+", which ended as "+d.Ends+": "+tellShown(v))
				}
			case slices.Contains(said[d.Token], plain(v.Text)):
			case !whole && !l.gone && begins(v.Text, l.last().Text):
			case !whole && slices.ContainsFunc(there[l.place], func(text string) bool { return begins(v.Text, text) }):
			default:
				why := "its words are not what the model said: "
				switch {
				case whole && d.Kind == Report && c.h.FramesAt != "":
					why = "its words are not what the model said, nor that in a frame of the host's; if a sentence in it is the host's own and new, add it to " + c.h.FramesAt + ": "
				case !whole:
					why = "for a time it had words that are the beginning of nothing that the model said: "
				}
				c.fault(OtherWords, d, l.place, why+tellShown(v)+toldSaid(said[d.Token]))
			}
		}
	}
}

// of is what a version of a line is about: what it names first, or else what the line names in the end. It is strange when it names what is
// not owed in its place.
func (c *check) of(l *line, v *Shown) (d *debt, strange bool) {
	d = &debt{}
	for i, t := range append(tokens(v.Text), l.tokens...) {
		switch x := c.byToken[t]; {
		case x == nil || x.Place != l.place:
			return d, true
		case i == 0:
			d = x
		}
	}
	return d, false
}

// saidIn reports whether the model may say in a step what a debt shows. A report is what the sub-agent said, when its step came to
// nothing.
func (d *debt) saidIn(step string) bool {
	switch d.Kind {
	case Answer:
		return step == "turn"
	case Announce:
		return step == "announce"
	}
	return true
}

// plain is a text as its words are compared: how they are spaced is a matter of each platform.
func plain(text string) string { return strings.Join(strings.Fields(text), " ") }

// begins reports whether a text is the beginning of another one, maybe with dots that say that it continues.
func begins(text, whole string) bool {
	return strings.HasPrefix(plain(whole), plain(strings.TrimRight(text, " …")))
}

// framed reports whether a text is one that was said, between the words of a frame: one of the groups of its pattern.
func framed(frame *regexp.Regexp, text string, said []string) bool {
	for i, inner := range frame.FindStringSubmatch(text) {
		if i > 0 && slices.Contains(said, plain(inner)) {
			return true
		}
	}
	return false
}

// ending is the host's word in a report for how the work ended.
func ending(frames []*regexp.Regexp, text string) string {
	for _, re := range frames {
		if i := re.SubexpIndex("status"); i > 0 {
			if m := re.FindStringSubmatch(text); m != nil {
				return m[i]
			}
		}
	}
	return ""
}

// givenUp reports whether a text has a notice of the host's in it: the work did not end as it was to.
func (c *check) givenUp(text string) bool {
	return slices.ContainsFunc(c.h.Notices, func(n Notice) bool { return strings.Contains(text, n.Text) })
}

// toldSaid tells what was said.
func toldSaid(said []string) string {
	if len(said) == 0 {
		return "; it said nothing"
	}
	var b strings.Builder
	listFirst(&b, "it said", said, clip)
	return b.String()
}
