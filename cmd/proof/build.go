package main

import (
	"context"
	"debug/buildinfo"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// program is which binary is proved.
type program struct {
	Program string `type:"existingfile" placeholder:"FILE" help:"A parley built with -tags failpoints. Default: the command builds one."`
	Overlay string `type:"existingfile" placeholder:"FILE" help:"Build parley with this overlay (see go help build), which switches a guarantee off, to see that the run detects it."`
}

// check says what cannot be asked for.
func (p program) check() error {
	if p.Program != "" && p.Overlay != "" {
		return errors.New("use --program or --overlay, not both: the program is built already, and an overlay changes the build")
	}
	return nil
}

// build gives the path of the binary; what it builds lies in dir.
func (p program) build(ctx context.Context, dir string) (string, error) {
	if p.Program != "" {
		if err := withFailpoints(p.Program); err != nil {
			return "", err
		}
		return filepath.Abs(p.Program)
	}
	out := filepath.Join(dir, "parley")
	args := []string{"-tags", "failpoints"}
	if p.Overlay != "" {
		overlay, err := filepath.Abs(p.Overlay)
		if err != nil {
			return "", err
		}
		args = append(args, "-overlay", overlay)
	}
	return out, goBuild(ctx, out, args...)
}

// withFailpoints reports a program that was built without what a run needs: it would talk to the real platforms, and not start.
func withFailpoints(path string) error {
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read the build of %s: %w", path, err)
	}
	for _, s := range info.Settings {
		if s.Key == "-tags" && slices.Contains(strings.Split(s.Value, ","), "failpoints") {
			return nil
		}
	}
	return fmt.Errorf("%s was built without its fail-points: build it with go build -tags failpoints ./cmd/parley", path)
}

// goBuild builds the program.
func goBuild(ctx context.Context, out string, args ...string) error {
	root, err := findRoot()
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "go", append(append([]string{"build", "-o", out}, args...), "./cmd/parley")...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = root, os.Stderr, os.Stderr
	defer grouped(cmd)()
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("build the program: %w", err)
	}
	return nil
}
