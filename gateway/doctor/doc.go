// Package doctor looks for what keeps a host from working, or will: configuration, state folder, disk, clock, network, tokens, models.
//
// It stands right of gateway; `parley doctor` calls Run and prints the findings. What a running host knows better is asked of it over its API; without one the checks
// look at the state folder themselves. It changes nothing and sends nothing.
//
// It owns nothing and takes no lock. Each group of checks runs in a goroutine of its own, which has a deadline; one that hangs becomes a finding.
//
// A fault is a Finding with what to do about it, never an error.
package doctor
