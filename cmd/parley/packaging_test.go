package main

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// The service files start commands that the program takes; the files of a release exist, are well-formed, and name one version of Go. What needs
// other programs is in .ci/release.
func TestPackaging(t *testing.T) {
	t.Parallel()
	read := func(path string) string {
		b, err := os.ReadFile(filepath.Join("..", "..", path))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	first := func(path, pattern string) string {
		m := regexp.MustCompile(pattern).FindStringSubmatch(read(path))
		if m == nil {
			t.Fatalf("%s has nothing like %s", path, pattern)
		}
		return m[1]
	}

	for path, pattern := range map[string]string{
		"packaging/parley.service": `\nExecStart=parley (.*)`,
		"packaging/parley.openrc":  `\ncommand_args="(.*)"`,
		"packaging/parley.plist":   `exec parley (.*) &gt;&gt;`,
	} {
		if args := shellWords(first(path, pattern)); parses(args) != nil {
			t.Errorf("%s starts parley %s: %v", path, strings.Join(args, " "), parses(args))
		}
	}

	version := first("go.mod", `\ngo (\S+)\n`)
	for path, pattern := range map[string]string{"Dockerfile": `golang:([0-9.]+)-`, ".goreleaser.yaml": `GOTOOLCHAIN=go(\S+)`} {
		if got := first(path, pattern); got != version {
			t.Errorf("%s is built with Go %s, want %s as in go.mod", path, got, version)
		}
	}

	for _, m := range regexp.MustCompile(`(?:src|postinstall|preremove|postremove|postupgrade): "?([^",}\s]+)`).FindAllStringSubmatch(read(".goreleaser.yaml"), -1) {
		if files, err := filepath.Glob(filepath.Join("..", "..", m[1])); err != nil || len(files) == 0 {
			t.Errorf(".goreleaser.yaml packs %s, which does not exist (%v)", m[1], err)
		}
	}
	for _, path := range []string{".goreleaser.yaml", "compose.yaml"} {
		var content map[string]any
		if err := yaml.Unmarshal([]byte(read(path)), &content); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	plist := xml.NewDecoder(strings.NewReader(read("packaging/parley.plist")))
	for {
		if _, err := plist.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("packaging/parley.plist: %v", err)
		}
	}
}
