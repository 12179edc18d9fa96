package history

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
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

// event is an event of a transcript, as far as it is read: a line of a JSONL file, or a row of a database.
type event struct {
	Type      string          `json:"type"`
	ID        string          `json:"id"`
	Parent    json.RawMessage `json:"parentId"` // nil = absent
	Append    string          `json:"appendMode"`
	Target    string          `json:"targetId"` // of a leaf
	Timestamp string          `json:"timestamp"`
	Message   *message        `json:"message"`
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

// counts are what transcripts had that is not carried over as it was.
type counts struct {
	broken, thinking, images, unanswered, orphans, compactions, mirrors, extensions, otherRoles, hidden int
}

func (n *counts) add(m counts) {
	n.broken += m.broken
	n.thinking += m.thinking
	n.images += m.images
	n.unanswered += m.unanswered
	n.orphans += m.orphans
	n.compactions += m.compactions
	n.mirrors += m.mirrors
	n.extensions += m.extensions
	n.otherRoles += m.otherRoles
	n.hidden += m.hidden
}

// transcript collects the events of a window. The zero value with id and key is ready.
type transcript struct {
	id     sessions.ID               // of the window: message ids are made from it
	key    func(string) sessions.Key // parley's key for one of OpenClaw
	n      counts
	number int
	tree   tree
	msgs   []sessions.Message
}

// add takes the next event. broken: it could not be read.
func (t *transcript) add(raw []byte, broken bool) {
	t.number++
	var e event
	if broken || json.Unmarshal(raw, &e) != nil {
		t.n.broken++
		return
	}
	at := -1
	switch {
	case e.Type == "compaction":
		t.n.compactions++
	case e.Type == "custom_message":
		t.n.extensions++
	case e.Message != nil:
		if m, ok := t.message(e); ok {
			m.ID = uuid.NewSHA1(space, fmt.Appendf(nil, "%s/%d/%s", t.id, t.number, e.ID)).String()
			if m.Time.IsZero() && len(t.msgs) > 0 {
				m.Time = t.msgs[len(t.msgs)-1].Time
			}
			at, t.msgs = len(t.msgs), append(t.msgs, m)
		}
	}
	t.tree.add(e, at)
}

// message converts an event with a message.
func (t *transcript) message(e event) (m sessions.Message, ok bool) {
	switch {
	case e.Message.mirror():
		t.n.mirrors++
		return m, false
	case !slices.Contains([]sessions.Role{sessions.User, sessions.Assistant, sessions.ToolResult}, sessions.Role(e.Message.Role)):
		t.n.otherRoles++
		return m, false
	}
	if m, ok = e.convert(&t.n, t.key); !ok {
		t.n.broken++
	}
	return m, ok
}

// finish returns the messages of the visible branch, with calls and results that fit.
func (t *transcript) finish() []sessions.Message {
	msgs := t.msgs
	if keep, ok := t.tree.visible(); ok {
		msgs = nil
		for i, m := range t.msgs {
			if keep[i] {
				msgs = append(msgs, m)
			}
		}
		t.n.hidden += len(t.msgs) - len(msgs)
	}
	return whole(msgs, t.id, &t.n)
}

// mirror reports a copy of what was sent.
// source: NousResearch/hermes-agent#4120 (provider openclaw, model delivery-mirror)
func (m *message) mirror() bool {
	return m.Role == "assistant" && m.Provider == "openclaw" && (m.Model == "delivery-mirror" || m.Model == "gateway-injected")
}

// lines hands over the lines of a JSONL transcript, as long as line takes them.
func lines(r io.Reader, line func(raw []byte, broken bool)) error {
	in := bufio.NewReaderSize(r, 64<<10)
	for {
		raw, tooLong, err := readLine(in)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if errors.Is(err, io.EOF) && len(raw) == 0 && !tooLong {
			return nil
		}
		if raw = bytes.TrimSpace(raw); len(raw) > 0 || tooLong {
			line(raw, tooLong)
		}
		if err != nil {
			return nil // the last line has no end
		}
	}
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

func (e event) convert(n *counts, key func(string) sessions.Key) (out sessions.Message, ok bool) {
	m := e.Message
	out = sessions.Message{Role: sessions.Role(m.Role), Time: e.time()}
	blocks, ok := content(m.Content, n)
	if !ok {
		return out, false
	}
	out.Content = blocks
	switch out.Role {
	case sessions.User:
		out.Provenance = &sessions.Provenance{Kind: sessions.ExternalUser}
		unwrapUser(&out)
		if p := m.Provenance; p != nil {
			out.Provenance.Source, out.Provenance.Channel, out.Provenance.Tool = key(p.Source), channels.Kind(p.Channel), p.Tool
			if p.Kind == sessions.InterSession || p.Kind == sessions.InternalSystem {
				out.Provenance.Kind = p.Kind
			}
		}
	case sessions.Assistant:
		for i := range out.Content {
			out.Content[i].Text = withoutDirectives(out.Content[i].Text)
		}
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

func (e event) time() time.Time {
	if ms, err := e.Message.Timestamp.Int64(); err == nil && ms > 0 {
		return time.UnixMilli(ms).UTC()
	}
	at, err := time.Parse(time.RFC3339Nano, e.Timestamp)
	if err != nil {
		return time.Time{}
	}
	return at.UTC().Truncate(time.Millisecond)
}

// content reads what a message says: a text, or a list of blocks.
func content(raw json.RawMessage, n *counts) (out []sessions.Block, ok bool) {
	if len(raw) > 0 && raw[0] != '[' {
		var text string
		err := json.Unmarshal(raw, &text)
		return sessions.TextContent(text), err == nil
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
