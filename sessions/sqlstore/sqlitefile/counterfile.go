package sqlitefile

import (
	"bytes"
	"fmt"
	"math/bits"
	"strconv"

	"parley/sessions"
)

// The lines of CommitsFile. The number is there three times: when a bit of one flips, the other two say what it was.
const (
	firstLine  = "%020d %06d\n" // with the version of the schema
	secondLine = "sums %020d\n"
	thirdLine  = "again %020d %06d\n"
	// damagedLine stands in the place of the second when the host was running already as its database was found to be damaged.
	damagedLine = "damaged\n"
)

const (
	numberLen = 20
	schemaLen = 6
	secondAt  = numberLen + 1 + schemaLen + 1
	thirdAt   = secondAt + len("sums ") + numberLen + 1
)

// counter is what CommitsFile says.
type counter struct {
	commits     int64 // -1 = nothing
	schema      int64
	summed      bool // a program that keeps SumsFile has counted last, as far as this file alone can tell
	marked      bool // the database was found to be damaged
	corruptCopy bool // one place says something else than the others, or no two say the same
}

// parseCounter takes the number that two of the three places have. Programs before this one did not write the third, and some not the second: without the third the first
// counts. So it does when it is another number, and not the same with a bit that flipped.
func parseCounter(b []byte) (n counter) {
	first, second, third := numberIn(b, 0, "", numberLen), numberIn(b, secondAt, "sums ", numberLen), numberIn(b, thirdAt, "again ", numberLen)
	n.schema = numberIn(b, numberLen, " ", schemaLen)
	if again := numberIn(b, thirdAt+len("again ")+numberLen, " ", schemaLen); third >= 0 && again >= 0 && (again < n.schema || n.schema < 0) {
		n.schema = again // the higher one would have the database pass for a copy from before an upgrade
	}
	n.commits = first
	switch {
	case bytes.HasPrefix(b[min(len(b), secondAt):], []byte(damagedLine)):
		n.marked = true
	case first >= 0 && first == second:
		n.summed = true
	case third < 0:
	case third == first:
		n.summed, n.corruptCopy = true, true
	case third == second && (first < 0 || oneBit(b, secondAt+len("sums "))):
		n.commits, n.corruptCopy = third, true
	case third == second: // a program that counts in the first line alone has gone on
	default:
		n.commits, n.corruptCopy = -1, true
	}
	return n
}

// oneBit reports whether the number at the beginning differs from another one by a bit that flipped.
func oneBit(b []byte, at int) bool {
	flipped := 0
	for i := range numberLen {
		flipped += bits.OnesCount8(b[i] ^ b[at+i])
	}
	return flipped == 1
}

// numberIn gives the number of so many digits behind some words; -1 = something else is there.
func numberIn(b []byte, at int, before string, digits int) int64 {
	b = b[min(len(b), at):]
	if end := len(before) + digits; len(b) > end && bytes.HasPrefix(b, []byte(before)) {
		if n, err := strconv.ParseUint(string(b[len(before):end]), 10, 63); err == nil {
			return int64(n) //nolint:gosec // 63 bits
		}
	}
	return -1
}

// errCounterCorrupt refuses a database when its number of commits cannot be known. It does not say that any are missing.
func errCounterCorrupt(path string) error {
	return fmt.Errorf("%w: %s-commits is damaged, the commit counter of %s, so the newest commits may be missing. Nothing was changed. Restore a backup with: parley restore FILE; or, to accept the database as it is, remove %s-commits",
		sessions.ErrDamaged, path, path, path)
}
