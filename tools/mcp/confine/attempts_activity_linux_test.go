//go:build amd64 || arm64

package confine

import "os"

// activityAttempts look for what tells which programs others run, and when these are at work: names, memory and processor time of groups,
// counters of devices and of the whole machine. /proc of a namespace of its own has those of the machine, too.
//
// source: cgroups(7); proc(5); Linux, Documentation/admin-guide/cgroup-v2.rst and Documentation/accounting/psi.rst
func activityAttempts() (out []attempt) {
	const kind = "activity of others"
	for _, path := range []string{"/sys/fs/cgroup", "/sys/fs", "/sys/class/net", "/sys/class", "/sys/block", "/sys/bus", "/sys/dev", "/sys/firmware", "/sys/kernel", "/sys/module", "/sys/power",
		"/sys/devices/virtual", "/sys/devices/system/node", "/sys/devices/system/cpu/cpu0", "/sys/devices/system/cpu/cpufreq"} {
		out = append(out, attempt{kind, path, byLandlock | byNamespaces, func(target) error { _, err := os.ReadDir(path); return err }})
	}
	for _, path := range []string{"loadavg", "stat", "uptime", "buddyinfo", "diskstats", "interrupts", "key-users", "locks", "pagetypeinfo", "partitions", "pressure/cpu", "pressure/io", "pressure/memory",
		"schedstat", "slabinfo", "softirqs", "swaps", "timer_list", "vmstat", "zoneinfo", "sys/fs/dentry-state", "sys/fs/file-nr", "sys/fs/inode-state", "sys/kernel/ns_last_pid", "sys/kernel/pty/nr"} {
		out = append(out, attempt{kind, "/proc/" + path, byLandlock, func(target) error { _, err := os.ReadFile("/proc/" + path); return err }})
	}
	return out
}
