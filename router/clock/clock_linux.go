package clock

import (
	"time"

	"golang.org/x/sys/unix"
)

// slept is how long the computer has slept since it was started: the time that passes for a process leaves that out.
func slept() time.Duration {
	var all, awake unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &all) != nil || unix.ClockGettime(unix.CLOCK_MONOTONIC, &awake) != nil {
		return 0
	}
	return max(time.Duration(all.Nano()-awake.Nano()), 0)
}
