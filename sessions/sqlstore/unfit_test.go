package sqlstore

import (
	"errors"
	"testing"

	"parley/sessions"
)

// TestFaultUnfit: a write that fails for what it holds, or by a fault of the code, is known from one that the disk, the connection or the caller failed.
func TestFaultUnfit(t *testing.T) {
	t.Parallel()
	s := open(t, Config{Dir: t.TempDir()})
	for name, c := range map[string]struct {
		fn   func(*tx) error
		want bool
	}{
		"a constraint": {func(t *tx) error {
			_, err := t.exec("INSERT INTO meta (name, value) VALUES ('same', 1), ('same', 2)")
			return err
		}, true},
		"a panic":         {func(*tx) error { panic("a fault of the code") }, true},
		"another error":   {func(*tx) error { return errors.New("the place is not there") }, false},
		"no such table":   {func(t *tx) error { _, err := t.exec("INSERT INTO nowhere (name) VALUES (1)"); return err }, false},
		"a damaged store": {func(*tx) error { return sessions.ErrDamaged }, false},
	} {
		if err := s.write(t.Context(), "Accept", c.fn); err == nil || errors.Is(err, sessions.ErrUnfit) != c.want {
			t.Errorf("%s: %v", name, err)
		}
	}
}
