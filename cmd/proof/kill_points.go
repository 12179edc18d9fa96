package main

import (
	"math/rand/v2"
	"regexp"
	"slices"
)

// points are the fail-points: every operation of the store that occurs, before its commit and after it.
type points struct {
	at      *regexp.Regexp // which ones
	all     []string
	often   map[string]int // how often each occurred in one life
	tried   map[string]int
	reached map[string]bool
}

// newPoints chooses fail-points by a pattern.
func newPoints(at *regexp.Regexp) *points {
	return &points{at: at, often: map[string]int{}, tried: map[string]int{}, reached: map[string]bool{}}
}

// learn takes in the trace of a life.
func (p *points) learn(trace []string) {
	often := map[string]int{}
	for _, call := range trace {
		if p.at.MatchString(call) {
			often[call]++
		}
	}
	for call, n := range often {
		if p.often[call] == 0 {
			p.all = append(p.all, call)
		}
		p.often[call] = max(p.often[call], n)
	}
	slices.Sort(p.all)
}

// mostNth bounds which occurrence a host is killed at: a late one may not come within a life.
const mostNth = 12

// next gives the fail-point that was tried least: the first occurrence of it until it was reached, any of them afterwards. rare is one
// that the usual messages did not lead to.
func (p *points) next(dice *rand.Rand) (point string, nth int, rare bool) {
	point = slices.MinFunc(p.all, func(a, b string) int { return p.tried[a] - p.tried[b] })
	nth = 1
	if p.tried[point] > 0 && p.reached[point] {
		nth = 1 + dice.IntN(max(1, min(mostNth, p.often[point]/4)))
	}
	rare = p.tried[point] > 0 && !p.reached[point]
	p.tried[point]++
	return point, nth, rare
}

func (p *points) hit(point string) { p.reached[point] = true }

func (p *points) unreached() []string {
	return slices.DeleteFunc(slices.Clone(p.all), func(s string) bool { return p.reached[s] })
}
