package configfile

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"parley/gateway/filesystem"
)

// trustName is the file in the user's own folder that lists the trusted folders. It is in no state folder: a configuration may name
// any state folder, and a backup brings one along.
const trustName = "trusted.json"

// maxTrusted is the most folders that are remembered; for one more the oldest is forgotten.
const maxTrusted = 1000

// TrustedFolder is a folder whose config.yaml and .env count when parley is started in it.
type TrustedFolder struct {
	Path  string `json:"path"`            // absolute, without links
	Inode uint64 `json:"inode,omitempty"` // of the folder; 0 = the system has none
	Born  int64  `json:"born,omitempty"`  // birth time in nanoseconds, as systems give an inode again; 0 = the file system has none

	Config string `json:"config,omitempty"` // what its config.yaml leads to where that is a link: absolute, without links
	Env    string `json:"env,omitempty"`    // the same for its .env
}

// Links says what the files of a folder lead to that are links; "" = none is one.
func (f TrustedFolder) Links() string {
	var words []string
	for _, link := range []struct{ name, to string }{{Name, f.Config}, {EnvName, f.Env}} {
		if link.to != "" {
			words = append(words, fmt.Sprintf("its %s is a link to %q", link.name, link.to))
		}
	}
	return strings.Join(words, ", and ")
}

// Untrusted says that a ./config.yaml does not count, and why.
type Untrusted struct {
	Folder string // absolute, without links
	Why    string
	Never  bool   // trusting the folder would not help
	Links  string // what its files lead to that are links, in words; "" = none is one
}

func (u *Untrusted) Error() string {
	return fmt.Sprintf("read %s: %s", filepath.Join(u.Folder, Name), u.Why)
}

// Trust makes the config.yaml and the .env of a folder count from now on when parley is started in that folder, whatever is written to them
// later. The error is an *Untrusted when another user can write them.
func Trust(folder string, getenv func(string) string) (TrustedFolder, error) {
	f, err := identify(folder)
	if err == nil {
		err = f.follow()
	}
	if err != nil {
		return f, err
	}
	if why := strangers(f.Path); why != "" {
		return f, &Untrusted{Folder: f.Path, Why: why, Never: true}
	}
	return f, changeTrusted(getenv, func(list []TrustedFolder) []TrustedFolder {
		list = append(slices.DeleteFunc(list, func(x TrustedFolder) bool { return x.Path == f.Path }), f)
		return list[max(0, len(list)-maxTrusted):]
	})
}

// Distrust takes a folder, which may be gone, out of the list; found is false when it is not in it.
func Distrust(folder string, getenv func(string) string) (found bool, err error) {
	path, err := filepath.Abs(folder)
	if err != nil {
		return false, err
	}
	if f, err := identify(folder); err == nil {
		path = f.Path
	}
	return found, changeTrusted(getenv, func(list []TrustedFolder) []TrustedFolder {
		was := len(list)
		list = slices.DeleteFunc(list, func(x TrustedFolder) bool { return x.Path == path })
		found = len(list) < was
		return list
	})
}

// Trusted lists the trusted folders, oldest first.
func Trusted(getenv func(string) string) ([]TrustedFolder, error) {
	path, err := trustFile(getenv)
	if err != nil {
		return nil, nil //nolint:nilerr // without a home folder none is trusted
	}
	data, err := Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if why := foreign(path); why != "" {
		return nil, fmt.Errorf("read the trusted folders: %s", why)
	}
	var list []TrustedFolder
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, fmt.Errorf("read the trusted folders: %s: %w (remove the file, and trust your folders again)", path, err)
	}
	return list, nil
}

// untrusted says why the config.yaml of a folder does not count; nil = it does. What cannot be found out counts against it.
func untrusted(folder string, getenv func(string) string) *Untrusted {
	f, err := identify(folder)
	if err != nil {
		return &Untrusted{Folder: folder, Why: err.Error(), Never: true}
	}
	if why := strangers(f.Path); why != "" {
		return &Untrusted{Folder: f.Path, Why: why, Never: true}
	}
	list, err := Trusted(getenv)
	if err == nil {
		err = f.follow()
	}
	if err != nil {
		return &Untrusted{Folder: f.Path, Why: err.Error(), Never: true}
	}
	i := slices.IndexFunc(list, func(x TrustedFolder) bool { return x.Path == f.Path && x.Inode == f.Inode })
	u := &Untrusted{Folder: f.Path, Why: "the folder is not trusted", Links: f.Links()}
	switch {
	case i < 0:
	case list[i].Born == 0 && f.Born != 0: // as an older parley wrote it
		u.Why = "an earlier version of parley trusted the folder: trust it again"
	case list[i].Born != f.Born:
	case (f.Config == "" || f.Config == list[i].Config) && (f.Env == "" || f.Env == list[i].Env):
		return nil
	default:
		u.Why = "the folder is trusted, but not the target of its config.yaml or .env link"
	}
	return u
}

// ForeignEnv gives the variables that the .env of a folder sets, sorted, where trusting the folder would make that file count for the first time;
// nil where the file sets none, counts already, or lies in the user's own folder.
func ForeignEnv(folder string, getenv func(string) string) (names []string, err error) {
	file := filepath.Join(folder, EnvName)
	if own := usersFile(getenv); own != "" && sameFile(folder, filepath.Dir(own)) || !isThere(file) || untrusted(folder, getenv) == nil {
		return nil, nil
	}
	values, err := ReadEnv(file)
	return slices.Sorted(maps.Keys(values)), err
}

// follow finds what the files of a folder lead to. Only regular files count: a link to no file, a FIFO or a device is an error.
func (f *TrustedFolder) follow() (err error) {
	if f.Config, err = target(f.Path, Name); err == nil {
		f.Env, err = target(f.Path, EnvName)
	}
	return err
}

// target gives the file that a name in a folder leads to; "" when it is no link, or nothing has the name.
func target(folder, name string) (string, error) {
	path := filepath.Join(folder, name)
	if err := dangling(path, ""); err != nil {
		return "", err
	}
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", notRegular(path)
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil || real == path {
		return "", err
	}
	return real, nil
}

// strangers says how another user could write a folder's configuration or its variables, with the folder itself; "" = none can.
func strangers(folder string) string {
	for _, path := range []string{folder, filepath.Join(folder, Name), filepath.Join(folder, EnvName)} {
		if why := foreign(path); why != "" {
			return why
		}
	}
	return ""
}

// identify gives a folder as it is known in the list.
func identify(folder string) (f TrustedFolder, err error) {
	if f.Path, err = filepath.Abs(folder); err != nil {
		return f, err
	}
	if f.Path, err = filepath.EvalSymlinks(f.Path); err != nil {
		return f, err
	}
	info, err := os.Stat(f.Path)
	if err != nil {
		return f, err
	}
	if !info.IsDir() {
		return f, fmt.Errorf("%s is not a folder", f.Path)
	}
	f.Inode, f.Born = inode(info), birthTime(f.Path)
	return f, nil
}

// trustFile is never relative: the working folder is what is in question.
func trustFile(getenv func(string) string) (string, error) {
	p := usersFile(getenv)
	if !filepath.IsAbs(p) {
		return "", errors.New("cannot remember trusted folders without a home folder: name the file with --config")
	}
	return filepath.Join(filepath.Dir(p), trustName), nil
}

func changeTrusted(getenv func(string) string, change func([]TrustedFolder) []TrustedFolder) error {
	path, err := trustFile(getenv)
	if err != nil {
		return err
	}
	list, err := Trusted(getenv)
	if err != nil {
		return err
	}
	data, err := json.MarshalIndent(change(list), "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := filesystem.Part(path)
	if err != nil {
		return err
	}
	_, err = f.Write(append(data, '\n'))
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // the first error counts
	}
	return err
}

func sameFile(a, b string) bool {
	x, err1 := os.Stat(a)
	y, err2 := os.Stat(b)
	return err1 == nil && err2 == nil && os.SameFile(x, y)
}
