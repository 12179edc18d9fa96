package confine

import (
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Command is the name of the program's hidden subcommand that does it.
const Command = "confine"

// Plan says what a command may use, besides the system's programs and libraries.
type Plan struct {
	Read  []string // files and folders
	Write []string // folders
}

// Launcher is the program that confines itself and then becomes the command: the path of this one, and Command. Empty: there is none.
type Launcher []string

// errNothing is what Wrap says where nothing can be confined.
var errNothing = errors.New("this system cannot confine programs")

// order is what one process of the launcher is told: a plan, what to carry it out with, and what to become.
type order struct {
	Plan
	landlock  int // version of Landlock to use; 0 = none
	filter    bool
	namespace bool
	isolated  bool   // with namespace: mounts and processes, too
	inside    bool   // the mounts are made: this is the child of the first process in the namespaces
	bait      string // not empty: a self-test instead of a command
	path      string
	argv      []string
}

// flags of the subcommand that have no value.
func (o *order) switches() map[string]*bool {
	return map[string]*bool{"--filter": &o.filter, "--namespace": &o.namespace, "--isolated": &o.isolated, "--inside": &o.inside}
}

// args are the arguments of the subcommand that parse reads.
func (o *order) args() []string {
	args := []string{"--landlock=" + strconv.Itoa(o.landlock)}
	for name, set := range o.switches() {
		if *set {
			args = append(args, name)
		}
	}
	slices.Sort(args)
	for _, path := range o.Read {
		args = append(args, "--read="+path)
	}
	for _, path := range o.Write {
		args = append(args, "--write="+path)
	}
	if o.bait != "" {
		return append(args, "--test="+o.bait)
	}
	return append(append(args, "--", o.path), o.argv...)
}

// parse reads arguments. It refuses whatever it does not know: a command never runs with less confinement by mistake.
func parse(args []string) (*order, error) {
	o := &order{landlock: -1}
	for i, arg := range args {
		name, value, hasValue := strings.Cut(arg, "=")
		if on := o.switches()[name]; on != nil && !hasValue {
			*on = true
			continue
		}
		switch {
		case name == "--landlock":
			v, err := strconv.Atoi(value)
			if err != nil || v < 0 {
				return nil, fmt.Errorf("%s: wrong argument %q", Command, arg)
			}
			o.landlock = v
		case name == "--read" && hasValue:
			o.Read = append(o.Read, value)
		case name == "--write" && hasValue:
			o.Write = append(o.Write, value)
		case name == "--test" && value != "":
			o.bait = value
		case arg == "--" && len(args) > i+2 && o.landlock >= 0:
			o.path, o.argv = args[i+1], args[i+2:]
			return o, nil
		default:
			return nil, fmt.Errorf("%s: wrong argument %q", Command, arg)
		}
	}
	if o.bait == "" || o.landlock < 0 {
		return nil, fmt.Errorf("%s: no command", Command)
	}
	return o, nil
}

// Wrap makes the launcher run a command that is not started yet, with what the ability says. Where nothing can be confined it stays as
// it is.
func (l Launcher) Wrap(cmd *exec.Cmd, p Plan, a Ability) error {
	if a.Why != "" {
		return nil
	}
	if len(l) == 0 {
		return errNothing
	}
	l.wrap(cmd, &order{Plan: p.trusted(), landlock: a.Landlock, filter: a.Filter, namespace: a.Namespace, isolated: a.Namespace && a.Isolated, path: cmd.Path, argv: cmd.Args})
	return nil
}

func (l Launcher) wrap(cmd *exec.Cmd, o *order) {
	cmd.Path, cmd.Args = l[0], append(slices.Clone(l), o.args()...)
	if o.namespace {
		separate(cmd, o.isolated)
	}
}

// Main is the hidden subcommand: it confines this process and becomes the command behind --, or says why it cannot. It returns only with an
// error, with the exit code of a command that it was the first process for, or, after a self-test whose results it wrote to out, with 0.
func Main(args []string, out io.Writer) (code int, err error) {
	o, err := parse(args)
	if err != nil {
		return 1, err
	}
	if code, err = o.carryOut(out); err != nil {
		return 1, err
	}
	return code, nil
}

// trusted leaves out the paths that lead through a folder that the command may write: they have its rights already, and a command that
// puts a symbolic link there would choose what it may use after its next start.
func (p Plan) trusted() Plan {
	var roots []string
	for _, path := range p.Write {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			roots = append(roots, real)
		}
	}
	through := func(path string) bool {
		for up := filepath.Dir(filepath.Clean(path)); up != filepath.Dir(up); up = filepath.Dir(up) {
			real, err := filepath.EvalSymlinks(up)
			if err == nil && slices.ContainsFunc(roots, func(root string) bool {
				in, err := filepath.Rel(root, real)
				return err == nil && filepath.IsLocal(in)
			}) {
				return true
			}
		}
		return false
	}
	return Plan{Read: slices.DeleteFunc(slices.Clone(p.Read), through), Write: slices.DeleteFunc(slices.Clone(p.Write), through)}
}
