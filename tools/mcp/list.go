package mcp

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"parley/channels/pattern"
	"parley/policy"
	"parley/tools"
)

// The bounds of a list of tools.
const (
	mostTools       = 512 // of one server; a request holds fewer (tools.MaxInRequest)
	mostPages       = 64
	mostEmptyPages  = 2        // one behind the other that bring nothing new
	mostDescription = 8 << 10  // bytes
	mostSchema      = 64 << 10 // bytes
	mostName        = 64       // bytes: what the providers take
	mostOwnName     = 1 << 10  // bytes of a name as the server has it
)

// mostSeen is how many names of a list are remembered.
const mostSeen = 4096

// maxLeftOut is how many of the tools that are left out are named.
const maxLeftOut = 20

// LeftOut is a tool of a server that agents have not got.
type LeftOut struct {
	Tool   string `json:"tool"` // the server's own name of it
	Reason string `json:"reason"`
}

// list asks a server for its tools, and gives those that can be used and those that cannot. What is left out is logged.
func (s *server) list(ctx context.Context, l *link) (found usable, err error) {
	if r := l.session.InitializeResult(); r == nil || r.Capabilities == nil || r.Capabilities.Tools == nil {
		return found, nil
	}
	p, cursors, empty := &sdk.ListToolsParams{}, map[string]bool{}, 0
	for n := range mostPages {
		page, err := within(ctx, func() (*sdk.ListToolsResult, error) { return l.session.ListTools(ctx, p) })
		refused, answered := errors.AsType[*jsonrpc.Error](err)
		switch {
		case answered && n == 0 && refused.Code == jsonrpc.CodeMethodNotFound:
			return found, nil
		case answered && n > 0: // what came before is good
			s.log.Warn("cannot read all tools of the MCP server", "page", n+1, keyErr, s.plain(err))
			return found, nil
		case err != nil:
			return found, fmt.Errorf("list its tools: %w", err)
		}
		before := len(found.seen)
		s.reduce(&found, page.Tools) // at once: a page is large, what is kept of it is not
		if empty++; len(found.seen) > before {
			empty = 0
		}
		if page.NextCursor == "" {
			break
		}
		if cursors[page.NextCursor] || empty > mostEmptyPages || n == mostPages-1 {
			s.log.Warn("MCP server's tool list is too long", "pages", n+1, "tools", len(found.tools))
			break
		}
		cursors[page.NextCursor] = true
		p = &sdk.ListToolsParams{Cursor: page.NextCursor}
	}
	found.tellApart()
	if found.more > 0 {
		s.log.Warn("MCP server has too many tools; skipped some", "most", mostTools, "listed", found.more+len(found.tools))
	}
	return found, nil
}

// usable are the tools of a list that can be used, sorted by name.
type usable struct {
	seen  map[string]bool // the server's own names so far; at most mostSeen
	tools []*tool
	named []LeftOut // left out because of what they are: the first ones
	left  int       // how many those are
	more  int       // left out because there are too many
}

// all names what is left out, and says how many more there are.
func (u *usable) all() []LeftOut {
	out := slices.Clip(u.named)
	if n := u.left - len(u.named); n > 0 {
		out = append(out, LeftOut{fmt.Sprintf("(%d more)", n), "the log names the first ones of a list"})
	}
	if u.more > 0 {
		out = append(out, LeftOut{fmt.Sprintf("(%d more)", u.more), fmt.Sprintf("a server may have %d tools: choose with allow and deny", mostTools)})
	}
	return out
}

// reduce adds what can be used of a page. The same list gives the same tools, whatever its order and its pages.
func (s *server) reduce(u *usable, page []*sdk.Tool) {
	rules := policy.ToolRules{Name: "tools.mcp.servers." + s.name, Allow: s.conf.Allow, Deny: s.conf.Deny}
	if u.seen == nil {
		u.seen = map[string]bool{}
	}
	for _, x := range page {
		if x != nil && x.Name != "" {
			if u.seen[x.Name] { // a page again, or a tool that is listed twice
				continue
			}
			if len(u.seen) < mostSeen {
				u.seen[strings.Clone(x.Name[:min(len(x.Name), mostOwnName)])] = true
			}
		}
		if x == nil || !policy.Permits(x.Name, rules).Allowed() {
			continue
		}
		schema, names, err := schemaOf(x.InputSchema)
		switch task, _ := x.Meta[metaTask].(string); {
		case x.Name == "":
			err = errors.New("it has no name")
		case len(x.Name) > mostOwnName:
			err = errors.New("its name is too long")
		case task == "required":
			err = errors.New("it can only be called as a task of MCP (taskSupport: required), which parley does not support")
		}
		if err != nil {
			out := LeftOut{cmp.Or(line(s.secretless(x.Name), 100), "(no name)"), line(s.secretless(err.Error()), 300)}
			if u.left++; len(u.named) < maxLeftOut { // neither log nor status are the server's
				u.named = append(u.named, out)
				s.log.Warn("skipped a tool of the MCP server", keyTool, out.Tool, keyErr, out.Reason)
			}
			continue
		}
		if len(names) > 0 {
			s.log.Info("MCP tool has arguments under other names", keyTool, line(x.Name, 100), "arguments", line(fmt.Sprint(map[string]string(names)), 300))
		}
		u.tools = append(u.tools, &tool{server: s, name: strings.Clone(x.Name), spec: s.spec(x, schema), arguments: names})
	}
	slices.SortStableFunc(u.tools, func(a, b *tool) int { return strings.Compare(a.name, b.name) })
	if n := len(u.tools) - mostTools; n > 0 {
		u.more += n
		clear(u.tools[mostTools:])
		u.tools = slices.Clip(u.tools[:mostTools])
	}
}

// spec is what models are told about a tool. The description is the server's: it stands behind a line that says so.
func (s *server) spec(x *sdk.Tool, schema json.RawMessage) tools.Spec {
	about := strings.TrimSpace(clean(x.Description))
	if about == "" {
		about = line(x.Title, 200)
	}
	return tools.Spec{
		Name:        toolName(s.name, x.Name),
		Description: cut("Tool of the MCP server "+s.name+". "+about, mostDescription),
		Schema:      schema,
		Server:      s.name,
		Timeout:     time.Duration(s.conf.TimeoutSeconds) * time.Second,
	}
}

var notInNames = pattern.New(`[^A-Za-z0-9_-]`)

// toolName is server_tool, of characters that all providers take, and not too long: what is cut off is told apart by a hash.
func toolName(server, name string) string {
	s := notInNames.ReplaceAllString(server+"_"+name, "_")
	if len(s) <= mostName {
		return s
	}
	return hashed(s, server, name)
}

// hashed gives a name in which a hash tells a tool apart.
func hashed(told, server, name string) string {
	sum := sha256.Sum256([]byte(server + "\x00" + name))
	return told[:min(len(told), mostName-9)] + "_" + hex.EncodeToString(sum[:4])
}

// tellApart gives tools of one server other names where they would have the same: those whose own name is not what models are told of it.
func (u *usable) tellApart() {
	named := map[string][]*tool{}
	for _, t := range u.tools {
		named[t.spec.Name] = append(named[t.spec.Name], t)
	}
	for told, same := range named {
		for _, t := range same {
			if len(same) > 1 && t.spec.Name != t.server.name+"_"+t.name {
				t.spec.Name = hashed(told, t.server.name, t.name)
			}
		}
	}
}
