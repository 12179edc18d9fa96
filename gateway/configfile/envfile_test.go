package configfile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"parley/channels"
)

func TestVariableName(t *testing.T) {
	t.Parallel()
	for want, parts := range map[string][]string{"DISCORD_BIZ_TOKEN": {"discord", "biz", "token"}, "A_B_C": {"a.b--c"}, "_7_KEY": {"7", "key"}, "_": nil} {
		if got := VariableName(parts...); got != want {
			t.Errorf("%q: %s, want %s", parts, got, want)
		}
	}
}

func TestReadEnv(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, EnvName)
	put := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := ReadEnv(path); got != nil || err != nil {
		t.Errorf("no file: %v, %v", got, err)
	}
	put("# words\n\nA=1\nexport B='two words # here'\r\nC=\"3\" # why\nD=4 # why\nE=\nF=a=b\n")
	want := map[string]string{"A": "1", "B": "two words # here", "C": "3", "D": "4", "E": "", "F": "a=b"}
	got, err := ReadEnv(path)
	if err != nil || !cmp.Equal(got, want) {
		t.Errorf("%v %s", err, cmp.Diff(want, got))
	}
	get := WithEnvFile(filepath.Join(dir, "config.yaml"), func(n string) string { return map[string]string{"A": "own"}[n] })
	if get("A") != "own" || get("F") != "a=b" || get("Z") != "" {
		t.Errorf("the environment comes first: %q %q %q", get("A"), get("F"), get("Z"))
	}
	for _, v := range []string{"plain", "it's", `say "x" # y`, " a=b "} {
		line, ok := EnvLine("A", channels.NewSecret(v))
		put("B=1\n" + line)
		if got, err := ReadEnv(path); !ok || err != nil || got["A"] != v {
			t.Errorf("%q comes back as %q: %v, %v", v, got["A"], ok, err)
		}
	}
	for _, v := range []string{"two\nlines", `'"`} {
		if line, ok := EnvLine("A", channels.NewSecret(v)); ok {
			t.Errorf("%q becomes %q", v, line)
		}
	}
	for _, bad := range []string{"sk-secret\n", "A='x\n", "A='x' y\n", "1A=x\n"} {
		put("B=1\n" + bad)
		if _, err := ReadEnv(path); err == nil || !strings.Contains(err.Error(), EnvName+":2:") || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
