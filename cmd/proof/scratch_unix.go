//go:build unix

package main

import (
	"os"
	"syscall"
)

// canLock says that a lock tells whether a run is at work.
const canLock = true

// lockFile locks a file until this process closes it, or ends. It is false when another one has it.
func lockFile(f *os.File) bool {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}
