package config

import "testing"

// What is wrong with an MCP server is said before it is started.
func TestMCPServers(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		`x: {command: notes-mcp, env: {KEY: v}, cwd: /srv/notes, read: [/srv]}`: nil,
		`x: {url: "https://h/mcp", headers: {Authorization: "Bearer x"}}`:       nil,
		`x: {url: "http://localhost:1/mcp", headers: {Authorization: x}}`:       nil,
		`x: {enabled: false}`:                                      nil,
		`a.b: {command: c}`:                                        {`:1: tools.mcp.servers.a.b: a server name has 1 to 32 letters, digits, _ and - (rename the server; its tools are called name_tool)`},
		`git: {command: c}, git_hub: {command: c}`:                 {`:1: tools.mcp.servers.git: the name is a prefix of git_hub, so tools of both servers could have the same name (rename one of them)`},
		`git: {command: c}, github: {command: c}`:                  nil,
		`git: {command: c}, git_hub: {enabled: false, command: c}`: nil,
		`x: {}`:                                     {`:1: tools.mcp.servers.x: has no command and no url (set command to run a program, or url to reach a server over HTTP)`},
		`x: {command: c, url: "http://h"}`:          {`:1: tools.mcp.servers.x: has both command and url (keep one)`},
		`x: {command: ./c}`:                         {`:1: tools.mcp.servers.x.command: must be a program in PATH, or an absolute path`},
		`x: {command: c, headers: {A: b}}`:          {`:1: tools.mcp.servers.x.headers: have no effect for a server with a command (use env instead)`},
		`x: {command: c, env: {"A=B": c}}`:          {`:1: tools.mcp.servers.x.env: contains an invalid variable name (write NAME: value)`},
		`x: {command: c, cwd: here}`:                {`:1: tools.mcp.servers.x.cwd: must be an absolute path`},
		`x: {command: c, write: [/]}`:               {`:1: tools.mcp.servers.x.write: warning: contains parley's state folder: the server could read every conversation (use a separate folder)`},
		`x: {url: "ftp://h"}`:                       {`:1: tools.mcp.servers.x.url: must be an http or https URL (for example https://mcp.example.com/mcp)`},
		`x: {url: "http://h", headers: {A: b}}`:     {`:1: tools.mcp.servers.x.url: warning: is not encrypted: others on the network can read its headers (use https)`},
		`x: {url: "https://h", headers: {"A:": b}}`: {`:1: tools.mcp.servers.x.headers: contains an invalid header (write Name: value)`},
		`x: {url: "https://h", args: [a]}`:          {`:1: tools.mcp.servers.x: has a url, so args, env, cwd, read and write have no effect (remove them; they are for servers with a command)`},
	} {
		_, ps, _ := load("tools: {mcp: {servers: {" + text + "}}}\n")
		t.Run(text, func(t *testing.T) { compare(t, ps, want) })
	}
}
