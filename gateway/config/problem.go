package config

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Severity says how bad a Problem is.
type Severity string

// The severities.
const (
	SevereError Severity = "error"   // the file cannot be used
	Warning     Severity = "warning" // it can, but it probably does not say what was meant
)

// Problem is one thing that is wrong with a configuration file. It never contains a secret.
type Problem struct {
	File     string   `json:"file"`
	Line     int      `json:"line,omitempty"` // from 1; 0 = the file as a whole
	Key      string   `json:"key,omitempty"`  // path of the key, for example channels.telegram.token; "" = no particular one
	Text     string   `json:"text"`           // what is wrong
	Hint     string   `json:"hint,omitempty"` // what to do, "" = obvious
	Severity Severity `json:"severity"`
}

// String gives the problem as one line: `file:line: key: what is wrong (what to do)`.
func (p Problem) String() string {
	var b strings.Builder
	b.WriteString(p.File)
	if p.Line > 0 {
		fmt.Fprintf(&b, ":%d", p.Line)
	}
	b.WriteString(": ")
	if p.Key != "" {
		b.WriteString(p.Key + ": ")
	}
	if p.Severity == Warning {
		b.WriteString("warning: ")
	}
	b.WriteString(p.Text)
	if p.Hint != "" {
		b.WriteString(" (" + p.Hint + ")")
	}
	return b.String()
}

// Invalid is the error of a file that cannot be used. It holds every problem, warnings too.
type Invalid struct {
	Path     string
	Problems []Problem
	cause    error // what the operating system said, when that was the reason
}

// Error gives one line per problem.
func (e *Invalid) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// Unwrap gives the operating system's error, if that was the reason: errors.Is(err, fs.ErrNotExist) works.
func (e *Invalid) Unwrap() error { return e.cause }

// ordered sorts problems by line and drops repeated ones: a channel's section is read once per account.
func ordered(ps []Problem) []Problem {
	slices.SortStableFunc(ps, func(a, b Problem) int { return a.Line - b.Line })
	return slices.Compact(ps)
}

func failed(ps []Problem) bool {
	return slices.ContainsFunc(ps, func(p Problem) bool { return p.Severity == SevereError })
}

// Closest gives the name that was probably meant: the same but for case, or a few typing mistakes away.
func Closest(name string, known []string) (string, bool) { return closest(name, known) }

// closest gives the name that was probably meant: the same but for case, or a few typing mistakes away.
func closest(name string, known []string) (string, bool) {
	best, found := 1+min(3, utf8.RuneCountInString(name)/3), ""
	for _, k := range known {
		d := distance(strings.ToLower(name), strings.ToLower(k))
		if d < best {
			best, found = d, k
		}
	}
	return found, found != ""
}

// distance counts the typing mistakes between two words: a letter too many, missing, wrong, or two swapped.
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	if len(x) > 64 || len(y) > 64 {
		return max(len(x), len(y))
	}
	rows := make([][]int, len(x)+1)
	for i := range rows {
		rows[i] = make([]int, len(y)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(x); i++ {
		for j := 1; j <= len(y); j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			d := min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+cost)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				d = min(d, rows[i-2][j-2]+1)
			}
			rows[i][j] = d
		}
	}
	return rows[len(x)][len(y)]
}

// suggest words a hint: the likely name first, else all of them when they are few.
func suggest(name string, known []string) string {
	if k, ok := closest(name, known); ok {
		return fmt.Sprintf("did you mean %q?", k)
	}
	if len(known) == 0 {
		return ""
	}
	return "known keys: " + strings.Join(known, ", ")
}

// presentable reports whether a text from the file may be repeated in a problem. Whatever could be a secret that somebody wrote
// in the wrong place (long, or with signs that tokens and addresses have) may not.
func presentable(s string) bool {
	if s == "" || len(s) > 24 {
		return false
	}
	for _, r := range s {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', strings.ContainsRune(" _.:-+*@", r):
		default:
			return false
		}
	}
	return true
}
