package anthropic

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"parley/agent/wire"
)

// The bounds of a list of models.
const (
	maxPages = 20
	maxPage  = 8 << 20 // bytes
)

// List gives the names of the models that a server offers, in its order.
func List(ctx context.Context, c Config) ([]string, error) {
	facts, err := ListFacts(ctx, c)
	names := make([]string, 0, len(facts))
	for _, f := range facts {
		names = append(names, f.ID)
	}
	return names, err
}

// ListFacts gives the models that a server offers, with everything that it says of each: Anthropic has max_input_tokens, max_tokens and
// capabilities there. It asks at most 20 pages. Its errors are *agent.ModelError inside.
func ListFacts(ctx context.Context, c Config) ([]wire.ModelInfo, error) {
	m := New(c)
	if c.HTTPClient == nil {
		defer m.wire.HTTP().CloseIdleConnections()
	}
	var out []wire.ModelInfo
	seen := make(map[string]bool)
	query := url.Values{"limit": {"1000"}}
	for range maxPages {
		page, err := m.page(ctx, query)
		if err != nil {
			return nil, fmt.Errorf("listing the models: %w", err)
		}
		before := len(out)
		for _, raw := range page.models {
			if id := modelID(raw); id != "" && !seen[id] {
				seen[id] = true
				out = append(out, wire.ModelInfo{ID: id, Raw: raw})
			}
		}
		if page.next == "" || len(out) == before {
			break
		}
		query.Set("after_id", page.next)
	}
	return out, nil
}

type page struct {
	models []json.RawMessage
	next   string // the last model, when there are more
}

func (m *Model) page(ctx context.Context, query url.Values) (page, error) {
	ctx, t := m.wire.Start(ctx)
	defer t.Stop()
	res, err := m.do(ctx, t, http.MethodGet, "models", query, nil, m.settings(""))
	if err != nil {
		return page{}, err
	}
	defer func() { _ = res.Body.Close() }()
	raw, err := io.ReadAll(io.LimitReader(res.Body, maxPage+1))
	if err != nil {
		return page{}, t.Error(err)
	}
	if len(raw) > maxPage {
		return page{}, t.Broken("the list is larger than %d bytes", maxPage)
	}
	raw = bytes.TrimSpace(raw)
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) == nil {
		return page{models: list}, nil
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return page{}, t.Broken("reading the list: %w", err)
	}
	if hasError(fields["error"]) {
		return page{}, t.StreamError(raw)
	}
	for _, name := range []string{"data", "models"} {
		if json.Unmarshal(fields[name], &list) == nil && len(list) > 0 {
			break
		}
	}
	p := page{models: list}
	if string(fields["has_more"]) == "true" {
		p.next = textOf(fields["last_id"])
	}
	return p, nil
}

// modelID gives the name of an entry of a list: an object, or the name alone.
func modelID(raw json.RawMessage) string {
	fields, ok := fieldsOf(raw)
	if !ok {
		return textOf(raw)
	}
	for _, name := range []string{"id", "name", "model"} {
		if id := textOf(fields[name]); id != "" {
			return id
		}
	}
	return ""
}
