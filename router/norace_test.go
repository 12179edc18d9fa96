//go:build !race

package router

const racing = false // the race detector is off
