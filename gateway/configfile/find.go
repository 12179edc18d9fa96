package configfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"parley/gateway/filesystem"
)

// Name is the name of the configuration file in the working folder, and that of the user.
const Name = "config.yaml"

// Find says which file to load: flag (--config), $PARLEY_CONFIG, ./config.yaml where the folder is trusted (see Trust),
// ~/.config/parley/config.yaml. "" without an error means that there is none: use config.Default. A file that was named by flag or variable is
// returned without looking, so that config.Load says what is wrong with it; so is one that is there but cannot be examined. The error is an
// *Untrusted for a ./config.yaml that does not count: it is neither used nor passed over. Neither is a link to a file that is not there.
func Find(flag string, getenv func(string) string) (path string, err error) {
	if path := named(flag, getenv); path != "" {
		return path, dangling(path, otherFile)
	}
	users := usersFile(getenv)
	if err := dangling(Name, otherFile); err != nil {
		return "", err
	}
	if info, err := os.Stat(Name); err == nil && !info.Mode().IsRegular() {
		return "", notRegular(Name)
	}
	if isThere(Name) {
		switch u := untrusted(".", getenv); {
		case u == nil:
			return Name, nil
		case !sameFile(Name, users):
			return "", u
		}
	}
	if users != "" && isThere(users) {
		return users, nil
	}
	return "", dangling(users, otherFile)
}

// otherFile is the advice for a link of a configuration that leads nowhere, behind "create that file or remove the link".
const otherFile = ", or name another file with --config FILE"

// dangling is an error for a link that leads nowhere. parley would run with its defaults where somebody wanted a configuration. The names are quoted:
// a folder that is not trusted may hold any.
func dangling(path, advice string) error {
	to, err := os.Readlink(path)
	if err != nil || isThere(path) {
		return nil //nolint:nilerr // it is no link
	}
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	return fmt.Errorf("read %q: the link leads to %q, which does not exist: create that file or remove the link%s", path, to, advice)
}

// notRegular is an error for a folder, a FIFO, a socket or a device in the place of a configuration.
func notRegular(path string) error {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	return fmt.Errorf("read %q: %w: remove it, or name another file with --config FILE", path, filesystem.ErrNotRegular)
}

// named gives the file that the user names; "" = none.
func named(flag string, getenv func(string) string) string {
	if flag == "" {
		flag = getenv("PARLEY_CONFIG")
	}
	return Home(flag, getenv)
}

// usersFile is the configuration file in the user's own folder; "" = there is no home folder.
func usersFile(getenv func(string) string) string {
	if h := homeFolder(getenv); h != "" {
		return filepath.Join(h, ".config", "parley", Name)
	}
	return ""
}

func isThere(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

func homeFolder(getenv func(string) string) string {
	if h := getenv("HOME"); h != "" {
		return h
	}
	return getenv("USERPROFILE")
}

// Home expands a leading ~.
func Home(p string, getenv func(string) string) string {
	if h := homeFolder(getenv); h != "" {
		if p == "~" {
			return h
		}
		if rest, ok := strings.CutPrefix(p, "~/"); ok {
			return filepath.Join(h, rest)
		}
	}
	return p
}

// StateFolder returns the absolute state folder. configured wins and is relative to the folder of the file; then $PARLEY_STATE,
// relative to the working folder; then the default place; without a home folder ./parley-state.
func StateFolder(configured, file string, getenv func(string) string) string {
	p := Home(configured, getenv)
	switch {
	case p != "":
		if !filepath.IsAbs(p) {
			p = filepath.Join(filepath.Dir(file), p)
		}
	case getenv("PARLEY_STATE") != "":
		p = Home(getenv("PARLEY_STATE"), getenv)
	case homeFolder(getenv) != "":
		p = filepath.Join(homeFolder(getenv), ".local", "state", "parley")
	default:
		p = "parley-state"
	}
	if abs, err := filepath.Abs(p); err == nil {
		return abs
	}
	return filepath.Clean(p)
}
