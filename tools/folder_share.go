package tools

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// sharePrefix is what names of the files begin with that say for whom the folders of sessions count. They are beside these folders, where no
// guest reaches them.
const sharePrefix = tempPrefix + "share-"

// exceeds reports whether the person for whom the folder counts would have more than most bytes, or than count files and folders, in all
// folders of theirs together. ownSize bytes in own files and folders are in this folder. A folder counts for the person who first kept
// something in it; that person's other folders are told in steps, since others may write to a group's folder.
func (f *folder) exceeds(ownSize int64, own int, more, most int64, count int) (bool, error) {
	if f.asker == "" {
		return false, nil
	}
	dir := filepath.Join(f.dir, othersFolder)
	file := filepath.Join(dir, sharePrefix+f.name)
	person := shareOf(f.asker)
	claimed, err := os.ReadFile(file)
	switch {
	case err == nil && len(claimed) == len(person):
		person = string(claimed)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return false, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return false, err
	}
	var size int64
	n := 0
	for _, e := range entries {
		name, isShare := strings.CutPrefix(e.Name(), sharePrefix)
		if !isShare || name == f.name {
			continue
		}
		if of, err := os.ReadFile(filepath.Join(dir, e.Name())); err != nil || string(of) != person {
			continue // of another person
		}
		bytes, files := usage(os.DirFS(filepath.Join(dir, name)), count)
		size, n = size+bytes, n+files
	}
	size, n = roundedUp(size, max(1, most/fullSteps)), int(roundedUp(int64(n), int64(max(1, count/fullSteps))))
	if size > 0 && ownSize+size+more > most || n > 0 && own+n > count {
		return true, nil
	}
	if len(claimed) == len(person) {
		return false, nil
	}
	return false, os.WriteFile(file, []byte(person), 0o600) // there was none, or the host died while it wrote that
}

// shareOf names a person in a file that others may read.
func shareOf(asker string) string {
	sum := sha256.Sum256([]byte(asker))
	return hex.EncodeToString(sum[:])
}
