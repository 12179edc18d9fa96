package pattern

import (
	"regexp"
	"sync"
)

// Pattern is a regular expression. Its methods are those of regexp.Regexp, may be called by any goroutine, and panic where the
// expression is none.
type Pattern struct{ compiled func() *regexp.Regexp }

// New makes a pattern of a regular expression.
func New(expr string) *Pattern {
	return &Pattern{sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })}
}

// MatchString reports whether s has a match.
func (p *Pattern) MatchString(s string) bool { return p.compiled().MatchString(s) }

// Match reports whether b has a match.
func (p *Pattern) Match(b []byte) bool { return p.compiled().Match(b) }

// FindString returns the first match in s, "" = there is none.
func (p *Pattern) FindString(s string) string { return p.compiled().FindString(s) }

// FindStringIndex returns where the first match begins and ends, nil = there is none.
func (p *Pattern) FindStringIndex(s string) []int { return p.compiled().FindStringIndex(s) }

// FindStringSubmatch returns the first match and its groups, nil = there is none.
func (p *Pattern) FindStringSubmatch(s string) []string { return p.compiled().FindStringSubmatch(s) }

// FindStringSubmatchIndex returns where the first match and its groups begin and end, nil = there is none.
func (p *Pattern) FindStringSubmatchIndex(s string) []int {
	return p.compiled().FindStringSubmatchIndex(s)
}

// FindAllString returns the matches in s, at most n; n < 0 = all.
func (p *Pattern) FindAllString(s string, n int) []string { return p.compiled().FindAllString(s, n) }

// FindAllStringSubmatch returns the matches in s and their groups, at most n; n < 0 = all.
func (p *Pattern) FindAllStringSubmatch(s string, n int) [][]string {
	return p.compiled().FindAllStringSubmatch(s, n)
}

// FindAllStringIndex returns where the matches in s begin and end, at most n; n < 0 = all.
func (p *Pattern) FindAllStringIndex(s string, n int) [][]int {
	return p.compiled().FindAllStringIndex(s, n)
}

// ReplaceAll gives a copy of b with its matches replaced.
func (p *Pattern) ReplaceAll(b, by []byte) []byte { return p.compiled().ReplaceAll(b, by) }

// ReplaceAllString gives s with its matches replaced.
func (p *Pattern) ReplaceAllString(s, by string) string {
	return p.compiled().ReplaceAllString(s, by)
}

// Find returns the first match in b, nil = there is none.
func (p *Pattern) Find(b []byte) []byte { return p.compiled().Find(b) }

// FindIndex returns where the first match in b begins and ends, nil = there is none.
func (p *Pattern) FindIndex(b []byte) []int { return p.compiled().FindIndex(b) }

// FindAllSubmatch returns the matches in b and their groups, at most n; n < 0 = all.
func (p *Pattern) FindAllSubmatch(b []byte, n int) [][][]byte {
	return p.compiled().FindAllSubmatch(b, n)
}

// ReplaceAllStringFunc gives s with each of its matches replaced by what by returns for it.
func (p *Pattern) ReplaceAllStringFunc(s string, by func(string) string) string {
	return p.compiled().ReplaceAllStringFunc(s, by)
}

// Split gives the texts between the matches in s, at most n; n < 0 = all.
func (p *Pattern) Split(s string, n int) []string { return p.compiled().Split(s, n) }
