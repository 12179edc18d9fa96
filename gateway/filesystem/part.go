package filesystem

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Part creates a temporary file beside the file that it becomes. Only the user reads it. The error names the folder, not the temporary file.
func Part(path string) (*os.File, error) {
	folder := filepath.Dir(path)
	f, err := os.CreateTemp(folder, filepath.Base(path)+".*.part")
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return nil, fmt.Errorf("cannot create %s in the folder %s: %w", filepath.Base(path), folder, e.Err)
	}
	return f, err
}
