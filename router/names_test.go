package router

import (
	"cmp"

	"parley/channels"
)

// Names that moved, until the tests that use them do.
var sleep = channels.Sleep

func firstOf(names ...string) string { return cmp.Or(names...) }
