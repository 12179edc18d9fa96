package main

import (
	"fmt"
	"io"
	"os"
	"parley/cmd/internal/tables"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"parley/gateway/accounts"
	"parley/gateway/config"
	"parley/gateway/config/schema"
)

// docPage is a file of Markdown, by its path in the repository, in pieces.
type docPage struct {
	path    string
	prose   []string        // lines outside of code blocks
	blocks  []docBlock      // code blocks, fenced and indented
	anchors map[string]bool // of its headings, as GitHub makes them
}

type docBlock struct {
	line     int
	language string
	text     string
}

var (
	docLink     = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	docHeading  = regexp.MustCompile(`^#+ (.*)`)
	docCode     = regexp.MustCompile("``.+?``|`[^`]*`")
	docLinked   = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	docUnslug   = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
	docKey      = regexp.MustCompile("`([a-z]+[.][][a-zA-Z0-9.*]*[]a-zA-Z*])[`:]")
	docMetric   = regexp.MustCompile(`\bparley_[a-z_]+_(?:total|up|seconds|breaker)\b`)
	docVariable = regexp.MustCompile(`[gG]etenv\("([A-Z_]+)"\)`)
	docCodes    = regexp.MustCompile(`(?:failed\(exit[A-Za-z]+, |http\.Status[A-Za-z]+: |[^.]Code: )"([a-z_]+)"`)
	docExit     = regexp.MustCompile(`(?m)^\| (\d+) \|`)
)

// slug is what GitHub calls a heading in a link.
func slug(title string) string {
	title = docLinked.ReplaceAllString(title, "$1")
	return strings.ReplaceAll(docUnslug.ReplaceAllString(strings.ToLower(strings.TrimSpace(title)), ""), " ", "-")
}

// pages reads the documentation.
func pages(t *testing.T) map[string]docPage {
	t.Helper()
	out := map[string]docPage{}
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/adr/*.md"} {
		files, err := filepath.Glob(filepath.Join("..", "..", pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: no such files (%v)", pattern, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.ToSlash(strings.TrimPrefix(file, filepath.Join("..", "..")+string(filepath.Separator)))
			out[path] = readPage(path, string(text))
		}
	}
	return out
}

func readPage(path, text string) docPage {
	p := docPage{path: path, anchors: map[string]bool{}}
	fenced, blank := false, true
	for i, line := range strings.Split(text, "\n") {
		language, fence := strings.CutPrefix(strings.TrimSpace(line), "```")
		last := len(p.blocks) - 1
		indented := strings.HasPrefix(line, "    ") && !fenced
		switch {
		case fence:
			if fenced = !fenced; fenced {
				p.blocks = append(p.blocks, docBlock{line: i + 1, language: language})
			}
		case fenced:
			p.blocks[last].text += line + "\n"
		case indented && blank:
			p.blocks = append(p.blocks, docBlock{line: i, language: "indented", text: strings.TrimPrefix(line, "    ") + "\n"})
		case indented && last >= 0 && p.blocks[last].language == "indented":
			p.blocks[last].text += strings.TrimPrefix(line, "    ") + "\n"
		default:
			p.prose = append(p.prose, line)
			if m := docHeading.FindStringSubmatch(line); m != nil {
				name := slug(m[1])
				for n := 1; p.anchors[name]; n++ {
					name = fmt.Sprintf("%s-%d", slug(m[1]), n)
				}
				p.anchors[name] = true
			}
		}
		blank = strings.TrimSpace(line) == "" || indented && blank
	}
	return p
}

// Every link within the repository leads somewhere, and the list of the documentation is whole.
func TestDocsLinks(t *testing.T) {
	t.Parallel()
	all := pages(t)
	listed := map[string]bool{}
	for _, p := range all {
		for _, m := range docLink.FindAllStringSubmatch(docCode.ReplaceAllString(strings.Join(p.prose, "\n"), ""), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			name, anchor, _ := strings.Cut(m[1], "#")
			to := p.path
			if name != "" {
				to = filepath.ToSlash(filepath.Join(filepath.Dir(p.path), name))
			}
			if _, err := os.Stat(filepath.Join("..", "..", to)); err != nil {
				t.Errorf("%s links to %s, which is not there", p.path, m[1])
			} else if anchor != "" && !all[to].anchors[anchor] {
				t.Errorf("%s links to %s: there is no such heading", p.path, m[1])
			}
			if p.path == "docs/README.md" {
				listed[to] = true
			}
		}
	}
	for path := range all {
		if filepath.Dir(path) == "docs" && path != "docs/README.md" && !listed[path] {
			t.Errorf("docs/README.md does not list %s", path)
		}
	}
}

// Every command line that the documentation shows is one that the program takes.
func TestDocsCommands(t *testing.T) {
	t.Parallel()
	n := 0
	for _, p := range pages(t) {
		for _, b := range p.blocks {
			if !slices.Contains([]string{"", "sh", "indented"}, b.language) {
				continue
			}
			for i, line := range strings.Split(b.text, "\n") {
				for _, args := range commands(line) {
					n++
					if err := parses(args); err != nil {
						t.Errorf("%s:%d: parley %s: %v", p.path, b.line+i+1, strings.Join(args, " "), err)
					}
				}
			}
		}
	}
	if n < 70 {
		t.Errorf("only %d command lines were found", n)
	}
}

// commands finds what a line of a shell gives to parley: after the beginning, a pipe or a semicolon.
func commands(line string) (all [][]string) {
	var words []string
	flush := func() { // sudo -u parley NAME=value parley …: the last parley of the beginning is the program
		program := -1
		for i, word := range words {
			if word == "parley" {
				program = i
			} else if !slices.Contains([]string{"sudo", "-u", "docker", "exec"}, word) && !strings.Contains(word, "=") {
				break
			}
		}
		if program >= 0 && len(words) > program+1 {
			all = append(all, words[program+1:])
		}
		words = nil
	}
	if strings.Contains(line, "[--") { // a form, no command
		return nil
	}
	for _, word := range shellWords(line) {
		if word == "|" || word == ";" || word == "&&" || word == ">" {
			flush()
			if word == ">" {
				return all
			}
			continue
		}
		words = append(words, word)
	}
	flush()
	return all
}

// shellWords takes a line apart as far as the documentation uses the shell. Two blanks in a row, or a #, begin a remark.
func shellWords(line string) (words []string) {
	word, in, quote := "", false, rune(0)
	end := func() {
		if in {
			words = append(words, word)
		}
		word, in = "", false
	}
	line = strings.TrimLeft(line, " ")
	for i, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word += string(r)
		case r == '\'' || r == '"':
			quote, in = r, true
		case r == ' ':
			end()
			if strings.HasPrefix(line[i:], "  ") {
				return words
			}
		case r == '#' && !in:
			return words
		case strings.ContainsRune("|;>", r):
			end()
			words = append(words, string(r))
		default:
			word, in = word+string(r), true
		}
	}
	end()
	return words
}

// parses reports what the command line says against some arguments. Nothing is run.
func parses(args []string) error {
	k := grammar(&cli{})
	k.Stdout, k.Stderr, k.Exit = io.Discard, io.Discard, func(int) {}
	_, err := k.Parse(args)
	return err
}

// Every piece of configuration that the documentation shows is one that the program takes, and every key that it names exists.
func TestDocsConfiguration(t *testing.T) {
	t.Parallel()
	table := accounts.Table(tables.Adapters())
	getenv := func(name string) string {
		if strings.HasSuffix(name, "_TOKEN") {
			return "1234567:" + strings.Repeat(name, 5)
		}
		return strings.Repeat(name, 5)
	}
	n := 0
	for _, p := range pages(t) {
		if filepath.Dir(p.path) == "docs/adr" {
			continue // they tell what was thought at the time
		}
		for _, b := range p.blocks {
			if b.language != "yaml" {
				continue
			}
			n++
			_, problems, err := config.Parse(p.path, []byte(b.text), table, getenv)
			if err != nil {
				t.Errorf("%s:%d: %v %v", p.path, b.line, problems, err)
			}
		}
	}
	if n < 10 {
		t.Errorf("only %d pieces of configuration were found", n)
	}
}

// Every key that the documentation names is one that the reference lists.
func TestDocsKeys(t *testing.T) {
	t.Parallel()
	reference := string(schema.Reference(accounts.Table(tables.Adapters())))
	var keys, sections []string
	for line := range strings.Lines(reference) {
		if name, ok := strings.CutPrefix(line, "## "); ok {
			sections = append(sections, strings.TrimSpace(name))
		}
		if name, ok := strings.CutPrefix(line, "| `"); ok {
			name, _, _ = strings.Cut(name, "`")
			keys = append(keys, strings.ReplaceAll(name, "[]", ""))
		}
	}
	n := 0
	for _, p := range pages(t) {
		if filepath.Dir(p.path) == "docs/adr" || p.path == "docs/conformance.md" { // they name tests like tools.TestX
			continue
		}
		for _, m := range docKey.FindAllStringSubmatch(strings.Join(p.prose, "\n"), -1) {
			name := strings.NewReplacer("[]", "", ".accounts.*", "").Replace(m[1]) // an account has the keys of its channel
			if section, _, _ := strings.Cut(name, "."); !slices.Contains(sections, section) {
				continue
			}
			n++
			if !slices.ContainsFunc(keys, func(key string) bool { return covers(strings.Split(key, "."), strings.Split(name, ".")) }) {
				t.Errorf("%s names the key %s, which there is not", p.path, m[1])
			}
		}
	}
	if n < 100 {
		t.Errorf("only %d keys were found", n)
	}
}

// covers reports whether a key of the reference is the named one, or is in the group of that name.
func covers(key, name []string) bool {
	if len(name) > len(key) {
		return false
	}
	for i, part := range name {
		if part != key[i] && part != "*" && key[i] != "<id>" {
			return false
		}
	}
	return true
}

// The documentation has all metrics and exit codes of the program and no others, and all variables that it reads.
func TestDocsFigures(t *testing.T) {
	t.Parallel()
	all := pages(t)
	text := func(path string) string {
		b, err := os.ReadFile(filepath.Join("..", "..", path))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	want := map[string]bool{}
	for _, dir := range []string{"gateway", "gateway/accounts", "gateway/api", "gateway/config", "gateway/models", "gateway/operations", "gateway/server", "router", "router/inbound", "router/turn", "router/commit", "router/chain", "router/cron", "router/command", "router/toolhost", "router/delivery", "router/event", "router/filestore", "router/lane", "router/settings", "cmd/parley"} {
		files, err := filepath.Glob(filepath.Join("..", "..", dir, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatal(dir, err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			code := text(strings.TrimPrefix(file, filepath.Join("..", "..")+string(filepath.Separator)))
			for _, name := range docMetric.FindAllString(code, -1) {
				want[name] = true
			}
			for _, m := range docCodes.FindAllStringSubmatch(code, -1) {
				if !strings.Contains(text("docs/api.md")+text("docs/cli.md"), "`"+m[1]+"`") {
					t.Errorf("neither docs/api.md nor docs/cli.md has the code %s of %s", m[1], file)
				}
			}
			for _, m := range docVariable.FindAllStringSubmatch(code, -1) {
				if name := m[1]; !strings.Contains(text("docs/operations.md"), "`"+name) && name != "HOME" && name != "USERPROFILE" {
					t.Errorf("docs/operations.md lacks the variable %s, which %s reads", name, file)
				}
			}
		}
	}
	got := map[string]bool{}
	for _, name := range docMetric.FindAllString(text("docs/operations.md"), -1) {
		got[name] = true
	}
	for name := range want {
		if !got[name] {
			t.Errorf("docs/operations.md lacks %s", name)
		}
	}
	for path := range all {
		for _, name := range docMetric.FindAllString(text(path), -1) {
			if !want[name] {
				t.Errorf("%s names %s, which there is not", path, name)
			}
		}
	}
	var exits []string
	for _, m := range docExit.FindAllStringSubmatch(text("docs/cli.md"), -1) {
		exits = append(exits, m[1])
	}
	codes := fmt.Sprint([]int{0, exitFailed, exitUsage, exitAway, exitMissing, exitRefused, exitTimeout, exitStopped, exitOverrun, exitUndelivered, exitInterrupted})
	if len(want) < 10 || fmt.Sprint(exits) != codes {
		t.Errorf("%d metrics; exit codes %v, want %v", len(want), exits, codes)
	}
}
