package source

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"parley/channels/pattern"
	"parley/gateway/filesystem"
	"parley/gateway/openclaw/jsontree"
	"parley/gateway/openclaw/report"
)

// Names lists the names of the configuration file, newest first.
var Names = []string{"openclaw.json", "moltbot.json", "moldbot.json", "clawdbot.json", "clawdis.json"}

// maxFile bounds each file that Load reads, in bytes.
const maxFile = 16 << 20

// Folder is a state folder and what Load needs beside it.
type Folder struct {
	Root   *os.Root // files outside are never read
	Getenv func(string) string
	Report *report.Report

	// Rows returns the named columns of all rows of a table, as texts. file is relative to the state folder.
	// An absent file, table or column gives no rows and no error.
	Rows func(file, table string, columns ...string) ([][]string, error)

	read map[string]bool // files that were read
}

// Source is the effective configuration of a state folder. Tree and Name are fixed; *Variables resolves what Tree refers to.
type Source struct {
	Name       string         // name of the configuration file; "" if there is none
	Tree       map[string]any // current layout; nil if the file is absent or unreadable
	Jobs       []Job
	Workspaces []Workspace
	Read       []string // files and folders that were read, relative to the state folder
	*Variables
}

// Load reads a state folder. A configuration that cannot be read becomes a line of the report, and the tree is nil.
func Load(f Folder) *Source {
	f.read = map[string]bool{}
	includes := &includer{folder: f}
	name, tree := readConfig(f, includes)
	s := &Source{Name: name, Variables: newVariables(f, name)}
	if tree != nil {
		modernize(tree, f.Report)
		if misshapen(tree, f.Report) {
			includes.broken = true
		}
		agentModels(f, tree)
		s.collect(tree)
		s.credentials(tree)
		s.Tree = jsontree.Object(s.fill(tree, nil))
		delete(s.Tree, "secrets") // every reference to it is a variable now
		if includes.broken {
			switchOff(s.Tree)
		}
	}
	s.Jobs = readJobs(f, s.Tree)
	w := workspaceReader{folder: f, tree: s.Tree, agents: jsontree.Object(s.Tree["agents"])}
	w.all()
	s.Workspaces, s.Jobs = w.found, append(s.Jobs, w.jobs...)
	for _, w := range w.found {
		f.read[w.Path] = true
	}
	s.Read = slices.Sorted(maps.Keys(f.read))
	return s
}

// readConfig reads the configuration file and the files that it includes.
func readConfig(f Folder, includes *includer) (name string, tree map[string]any) {
	var text []byte
	err := fs.ErrNotExist
	for _, n := range Names {
		if text, err = f.open(n); !errors.Is(err, fs.ErrNotExist) {
			name = n
			break
		}
	}
	if name == "" {
		f.Report.Leave("the configuration", "there is none: "+Names[0])
		return "", nil
	}
	var v any
	if err == nil {
		v, err = f.parse(name, text)
	}
	if _, ok := v.(map[string]any); err == nil && !ok {
		err = errors.New("it is not an object")
	}
	if err != nil {
		f.Report.Need(name, fmt.Sprintf("repair the file and import again; sessions are imported without it: %v", err))
		return name, nil
	}
	return name, jsontree.Object(includes.include(v, name, []string{name}, ""))
}

// parse reads a file of the configuration, and reports the names that stand twice.
func (f Folder) parse(name string, text []byte) (any, error) {
	v, twice, err := parseJSON5(text)
	for _, what := range twice {
		f.Report.Leave(name+": "+what, "this object has the name twice, and only the last one counts, as in OpenClaw: move what you need from the first one to the last one, and import again")
	}
	return v, err
}

// open reads a regular file of the folder.
func (f Folder) open(name string) ([]byte, error) {
	file, err := filesystem.OpenIn(f.Root, filepath.FromSlash(name))
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // it is only read
	text, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err == nil && len(text) > maxFile {
		return nil, fmt.Errorf("%s is larger than %d MB", name, maxFile>>20)
	}
	if f.read != nil && err == nil {
		f.read[path.Clean(name)] = true
	}
	return text, err
}

// folderNames are the names that a state folder has had.
var folderNames = []string{".openclaw", ".moltbot", ".moldbot", ".clawdbot", ".clawdis"}

// inside returns the name of a file in the folder. base is the folder of relative names. A file elsewhere gives false. A path below another state
// folder, such as the one that a container has (its own .openclaw), means this one.
func (f Folder) inside(name, base string) (string, bool) {
	name = strings.ReplaceAll(strings.TrimSpace(name), `\`, "/")
	homes := []string{f.Getenv("OPENCLAW_STATE_DIR"), absolute(f.Root.Name())}
	parts := strings.Split(name, "/")
	if n := slices.IndexFunc(parts, func(p string) bool {
		return slices.Contains(folderNames, p) || p == path.Base(filepath.ToSlash(absolute(f.Root.Name())))
	}); n >= 0 && !isRelative(name) {
		homes = append(homes, strings.Join(parts[:n+1], "/"))
	}
	for _, home := range homes {
		if rest, ok := strings.CutPrefix(name, strings.TrimSuffix(filepath.ToSlash(home), "/")+"/"); home != "" && ok {
			name, base = rest, ""
			break
		}
	}
	if name == "" || !isRelative(name) {
		return "", false
	}
	name = path.Join(base, name)
	return name, filepath.IsLocal(filepath.FromSlash(name))
}

// windowsPath matches the beginning of a path with a drive, C:/.
var windowsPath = pattern.New(`^[A-Za-z]:/`)

// isRelative reports whether a path with slashes begins in the folder of its file.
func isRelative(name string) bool {
	return !path.IsAbs(name) && !filepath.IsAbs(name) && !strings.HasPrefix(name, "~") && !windowsPath.MatchString(name)
}

func absolute(dir string) string {
	if a, err := filepath.Abs(dir); err == nil {
		return a
	}
	return dir
}
