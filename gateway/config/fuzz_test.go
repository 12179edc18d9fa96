package config

import (
	"os"
	"strings"
	"testing"
)

func FuzzLoad(f *testing.F) {
	example, err := os.ReadFile("../../config.example.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for _, s := range []string{
		string(example), fixed, "a: &a [*a]", "? {a: b}\n: c", "a: !!binary x", "- - - -", "{{{{", "a: ${A}$${B}${C:-d}", "a: \"\\x00\"", "%YAML 1.1\n---\n",
		"channels: {telegram: {token: x, groups: &g {a: {topics: *g}}}}", "session: {identityLinks: {a: [1, 2.5, ~, 2001-01-01]}}",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		const canary = "0canary0canary0canary0canary0canary0"
		c, ps, err := load(text, "A", canary, "PARLEY_TOKEN", canary)
		if (c == nil) != (err != nil) {
			t.Fatalf("config %v, error %v", c, err)
		}
		if err != nil && len(ps) == 0 || len(ps) > maxProblems {
			t.Fatalf("%d problems, error %v", len(ps), err)
		}
		for _, p := range ps {
			if p.Text == "" || p.File == "" || strings.Contains(p.String(), canary) || len(p.String()) > 4096 {
				t.Fatalf("problem %q", p)
			}
		}
	})
}

func BenchmarkLoad(b *testing.B) {
	text, err := os.ReadFile("../../config.example.yaml")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, _, err := Parse("config.yaml", text, table(), env()); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDefault(b *testing.B) {
	for b.Loop() {
		Default(table(), env())
	}
}
