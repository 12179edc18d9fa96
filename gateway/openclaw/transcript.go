package openclaw

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/google/uuid"

	"parley/channels"
	"parley/sessions"
)

// The bounds of a transcript.
const (
	maxLine  = 32 << 20
	maxImage = 4 << 20 // base64
)

// space is what message ids are made in, so that the same line has the same id at every import.
var space = uuid.MustParse("6c0f7f52-6a53-5b1e-9a2e-5f3f0f7d3c11")

// line is a line of a transcript, as far as it is read.
type line struct {
	Type      string   `json:"type"`
	ID        string   `json:"id"`
	Timestamp string   `json:"timestamp"`
	Message   *message `json:"message"`
}

type message struct {
	Role       string          `json:"role"`
	Content    json.RawMessage `json:"content"`
	Timestamp  json.Number     `json:"timestamp"`
	Provenance *struct {
		Kind    string `json:"kind"`
		Source  string `json:"sourceSessionKey"`
		Channel string `json:"sourceChannel"`
		Tool    string `json:"sourceTool"`
	} `json:"provenance"`
	Provider   string `json:"provider"`
	Model      string `json:"model"`
	Usage      *usage `json:"usage"`
	StopReason string `json:"stopReason"`
	Error      string `json:"errorMessage"`
	ToolCallID string `json:"toolCallId"`
	ToolName   string `json:"toolName"`
	IsError    bool   `json:"isError"`
}

type usage struct {
	Input      int `json:"input"`
	Output     int `json:"output"`
	CacheRead  int `json:"cacheRead"`
	CacheWrite int `json:"cacheWrite"`
}

type block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Data      string          `json:"data"`
	MIME      string          `json:"mimeType"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

// counts are what a transcript had that is not carried over as it was.
type counts struct{ broken, thinking, images, unanswered, orphans, compactions int }

// transcript reads the messages of a JSONL file. Lines that cannot be read are counted and passed over.
func transcript(r io.Reader, id sessions.ID, key func(string) sessions.Key) (out []sessions.Message, n counts, err error) {
	in := bufio.NewReaderSize(r, 64<<10)
	for number := 1; ; number++ {
		raw, tooLong, err := readLine(in)
		if errors.Is(err, io.EOF) && len(raw) == 0 {
			break
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, n, err
		}
		if raw = bytes.TrimSpace(raw); len(raw) > 0 || tooLong {
			var l line
			switch {
			case tooLong || json.Unmarshal(raw, &l) != nil:
				n.broken++
			case l.Type == "compaction":
				n.compactions++
			case l.Message != nil:
				m, ok := l.convert(&n, key)
				if !ok {
					n.broken++
					break
				}
				m.ID = uuid.NewSHA1(space, fmt.Appendf(nil, "%s/%d/%s", id, number, l.ID)).String()
				if m.Time.IsZero() && len(out) > 0 {
					m.Time = out[len(out)-1].Time
				}
				out = append(out, m)
			}
		}
		if err != nil {
			break
		}
	}
	return whole(out, id, &n), n, nil
}

// readLine reads a line of any length, and keeps it when that is not too large.
func readLine(in *bufio.Reader) (raw []byte, tooLong bool, err error) {
	for {
		part, err := in.ReadSlice('\n')
		if len(raw)+len(part) > maxLine {
			raw, tooLong = nil, true
		} else if !tooLong {
			raw = append(raw, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return raw, tooLong, err
		}
	}
}

func (l line) convert(n *counts, key func(string) sessions.Key) (out sessions.Message, ok bool) {
	m := l.Message
	out = sessions.Message{Role: sessions.Role(m.Role), Time: l.time()}
	blocks, ok := content(m.Content, n)
	if !ok {
		return out, false
	}
	out.Content = blocks
	switch out.Role {
	case sessions.User:
		out.Provenance = &sessions.Provenance{Kind: sessions.ExternalUser}
		if p := m.Provenance; p != nil {
			out.Provenance.Source, out.Provenance.Channel, out.Provenance.Tool = key(p.Source), channels.Kind(p.Channel), p.Tool
			if p.Kind == sessions.InterSession || p.Kind == sessions.InternalSystem {
				out.Provenance.Kind = p.Kind
			}
		}
	case sessions.Assistant:
		out.Model, out.Stop, out.Error = m.Model, cmp.Or(m.StopReason, "stop"), m.Error
		if m.Provider != "" && m.Model != "" {
			out.Model = m.Provider + "/" + m.Model
		}
		if u := m.Usage; u != nil {
			out.Usage = &sessions.Usage{Input: u.Input + u.CacheRead + u.CacheWrite, Output: u.Output, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite}
		}
	case sessions.ToolResult:
		out.ToolCallID, out.ToolName, out.IsError = m.ToolCallID, m.ToolName, m.IsError
	default:
		return out, false
	}
	return out, true
}

func (l line) time() time.Time {
	if ms, err := l.Message.Timestamp.Int64(); err == nil && ms > 0 {
		return time.UnixMilli(ms).UTC()
	}
	at, err := time.Parse(time.RFC3339Nano, l.Timestamp)
	if err != nil {
		return time.Time{}
	}
	return at.UTC().Truncate(time.Millisecond)
}

// content reads what a message says: a text, or a list of blocks.
func content(raw json.RawMessage, n *counts) (out []sessions.Block, ok bool) {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return sessions.TextContent(text), true
	}
	var blocks []block
	if json.Unmarshal(raw, &blocks) != nil {
		return nil, false
	}
	out = []sessions.Block{}
	for _, b := range blocks {
		switch b.Type {
		case "text":
			out = append(out, sessions.Block{Type: sessions.TextBlock, Text: b.Text})
		case "toolCall":
			args := b.Arguments
			var object map[string]json.RawMessage
			if json.Unmarshal(args, &object) != nil || object == nil {
				args = json.RawMessage("{}")
			}
			out = append(out, sessions.Block{Type: sessions.ToolCallBlock, ID: b.ID, Name: b.Name, Arguments: args})
		case "image":
			if b.Data == "" || len(b.Data) > maxImage {
				n.images++
				continue
			}
			out = append(out, sessions.Block{Type: sessions.ImageBlock, Data: b.Data, MIME: b.MIME})
		case "thinking":
			n.thinking++ // it belongs to the model that thought it, and its signature to the account
		}
	}
	return out, true
}

// whole makes calls and results fit: providers refuse a call without a result, and a result without a call.
func whole(msgs []sessions.Message, id sessions.ID, n *counts) []sessions.Message {
	var out []sessions.Message
	open := map[string]sessions.Block{}
	var order []string
	closeAll := func(at time.Time) {
		for _, call := range order {
			if b, ok := open[call]; ok {
				n.unanswered++
				out = append(out, sessions.Message{ID: uuid.NewSHA1(space, []byte(string(id)+"/none/"+call)).String(), Role: sessions.ToolResult, Time: at,
					ToolCallID: call, ToolName: b.Name, IsError: true, Content: sessions.TextContent("No result was recorded.")})
			}
		}
		clear(open)
		order = nil
	}
	for _, m := range msgs {
		if m.Role == sessions.ToolResult {
			if _, ok := open[m.ToolCallID]; !ok {
				n.orphans++
				continue
			}
			delete(open, m.ToolCallID)
			out = append(out, m)
			continue
		}
		closeAll(m.Time)
		out = append(out, m)
		for _, b := range m.ToolCalls() {
			open[b.ID], order = b, append(order, b.ID)
		}
	}
	if len(out) > 0 {
		closeAll(out[len(out)-1].Time)
	}
	return out
}
