package config

import (
	"fmt"
	"path/filepath"
	"slices"

	"parley/agent"
	"parley/gateway/configfile"
	"parley/sessions"
)

// workspaces makes the folders of the agents' own files whole paths: relative ones are relative to the configuration file, as the
// state folder is.
func workspaces(c *Config, file string, getenv func(string) string) {
	whole := func(p string) string {
		if p = configfile.Home(p, getenv); p == "" {
			return ""
		}
		if !filepath.IsAbs(p) {
			p = filepath.Join(filepath.Dir(file), p)
		}
		if abs, err := filepath.Abs(p); err == nil {
			p = abs
		}
		return filepath.Clean(p)
	}
	c.Agents.Defaults.Workspace = whole(c.Agents.Defaults.Workspace)
	for i := range c.Agents.List {
		c.Agents.List[i].Workspace = whole(c.Agents.List[i].Workspace)
	}
}

// Workspace gives the folder of an agent's own files; "" for an id that is no agent's.
func (c *Config) Workspace(id sessions.AgentID) string {
	i := slices.IndexFunc(c.Agents.List, func(e agent.Entry) bool { return e.ID == id })
	switch base := c.Agents.Defaults.Workspace; {
	case i < 0:
		return ""
	case c.Agents.List[i].Workspace != "":
		return c.Agents.List[i].Workspace
	case base != "":
		return filepath.Join(base, string(id))
	}
	return filepath.Join(c.State, "workspace", string(id))
}

// workspaces refuses a workspace in which an agent would find what the host keeps for itself.
func (k *checker) workspaces() {
	for i, e := range k.config.Agents.List {
		dir := k.config.Workspace(e.ID)
		path := fmt.Sprintf("agents.list[%d].workspace", i)
		for _, f := range []struct{ what, path string }{{"the state folder", k.config.State}, {"the configuration file", k.config.Path}} {
			if f.path != "" && within(real(dir), real(f.path)) {
				k.wrong(path, fmt.Sprintf("%s is inside the workspace of agent %s, which could read and change it", f.what, e.ID), "use a separate folder")
			}
		}
		for _, o := range k.config.Agents.List {
			if other := k.config.Workspace(o.ID); other != dir && within(dir, other) {
				k.report(Warning, path, fmt.Sprintf("the workspace of agent %s is inside that of agent %s, which can change its files", o.ID, e.ID), "give each agent its own folder")
			}
		}
		if !within(real(dir), real(k.config.State)) && k.hosts(dir, "workspace") {
			k.wrong(path, "the host keeps its own data in this folder: transcripts, exports, files", "use a separate folder, or one below workspace in the state folder")
		}
	}
}

// hosts reports whether a folder lies in the state folder, and not in that part of it.
func (k *checker) hosts(dir string, except ...string) bool {
	state := real(k.config.State)
	return k.config.State != "" && within(state, real(dir)) && !within(filepath.Join(append([]string{state}, except...)...), real(dir))
}

// real gives a path without symbolic links, as far as there is something.
func real(path string) string {
	path = filepath.Clean(path)
	if p, err := filepath.EvalSymlinks(path); err == nil {
		return p
	}
	dir := filepath.Dir(path)
	if dir == path {
		return path
	}
	return filepath.Join(real(dir), filepath.Base(path))
}

// within reports whether a path is a folder or lies below it.
func within(folder, path string) bool {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	rel, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(rel)
}
