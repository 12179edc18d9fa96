package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"parley/cmd/internal/tables"
	"parley/gateway/accounts"
	"parley/gateway/config"
	"parley/tools/mcp/confine"
)

const maxDocLine = 160 // characters

var (
	// oldWords are words that docs/style.md replaces, and turns of the same kind.
	oldWords = regexp.MustCompile(`(?i)\b(anew|mend(s|ed|ing)?|by (itself|themselves)|goes on|stands|is to be|whoever|of what|what is there|that is gone)\b`)
	docOpen  = regexp.MustCompile(`^<!-- begin: .*\(generated\) -->`)
	docPath  = regexp.MustCompile("^((?:agent|channels|cmd|docs|gateway|packaging|policy|router|sessions|tools)/[A-Za-z0-9_./-]+|[.]ci/[a-z]+|config[.]example[.]yaml)$")
)

// docLines gives the lines of a page that people wrote, by number: neither code blocks nor generated tables. Code spans are left out.
func docLines(t *testing.T, path string) map[int]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", path))
	if err != nil {
		t.Fatal(err)
	}
	lines := map[int]string{}
	fenced, generated, blank := false, false, true
	for i, line := range strings.Split(string(text), "\n") {
		indented := blank && strings.HasPrefix(line, "    ")
		switch {
		case strings.HasPrefix(strings.TrimSpace(line), "```"):
			fenced = !fenced
		case docOpen.MatchString(line):
			generated = true
		case line == "<!-- end -->":
			generated = false
		case !fenced && !generated && !indented:
			lines[i+1] = line
		}
		blank = strings.TrimSpace(line) == "" || indented
	}
	return lines
}

// The documentation does without the words that docs/style.md replaces, and its lines fit beside each other on a screen.
func TestDocsStyle(t *testing.T) {
	t.Parallel()
	for path := range pages(t) {
		if path == "docs/style.md" { // the list itself
			continue
		}
		history := filepath.Dir(path) == "docs/adr" || path == "CHANGELOG.md" // only its lines are bounded
		var findings []string
		lines := docLines(t, path)
		generated := strings.HasPrefix(lines[1], "<!-- Generated")
		for n, line := range lines {
			if !history {
				for _, word := range oldWords.FindAllString(docCode.ReplaceAllString(line, ""), -1) {
					findings = append(findings, path+":"+strconv.Itoa(n)+": "+word)
				}
			}
			if len([]rune(line)) > maxDocLine && !generated && !strings.HasPrefix(strings.TrimSpace(line), "|") && !strings.Contains(line, "://") {
				findings = append(findings, path+":"+strconv.Itoa(n)+": the line is longer than "+strconv.Itoa(maxDocLine)+" characters")
			}
		}
		if len(findings) > 0 {
			slices.Sort(findings)
			t.Errorf("old words or long lines (docs/style.md says what to write):\n%s", strings.Join(findings, "\n"))
		}
	}
}

// Every command of the program is shown on a page, and every command that a sentence names exists.
func TestDocsNameCommands(t *testing.T) {
	t.Parallel()
	app := grammar(&cli{}).Model.Node
	var text strings.Builder
	n := 0
	for path, p := range pages(t) {
		if filepath.Dir(path) == "docs/adr" || path == "CHANGELOG.md" { // history
			continue
		}
		prose := strings.Join(p.prose, "\n")
		text.WriteString(prose)
		for _, b := range p.blocks {
			text.WriteString("\n" + b.text)
		}
		for _, span := range docCode.FindAllString(prose, -1) {
			words := strings.Fields(strings.Trim(span, "` "))
			if len(words) < 2 || words[0] != "parley" || words[1] == confine.Command || words[1] == "is" { // hidden; a message
				continue
			}
			n++
			if word := unknownWord(app, words[1:]); word != "" {
				t.Errorf("%s: %s: the program has no %s there", path, span, word)
			}
		}
	}
	if n < 100 {
		t.Errorf("only %d commands were found", n)
	}
	shown := text.String()
	for _, leaf := range app.Leaves(true) {
		var names []string
		for node := leaf; node.Parent != nil; node = node.Parent {
			if node.Type == kong.CommandNode {
				names = append([]string{node.Name}, names...)
			}
		}
		last := names[len(names)-1]
		if leaf == app.DefaultCmd || len(names) > 1 && leaf.Parent.DefaultCmd == leaf { // it is run without its name
			continue
		}
		if !regexp.MustCompile(`\b` + strings.Join(append([]string{"parley"}, names[:len(names)-1]...), " ") + `( [a-z-]+[|])*( ?[a-z|]*[|])?\s*` + regexp.QuoteMeta(last) + `\b`).MatchString(shown) {
			t.Errorf("no page names parley %s", strings.Join(names, " "))
		}
	}
}

// unknownWord gives the first word that is neither a command nor a flag where it is used. It stops at the first argument.
func unknownWord(node *kong.Node, words []string) string {
	for _, word := range words {
		if name, ok := strings.CutPrefix(word, "--"); ok {
			name, _, _ = strings.Cut(name, "=")
			known := []string{"help"}
			for _, group := range node.AllFlags(false) {
				for _, flag := range group {
					known = append(known, flag.Name)
				}
			}
			if node.DefaultCmd != nil {
				for _, flag := range node.DefaultCmd.Flags {
					known = append(known, flag.Name)
				}
			}
			if !slices.Contains(known, name) {
				return word
			}
			continue
		}
		if len(node.Children) == 0 || !regexp.MustCompile(`^[a-z|-]+$`).MatchString(word) {
			return ""
		}
		var next *kong.Node
		for name := range strings.SplitSeq(word, "|") {
			at := slices.IndexFunc(node.Children, func(c *kong.Node) bool { return c.Name == name })
			if at < 0 && node.DefaultCmd != nil && len(node.DefaultCmd.Positional) > 0 {
				return ""
			}
			if at < 0 {
				return name
			}
			next = node.Children[at]
		}
		node = next
	}
	return ""
}

// Every file of the repository that a sentence names exists.
func TestDocsPaths(t *testing.T) {
	t.Parallel()
	n := 0
	for path, p := range pages(t) {
		if filepath.Dir(path) == "docs/adr" || path == "CHANGELOG.md" { // history
			continue
		}
		for _, span := range docCode.FindAllString(strings.Join(p.prose, "\n"), -1) {
			name := strings.Trim(span, "`")
			if !docPath.MatchString(name) {
				continue
			}
			n++
			name, _, _ = strings.Cut(name, ".Test") // package.TestName
			if _, err := os.Stat(filepath.Join("..", "..", strings.TrimSuffix(name, "/..."))); err != nil {
				t.Errorf("%s names %s, which the repository does not have", path, name)
			}
		}
	}
	if n < 20 {
		t.Errorf("only %d paths were found", n)
	}
}

// docs/recipes.md has whole configurations: each is one that parley check takes without a warning.
func TestDocsRecipes(t *testing.T) {
	t.Parallel()
	getenv := func(name string) string { return "1234567:" + strings.Repeat(name, 5) }
	n := 0
	for _, b := range pages(t)["docs/recipes.md"].blocks {
		if b.language != "yaml" {
			continue
		}
		n++
		_, problems, err := config.Parse("recipes.md", []byte(b.text), accounts.Table(tables.Adapters()), getenv)
		if err != nil || len(problems) > 0 {
			t.Errorf("docs/recipes.md:%d: %v %v", b.line, err, problems)
		}
	}
	if n < 5 {
		t.Errorf("only %d recipes were found", n)
	}
}
