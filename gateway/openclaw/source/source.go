package source

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"parley/channels"
	"parley/gateway/filesystem"
	"parley/gateway/openclaw/report"
)

// Names lists the names of the configuration file, newest first.
var Names = []string{"openclaw.json", "moltbot.json", "clawdbot.json"}

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
	variables map[string]Variable
}

// Variable is one value that the configuration takes from its environment.
type Variable struct {
	Value  channels.Secret // "" if unknown
	Origin string          // where the value was found, or where OpenClaw would look for it
	Ours   bool            // the value comes from the folder, not from the environment of this process
}

// Load reads a state folder. A configuration that cannot be read becomes a line of the report, and the tree is nil.
func Load(f Folder) *Source {
	s := &Source{folder: f, variables: map[string]Variable{}}
	s.Tree = s.read()
	return s
}

// Variable returns what is known of a variable. The environment wins over the folder, as in OpenClaw.
func (s *Source) Variable(name string) Variable {
	if v, ok := s.variables[name]; ok {
		return v
	}
	return Variable{Value: channels.NewSecret(s.folder.Getenv(name)), Origin: "the environment"}
}

// Getenv returns the value of a variable, "" if it is unknown.
func (s *Source) Getenv(name string) string { return s.Variable(name).Value.Reveal() }

// read reads the configuration file.
func (s *Source) read() map[string]any {
	var text []byte
	err := fs.ErrNotExist
	for _, name := range Names {
		if text, err = s.file(name); !errors.Is(err, fs.ErrNotExist) {
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
	top, ok := v.(map[string]any)
	if err == nil && !ok {
		err = errors.New("it is not an object")
	}
	if err != nil {
		s.folder.Report.Need(s.Name, fmt.Sprintf("the configuration cannot be read; sessions are imported without it: %v", err))
		return nil
	}
	return top
}

// file reads a regular file of the folder.
func (s *Source) file(name string) ([]byte, error) {
	f, err := filesystem.OpenIn(s.folder.Root, name)
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
