package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// upThenOver waits until a process says that it is up, does what has to end it, and waits until nobody can write to the pipe any more.
func upThenOver(t *testing.T, from io.Reader, end func()) {
	t.Helper()
	r := bufio.NewReader(from)
	if line, err := r.ReadString('\n'); err != nil || line != "up\n" {
		t.Fatalf("%q, %v", line, err)
	}
	end()
	over := make(chan error, 1)
	go func() {
		_, err := r.ReadByte()
		over <- err
	}()
	select {
	case err := <-over:
		if !errors.Is(err, io.EOF) {
			t.Error(err)
		}
	case <-time.After(20 * time.Second):
		t.Error("the process is still there")
	}
}

// A child ends with its parent, though that is killed.
func TestTied(t *testing.T) {
	t.Parallel()
	out, said, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	parent := exec.CommandContext(t.Context(), os.Args[0])
	parent.Env, parent.Stdout = append(os.Environ(), asParent+"=1"), said
	in, err := parent.StdinPipe() // its end would end the child
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = errors.Join(in.Close(), out.Close()) })
	if err := errors.Join(parent.Start(), said.Close()); err != nil {
		t.Fatal(err)
	}
	upThenOver(t, out, func() {
		if err := parent.Process.Kill(); err != nil {
			t.Error(err)
		}
	})
	_ = parent.Wait() // it was killed
}

// Whoever interrupts a run of the program finds no file of it: not go's, and not that of a test that was cut off. That is no missed mark.
func TestNothingIsLeft(t *testing.T) {
	dir := t.TempDir()
	fifo, temp := filepath.Join(dir, "f"), filepath.Join(dir, "t")
	if err := errors.Join(syscall.Mkfifo(fifo, 0o600), os.Mkdir(temp, 0o700)); err != nil {
		t.Fatal(err)
	}
	module(t, waitingTest)
	proof := exec.CommandContext(t.Context(), os.Args[0], "faults")
	proof.Env = append(os.Environ(), asProof+"=1", "PROOF_FIFO="+fifo, "TMPDIR="+temp)
	var said bytes.Buffer
	proof.Stdout, proof.Stderr = &said, &said
	if err := proof.Start(); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(fifo)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	upThenOver(t, f, func() {
		for range 2 { // as timeout(1) does
			if err := proof.Process.Signal(syscall.SIGTERM); err != nil {
				t.Error(err)
			}
			<-time.After(2 * time.Millisecond)
		}
	})
	_ = proof.Wait() // by its code
	left, err := os.ReadDir(temp)
	if err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
	if s := said.String(); proof.ProcessState.ExitCode() != exitInterrupted || !strings.Contains(s, "proof: interrupted: not all of it was tried: of 1 tests 1 cut off") || strings.Contains(s, errMark.Error()) {
		t.Errorf("%s: %s", proof.ProcessState, s)
	}
}

// waitingTest says that it is up and waits, with a folder of its own.
const waitingTest = `import ("os"; "time")

func TestFaultA(t *testing.T) {
	t.TempDir()
	f, _ := os.OpenFile(os.Getenv("PROOF_FIFO"), os.O_WRONLY, 0)
	f.WriteString("up\n")
	<-time.After(time.Minute)
	f.Close()
}
`

// A suite that is interrupted leaves no test behind that goes on.
func TestSuiteInterrupted(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "f")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	module(t, waitingTest)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ended := make(chan error, 1)
	go func() {
		ended <- suite{pattern: "^TestFault", packages: []string{"."}, limit: time.Hour, env: []string{"PROOF_FIFO=" + fifo}}.run(ctx, true)
	}()
	f, err := os.Open(fifo)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	upThenOver(t, f, func() {
		stop()
		if err := <-ended; !errors.Is(err, errUntried) || errors.Is(err, errMark) {
			t.Errorf("a suite that was interrupted: %v", err)
		}
	})
}
