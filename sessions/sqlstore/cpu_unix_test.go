//go:build unix

package sqlstore

import (
	"syscall"
	"time"
)

// cpu is what this process has used so far.
func cpu() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
