package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"parley/agent"
)

// ListDeadlines are short: enough for a server on this machine.
var ListDeadlines = agent.Deadlines{Connect: 300 * time.Millisecond, FirstByte: time.Second, Idle: time.Second, Total: 2 * time.Second}

// maxList bounds a list of models, in bytes.
const maxList = 16 << 20

// List asks which models there are: names in the server's order, each once. It waits at most as long as ctx and c.Deadlines.FirstByte
// allow.
func List(ctx context.Context, c Config) ([]string, error) {
	m := New(c)
	ctx, t := m.wire.Start(ctx)
	defer t.Stop()
	if c.HTTPClient == nil {
		defer m.wire.HTTP().CloseIdleConnections()
	}
	res, err := m.do(ctx, t, "models", nil, "", m.settingsOf(""))
	if err != nil {
		return nil, fmt.Errorf("list models: %w", err)
	}
	defer func() { _ = res.Body.Close() }() // it is read to its end, or its error was seen
	raw, err := io.ReadAll(io.LimitReader(res.Body, maxList+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("list models: %w", t.Error(err))
	case len(raw) > maxList:
		return nil, fmt.Errorf("list models: %w", t.Broken("the list is longer than %d bytes", maxList))
	}
	models, ok := readList(raw)
	if !ok {
		return nil, fmt.Errorf("list models: %w", t.Broken("the answer is not a list of models: %.100s", t.Text(string(raw))))
	}
	return models, nil
}

// readList reads a list of models of any shape: {"data":[…]}, {"models":[…]}, a list alone; entries are objects or names.
func readList(raw []byte) (names []string, ok bool) {
	var page struct{ Data, Models, Result json.RawMessage }
	lists := []json.RawMessage{raw}
	if json.Unmarshal(raw, &page) == nil {
		lists = []json.RawMessage{page.Data, page.Models, page.Result}
	}
	seen := make(map[string]bool)
	for _, list := range lists {
		entries, isList := entriesOf(list)
		ok = ok || isList
		for _, e := range entries {
			if id := idOf(e); id != "" && !seen[id] {
				seen[id] = true
				names = append(names, id)
			}
		}
	}
	return names, ok
}

// entriesOf reads a list; ok is false when it is none.
func entriesOf(raw json.RawMessage) (out []json.RawMessage, ok bool) {
	if json.Unmarshal(raw, &out) == nil {
		return out, out != nil || string(bytes.TrimSpace(raw)) == "null" && len(raw) > 0
	}
	return nil, false
}

// idOf gives the name of a model.
func idOf(entry json.RawMessage) string {
	var name string
	if json.Unmarshal(entry, &name) == nil {
		return name
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(entry, &fields) != nil {
		return ""
	}
	for _, key := range []string{"id", "model", "name", "key"} {
		if json.Unmarshal(fields[key], &name) == nil && name != "" {
			return name
		}
		var n json.Number
		if json.Unmarshal(fields[key], &n) == nil && n != "" {
			return n.String()
		}
	}
	return ""
}
