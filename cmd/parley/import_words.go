package main

import (
	"fmt"
	"strings"

	"parley/channels"
	"parley/gateway/openclaw/report"
)

// Bounds of a report without --verbose.
const (
	maxGroups    = 20  // reasons in a section
	maxNames     = 5   // things that share a reason
	maxNamesLine = 150 // bytes of such things in a line; one is always named
)

// importWords prints the report, the most urgent first, then the counts, and what to do next. Once something is written, the long sections are
// counted only: the dry run showed them.
func importWords(p *page, c importOpenClawCmd, out imported) {
	var counted []string
	for _, s := range out.Sections() {
		switch n := len(s.Items); {
		case n == 0 && s.Must:
			p.printf("%s: nothing\n", s.Title)
		case n == 0:
		case s.Quiet && !c.Verbose, !s.Must && !out.DryRun && !c.Verbose:
			counted = append(counted, fmt.Sprintf("%s: %d", strings.ToLower(s.Title[:1])+s.Title[1:], n))
		default:
			p.printf("%s (%d)\n", s.Title, n)
			sectionWords(p, s.Items, c.Verbose)
		}
	}
	p.printf("\n%s with %s.", channels.Plural(out.Sessions, "session"), channels.Plural(out.Messages, "message"))
	if len(counted) > 0 {
		p.printf(" Lines %s (--verbose prints them).", strings.Join(counted, "; "))
	}
	p.printf("\n")
	if out.DryRun {
		dryWords(p, c, out)
		return
	}
	if !c.ConfigOnly {
		if out.Notes+out.Jobs > 0 {
			p.printf("Notes added to the memory: %d. Jobs added: %d.\n", out.Notes, out.Jobs)
		}
		p.printf("Sessions: %d new, %d with new messages, %d there already. Messages added: %d.\n", out.New, out.Grown, out.Same, out.Added)
	}
	if len(out.Skipped) > 0 {
		p.printf("Left as they were, because parley has other messages in them: %s\n", fewNames(out.Skipped))
	}
	if len(out.Written) > 0 {
		p.printf("Written: %s\n", strings.Join(out.Written, ", "))
	}
	if len(out.Kept) > 0 {
		p.printf("Kept: %s\n", strings.Join(out.Kept, ", "))
	}
	if out.unread == "" {
		nextWords(p, c, out)
	}
}

// sectionWords prints the lines of a section. Without verbose those of one reason stand together, and long lists are cut.
func sectionWords(p *page, items []report.Item, verbose bool) {
	groups := report.Groups(items)
	for n, g := range groups {
		switch {
		case verbose:
			for _, name := range g.What {
				p.printf("  %s\n", name)
			}
		case n == maxGroups:
			rest := 0
			for _, g := range groups[n:] {
				rest += len(g.What)
			}
			p.printf("  … and %d more (--verbose prints them)\n", rest)
			return
		default:
			p.printf("  %s\n", fewNames(g.What))
		}
		if g.Why != "" {
			p.printf("      %s\n", g.Why)
		}
	}
}

// fewNames lists things, and counts those behind the first few.
func fewNames(names []string) string {
	line := names[0]
	for n, name := range names[1:] {
		if n+1 == maxNames || len(line)+len(name) > maxNamesLine {
			return fmt.Sprintf("%s and %d more", line, len(names)-n-1)
		}
		line += ", " + name
	}
	return line
}

// dryWords says what a dry run did not do, and the command that does it.
func dryWords(p *page, c importOpenClawCmd, out imported) {
	p.printf("Dry run: nothing was written.\n")
	if out.unread != "" {
		return // the error says what to do
	}
	p.note("\nStop OpenClaw first: openclaw gateway stop\n  One bot token works in one program only: Telegram answers 409 to the second. Files that change while they are copied may be incomplete.\n")
	if c.SessionsOnly {
		p.note("Then: %s --write\n  writes the sessions to %s.\n", c.line(out.program), out.State)
		return
	}
	p.note("Then: %s --use\n", c.line(out.program))
	if !c.ConfigOnly {
		p.note("  writes the sessions to %s.\n", out.State)
	}
	if out.Config != "" {
		p.note("  makes the new configuration the one in force, and keeps the old file. With --write it goes to %s instead.\n", out.Config)
	}
}

// line is the command line so far, without what decides whether something is written.
func (c importOpenClawCmd) line(program string) string {
	words := program + " import openclaw " + quoted(c.Dir)
	if c.SessionsOnly {
		words += " --sessions-only"
	}
	if c.ConfigOnly {
		words += " --config-only"
	}
	return words
}

// nextWords says what is left to do after the files were written.
func nextWords(p *page, c importOpenClawCmd, out imported) {
	p.note("\nNext:\n")
	if len(out.Needs) > 0 {
		var names []string
		for _, name := range out.Needs {
			names = append(names, out.variable(name))
		}
		p.note("  Set in %s: %s\n", envBeside(out.Config), strings.Join(names, ", "))
	}
	name := out.started()
	p.note("  %s check\n  %s doctor\n  %s\n", name, name, name)
	if out.Config != "" && !c.Use {
		p.note("To make this configuration the one in force: %s --use\n", importOpenClawCmd{Dir: c.Dir, ConfigOnly: true}.line(out.program))
	}
}

// started is the program with the configuration that the import wrote, if it must be named.
func (out imported) started() string {
	if out.Config == "" || out.DryRun {
		return out.program
	}
	if out.InForce {
		return "parley"
	}
	return "parley --config " + quoted(out.Config)
}
