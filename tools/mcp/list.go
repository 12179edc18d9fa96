package mcp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
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
)

// list asks a server for its tools, and gives those that can be used. What is left out is logged.
func (s *server) list(ctx context.Context, l *link) ([]*tool, error) {
	if r := l.session.InitializeResult(); r == nil || r.Capabilities == nil || r.Capabilities.Tools == nil {
		return nil, nil
	}
	var all []*sdk.Tool
	seen := 0
	p := &sdk.ListToolsParams{}
	for range mostPages {
		page, err := within(ctx, func() (*sdk.ListToolsResult, error) { return l.session.ListTools(ctx, p) })
		if err != nil {
			return nil, fmt.Errorf("its tools cannot be listed: %w", err)
		}
		seen += len(page.Tools)
		all = append(all, page.Tools[:min(len(page.Tools), max(mostTools*4-len(all), 0))]...)
		if page.NextCursor == "" {
			break
		}
		p = &sdk.ListToolsParams{Cursor: page.NextCursor}
	}
	return s.usable(all, seen), nil
}

// usable makes tools of what a server listed. The same list gives the same tools, whatever its order.
func (s *server) usable(all []*sdk.Tool, seen int) []*tool {
	slices.SortStableFunc(all, func(a, b *sdk.Tool) int { return strings.Compare(a.Name, b.Name) })
	rules := policy.ToolRules{Name: "tools.mcp.servers." + s.name, Allow: s.conf.Allow, Deny: s.conf.Deny}
	var out []*tool
	left := 0
	for _, x := range all {
		if !policy.Permits(x.Name, rules).Allowed() {
			continue
		}
		schema, err := schemaOf(x.InputSchema)
		if err == nil && x.Name == "" {
			err = fmt.Errorf("it has no name")
		}
		if err != nil {
			if left++; left <= 10 { // the log is not the server's
				s.log.Warn("a tool of the MCP server is left out", keyTool, line(x.Name, 100), keyErr, err)
			}
			continue
		}
		if len(out) < mostTools {
			out = append(out, &tool{server: s, name: x.Name, spec: s.spec(x, schema)})
		}
	}
	if more := seen - left - len(out); len(out) == mostTools && more > 0 {
		s.log.Warn("the MCP server has too many tools: some are left out", "most", mostTools, "listed", seen)
	}
	return out
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
