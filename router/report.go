package router

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"parley/sessions"
)

var section = regexp.MustCompile(`(?i)^\s*[-*]?\s*(?:\*\*)?(status|result|notes)(?:\*\*)?\s*:\s*(?:\*\*)?\s*(.*)$`)

// report words what a sub-agent did: Status from the runtime, Result and Notes from text, or from the stored result when that is
// empty, and a line of figures (contract N11, N13). child is the run, or a later one in the same session.
func (r *Router) report(c sessions.Chain, child sessions.Run, text string) string {
	parts := map[string][]string{}
	at := ""
	for line := range strings.SplitSeq(text, "\n") {
		if m := section.FindStringSubmatch(line); m != nil && (at == "" || !strings.EqualFold(m[1], "status")) {
			if strings.EqualFold(m[1], "status") {
				continue // the host knows it better
			}
			at, line = strings.ToLower(m[1]), m[2]
		}
		parts[at] = append(parts[at], line)
	}
	join := func(k string) string { return strings.TrimSpace(strings.Join(parts[k], "\n")) }
	result := firstOf(join("result"), join(""), c.Latest, "(not available)")
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
	return fmt.Sprintf("Status: %s\n\nResult:\n%s\n\nNotes:\n%s\n\n%s", statusWord(c.Status), result, strings.Join(notes, "\n"), r.stats(c, child))
}

func statusWord(s sessions.RunStatus) string {
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

func (r *Router) stats(c sessions.Chain, child sessions.Run) string {
	took := time.Duration(c.EndedMs-c.StartedMs) * time.Millisecond
	line := fmt.Sprintf("Stats: runtime %s • tokens %s (in %s / out %s) • sessionKey `%s` • sessionId `%s`", took.Round(time.Second),
		short(c.Usage.Total()), short(c.Usage.Input), short(c.Usage.Output), child.Key, child.Session)
	if r.deps.TranscriptPath != nil {
		line += " • transcript `" + r.deps.TranscriptPath(child.Agent, child.Session) + "`"
	}
	return line
}

// short writes a count as people do: 950, 1.2k, 3.4m.
func short(n int) string {
	switch {
	case n >= 1_000_000:
		return fmt.Sprintf("%.1fm", float64(n)/1e6)
	case n >= 1000:
		return fmt.Sprintf("%.1fk", float64(n)/1e3)
	}
	return fmt.Sprint(n)
}
