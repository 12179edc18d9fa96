//go:build !linux

package main

import (
	"os"
	"os/exec"
)

func endWithParent(*exec.Cmd) {}

func grouped(cmd *exec.Cmd) (over func()) {
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = groupGrace
	return func() {}
}
