package main

import (
	"math/rand/v2"
	"slices"
)

// points are the fail-points: every operation of the store that occurs, before its commit and after it.
type points struct {
	all     []string
	often   map[string]int // how often each occurred in the run that they were learned from
	tried   map[string]int
	reached map[string]bool
}

func newPoints(trace []string) *points {
	p := &points{often: map[string]int{}, tried: map[string]int{}, reached: map[string]bool{}}
	for _, call := range trace {
		if p.often[call]++; p.often[call] == 1 {
			p.all = append(p.all, call)
		}
	}
	slices.Sort(p.all)
	return p
}

// mostNth bounds which occurrence a host is killed at: a late one may not come within a life.
const mostNth = 12

// next gives the fail-point that was tried least, the first occurrence of it at the first time, a later one afterwards.
func (p *points) next(dice *rand.Rand) (point string, nth int) {
	point = slices.MinFunc(p.all, func(a, b string) int { return p.tried[a] - p.tried[b] })
	nth = 1
	if p.tried[point] > 0 && p.reached[point] {
		nth = 1 + dice.IntN(max(1, min(mostNth, p.often[point]/4)))
	}
	p.tried[point]++
	return point, nth
}

func (p *points) hit(point string) { p.reached[point] = true }

func (p *points) unreached() []string {
	return slices.DeleteFunc(slices.Clone(p.all), func(s string) bool { return p.reached[s] })
}
