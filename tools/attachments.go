package tools

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/charset"

	"parley/sessions"
)

//go:embed attachments.md
var attachmentsText string

// The bounds of the tool attachments.
const (
	attachmentsDefault = 20 << 20 // tools.attachments.maxBytes
	attachmentsListed  = 100
	attachmentsBack    = 5000 // messages of the transcript that are looked through
	attachmentsPage    = 500
)

const (
	attachmentList = "list"
	attachmentRead = "read"
	attachmentSave = "save"
)

var attachmentActions = []string{attachmentList, attachmentRead, attachmentSave}

type attachmentsArgs struct {
	Action string  `json:"action" jsonschema:"what to do"`
	ID     string  `json:"id,omitempty" jsonschema:"read and save: which file"`
	Offset integer `json:"offset,omitzero" jsonschema:"read: bytes of the text to leave out; list: files"`
	Path   string  `json:"path,omitempty" jsonschema:"save: a new file; default attachments/ and its name"`
}

var attachmentsSchema = schemaOf[attachmentsArgs](map[string][]string{"action": attachmentActions})

// attachmentResult is what a call says about one file. Text is from outside: it stands in the result as data and nowhere else.
type attachmentResult struct {
	ID     string `json:"id"`
	Name   string `json:"name,omitempty"`        // as its sender calls it
	Type   string `json:"contentType,omitempty"` // list: as its sender says; otherwise what it is
	Size   int64  `json:"size,omitempty"`
	From   string `json:"from,omitempty"`
	Time   int64  `json:"time,omitempty"` // ms
	Path   string `json:"path,omitempty"` // save: where it is
	Text   string `json:"textFromOutside,omitempty"`
	Offset int    `json:"offset,omitempty"`
	Next   int    `json:"next,omitempty"` // offset of the next piece
	Cut    bool   `json:"truncated,omitempty"`
	Note   string `json:"note,omitempty"`
}

type attachmentsResult struct {
	Files []attachmentResult `json:"files"` // newest first
	Next  int                `json:"next,omitempty"`
}

type attachments struct{ deps Deps }

// AttachmentsTool is the tool attachments: the files that came with messages, and with results of tools, of the caller's own session.
func AttachmentsTool(d Deps) Tool { return attachments{d} }

func (attachments) Spec() Spec {
	return Spec{Name: "attachments", Description: attachmentsText, Schema: attachmentsSchema}
}

func (t attachments) Call(ctx context.Context, c Call) (Result, error) {
	args, bad := decode[attachmentsArgs](c.Args)
	if bad == nil {
		bad = oneOf("action", args.Action, attachmentActions)
	}
	if args.ID = strings.ToLower(strings.TrimSpace(args.ID)); bad == nil && args.Action != attachmentList && args.ID == "" {
		bad = mistake("id is required: the id of a file, as list shows it")
	}
	if bad != nil {
		return bad.result(), nil
	}
	if args.Action == attachmentList {
		return t.list(ctx, c.Caller, max(args.Offset.or(0), 0))
	}
	a, err := t.find(ctx, c.Caller, args.ID)
	switch {
	case err != nil:
		return Result{}, err
	case a == nil:
		short, _ := clip(args.ID, 40)
		return mistake("no message or tool result of this session has a file %s; list shows the files", short).result(), nil
	}
	if args.Action == attachmentSave && !c.Caller.may("files") {
		return forbidden("this turn may not use the tool files, so it cannot save files").result(), nil
	}
	c.tell("fetching " + a.describe(t.deps).Name)
	data, err := t.bytes(ctx, a)
	if err != nil {
		if ctx.Err() != nil {
			return Result{}, ctx.Err()
		}
		why, _ := clip(err.Error(), 300)
		return mistake("cannot fetch the file %s: %s", a.block.ID, why).result(), nil
	}
	if args.Action == attachmentSave {
		return t.save(c, a, args.Path, data)
	}
	return t.read(a, args.Offset.or(0), data), nil
}

// bytes returns the bytes of a file, from where the host keeps it or from the platform that has it.
func (t attachments) bytes(ctx context.Context, a *attachment) ([]byte, error) {
	return t.deps.Host.Attachment(ctx, a.message, *a.block.Media, int64(orElse(t.deps.config().Attachments.MaxBytes, attachmentsDefault)))
}

// attachment is a file and the message that it came with.
type attachment struct {
	message sessions.Message
	block   sessions.Block
}

// describe words what a file is by its sender's account.
func (a *attachment) describe(d Deps) attachmentResult {
	show := shown{redact: d.Redact, block: maxBlock}
	m := a.block.Media
	r := attachmentResult{ID: a.block.ID, Name: show.text(sessions.FileName(m.Name)), Size: m.Size}
	if _, r.Type, _ = strings.Cut(sessions.File{Name: "x", MIME: m.MIME}.String(), ", "); r.Type == "" {
		r.Type = string(m.Kind)
	}
	if m.Other {
		r.From = show.text(m.From)
	} else if p := a.message.Provenance; p != nil {
		r.From = show.text(p.Name)
	} else if a.message.ToolName != "" {
		r.From = show.text("tool " + a.message.ToolName)
	}
	if !a.message.Time.IsZero() {
		r.Time = a.message.Time.UnixMilli()
	}
	return r
}

// walk goes through the files of a session's own transcript, newest first, until f says that it has seen enough.
func (t attachments) walk(ctx context.Context, c Caller, f func(*attachment) bool) error {
	for skip := 0; skip < attachmentsBack; skip += attachmentsPage {
		msgs, err := t.deps.Store.Tail(ctx, c.Session.ID, sessions.TailQuery{Limit: attachmentsPage, Offset: skip, IncludeTool: true})
		if errors.Is(err, sessions.ErrNotFound) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("attachments: read the transcript: %w", err)
		}
		for i := len(msgs) - 1; i >= 0; i-- {
			for _, b := range msgs[i].Content {
				if msgs[i].Role != sessions.Assistant && b.ID != "" && b.Media != nil && b.Media.Ref != "" && (b.Type == sessions.FileBlock || b.Type == sessions.ImageBlock) &&
					f(&attachment{msgs[i], b}) {
					return nil
				}
			}
		}
		if len(msgs) < attachmentsPage {
			return nil
		}
	}
	return nil
}

// find returns the file of that id; nil when there is none.
func (t attachments) find(ctx context.Context, c Caller, id string) (found *attachment, err error) {
	err = t.walk(ctx, c, func(a *attachment) bool {
		if a.block.ID == id {
			found = a
		}
		return found != nil
	})
	return found, err
}

func (t attachments) list(ctx context.Context, c Caller, skip int) (Result, error) {
	out, n := attachmentsResult{Files: []attachmentResult{}}, 0
	err := t.walk(ctx, c, func(a *attachment) bool {
		if n++; n <= skip {
			return false
		}
		if len(out.Files) == attachmentsListed {
			out.Next = n - 1
			return true
		}
		out.Files = append(out.Files, a.describe(t.deps))
		return false
	})
	if err != nil {
		return Result{}, err
	}
	return reply(out), nil
}

// read returns the text of a file, or its type if it is not text: by its bytes, not by its sender's words. It never unpacks files.
func (t attachments) read(a *attachment, from int, data []byte) Result {
	r := a.describe(t.deps)
	text, kind, ok := textOf(data)
	r.Type, r.Size = kind, int64(len(data))
	switch {
	case len(data) == 0:
		r.Note = "it is empty"
		return reply(r)
	case !ok:
		r.Note = "the file is not text, so it is not shown; save puts it into the workspace unchanged"
		return reply(r)
	}
	show := shown{redact: t.deps.Redact, block: len(text) + fetchShown}
	text = show.text(text)                // before it is cut: half a secret looks like none
	for most := fetchShown; ; most /= 2 { // what has to be escaped takes more room
		p := r
		p.Text, p.Offset, p.Next = pieceOf(text, from, most)
		if p.Cut = p.Next > 0; p.Text == "" && p.Offset > 0 {
			p.Note = "there is no more text"
		}
		if len(encode(p)) <= maxRows {
			return reply(p)
		}
	}
}

// textOf gives the text of a file in whatever character set it is in, and its type; ok is false when it is no text.
func textOf(data []byte) (text, kind string, ok bool) {
	kind, _, _ = strings.Cut(http.DetectContentType(data), ";")
	if !strings.HasPrefix(kind, "text/") {
		return "", kind, false
	}
	if !utf8.Valid(data) {
		in, err := charset.NewReader(bytes.NewReader(data), "text/plain")
		if err != nil {
			return "", kind, false
		}
		if data, err = io.ReadAll(in); err != nil {
			return "", kind, false
		}
	}
	return strings.ReplaceAll(strings.ToValidUTF8(strings.TrimPrefix(string(data), "\ufeff"), "\uFFFD"), "\x00", "\uFFFD"), kind, true
}

// save puts a file into the agent's workspace, where there was none. Done again it changes nothing.
func (t attachments) save(c Call, a *attachment, to string, data []byte) (Result, error) {
	r := a.describe(t.deps)
	if strings.TrimSpace(to) == "" {
		to = "attachments/" + r.ID
		if r.Name != "" {
			to += "-" + sessions.FileName(a.block.Media.Name)
		}
	}
	name, bad := filePath(to, fileWrite)
	if bad != nil {
		return bad.result(), nil
	}
	at, err := t.deps.openFolder(c.Caller)
	if err != nil {
		return Result{}, err
	}
	if at == nil {
		return mistake("this host has no workspace for the agent, so the tool cannot save files").result(), nil
	}
	defer func() { _ = at.Close() }()
	defer lockFolder(at.dir)()
	w := at.files(t.deps.config().Files, c.Source())
	w.max = len(data)
	if w.ofPrompt(name) {
		return forbidden("%s is part of your instructions: only people change it", name).result(), nil
	}
	if err := w.add(name, data); err != nil {
		return fileProblem(attachmentSave, name, err).result(), nil
	}
	r.Type, _, _ = strings.Cut(http.DetectContentType(data), ";")
	r.Path, r.Size, r.Note = name, int64(len(data)), "saved"
	return reply(r), nil
}

// add writes a file that was not there; one with the same bytes is as good.
func (w workspace) add(name string, data []byte) error {
	info, err := w.root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return w.put(name, string(data), nil)
	case err != nil:
		return err
	case info.Mode().IsRegular() && info.Size() == int64(len(data)):
		if was, err := w.root.ReadFile(name); err == nil && bytes.Equal(was, data) {
			return nil
		}
	}
	return noFile("the path exists already; give another path")
}
