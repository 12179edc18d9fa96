//go:build !linux

package main

// releaseStartPages does nothing where the system has no way to.
func releaseStartPages() {}
