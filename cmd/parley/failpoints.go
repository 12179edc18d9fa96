//go:build failpoints

package main

import "parley/cmd/internal/failpoint"

// traced prepares a program that is to be proved: it may be told to kill itself, and where WhatsApp is.
func traced() func(op, phase string) {
	failpoint.ReachWhatsApp()
	return failpoint.Killer()
}
