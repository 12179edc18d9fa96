package config

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"

	"parley/channels"
)

// config.example.yaml runs as it is, without a warning. It writes keys that are fixed, with their values. What needs a login, a key or a server of the
// reader is commented out.
func TestExample(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile("../../config.example.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.HasPrefix(b, []byte("# yaml-language-server: $schema=docs/config.schema.json\n")) {
		t.Error("editors need the first line")
	}
	mustLoad(t, string(b))
	keys := func(text string) map[string]string {
		root, p := document([]byte(text))
		if p != nil {
			t.Fatal(p)
		}
		out := map[string]string{}
		var walk func(string, *yaml.Node)
		walk = func(path string, n *yaml.Node) {
			for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
				walk(path+"."+n.Content[i].Value, n.Content[i+1])
			}
			for _, c := range n.Content {
				if n.Kind == yaml.SequenceNode {
					walk(path+"[]", c)
				}
			}
			out[path] = n.Value
		}
		walk("", root)
		return out
	}
	want, left := keys(fixed), regexp.MustCompile(`^\.(models|channels|commands)\b|^\.agents\.defaults\.model$`)
	maps.DeleteFunc(want, func(key, _ string) bool { return left.MatchString(key) })
	if d := cmp.Diff(want, keys(string(b))); d != "" {
		t.Error(d)
	}
}

// Each section of the example that is commented out loads without an error when its comments are removed.
func TestExampleSections(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile("../../config.example.yaml")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for part := range strings.SplitSeq(string(b), "\n\n") {
		begin := regexp.MustCompile(`(?m)^# [a-z]+:$`).FindStringIndex(part)
		if begin == nil {
			continue
		}
		n++
		text := regexp.MustCompile(`(?m)^# ?`).ReplaceAllString(part[begin[0]:], "")
		text, _, _ = strings.Cut(text, "  discord:") // the table of these tests has Telegram alone
		secret := func(name string) string { return "1234567:" + strings.Repeat(name, 3) }
		if _, ps, err := Parse("c.yaml", []byte(text), table(), secret); err != nil {
			t.Errorf("%s\n%v", text, ps)
		}
	}
	if n != 5 {
		t.Errorf("%d sections are commented out", n)
	}
}

func TestSecretsAreNotPrinted(t *testing.T) {
	t.Parallel()
	c := mustLoad(t, fixed, "PARLEY_TOKEN", "canary-1")
	for _, s := range []string{channels.NewSecret("x").String(), string(must(json.Marshal(c.Gateway)))} {
		if strings.Contains(s, "canary") {
			t.Error(s)
		}
	}
}

func must(b []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return b
}
