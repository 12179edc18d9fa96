package source

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"parley/channels"
	"parley/gateway/configfile"
	"parley/gateway/filesystem"
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
	Tables Tables // nil: no database is read
}

// Tables reads rows of OpenClaw's databases.
type Tables interface {
	// Rows returns the named columns of all rows of a table, as texts. file is relative to the state folder.
	// An absent file, table or column gives no rows and no error.
	Rows(file, table string, columns ...string) ([][]string, error)
}

// Source is the effective configuration of a state folder.
type Source struct {
	Name       string         // name of the configuration file; "" if there is none
	Tree       map[string]any // current layout; nil if the file is absent or unreadable
	Jobs       []Job
	Workspaces []Workspace

	folder    Folder
	moved     map[string]channels.Secret // secrets of the configuration, by the variable that stands for them now
	file      map[string]string          // .env
	block     map[string]string          // the env block
	profiles  map[string]string          // keys of model providers, by their variable
	wanted    map[string]string          // variables without a value: where OpenClaw took it from
	used      map[string]bool            // variables whose value is in the tree
	providers map[string]any             // secrets.providers
	includes  int                        // files that were included so far
	included  int                        // bytes of them
	broken    bool                       // an include failed
}

// Variable is one value that the configuration takes from its environment.
type Variable struct {
	Value  channels.Secret // "" if unknown
	Origin string          // place of the value, or what to do without one
	Ours   bool            // the value comes from the folder, not from the environment of this process
}

// Load reads a state folder. A configuration that cannot be read becomes a line of the report, and the tree is nil.
func Load(f Folder) *Source {
	s := &Source{folder: f, moved: map[string]channels.Secret{}, file: map[string]string{}, block: map[string]string{}, profiles: map[string]string{}, wanted: map[string]string{}, used: map[string]bool{}}
	if tree := s.read(); tree != nil {
		s.modernize(tree)
		s.agentModels(tree)
		s.variables(tree)
		s.credentials(tree)
		s.Tree = object(s.fill(tree, nil))
		delete(s.Tree, "secrets") // every reference to it is a variable now
		if s.broken {
			switchOff(s.Tree)
		}
	}
	s.jobs()
	s.workspaces()
	return s
}

// read reads the configuration file and the files that it includes.
func (s *Source) read() map[string]any {
	var text []byte
	err := fs.ErrNotExist
	for _, name := range Names {
		if text, err = s.open(name); !errors.Is(err, fs.ErrNotExist) {
			s.Name = name
			break
		}
	}
	if s.Name == "" {
		s.folder.Report.Leave("the configuration", "there is none: "+Names[0])
		return nil
	}
	var v any
	if err == nil {
		v, err = ParseJSON5(text)
	}
	if _, ok := v.(map[string]any); err == nil && !ok {
		err = errors.New("it is not an object")
	}
	if err != nil {
		s.folder.Report.Need(s.Name, fmt.Sprintf("repair the file and import again; sessions are imported without it: %v", err))
		return nil
	}
	return object(s.include(v, s.Name, []string{s.Name}, ""))
}

// open reads a regular file of the folder.
func (s *Source) open(name string) ([]byte, error) {
	f, err := filesystem.OpenIn(s.folder.Root, filepath.FromSlash(name))
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it is only read
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(text) > maxFile {
		return nil, fmt.Errorf("%s is larger than %d MB", name, maxFile>>20)
	}
	return text, err
}

// inside returns the name of a file in the folder. base is the folder of relative names. A file elsewhere gives false.
func (s *Source) inside(name, base string) (string, bool) {
	name = strings.ReplaceAll(strings.TrimSpace(name), `\`, "/")
	for _, home := range []string{"~/.openclaw", "~/.moltbot", "~/.moldbot", "~/.clawdbot", "~/.clawdis", s.folder.Getenv("OPENCLAW_STATE_DIR"), absolute(s.folder.Root.Name()),
		configfile.Home("~/.openclaw", s.folder.Getenv), configfile.Home("~/.clawdbot", s.folder.Getenv), configfile.Home("~/.moltbot", s.folder.Getenv)} {
		if rest, ok := strings.CutPrefix(name, strings.TrimSuffix(filepath.ToSlash(home), "/")+"/"); home != "" && ok {
			name, base = rest, ""
			break
		}
	}
	if name == "" || path.IsAbs(name) || filepath.IsAbs(name) || strings.HasPrefix(name, "~") {
		return "", false
	}
	name = path.Join(base, name)
	return name, filepath.IsLocal(filepath.FromSlash(name))
}

func absolute(dir string) string {
	if a, err := filepath.Abs(dir); err == nil {
		return a
	}
	return dir
}

func object(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}

func text(v any) string {
	s, _ := v.(string)
	return strings.TrimSpace(s)
}
