package config

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"reflect"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"parley/gateway/config/field"
	"parley/gateway/configfile"
)

// Load reads and checks a file. On success the problems are warnings. Otherwise the Config is nil and the error is an *Invalid
// with the same problems.
//
// Environment variables are filled into values only, after YAML was parsed: ${NAME}, ${NAME:-default}, and $${ for a literal ${.
// One that is unset or empty is an error, except in gateway.token and in what is disabled (enabled: false).
func Load(path string, t Table, getenv func(string) string) (*Config, []Problem, error) {
	data, err := configfile.Read(path)
	if err != nil {
		return refuse(path, err, Problem{Text: readable(err), Hint: readHint(err)})
	}
	return Parse(path, data, t, getenv)
}

func refuse(path string, cause error, p Problem) (*Config, []Problem, error) {
	p.File, p.Severity = path, SevereError
	ps := []Problem{p}
	return nil, ps, &Invalid{Path: path, Problems: ps, cause: cause}
}

func readable(err error) string {
	if errors.Is(err, configfile.ErrTooLarge) {
		return fmt.Sprintf("is larger than %d KiB", configfile.MaxSize>>10)
	}
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err.Error()
	}
	return err.Error()
}

func readHint(err error) string {
	switch {
	case errors.Is(err, configfile.ErrTooLarge):
		return "check that this is the configuration file"
	case errors.Is(err, fs.ErrNotExist):
		return "check --config and $PARLEY_CONFIG; parley also runs without a configuration file"
	case errors.Is(err, fs.ErrPermission):
		return "give the user that runs parley read access"
	}
	return ""
}

// Parse reads and checks the text of a file, as Load does. Relative paths are relative to the folder of path.
func Parse(path string, data []byte, t Table, getenv func(string) string) (*Config, []Problem, error) {
	if bytes.IndexByte(data, 0) >= 0 || !utf8.Valid(data) {
		return refuse(path, nil, Problem{Text: "is not a text file in UTF-8", Hint: "save the file as UTF-8"})
	}
	root, p := document(data)
	if p != nil {
		if isOpenClaw(path, data) {
			p.Text, p.Hint = p.Text+"; "+openClawText, openClawHint
		}
		return refuse(path, nil, *p)
	}
	d := &decoder{file: path, getenv: getenv, table: t, types: field.Cache{}}
	c := &Config{Path: path}
	d.root = root
	v := reflect.ValueOf(c).Elem()
	d.types.Fill(v)
	if root != nil {
		if n, ok := d.visit(root, spot{line: root.Line}); ok && !isNull(n) {
			d.object(n, spot{line: n.Line}, v)
		}
	}
	d.addAlways()
	d.finish(c, root)
	ps := ordered(d.problems)
	if failed(ps) && isOpenClaw(path, data) {
		ps = append([]Problem{{File: path, Text: openClawText, Hint: openClawHint, Severity: SevereError}}, ps...)
	}
	if failed(ps) {
		return nil, ps, &Invalid{Path: path, Problems: ps}
	}
	c.Warnings = ps
	return c, ps, nil
}

// Default is the configuration without a file.
func Default(t Table, getenv func(string) string) *Config {
	d := &decoder{getenv: getenv, table: t, types: field.Cache{}}
	c := &Config{}
	d.types.Fill(reflect.ValueOf(c).Elem())
	d.addAlways()
	d.finish(c, nil)
	return c
}

// finish fills in what depends on more than one key, and checks it.
func (d *decoder) finish(c *Config, root *yaml.Node) {
	c.State = configfile.StateFolder(c.State, d.file, d.getenv)
	for _, a := range d.accounts {
		if a.enabled {
			c.Channels = append(c.Channels, a.Account)
		} else {
			c.Disabled = append(c.Disabled, a.Account)
		}
	}
	completeAgents(&c.Agents)
	workspaces(c, d.file, d.getenv)
	certificates(c, d.file, d.getenv)
	if d.nodes <= maxNodes { // beyond, the rest is not worth a look
		d.global(c)
		k := &checker{config: c, decoder: d, root: root}
		k.all()
	}
	if c.Path != "" {
		if abs, err := filepath.Abs(c.Path); err == nil {
			c.Path = abs
		}
	}
}
