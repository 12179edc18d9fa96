package filestore

import (
	"time"

	"parley/channels"
	"parley/sessions"
)

// What the tests of package router look at, until they are tests of this package.

// Dir is where files are kept.
func (x *Cache) Dir() *string { return &x.dir }

// Path is where a file is kept.
func (x *Cache) Path(a channels.Address, m channels.Media) string { return x.path(a, m) }

// Dir is where files are kept.
func (x *Outbox) Dir() string { return x.dir }

// Each bounds one file.
func (x *Outbox) Each() *int64 { return &x.each }

// Total bounds all files.
func (x *Outbox) Total() *int64 { return &x.total }

// Path is where a file is kept.
func (x *Outbox) Path(f sessions.File) string { return x.path(f) }

// Touch marks files as used.
func (x *Outbox) Touch(now time.Time, files ...sessions.File) { x.touch(now, files...) }

// The bounds that tests name.
const (
	MediaFetching = mediaFetching
	MediaKept     = mediaKept
	PictureAgain  = pictureAgain
	ResultFiles   = resultFiles
)
