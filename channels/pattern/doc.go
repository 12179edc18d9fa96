// Package pattern has regular expressions that are compiled when they are first used: most runs of the program need none of them, and
// sixty take a start several milliseconds.
//
// It imports nothing of ours. A Pattern is compiled once, by whoever uses it first, whichever goroutine that is. One that cannot be compiled
// panics then, as regexp.MustCompile does.
package pattern
