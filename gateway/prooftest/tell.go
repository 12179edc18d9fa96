package prooftest

import (
	"fmt"
	"sort"
	"strings"
	"time"
	"unicode/utf8"
)

// maxTold is how many things of a sort a fault names.
const maxTold = 5

// clock is how times are told: the day is that of the run.
func clock(t time.Time) string { return t.Format("15:04:05.000") }

// clip quotes a text and shortens a long one.
func clip(text string) string {
	const maxShown = 160
	if utf8.RuneCountInString(text) > maxShown {
		text = string([]rune(text)[:maxShown]) + "…"
	}
	return fmt.Sprintf("%q", text)
}

// fault adds one, with all that was seen of what it is about.
func (c *check) fault(k FaultKind, d *debt, at Place, why string) {
	why = strings.TrimSuffix(why, "; ")
	if d.said != nil {
		why += c.story(d)
	}
	c.v.Faults = append(c.v.Faults, Fault{Kind: k, Token: d.Token, Place: at, Why: why})
}

// story tells what was seen of a debt.
func (c *check) story(d *debt) string {
	var b strings.Builder
	fmt.Fprintf(&b, "; said %s in %s: %s; owed: the %s in %s", clock(d.said.At), d.said.Place, clip(d.said.Text), d.Kind, d.Place)
	listFirst(&b, "shown", d.lines, tell)
	listFirst(&b, "listed", d.sends, tellListed)
	listFirst(&b, "skipped", c.skips[d.said.Token], func(s *Skipped) string { return fmt.Sprintf("%s: %q", s.Place, s.Reason) })
	listFirst(&b, "asked", c.asks[d.Token], func(a *Asked) string {
		return fmt.Sprintf("%s %s of %s, call %d, process %d", clock(a.At), a.Step, a.Session, a.Call, a.Life)
	})
	since := sort.Search(len(c.h.Kills), func(i int) bool { return !c.h.Kills[i].At.Before(d.said.At) })
	to := sort.Search(len(c.h.Kills), func(i int) bool { return c.h.Kills[i].At.After(d.said.At.Add(time.Minute)) })
	kills := c.h.Kills[since:max(since, to)]
	listFirst(&b, "killed within a minute", kills, func(k Kill) string { return fmt.Sprintf("%s process %d at %s", clock(k.At), k.Life, k.Where) })
	return b.String()
}

// listFirst tells the first few things of a sort.
func listFirst[T any](b *strings.Builder, what string, things []T, tell func(T) string) {
	for i, x := range things {
		switch {
		case i == maxTold:
			fmt.Fprintf(b, ", and %d more", len(things)-i)
			return
		case i == 0:
			fmt.Fprintf(b, "; %s: ", what)
		default:
			b.WriteString(", ")
		}
		b.WriteString(tell(x))
	}
}

// tellShown tells one call.
func tellShown(s *Shown) string {
	text := fmt.Sprintf("%s %s", s.Verb, clock(s.At))
	if s.ID != "" {
		text += " id " + s.ID
	}
	if s.Key != "" {
		text += " key " + s.Key
	}
	if s.Text != "" {
		text += " " + clip(s.Text)
	}
	return text
}

// tell tells a line by its first call and its last text.
func tell(l *line) string {
	text := tellShown(l.versions[0])
	if n := len(l.versions); n > 1 {
		text += fmt.Sprintf(", edited %d times, last %s", n-1, tellShown(l.last()))
	}
	if l.gone {
		text += ", removed"
	}
	return text
}

// tellListed tells a delivery.
func tellListed(s *Listed) string {
	text := fmt.Sprintf("%s %s %s for %s", s.ID, s.Kind, s.State, s.Place)
	if s.Repeat {
		text += " marked as possibly repeated"
	}
	if len(s.Receipts) > 0 {
		text += " receipts " + strings.Join(s.Receipts, " ")
	}
	if s.Reason != "" {
		text += fmt.Sprintf(" because %q", s.Reason)
	}
	return text + " " + clip(s.Text)
}
