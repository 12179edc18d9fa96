package settings

import "parley/channels"

// What the tests of package router look at, until they are tests of this package.

// DefaultContextLines is how many lines of group talk are kept where nothing is configured.
const DefaultContextLines = defaultContextLines

// Names gives the addresses that a chat has and had, newest first.
func (f *MovedChats) Names(at channels.Address) []channels.Address { return f.names(at) }
