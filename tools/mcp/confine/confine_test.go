package confine

import (
	"strings"
	"testing"
)

// Whatever a kernel does not give is said, in the words that people see at start, in the log and in `parley status`.
func TestMissing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a    Ability
		want string
	}{
		{Ability{Landlock: 6, Filter: true}, ""},
		{Ability{Landlock: 7, Filter: true, Namespace: true}, ""},
		{Ability{Why: "only Linux can do that"}, "without any confinement: only Linux can do that"},
		{Ability{Filter: true}, "without file confinement: the kernel has no Landlock|other programs of the same user can be sent signals"},
		{Ability{Landlock: 2, Filter: true}, "files outside can be cut short|other programs"},
		{Ability{Landlock: 3}, "without network confinement: the kernel has no Landlock network rules|other programs"},
		{Ability{Landlock: 6}, "without network confinement but for TCP"},
		{Ability{Landlock: 6, Namespace: true}, "sockets of other programs in the file system can be reached"},
	} {
		got := c.a.Missing()
		want := strings.Split(c.want, "|")
		if c.want == "" {
			want = nil
		}
		if len(got) != len(want) {
			t.Errorf("%+v: %q", c.a, got)
			continue
		}
		for i := range want {
			if !strings.HasPrefix(got[i], want[i]) {
				t.Errorf("%+v: %q, not %q", c.a, got[i], want[i])
			}
		}
	}
}

// The hidden subcommand says what is wrong with its arguments; it never runs a command unconfined by mistake.
func TestArguments(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{nil, {"--"}, {"--", "/bin/true"}, {"/bin/true", "true"}, {"--reed=/", "--", "/bin/true", "true"}} {
		if err := Main(args); err == nil {
			t.Errorf("%q: no error", args)
		}
	}
	if err := Main([]string{"--check"}); err != nil {
		t.Error(err)
	}
}
