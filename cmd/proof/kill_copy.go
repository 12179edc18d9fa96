package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"parley/sessions/sqlstore"
)

// copyStore copies the files of a store without its lock and what only a running process has; there is false when it has none yet.
func copyStore(to, state string) (there bool, err error) {
	all, err := os.ReadDir(state)
	if err != nil {
		return false, err
	}
	for _, f := range all {
		name := f.Name()
		if !f.Type().IsRegular() || !strings.HasPrefix(name, sqlstore.DatabaseFile) || strings.HasSuffix(name, "-shm") {
			continue
		}
		if err := copyFile(filepath.Join(to, name), filepath.Join(state, name)); err != nil {
			return false, err
		}
		there = there || name == sqlstore.DatabaseFile
	}
	return there, nil
}

func copyFile(to, from string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	_, err = io.Copy(out, in)
	return err
}
