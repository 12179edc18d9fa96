//go:build race

package router

const racing = true // the race detector is on
