package confine

import (
	"io"
	"reflect"
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
		{Ability{Landlock: 7, Filter: true, Namespace: true, Isolated: true}, ""},
		{Ability{Landlock: 2, Filter: true, Namespace: true, Isolated: true}, ""},
		{Ability{Filter: true, Namespace: true, Isolated: true}, "with all of /proc in sight"},
		{Ability{Landlock: 6, Filter: true}, "without a file system of their own"},
		{Ability{Landlock: 7, Namespace: true, Isolated: true}, "with a hole: keys of the user's keyrings"},
		{Ability{Why: "only Linux can do that"}, "without any confinement: only Linux can do that"},
		{Ability{Filter: true}, "without file confinement: the kernel has no Landlock|without a file system of their own|with a hole: other programs of the same user can be sent signals"},
		{Ability{Landlock: 2, Filter: true}, "with a hole: files outside can be cut short|without a file system|with a hole: other programs"},
		{Ability{Landlock: 3}, "with a hole: modes, owners, times|without network confinement: the kernel has no Landlock network rules|with a hole: shared memory|with a hole: keys|with a hole: other programs"},
		{Ability{Landlock: 6}, "with a hole: modes|without network confinement but for TCP|with a hole: shared memory|with a hole: keys"},
		{Ability{Landlock: 6, Namespace: true}, "with a hole: modes|with a hole: sockets of other programs in the file system can be reached|with a hole: keys"},
		{Ability{Landlock: 7, Filter: true, Namespace: true, Isolated: true, Reached: []string{"the network"}}, "with a hole that the test at start found: the network"},
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
	for _, args := range [][]string{nil, {"--"}, {"--", "/bin/true"}, {"/bin/true", "true"}, {"--landlock=0", "--reed=/", "--", "/bin/true", "true"},
		{"--", "/bin/true", "true"}, {"--landlock=x", "--", "/bin/true", "true"}, {"--landlock=0", "--filter=no", "--", "/bin/true", "true"}, {"--landlock=0"}, {"--check"}} {
		if _, err := Main(args, io.Discard); err == nil {
			t.Errorf("%q: no error", args)
		}
	}
	o := &order{Plan: Plan{Read: []string{"/a=b"}, Write: []string{"/c"}}, landlock: 7, filter: true, namespace: true, isolated: true, inside: true, path: "/bin/true", argv: []string{"true", "--filter"}}
	if got, err := parse(o.args()); err != nil || !reflect.DeepEqual(got, o) {
		t.Errorf("%+v came back as %+v, %v", o, got, err)
	}
}
