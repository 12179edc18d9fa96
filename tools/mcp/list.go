package mcp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"parley/policy"
	"parley/tools"
)

// The bounds of a list of tools.
const (
	mostTools       = 128
	mostPages       = 20
	mostDescription = 8 << 10  // bytes
	mostSchema      = 64 << 10 // bytes
	mostName        = 64       // bytes: what the providers take
	mostOwnName     = 1 << 10  // bytes of a name as the server has it
)

// list asks a server for its tools, and gives those that can be used. What is left out is logged.
func (s *server) list(ctx context.Context, l *link) ([]*tool, error) {
	if r := l.session.InitializeResult(); r == nil || r.Capabilities == nil || r.Capabilities.Tools == nil {
		return nil, nil
	}
	var found usable
	p := &sdk.ListToolsParams{}
	for range mostPages {
		page, err := within(ctx, func() (*sdk.ListToolsResult, error) { return l.session.ListTools(ctx, p) })
		if err != nil {
			return nil, fmt.Errorf("its tools cannot be listed: %w", err)
		}
		s.reduce(&found, page.Tools) // at once: a page is large, what is kept of it is not
		if page.NextCursor == "" {
			break
		}
		p = &sdk.ListToolsParams{Cursor: page.NextCursor}
	}
	if found.more > 0 {
		s.log.Warn("the MCP server has too many tools: some are left out", "most", mostTools, "listed", found.more+len(found.tools))
	}
	return found.tools, nil
}

// usable are the tools of a list that can be used, sorted by name.
type usable struct {
	tools []*tool
	left  int // left out because of what they are
	more  int // left out because there are too many
}

// reduce adds what can be used of a page. The same list gives the same tools, whatever its order and its pages.
func (s *server) reduce(u *usable, page []*sdk.Tool) {
	rules := policy.ToolRules{Name: "tools.mcp.servers." + s.name, Allow: s.conf.Allow, Deny: s.conf.Deny}
	for _, x := range page {
		if x == nil || !policy.Permits(x.Name, rules).Allowed() {
			continue
		}
		schema, err := schemaOf(x.InputSchema)
		switch {
		case err != nil:
		case x.Name == "":
			err = errors.New("it has no name")
		case len(x.Name) > mostOwnName:
			err = errors.New("its name is too long")
		}
		if err != nil {
			if u.left++; u.left <= 10 { // the log is not the server's
				s.log.Warn("a tool of the MCP server is left out", keyTool, line(x.Name, 100), keyErr, err)
			}
			continue
		}
		u.tools = append(u.tools, &tool{server: s, name: strings.Clone(x.Name), spec: s.spec(x, schema)})
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
		Timeout:     time.Duration(s.conf.TimeoutSeconds) * time.Second,
	}
}

var notInNames = regexp.MustCompile(`[^A-Za-z0-9_-]`)

// toolName is server_tool, of characters that all providers take, and not too long: what is cut off is told apart by a hash.
func toolName(server, name string) string {
	s := notInNames.ReplaceAllString(server+"_"+name, "_")
	if len(s) <= mostName {
		return s
	}
	sum := sha256.Sum256([]byte(server + "\x00" + name))
	return s[:mostName-9] + "_" + hex.EncodeToString(sum[:4])
}
