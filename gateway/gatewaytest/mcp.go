package gatewaytest

import (
	"context"
	"encoding/json"
	"net/http"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// bearer sends a token, and another Host where one is set.
type bearer struct{ token, host string }

// WithToken sends requests with a token.
func WithToken(token string) http.RoundTripper { return bearer{token, ""} }

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	if b.host != "" {
		r.Host = b.host
	}
	return http.DefaultTransport.RoundTrip(r)
}

// MCP connects the official client with a token, and with another Host where one is named.
func (o *Outside) MCP(token, host string) (*sdk.ClientSession, error) {
	c := sdk.NewClient(&sdk.Implementation{Name: "desk", Version: "1"}, nil)
	s, err := c.Connect(o.T.Context(), &sdk.StreamableClientTransport{Endpoint: o.URL + "/mcp", HTTPClient: &http.Client{Transport: bearer{token, host}}, DisableStandaloneSSE: true, MaxRetries: -1}, nil)
	if err == nil {
		o.T.Cleanup(func() { _ = s.Close() })
	}
	return s, err
}

// CallTool calls a tool and gives its result.
func CallTool(ctx context.Context, s *sdk.ClientSession, name string, args any) (m map[string]any, err error) {
	res, err := s.CallTool(ctx, &sdk.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		return nil, err
	}
	err = json.Unmarshal([]byte(res.Content[0].(*sdk.TextContent).Text), &m)
	return m, err
}
