package mcp

import (
	"cmp"
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
	mostTools       = 512 // of one server; a request holds fewer (tools.MaxInRequest)
	mostPages       = 20
	mostDescription = 8 << 10  // bytes
	mostSchema      = 64 << 10 // bytes
	mostName        = 64       // bytes: what the providers take
	mostOwnName     = 1 << 10  // bytes of a name as the server has it
)

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
	p := &sdk.ListToolsParams{}
	for range mostPages {
		page, err := within(ctx, func() (*sdk.ListToolsResult, error) { return l.session.ListTools(ctx, p) })
		if err != nil {
			return found, fmt.Errorf("its tools cannot be listed: %w", err)
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
	return found, nil
}

// usable are the tools of a list that can be used, sorted by name.
type usable struct {
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
	for _, x := range page {
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
			err = errors.New("it can only be called as a task of MCP (taskSupport: required), which parley does not do")
		}
		if err != nil {
			out := LeftOut{cmp.Or(line(s.secretless(x.Name), 100), "(no name)"), line(s.secretless(err.Error()), 300)}
			if u.left++; len(u.named) < maxLeftOut { // neither log nor status are the server's
				u.named = append(u.named, out)
				s.log.Warn("a tool of the MCP server is left out", keyTool, out.Tool, keyErr, out.Reason)
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
