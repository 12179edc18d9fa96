//go:build !unix

package configfile

import "io/fs"

// inode is 0: the system tells no number of a folder without opening it.
func inode(fs.FileInfo) uint64 { return 0 }

// foreign finds nothing: who may write a file is not in its owner and mode here.
func foreign(string) string { return "" }

// birthTime is 0: without an inode the path alone is compared.
func birthTime(string) int64 { return 0 }
