//go:build !failpoints

package main

// traced gives nothing: only programs built with the tag failpoints have a trace.
func traced() func(op, phase string) { return nil }
