//go:build unix

package main

import (
	"fmt"
	"io/fs"
	"syscall"
)

// deviceAndInode names a file as $JOURNAL_STREAM does.
func deviceAndInode(info fs.FileInfo) string {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return fmt.Sprintf("%d:%d", s.Dev, s.Ino)
	}
	return ""
}
