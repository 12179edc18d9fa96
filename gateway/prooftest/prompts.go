package prooftest

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// prompts holds what the model was shown against what was said. A message of a person stands in a call once, in its own words and under the name
// of who wrote it; the one that a turn answers stands in its first call. A call in a session of Lasting is shown nothing with a token of another place; one of a sub-agent nothing of another message. A
// turn in such a session is shown every answer that was given there before, unless the host says that it leaves older messages away; and as the
// words of the model nothing but what it said there, or the host lists for the place.
func (c *check) prompts() {
	var heads []*regexp.Regexp
	for _, h := range c.h.Heads {
		re, err := regexp.Compile("(?:" + h + ")$")
		if err != nil {
			c.fault(BadLog, &debt{}, Place{}, "what stands above a message in a prompt is no pattern: "+err.Error())
			continue
		}
		heads = append(heads, re)
	}
	known, given := c.voices(), map[string][]answer{}
	for i := range c.h.Asked {
		a := &c.h.Asked[i]
		if len(a.Prompt) == 0 {
			continue
		}
		c.heard(a, heads)
		c.secrets(a)
		place, lasting := c.h.Lasting[a.Session]
		if !lasting {
			continue
		}
		c.kept(a, place, known)
		if a.Step == "turn" {
			c.remembered(a, place, given[a.Session])
			for _, t := range distinct(tokens(a.Says)) {
				if d := c.byToken[t]; d != nil && d.Kind == Answer && d.Place == place && len(d.sends) > 0 {
					given[a.Session] = append(given[a.Session], answer{d, a})
				}
			}
		}
	}
}

// answer is one that the host lists, and the call that said it.
type answer struct {
	*debt
	by *Asked
}

// promptText is a text as it stands in a prompt: the marks of code are not compared.
func promptText(text string) string { return plain(strings.ReplaceAll(text, "`", "")) }

// voices are the texts that may stand as the model's own, by session.
func (c *check) voices() map[string]map[string]bool {
	at, known := map[Place][]string{}, map[string]map[string]bool{}
	for s, p := range c.h.Lasting {
		at[p], known[s] = append(at[p], s), map[string]bool{"": true}
	}
	for i := range c.h.Asked {
		if k := known[c.h.Asked[i].Session]; k != nil {
			k[promptText(c.h.Asked[i].Says)] = true
		}
	}
	for i := range c.h.Listed {
		for _, s := range at[c.h.Listed[i].Place] {
			known[s][promptText(c.h.Listed[i].Text)] = true
		}
	}
	return known
}

// misled is a fault of a prompt.
func (c *check) misled(a *Asked, d *debt, why string) {
	c.fault(Prompted, d, c.h.Lasting[a.Session], fmt.Sprintf("%s, in the %s of %s for [%s] that process %d asked for at %s", why, a.Step, a.Session, a.Token, a.Life, clock(a.At)))
}

// heard looks at what people said.
func (c *check) heard(a *Asked, heads []*regexp.Regexp) {
	seen := map[string]bool{}
	for _, m := range a.Prompt {
		if m.Role != "user" {
			continue
		}
		for _, t := range tokens(m.Text) {
			d := c.byToken[t]
			if d == nil || d.Kind != Answer {
				continue
			}
			if seen[t] {
				c.misled(a, d, "the model is shown a message twice")
			}
			seen[t] = true
			words := d.said.Text[max(strings.IndexByte(d.said.Text, '['), 0):] // whom it names before that is left out
			at := strings.Index(m.Text, words)
			if at < 0 || len(heads) > 0 && !slices.ContainsFunc(heads, func(re *regexp.Regexp) bool { return re.MatchString(m.Text[:at]) }) {
				c.misled(a, d, "the model is shown a message in other words, or as somebody else's: "+clip(m.Text))
			}
		}
	}
	if d := c.byToken[a.Token]; d != nil && d.Kind == Answer && a.Step == "turn" && a.Call == 0 && !seen[a.Token] {
		c.misled(a, d, "the model is not shown the message that it answers")
	}
}

// secrets finds what is of another chat.
func (c *check) secrets(a *Asked) {
	of, about := c.byToken[a.Token], slices.Clone(a.System)
	place, lasting := c.h.Lasting[a.Session]
	if !lasting && (of == nil || a.Step != "child" && a.Step != "report") {
		return
	}
	for _, m := range a.Prompt {
		about = append(about, tokens(m.Text)...)
	}
	for _, t := range distinct(about) {
		d := c.byToken[t]
		if d == nil || lasting && (d.Place == place || d.said.Place == place) || !lasting && d.said == of.said {
			continue
		}
		c.misled(a, d, "the model is shown what is of another chat")
	}
}

// remembered finds answers that are missing: those of messages that were said before the one that is answered.
func (c *check) remembered(a *Asked, place Place, given []answer) {
	of := c.byToken[a.Token]
	if of == nil || of.Kind != Answer || of.Place != place {
		return
	}
	var all strings.Builder
	for _, m := range a.Prompt {
		all.WriteString(m.Text + "\n")
	}
	text := all.String()
	if c.h.Shortened != "" && strings.Contains(text, c.h.Shortened) {
		return
	}
	for _, g := range given {
		if g.rank < of.rank && !strings.Contains(text, g.by.Says) {
			c.misled(a, g.debt, "the model is not shown an answer that it gave before")
		}
	}
}

// kept finds words that are shown to the model as its own and are not. The texts that follow one another stand in one message.
func (c *check) kept(a *Asked, place Place, known map[string]map[string]bool) {
	voices := known[a.Session]
	for _, m := range a.Prompt {
		if m.Role != "assistant" || composed(strings.Split(m.Text, "\n\n"), voices) {
			continue
		}
		d := &debt{}
		for _, t := range tokens(m.Text) {
			if x := c.byToken[t]; x != nil && x.Place == place {
				d = x
			}
		}
		c.misled(a, d, "the model is shown as its own words what it did not say there: "+clip(m.Text))
	}
}

// composed reports whether paragraphs are texts that are known, one behind the other.
func composed(paragraphs []string, known map[string]bool) bool {
	reached := make([]bool, len(paragraphs)+1)
	reached[0] = true
	for i := range paragraphs {
		for j := i + 1; reached[i] && j <= len(paragraphs); j++ {
			reached[j] = reached[j] || known[promptText(strings.Join(paragraphs[i:j], "\n\n"))]
		}
	}
	return reached[len(paragraphs)]
}
