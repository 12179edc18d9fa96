//go:build !linux

package confine

import "os/exec"

// Probe finds out what this system gives.
func (Launcher) Probe() Ability { return Ability{Why: "only Linux can do that"} }

// Exec confines this process and becomes the command.
func Exec(Plan, string, []string) error { return errNothing }

func separate(*exec.Cmd) {}
