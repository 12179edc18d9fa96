package config

import (
	"maps"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"parley/tools"
)

var (
	serverName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,32}$`)
	headerName = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")
	envName    = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

// mcpServers checks tools.mcp.servers.
func (k *checker) mcpServers() {
	for _, name := range sortedKeys(k.config.Tools.MCP.Servers) {
		m, at := k.config.Tools.MCP.Servers[name], "tools.mcp.servers."+name
		if !serverName.MatchString(name) {
			k.wrong(at, "a server name has 1 to 32 letters, digits, _ and -", "rename the server; its tools are called name_tool")
			continue
		}
		if !m.Enabled {
			continue
		}
		for _, other := range sortedKeys(k.config.Tools.MCP.Servers) {
			if o := k.config.Tools.MCP.Servers[other]; o.Enabled && other != name && strings.HasPrefix(other+"_", name+"_") {
				k.wrong(at, "the name is a prefix of "+other+", so tools of both servers could have the same name", "rename one of them")
			}
		}
		switch {
		case m.Command == "" && m.URL == "":
			k.lacks(SevereError, at, "has no command and no url", "set command to run a program, or url to reach a server over HTTP")
		case m.Command != "" && m.URL != "":
			k.wrong(at, "has both command and url", "keep one")
		case m.URL != "":
			k.mcpURL(m, at)
		default:
			k.mcpCommand(m, name, at)
		}
	}
}

func (k *checker) mcpURL(m tools.MCPServer, at string) {
	u, err := url.Parse(m.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		k.wrong(at+".url", "must be an http or https URL", "for example https://mcp.example.com/mcp")
		return
	}
	for _, name := range slices.Sorted(maps.Keys(m.Headers)) {
		if !headerName.MatchString(name) || strings.ContainsAny(m.Headers[name].Reveal(), "\r\n\x00") {
			k.wrong(at+".headers", "contains an invalid header", "write Name: value")
		}
	}
	host := u.Hostname()
	if u.Scheme == "http" && len(m.Headers) > 0 && host != "localhost" && host != "127.0.0.1" && host != "::1" {
		k.report(Warning, at+".url", "is not encrypted: others on the network can read its headers", "use https")
	}
	if len(m.Args)+len(m.Env)+len(m.Read)+len(m.Write) > 0 || m.Cwd != "" {
		k.wrong(at, "has a url, so args, env, cwd, read and write have no effect", "remove them; they are for servers with a command")
	}
}

func (k *checker) mcpCommand(m tools.MCPServer, server, at string) {
	if strings.ContainsRune(m.Command, filepath.Separator) && !filepath.IsAbs(m.Command) {
		k.wrong(at+".command", "must be a program in PATH, or an absolute path", "")
	}
	if len(m.Headers) > 0 {
		k.wrong(at+".headers", "have no effect for a server with a command", "use env instead")
	}
	for _, name := range slices.Sorted(maps.Keys(m.Env)) {
		if !envName.MatchString(name) || strings.Contains(m.Env[name].Reveal(), "\x00") {
			k.wrong(at+".env", "contains an invalid variable name", "write NAME: value")
		}
	}
	folders := map[string][]string{"cwd": {m.Cwd}, "read": m.Read, "write": m.Write}
	for _, key := range slices.Sorted(maps.Keys(folders)) {
		for _, f := range folders[key] {
			switch {
			case f == "":
			case !filepath.IsAbs(f):
				k.wrong(at+"."+key, "must be an absolute path", "")
			case within(real(f), real(k.config.State)):
				k.report(Warning, at+"."+key, "contains parley's state folder: the server could read every conversation", "use a separate folder")
			case k.hosts(f, "mcp", server):
				k.wrong(at+"."+key, "is inside parley's state folder, which holds data of all people", "use a separate folder, for example mcp/"+server+" in the state folder")
			}
		}
	}
}
