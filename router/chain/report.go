package chain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"parley/channels"
	"parley/channels/pattern"
	"parley/sessions"
)

// What opens a section of a model's report, and what only the host may say: a status in its words, and the figures.
var (
	section    = pattern.New(`(?i)^\s*(?:#{1,6}|[-*])?\s*(?:\*\*)?(result|notes)(?:\*\*)?\s*:\s*(?:\*\*)?\s*(.*)$`)
	heading    = pattern.New(`(?i)^\s*#{1,6}\s*(?:\*\*)?(result|notes)(?:\*\*)?[\s#]*()$`)
	hosts      = pattern.New(`(?i)^[^\pL\pN]*(?:\d+[.)])?[^\pL\pN]*(?:stats\s*[:：]|status\s*[:：][^\pL\pN]*(?:success|error|timeout|unknown)[^\pL\pN]*$)`)
	unseen     = pattern.New("[*_`~\\p{Cf}]") // what makes a line look otherwise, but read the same
	lineBreaks = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\v", "\n", "\f", "\n", "\u0085", "\n", "\u2028", "\n", "\u2029", "\n")
)

// withoutHosts drops the lines of a model's text that read like the host's own (contract N11).
func withoutHosts(text string) []string {
	return slices.DeleteFunc(strings.Split(lineBreaks.Replace(text), "\n"), func(line string) bool {
		return hosts.MatchString(unseen.ReplaceAllString(line, ""))
	})
}

// Report words what a sub-agent did: Status from the runtime, Result and Notes from text, or from the stored result when that is
// empty, and a line of figures (contract N11, N13). child is the run, or a later one in the same session, whose file is transcript.
func Report(c sessions.Chain, child sessions.Run, transcript, text string) string {
	parts := map[string][]string{}
	at := ""
	for _, line := range withoutHosts(text) {
		m := section.FindStringSubmatch(line)
		if m == nil {
			m = heading.FindStringSubmatch(line)
		}
		if m != nil {
			at, line = strings.ToLower(m[1]), m[2]
		}
		parts[at] = append(parts[at], line)
	}
	join := func(k string) string { return strings.TrimSpace(strings.Join(parts[k], "\n")) }
	latest := strings.TrimSpace(strings.Join(withoutHosts(c.Latest), "\n"))
	result := cmp.Or(join("result"), join(""), latest, "(not available)")
	var notes []string
	if n := join("notes"); n != "" {
		notes = append(notes, n)
	}
	if c.Error != "" {
		notes = append(notes, "- Error: "+c.Error)
	}
	if len(notes) == 0 {
		notes = []string{"- (none)"}
	}
	return fmt.Sprintf("Status: %s\n\nResult:\n%s\n\nNotes:\n%s\n\n%s", StatusWord(c.Status), result, strings.Join(notes, "\n"), stats(c, child, transcript))
}

// StatusWord returns the word for a sub-agent's status that reports and lists show.
func StatusWord(s sessions.RunStatus) string {
	switch s {
	case sessions.Done:
		return "success"
	case sessions.Failed, sessions.Stopped:
		return "error"
	case sessions.TimedOut:
		return "timeout"
	}
	return "unknown"
}

// The bounds of a sub-agent's name.
const (
	maxNameWords = 6
	maxName      = 60 // characters
)

// nameOf is what people tell a sub-agent from others by: its label, or the first words of its task (contract N18).
func nameOf(c sessions.Chain) string {
	if c.Label != "" {
		return channels.Code(c.Label, maxName)
	}
	words := strings.Fields(c.Request)
	if c.Request == refusedRequest || len(words) == 0 {
		return "sub-agent"
	}
	name := strings.Join(words[:min(len(words), maxNameWords)], " ")
	if len(words) > maxNameWords {
		name += " …"
	}
	return channels.Code(name, maxName)
}

func stats(c sessions.Chain, child sessions.Run, transcript string) string {
	took := time.Duration(c.EndedMs-c.StartedMs) * time.Millisecond
	line := fmt.Sprintf("Stats: %s • runtime %s • tokens %s (in %s / out %s) • sessionKey `%s` • sessionId `%s`", nameOf(c), took.Round(time.Second),
		sessions.ShortCount(c.Usage.Total()), sessions.ShortCount(c.Usage.Input), sessions.ShortCount(c.Usage.Output), child.Key, child.Session)
	if transcript != "" {
		line += " • transcript `" + transcript + "`"
	}
	return line
}
