// Package confine runs a command so that it reads and writes only the files that it may, and reaches no network: with what the kernel
// gives to a program without privileges. What is missing is said, never hidden.
package confine

import (
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
)

// Command is the name of the program's hidden subcommand that does it.
const Command = "confine"

// Plan says what a command may use, besides the system's programs and libraries.
type Plan struct {
	Read  []string // files and folders
	Write []string // folders
	Alone bool     // it is in namespaces of its own; set by Wrap
}

// Launcher is the program that confines itself and then becomes the command: the path of this one, and Command. Empty: there is none.
type Launcher []string

// Ability is what this system gives.
type Ability struct {
	Why       string // not empty: nothing can be confined here, and why
	Landlock  int    // the version of the kernel's Landlock; 0 = none
	Namespace bool   // namespaces of its own: users, network
	Filter    bool   // a filter of system calls: no sockets
}

// Missing says what is not confined, in words for people; nil when nothing is missing.
func (a Ability) Missing() []string {
	if a.Why != "" {
		return []string{"without any confinement: " + a.Why}
	}
	var out []string
	switch {
	case a.Landlock == 0:
		out = append(out, "without file confinement: the kernel has no Landlock")
	case a.Landlock < 3:
		out = append(out, fmt.Sprintf("files outside can be cut short: the kernel's Landlock is version %d, not 3", a.Landlock))
	}
	switch {
	case a.Filter:
	case a.Namespace:
		out = append(out, "sockets of other programs in the file system can be reached: the kernel has no filter of system calls")
	case a.Landlock >= 4:
		out = append(out, "without network confinement but for TCP: the kernel gives no namespace to programs without privileges, and no filter of system calls")
	default:
		out = append(out, "without network confinement: the kernel has no Landlock network rules, gives no namespace to programs without privileges, and has no filter of system calls")
	}
	if a.Landlock < 6 {
		out = append(out, "other programs of the same user can be sent signals: the kernel has no Landlock scopes")
	}
	return out
}

// errNothing is what Exec and Wrap say where nothing can be confined.
var errNothing = errors.New("this system cannot confine programs")

// Wrap makes the launcher run a command that is not started yet. Where nothing can be confined it stays as it is.
func (l Launcher) Wrap(cmd *exec.Cmd, p Plan, a Ability) error {
	if a.Why != "" {
		return nil
	}
	if len(l) == 0 {
		return errNothing
	}
	args := slices.Clone(l)
	for _, path := range p.Read {
		args = append(args, "--read="+path)
	}
	for _, path := range p.Write {
		args = append(args, "--write="+path)
	}
	if a.Namespace {
		args = append(args, "--alone")
	}
	args = append(append(args, "--", cmd.Path), cmd.Args...)
	cmd.Path, cmd.Args = l[0], args
	if a.Namespace {
		separate(cmd)
	}
	return nil
}

// Main is the hidden subcommand: it confines this process and becomes the command behind --, or says why it cannot. With --check it
// ends at once.
func Main(args []string) error {
	var p Plan
	for i, arg := range args {
		switch name, value, _ := strings.Cut(arg, "="); {
		case name == "--check":
			return nil // it could be started: that was the question
		case name == "--alone":
			p.Alone = true
		case name == "--read":
			p.Read = append(p.Read, value)
		case name == "--write":
			p.Write = append(p.Write, value)
		case arg == "--" && len(args) > i+2:
			return Exec(p, args[i+1], args[i+2:])
		default:
			return fmt.Errorf("%s: wrong argument %q", Command, arg)
		}
	}
	return fmt.Errorf("%s: no command", Command)
}
