package main

import (
	"os/exec"
	"sync/atomic"
	"syscall"
	"time"
)

// endWithParent has the kernel kill a child when the thread that starts it ends.
func endWithParent(cmd *exec.Cmd) { attributes(cmd).Pdeathsig = syscall.SIGKILL }

// groupGrace is how long a group of processes has to end by itself.
const groupGrace = 10 * time.Second

// grouped gives a child, and all that it will start, a group of their own, which is interrupted as one when the child's context ends. over is
// called when the child has ended: it kills what is left of them then.
func grouped(cmd *exec.Cmd) (over func()) {
	attributes(cmd).Setpgid = true
	var interrupted atomic.Bool
	cmd.Cancel = func() error {
		interrupted.Store(true)
		return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT)
	}
	cmd.WaitDelay = groupGrace
	return func() {
		if interrupted.Load() {
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
