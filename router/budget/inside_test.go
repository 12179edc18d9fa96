package budget

import (
	"testing"
	"testing/synctest"
)

// bubble runs a test on virtual time.
func bubble(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, f)
}
