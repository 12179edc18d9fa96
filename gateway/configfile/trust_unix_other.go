//go:build unix && !linux

package configfile

// isPrivateGroup is false: users share their groups, and who else is in one is not in a file.
func isPrivateGroup(string, int) bool { return false }

// birthTime is 0: what tells one is called differently by each system.
func birthTime(string) int64 { return 0 }
