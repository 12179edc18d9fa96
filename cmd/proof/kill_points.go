package main

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
)

// points are the fail-points: every kind of transaction, before its commit and after it.
type points struct {
	at      *regexp.Regexp // which ones
	named   bool           // by a person: only these count, and each that is tried has to be reached
	brief   bool           // those that come late in a life are left out: there are too few kills
	all     []string
	often   map[string]int // how often each occurred in one life
	tried   map[string]int
	reached map[string]int // how often it was the place of a kill
	wrong   []string       // that occurred, and should not
}

// triesEach is how many kills for each fail-point a run has to have, on the average, to fail by the name of each that was never one's place.
const triesEach = 2

// judgedFrom is the least --kills of a run of all fail-points that does so: half of its kills are at them.
func judgedFrom() int { return 2*triesEach*len(knownPoints()) - 1 }

// newPoints chooses fail-points by a pattern. kills is how often a host is to be killed at one.
func newPoints(at *regexp.Regexp, kills int) *points {
	p := &points{at: at, often: map[string]int{}, tried: map[string]int{}, reached: map[string]int{}}
	for _, call := range knownPoints() {
		if at.MatchString(call) {
			p.all = append(p.all, call)
		}
	}
	p.brief = kills < triesEach*len(p.all)
	return p
}

// plus is a + behind a letter, which names have.
var plus = regexp.MustCompile(`((?:^|[^\\])[A-Za-z])\+`)

// matching is the pattern that chooses fail-points. The + of a name stands for itself and repeats nothing.
func matching(pattern string) (*regexp.Regexp, error) {
	at, err := regexp.Compile(plus.ReplaceAllString(pattern, `$1\+`))
	if err != nil {
		return nil, fmt.Errorf("--at: %w", err)
	}
	return at, nil
}

// unknown says which fail-points there are when a pattern matches none.
func unknown(pattern string) error {
	var names []string
	for _, k := range kinds {
		names = append(names, k.name)
	}
	return fmt.Errorf("--at %q matches no fail-point. These exist, each with %q behind it:\n  %s", pattern, phases, strings.Join(names, "\n  "))
}

// learn takes in the trace of a life.
func (p *points) learn(trace []string) {
	often := map[string]int{}
	for _, call := range trace {
		name, _, _ := strings.Cut(call, " ")
		if _, no := never[name]; no && !slices.Contains(p.wrong, name) {
			p.wrong = append(p.wrong, name)
		}
		if p.at.MatchString(call) {
			often[call]++
		}
	}
	for call, n := range often {
		if !slices.Contains(p.all, call) {
			p.all = append(p.all, call)
		}
		p.often[call] = max(p.often[call], n)
	}
	slices.Sort(p.all)
}

// mostNth bounds which occurrence a host is killed at: a late one may not come within a life. mostNamed does for one that is waited for.
const (
	mostNth   = 12
	mostNamed = 4
)

// next gives the fail-point that was tried least, before others one that was not reached yet: the first occurrence of it until it was
// reached, any of them afterwards.
func (p *points) next(dice *rand.Rand) (point string, nth int) {
	weight := func(s string) int {
		if p.reached[s] > 0 {
			return 2 * p.tried[s]
		}
		return p.tried[s]
	}
	var least []string
	for _, s := range p.all {
		if p.brief && kindOf(s).slow > 0 && len(p.all) > len(phases) {
			continue
		}
		if len(least) > 0 && weight(s) < weight(least[0]) {
			least = least[:0]
		}
		if len(least) == 0 || weight(s) == weight(least[0]) {
			least = append(least, s)
		}
	}
	point, nth = least[dice.IntN(len(least))], 1
	if p.reached[point] > 0 && kindOf(point).make == nil {
		most := min(mostNth, p.often[point]/4)
		if p.named { // what was cut off before goes through first: not the same send is hit again and again
			most = min(mostNamed, p.often[point])
		}
		nth = 1 + dice.IntN(max(1, most))
	}
	p.tried[point]++
	return point, nth
}

func (p *points) hit(point string) { p.reached[point]++ }

func (p *points) unreached() []string {
	return slices.DeleteFunc(slices.Clone(p.all), func(s string) bool { return p.reached[s] > 0 })
}

// judge says what is wrong with the places of the kills: a kind that never was one, in a run that had kills for all, or that waited for
// it by name; and one that should not be there.
func (p *points) judge() (out []string) {
	left := p.unreached()
	if p.brief {
		left = slices.DeleteFunc(left, func(s string) bool { return !p.named || p.tried[s] == 0 })
	}
	if len(left) > 0 {
		out = append(out, fmt.Sprintf("never the place of a kill: %s", strings.Join(left, ", ")))
	}
	for _, name := range p.wrong {
		out = append(out, fmt.Sprintf("%s occurred, which the table of kinds says it does not (%s)", name, never[name]))
	}
	return out
}
