package mcp

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// ownFolder makes a folder of a confined server, or gives the host the rights back that the server took from it.
func ownFolder(parent, name string) (*os.Root, error) {
	root, err := os.OpenRoot(parent)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }() // it was only looked into
	if err := root.MkdirAll(name, 0o700); err != nil {
		return nil, err
	}
	if err := root.Chmod(name, 0o700); err != nil {
		return nil, err
	}
	return root.OpenRoot(name)
}

// empty removes all that is in a folder, whatever its modes are and however deep it is: folders come up to the top before they are
// emptied, so that no path is long and few files are open. Nothing outside the folder is reached, also when a program is at work in it.
func empty(root *os.Root) error {
	for {
		list, err := entries(root, ".")
		if err != nil || len(list) == 0 {
			return err
		}
		for _, e := range list {
			if err := flatten(root, e); err != nil {
				return fmt.Errorf("empty the folder %s: %w", root.Name(), err)
			}
		}
	}
}

// flatten removes an entry of the top folder. What is in a folder below it becomes an entry of the top folder.
func flatten(root *os.Root, e fs.DirEntry) error {
	if e.IsDir() {
		if err := root.Chmod(e.Name(), 0o700); err != nil {
			return err
		}
		inside, err := entries(root, e.Name())
		if err != nil {
			return err
		}
		for _, c := range inside {
			name := filepath.Join(e.Name(), c.Name())
			if !c.IsDir() {
				err = root.Remove(name)
			} else if err = root.Chmod(name, 0o700); err == nil { // a folder that is moved is written to
				err = root.Rename(name, rand.Text())
			}
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	if err := root.Remove(e.Name()); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func entries(root *os.Root, name string) ([]fs.DirEntry, error) {
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it is only read
	return f.ReadDir(-1)
}
