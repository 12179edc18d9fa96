//go:build !unix

package mcp

import (
	"os"
	"syscall"
)

// group is what other systems have instead of process groups: nothing.
func group() *syscall.SysProcAttr { return nil }

func terminate(p *os.Process) { _ = p.Kill() }

func kill(p *os.Process) { _ = p.Kill() }
