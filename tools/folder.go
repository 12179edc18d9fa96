package tools

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"parley/sessions"
)

// othersFolder is the folder of a workspace that has a folder for each session whose turns answer others than owners.
const othersFolder = "chats"

// folder is where the files of a turn are, during one call.
type folder struct {
	*os.Root
	dir   string // of the agent's workspace
	own   bool   // it is a folder of the session alone, in the workspace
	name  string // of that folder
	asker string // the person who asked for the turn; empty = nobody in particular
}

// openFolder opens the folder that the files of a turn are in, and makes it when it is not there; nil when the host has none. A turn that
// answers nobody but owners works in the agent's workspace. One that answers others has a folder of its session there: what an owner
// keeps, and what other people's sessions keep, is not in it.
// source: CWE-668
func (d Deps) openFolder(c Caller) (*folder, error) {
	if d.Workspace == nil {
		return nil, nil //nolint:nilnil // no workspace is no error
	}
	f := &folder{dir: d.Workspace(c.Session.Agent), own: !c.Owner && d.config().Files.Others != OthersAll}
	if f.dir == "" {
		return nil, nil //nolint:nilnil // as above
	}
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the workspace of agent %s: %w", c.Session.Agent, err)
	}
	root, err := os.OpenRoot(f.dir)
	if err != nil {
		return nil, fmt.Errorf("open the workspace of agent %s: %w", c.Session.Agent, err)
	}
	if f.Root = root; !f.own {
		return f, nil
	}
	defer func() { _ = root.Close() }()
	f.name, f.asker = folderName(folderKey(c)), c.Asker
	name := path.Join(othersFolder, f.name)
	if err := root.MkdirAll(name, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of session %s: %w", c.Session.Key, err)
	}
	if f.Root, err = root.OpenRoot(name); err != nil {
		return nil, fmt.Errorf("open the folder of session %s: %w", c.Session.Key, err)
	}
	return f, nil
}

// folderKey is the session whose folder a turn works in: its own, for a sub-agent that of the session that asked first, and for a job
// the one that made it.
func folderKey(c Caller) sessions.Key {
	if c.Session.Top != "" {
		return c.Session.Top
	}
	return jobsOf(c)
}

// folderName names the folder of a session: readable, and another one for each key.
func folderName(key sessions.Key) string {
	plain := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '-'
	}, strings.ToLower(key.Stripped()))
	sum := sha256.Sum256([]byte(key))
	return strings.Trim(plain[:min(len(plain), 60)], "-") + "-" + hex.EncodeToString(sum[:4])
}

// files returns the files of the folder for one call, with the bounds of its kind. All folders of sessions together hold half of what a workspace
// may, and those of one person a quarter: nobody takes the room of the owners.
func (f *folder) files(limits Files, source string) workspace {
	w := workspace{root: f.Root, max: orElse(limits.MaxBytes, filesDefault), total: orElse(limits.MaxTotalBytes, filesTotal), count: maxFiles, temp: tempName(source)}
	if f.own {
		total := int64(w.total)
		w.total, w.count = w.total/4, maxFiles/10
		w.around = func(more int64) error {
			size, n := usage(f.FS(), maxFiles)
			if over, err := f.exceeds(size, n, more, total/4, maxFiles/10); err != nil || over {
				return errors.Join(err, noFile("the files of one person, in all chats together, would exceed tools.files.maxTotalBytes; delete some"))
			}
			if full(filepath.Join(f.dir, othersFolder), size, n, more, total/2, maxFiles/2) || full(f.dir, size, n, more, total, maxFiles) {
				return noFile("the workspace is full") // whose files they are is not told (contract V4)
			}
			return nil
		}
	}
	return w
}

// fullSteps is the number of steps in which the room that others have taken is told: who tries sizes learns no size of theirs (contract V4).
const fullSteps = 16

// full reports whether the files below a folder, with more bytes, would be more than most bytes, or than count files and folders. ownSize
// bytes in own files and folders are the caller's; those of others are rounded up.
func full(dir string, ownSize int64, own int, more, most int64, count int) bool {
	size, n := usage(os.DirFS(dir), count)
	others := roundedUp(size-ownSize, max(1, most/fullSteps))
	return ownSize+others+more > most || own+int(roundedUp(int64(n-own), int64(max(1, count/fullSteps)))) > count
}

func roundedUp(n, step int64) int64 { return (max(n, 0) + step - 1) / step * step }

// usage returns the bytes of the plain files in a tree and the number of files and folders; it stops when there are more than most. What cannot be read counts as
// nothing.
func usage(tree fs.FS, most int) (size int64, n int) {
	_ = fs.WalkDir(tree, ".", func(_ string, e fs.DirEntry, err error) error { // its errors are ours
		if err != nil {
			return nil //nolint:nilerr // as said above
		}
		if n++; n > most {
			return fs.SkipAll
		}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			size += info.Size()
		}
		return nil
	})
	return size, n
}
