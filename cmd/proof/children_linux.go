package main

import (
	"os/exec"
	"syscall"
)

// endWithParent has the kernel kill a child when the thread that starts it ends.
func endWithParent(cmd *exec.Cmd) { attributes(cmd).Pdeathsig = syscall.SIGKILL }

// grouped gives a child, and all that it will start, a group of their own, which is interrupted as one when the child's context ends. over is
// called when the child has ended: it kills what is left of them then.
func grouped(cmd *exec.Cmd) (over func()) {
	attributes(cmd).Setpgid = true
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }
	cmd.WaitDelay = groupGrace
	return func() {
		if cmd.Process != nil {
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // there may be none
		}
	}
}

func attributes(cmd *exec.Cmd) *syscall.SysProcAttr {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	return cmd.SysProcAttr
}
