package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"parley/cmd/internal/tables"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"parley/channels"
	"parley/gateway/accounts"
	"parley/gateway/config"
	"parley/gateway/configfile"
	"parley/gateway/filesystem"
	"parley/gateway/openclaw"
	"parley/gateway/wizard"
	"parley/sessions"
)

// destination is where an import goes.
type destination struct {
	conf  *config.Config // in force; the sessions go to its state folder
	file  string         // of the new configuration
	use   bool           // file becomes the configuration in force
	usual bool           // nobody named file: one that exists is left alone

	program string // parley, with the configuration that the command line named
}

// written is a file to write.
type written struct {
	path string
	text []byte
	keep bool // a file that it replaces is kept
}

// destination finds where the import goes. With --use a file that --config names need not exist yet.
func (c importOpenClawCmd) destination(e *env) (to destination, err error) {
	to = destination{file: c.ConfigOut, use: c.Use, program: "parley"}
	if e.config != "" {
		to.program += " --config " + quoted(e.config)
	}
	if to.file == "" {
		to.file, to.usual = importedConfig, true
	}
	if fresh := newConfig(e); c.Use && fresh != "" {
		to.conf, to.file = config.Default(accounts.Table(tables.Adapters()), os.Getenv), fresh
		return to, nil
	}
	if to.conf, err = loadPlace(e); err != nil || !c.Use {
		return to, err
	}
	if to.file = to.conf.Path; to.file == "" {
		to.file = usualConfig()
	}
	to.file, err = filepath.Abs(to.file)
	return to, err
}

// loadPlace loads the configuration in force. An invalid one, such as one whose key is not set yet, gives its state folder and store only: an import
// needs no more of it.
func loadPlace(e *env) (*config.Config, error) {
	c, err := load(e)
	invalid, ok := errors.AsType[*config.Invalid](err)
	if !ok {
		return c, err
	}
	text, reads := configfile.Read(invalid.Path)
	if reads != nil {
		return nil, err
	}
	var place struct {
		State any `yaml:"state,omitempty"`
		Store any `yaml:"store,omitempty"`
	}
	if yaml.Unmarshal(text, &place) != nil {
		return nil, err
	}
	if text, reads = yaml.Marshal(place); reads != nil {
		return nil, err
	}
	c, _, reads = config.Parse(invalid.Path, text, accounts.Table(tables.Adapters()), configfile.WithEnvFile(invalid.Path, os.Getenv))
	if reads != nil {
		return nil, err // it has the lines
	}
	return c, nil
}

// newConfig is a configuration file that the user names and that does not exist yet; "" = there is none.
func newConfig(e *env) string {
	name := e.config
	if name == "" {
		name = configfile.Home(os.Getenv("PARLEY_CONFIG"), os.Getenv)
	}
	if _, err := os.Stat(name); name == "" || !errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	if abs, err := filepath.Abs(name); err == nil {
		return abs
	}
	return name
}

// envBeside is the file of variables beside a configuration.
func envBeside(file string) string { return filepath.Join(filepath.Dir(file), configfile.EnvName) }

// needs lists the variables that the new configuration wants and nothing sets.
func (to destination) needs(r *openclaw.Result) []string {
	there := to.there()
	return slices.DeleteFunc(append([]string{}, r.Needs...), func(name string) bool { return there(name) != "" })
}

// there has the variables that are set for the new configuration.
func (to destination) there() func(string) string { return configfile.WithEnvFile(to.file, os.Getenv) }

// agents lists the agents for whom jobs can be imported, the default one first: those of the new configuration, or of the one in force. There are none
// in a new configuration that parley refuses.
func (to destination) agents(r *openclaw.Result, isNew bool) []sessions.AgentID {
	conf := to.conf
	if isNew {
		conf = r.Parsed
	}
	if conf == nil {
		return nil
	}
	ids, first := conf.Agents.IDs()
	return append([]sessions.AgentID{first}, ids...)
}

// files makes the configuration and the variables beside it. Files that need not be written are named in out.
func (to destination) files(r *openclaw.Result, out *imported) ([]written, error) {
	text, vars, err := to.complete(r)
	if err != nil {
		return nil, err
	}
	old, err := filesystem.Read(to.file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if info, err := os.Stat(filepath.Dir(to.file)); !to.use && (err != nil || !info.IsDir()) {
			return nil, misuse("write %s: the folder does not exist: create it, or name another file with --config-out", to.file)
		}
	case err != nil:
		return nil, err
	case bytes.Equal(old, text):
		out.Kept = append(out.Kept, to.file+" (it is the same)")
		return to.variables(vars, nil)
	case to.use:
	case to.usual:
		out.Kept = append(out.Kept, to.file+" (it exists already; --config-out FILE writes the configuration to another file)")
		return nil, nil
	default:
		return nil, misuse("write %s: the file exists already: name another one with --config-out", to.file)
	}
	return to.variables(vars, []written{{to.file, text, true}})
}

// complete adds to the new configuration where the sessions are: the state folder and the store of the configuration in force.
func (to destination) complete(r *openclaw.Result) (text []byte, vars map[string]channels.Secret, err error) {
	vars = maps.Clone(r.Secrets)
	if vars == nil {
		vars = map[string]channels.Secret{}
	}
	add := map[string]any{}
	if configfile.StateFolder("", to.file, withoutState) != to.conf.State {
		add["state"] = strings.ReplaceAll(to.conf.State, "${", "$${")
	}
	if !to.conf.Store.DSN.IsZero() {
		old, err := configfile.Read(to.conf.Path)
		if err != nil {
			return nil, nil, err
		}
		var is struct {
			Store yaml.Node `yaml:"store"`
		}
		if err := yaml.Unmarshal(old, &is); err != nil {
			return nil, nil, err
		}
		add["store"] = &is.Store
	}
	if len(add) == 0 {
		return r.Config, vars, nil
	}
	more, err := yaml.Marshal(add)
	if err != nil {
		return nil, nil, err
	}
	there, before := to.there(), configfile.WithEnvFile(to.conf.Path, os.Getenv)
	for _, m := range variableName.FindAllSubmatch(more, -1) {
		if name := string(m[1]); there(name) == "" && before(name) != "" {
			vars[name] = channels.NewSecret(before(name))
		}
	}
	return slices.Concat(r.Config, []byte("\n# Where the imported sessions are.\n"), more), vars, nil
}

// withoutState is the environment without the variable of the state folder: the next shell may lack it.
func withoutState(name string) string {
	if name == "PARLEY_STATE" {
		return ""
	}
	return os.Getenv(name)
}

var variableName = regexp.MustCompile(`(?:^|[^$])\$\{([A-Za-z_][A-Za-z0-9_]*)`)

// variables puts the file of variables before the others, if it changes. A variable that has another value already is replaced only where the
// old configuration is replaced as well.
func (to destination) variables(vars map[string]channels.Secret, files []written) ([]written, error) {
	path := envBeside(to.file)
	have, err := configfile.ReadEnv(path)
	if err != nil {
		return nil, err
	}
	old, err := filesystem.Read(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var fresh []byte
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		v, ok := have[name]
		if ok && v == vars[name].Reveal() {
			continue
		}
		if ok && !to.use {
			return nil, failed(exitFailed, "conflict", "%s has another %s: remove the line, or write the configuration to another folder with --config-out", path, name)
		}
		line, ok := configfile.EnvLine(name, vars[name])
		if !ok {
			return nil, failed(exitFailed, "failed", "write %s: the value of %s has both kinds of quotes or several lines: put ${%s} in its place in the configuration of OpenClaw, and set the variable in the environment", path, name, name)
		}
		fresh = append(fresh, line...)
	}
	if len(fresh) == 0 {
		return files, nil
	}
	merged := wizard.MergeEnv(old, fresh)
	return append([]written{{path, merged, !bytes.HasPrefix(merged, old)}}, files...), nil
}

// write writes the files, the variables first. With --use the new configuration counts afterwards, and out says so.
func (to destination) write(files []written, out *imported) error {
	if out.Config == "" || len(files) == 0 && !to.use {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(to.file), 0o700); err != nil {
		return err
	}
	foreign, err := configfile.ForeignEnv(filepath.Dir(to.file), os.Getenv) // asked before a line of ours is in it
	if err != nil {
		return err
	}
	now := time.Now()
	for _, f := range files {
		if f.keep {
			kept, err := keepCopy(f.path, now)
			if err != nil {
				return err
			}
			if kept != "" {
				out.Kept = append(out.Kept, kept)
			}
		}
		if err := replaceFile(f.path, f.text); err != nil {
			return err
		}
		out.Written = append(out.Written, f.path)
	}
	if to.use && filepath.Base(to.file) == configfile.Name && len(foreign) == 0 {
		_, _ = configfile.Trust(filepath.Dir(to.file), os.Getenv) // where that fails, the last lines name the file with --config
	}
	found, err := configfile.Find("", os.Getenv)
	out.InForce = err == nil && sameFile(found, to.file)
	return nil
}

// keepCopy copies a file to one with .bak- and the time behind its name. "" = there is none.
func keepCopy(path string, now time.Time) (to string, err error) {
	text, err := filesystem.Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	stem := path + now.UTC().Format(".bak-20060102T150405Z")
	var f *os.File
	for n := 1; ; n++ {
		if to = stem; n > 1 { // another one in this second
			to = fmt.Sprintf("%s.%d", stem, n)
		}
		if f, err = os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600); !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	if err != nil {
		return "", fmt.Errorf("keep a copy of %s: %w", path, err)
	}
	_, err = f.Write(text)
	return to, errors.Join(err, f.Sync(), f.Close())
}
