package config

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"

	"parley/channels"
)

// config.example.yaml loads as it is and writes exactly the keys that are fixed.
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
	if d := cmp.Diff(keys(fixed), keys(string(b))); d != "" {
		t.Error(d)
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
