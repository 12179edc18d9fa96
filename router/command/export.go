package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"parley/agent"
	"parley/channels"
	"parley/router/turn"
	"parley/sessions"
)

// The bounds of an export. A transcript that is longer is written from where these let it begin.
const (
	exportPage     = 1000
	exportMessages = 50_000
	exportBytes    = 64 << 20
)

// cmdExport writes the transcript of the session into a file. The file is named after the message that asked for it, so a repeated
// update writes the same one again.
func cmdExport(ctx context.Context, r *Table, c Call) (Result, error) {
	if r.export == nil || c.Session.ID == "" {
		return Result{Text: "⚙️ There is nothing to export yet."}, nil
	}
	msgs, cut, err := r.TranscriptOf(ctx, c.Session.ID, exportPage, exportMessages)
	if err != nil {
		return Result{}, err
	}
	if len(msgs) == 0 {
		return Result{Text: "⚙️ There is nothing to export yet."}, nil
	}
	if err := r.worker.Transcripts.MarkLeftOut(ctx, c.Session, msgs); err != nil {
		return Result{}, err
	}
	text := Markdown(c.Session, msgs, cut)
	if r.tools.Redact != nil {
		text = r.tools.Redact(text)
	}
	path, err := r.export(exportName(c.Session, c.In.Time), []byte(text))
	if err != nil {
		r.log.Error("cannot write the export of a transcript", keySession, c.Session.Key, keyErr, err)
		return Result{Text: "⚠️ I could not write the transcript. The details are in the log."}, nil
	}
	where := channels.Code(path, 1000)
	if c.In.Address.Type != channels.Direct { // where the host keeps its files is not everybody's business
		where = channels.Code(filepath.Join(filepath.Base(filepath.Dir(path)), filepath.Base(path)), 1000) + " in the state folder"
	}
	what := channels.Plural(len(msgs), "message")
	if cut {
		what = "the newest " + what
	}
	return Result{Text: "⚙️ Exported " + what + " to " + where + "."}, nil
}

// exportName is a plain file name for a session's transcript.
func exportName(s sessions.Session, at time.Time) string {
	plain := func(c rune) rune {
		if c < 0x80 && IsName(string(c)) && c != ':' || c == '-' {
			return c
		}
		return '-'
	}
	key := strings.Map(plain, string(s.Key))
	return fmt.Sprintf("%s_%s_%s.md", key[:min(len(key), 100)], at.UTC().Format("20060102-150405"), strings.Map(plain, string(s.ID[:min(len(s.ID), 8)])))
}

// TranscriptOf reads a transcript, oldest first, in pages. cut: it is longer than one export may be, and its beginning is left out.
func (t *Table) TranscriptOf(ctx context.Context, id sessions.ID, size, most int) (msgs []sessions.Message, cut bool, err error) {
	var pages [][]sessions.Message
	for n, bytes := 0, 0; ; {
		page, err := t.store.Tail(ctx, id, sessions.TailQuery{Limit: size, Offset: n, IncludeTool: true})
		if errors.Is(err, sessions.ErrNotFound) {
			return nil, false, nil
		}
		if err != nil {
			return nil, false, fmt.Errorf("read the transcript: %w", err)
		}
		pages = append(pages, page)
		n += len(page)
		if len(page) < size {
			break
		}
		if bytes += turn.SizeOf(page); n >= most || bytes > exportBytes {
			cut = true
			break
		}
	}
	for _, page := range slices.Backward(pages) {
		msgs = append(msgs, page...)
	}
	return msgs, cut, nil
}

// Markdown writes a transcript for people. What was said stands in quotes, so that it cannot look like the frame around it.
func Markdown(s sessions.Session, msgs []sessions.Message, cut bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\nSession %s, agent %s, %s.\n", channels.Code(string(s.Key), maxLine), channels.Code(string(s.ID), 64), channels.Code(string(s.Agent), 64), channels.Plural(len(msgs), "message"))
	if cut {
		b.WriteString("\nOlder messages are left out.\n")
	}
	for _, m := range msgs {
		fmt.Fprintf(&b, "\n## %s · %s\n", speaker(m), m.Time.UTC().Format("2006-01-02 15:04:05 UTC"))
		for _, block := range m.Content {
			writeBlock(&b, block)
		}
		if m.Error != "" {
			b.WriteString("\nError: " + channels.Code(m.Error, maxLine) + "\n")
		}
		switch {
		case m.IsRefusal():
			b.WriteString("\nRefused: " + sessions.RefusedMark + ".\n")
		case m.LeftOut() != "":
			b.WriteString("\nLeft out: " + fmt.Sprintf(sessions.LeftOutMark, channels.Code(m.LeftOut(), 100)) + ".\n")
		}
	}
	return b.String()
}

// speaker names who a message is from.
func speaker(m sessions.Message) string {
	switch p := m.Provenance; {
	case m.Role == sessions.ToolResult:
		return "result of " + channels.Code(m.ToolName, 64)
	case m.Role == sessions.Assistant:
		return "assistant " + channels.Code(m.Model, 100)
	case p == nil:
		return string(m.Role)
	case p.Kind == sessions.InterSession:
		return "session " + channels.Code(string(p.Source), maxLine)
	case p.Kind == sessions.InternalSystem:
		return "parley"
	default:
		return "user " + channels.Code(cmp.Or(p.Name, p.Sender), 100)
	}
}

func writeBlock(b *strings.Builder, x sessions.Block) {
	text := ""
	switch x.Type {
	case sessions.TextBlock:
		text = x.Text
	case sessions.ToolCallBlock:
		text = "calls " + channels.Code(x.Name, 64) + " " + string(x.Arguments)
	case sessions.ImageBlock:
		text = "(a picture)"
	case sessions.FileBlock:
		text = agent.FileLine(x)
	case sessions.ContextBlock:
		for _, l := range x.ContextLines() {
			if l.Event != "" {
				text += "overheard: " + l.Sentence(func(s string) string { return channels.Code(s, 1000) }) + "\n"
				continue
			}
			text += "overheard from " + channels.Code(cmp.Or(l.Name, l.Sender), 100) + ": " + strings.Join(strings.Fields(l.Text), " ") + "\n"
		}
	}
	if text = strings.TrimSpace(text); text == "" {
		return
	}
	b.WriteString("\n")
	for line := range strings.Lines(text) {
		b.WriteString("> " + strings.TrimRight(line, "\r\n") + "\n")
	}
}
