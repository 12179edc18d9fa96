package confine

import "fmt"

// Ability is what this system gives, and what a test of it in a confined process showed.
type Ability struct {
	Why       string // not empty: nothing can be confined here, and why
	Landlock  int    // the version of the kernel's Landlock; 0 = none
	Filter    bool   // a filter of system calls
	Namespace bool   // namespaces of its own: users, network, System V objects and POSIX message queues
	Isolated  bool   // with Namespace: also mounts and processes

	Refused []string // what the self-test tried and could not do, in words
	Reached []string // what the self-test could do although it must not
	Failed  []string // why it did not run with more
}

// Missing says what is not confined, in words for people that follow "they run"; nil when nothing is missing.
func (a Ability) Missing() []string {
	if a.Why != "" {
		return []string{"without any confinement: " + a.Why}
	}
	var out []string
	lacks := func(when bool, text string) {
		if when {
			out = append(out, text)
		}
	}
	because := ""
	if len(a.Failed) > 0 {
		because = " (" + a.Failed[0] + ")"
	}
	lacks(a.Landlock == 0 && !a.Isolated, "without file confinement: the kernel has no Landlock, and gives no namespace of mounts to programs without privileges")
	lacks(a.Landlock == 0 && a.Isolated, "with all of /proc in sight: the kernel has no Landlock")
	lacks(a.Landlock > 0 && a.Landlock < 3 && !a.Isolated, fmt.Sprintf("with a hole: files outside can be cut short, the kernel's Landlock is version %d, not 3", a.Landlock))
	lacks(!a.Isolated && a.Filter, "without a file system of their own: names, sizes and times of files outside can be seen, and modes of their own files cannot be changed. The kernel gives no namespaces of mounts and processes to programs without privileges"+because)
	lacks(!a.Isolated && !a.Filter, "with a hole: modes, owners, times and attributes of files outside can be changed, the kernel has no filter of system calls and gives no namespace of mounts")
	switch {
	case a.Filter:
	case a.Isolated:
	case a.Namespace:
		out = append(out, "with a hole: sockets of other programs in the file system can be reached, the kernel has no filter of system calls")
	case a.Landlock >= 4:
		out = append(out, "without network confinement but for TCP: the kernel gives no namespace to programs without privileges, and no filter of system calls")
	default:
		out = append(out, "without network confinement: the kernel has no Landlock network rules, gives no namespace to programs without privileges, and has no filter of system calls")
	}
	lacks(!a.Filter && !a.Namespace, "with a hole: shared memory, semaphores and message queues of other programs can be reached, the kernel has no filter of system calls and gives no namespace")
	lacks(!a.Filter, "with a hole: keys of the user's keyrings can be reached, and programs be made that run as parley's user, the kernel has no filter of system calls")
	lacks(a.Landlock < 6 && !a.Isolated, "with a hole: other programs of the same user can be sent signals, the kernel has no Landlock scopes and gives no namespace of processes")
	for _, what := range a.Reached {
		out = append(out, "with a hole that the test at start found: "+what)
	}
	return out
}
