//go:build !unix

package main

import "io/fs"

// deviceAndInode is empty: there is no journal.
func deviceAndInode(fs.FileInfo) string { return "" }
