package main

import (
	"os/exec"
	"runtime"
	"time"
)

// groupGrace is how long a child, and all that it has started, may take to end when it is interrupted.
const groupGrace = 10 * time.Second

// tied starts a child that ends with this process, however that ends (Linux alone can do that). wait gives how the child has ended.
func tied(cmd *exec.Cmd) (wait func() error, err error) {
	endWithParent(cmd)
	var end error
	started, done := make(chan error, 1), make(chan struct{})
	go func() {
		runtime.LockOSThread() // it is the thread that started the child whose end ends it: this one stays until then
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		if started <- err; err == nil {
			end = cmd.Wait()
			close(done)
		}
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return func() error { <-done; return end }, nil
}

// runTied runs a child that ends with this process.
func runTied(cmd *exec.Cmd) error {
	wait, err := tied(cmd)
	if err != nil {
		return err
	}
	return wait()
}
