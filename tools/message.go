package tools

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"parley/channels"
	"parley/sessions"
)

//go:embed message.md
var messageText string

type messageArgs struct {
	To   string `json:"to" jsonschema:"current, a session key or id, or an address channel/account/type/chat[/thread]"`
	Text string `json:"text,omitempty" jsonschema:"what to post, Markdown"`

	Files       []string `json:"files,omitempty" jsonschema:"files of your workspace to post along"`
	Attachments []string `json:"attachments,omitempty" jsonschema:"ids of attachments to post along"`
}

type messageResult struct {
	Status     string              `json:"status"` // queued, withheld, forbidden
	To         string              `json:"to"`
	DeliveryID sessions.DeliveryID `json:"deliveryId,omitempty"`
	Rule       string              `json:"rule,omitempty"`  // of the send policy, that holds it back
	Error      string              `json:"error,omitempty"` // what that means
}

type message struct{ deps Deps }

// Message is the tool message: it posts a text, and files, into the chat of a session that the caller sees. Where it may go is one rule with the
// other session tools (contract V4); whether it leaves is the send policy's (P4).
func Message(d Deps) Tool { return message{d} }

var messageSchema = schemaOf[messageArgs](nil)

func (message) Spec() Spec {
	return Spec{Name: "message", Description: messageText, Schema: messageSchema}
}

func (t message) Call(ctx context.Context, c Call) (Result, error) {
	args, bad := decode[messageArgs](c.Args)
	if bad != nil {
		return bad.result(), nil
	}
	switch {
	case strings.TrimSpace(args.To) == "":
		return mistake("to is required: current, a session key or id, or an address").result(), nil
	case strings.TrimSpace(args.Text) == "" && len(args.Files)+len(args.Attachments) == 0:
		return mistake("text is required, or files, or attachments").result(), nil
	case len(args.Files)+len(args.Attachments) > maxPosted:
		return mistake("%d files; the maximum for one message is %d", len(args.Files)+len(args.Attachments), maxPosted).result(), nil
	case len(args.Files) > 0 && !c.Caller.may("files"):
		return forbidden("this turn may not use the tool files, so it cannot post files").result(), nil
	case len(args.Attachments) > 0 && !c.Caller.may("attachments"):
		return forbidden("this turn may not use the tool attachments, so it cannot post attachments").result(), nil
	case len(args.Text) > maxText:
		return mistake("text has %d bytes; %d are allowed", len(args.Text), maxText).result(), nil
	}
	q := PostRequest{Source: c.Source(), From: c.Caller, Text: args.Text}
	var err error
	if q.Session, q.To, bad, err = t.chat(ctx, c.Caller, strings.TrimSpace(args.To)); err != nil || bad != nil {
		return bad.orError(err)
	}
	if q.Files, bad = t.files(c.Caller, args.Files); bad != nil {
		return bad.result(), nil
	}
	more, bad, err := t.attached(ctx, c.Caller, args.Attachments)
	if err != nil || bad != nil {
		return bad.orError(err)
	}
	q.Files = append(q.Files, more...)
	made, err := t.deps.Host.Post(ctx, q)
	if p, ok := errors.AsType[*unreadableError](err); ok {
		return fileProblem("post", p.name, p.err).result(), nil
	}
	if err != nil {
		return refusal(err)
	}
	r := messageResult{Status: "queued", To: q.To.String(), DeliveryID: made.Delivery}
	switch {
	case made.Verdict.Allowed():
	case made.Delivery == "":
		r.Status, r.Rule = statusForbidden, made.Verdict.Rule
		r.Error = "The send policy of this session does not allow messages to that chat: " + made.Verdict.Reason
	default:
		r.Status, r.Rule = "withheld", made.Verdict.Rule
		r.Error = "The message is recorded but not sent, because of the send policy of that session: " + made.Verdict.Reason
		if r.Rule == "" { // another session's, which the caller does not see
			r.Error = "The message is recorded but not sent: " + made.Verdict.Reason
		}
	}
	out := reply(r)
	out.IsError = r.Status == statusForbidden
	return out, nil
}

// maxPosted bounds the files of one message.
const maxPosted = 10

// unreadableError says that a file could not be opened.
type unreadableError struct {
	name string
	err  error
}

func (e *unreadableError) Error() string { return e.name + ": " + e.err.Error() }

// files gives the files that are meant. They are opened in the workspace when they are read, not before.
func (t message) files(c Caller, paths []string) (out []PostFile, bad *problem) {
	for _, p := range paths {
		name, bad := filePath(p, fileRead)
		if bad != nil {
			return nil, bad
		}
		out = append(out, PostFile{Name: path.Base(name), Open: func() (io.ReadCloser, error) {
			root, err := t.deps.openFolder(c)
			if err != nil {
				return nil, err
			}
			if root == nil {
				return nil, &unreadableError{name, noFile("this host has no workspace for the agent, so there are no files")}
			}
			defer func() { _ = root.Close() }()
			f, err := openPlain(root.Root, name)
			if err != nil {
				return nil, &unreadableError{name, err}
			}
			return f, nil
		}})
	}
	return out, nil
}

// attached gives the files of the session that are meant. Their bytes are fetched when they are read, not before.
func (t message) attached(ctx context.Context, c Caller, ids []string) (out []PostFile, bad *problem, err error) {
	files := attachments(t)
	for _, id := range ids {
		id = strings.ToLower(strings.TrimSpace(id))
		a, err := files.find(ctx, c, id)
		if err != nil {
			return nil, nil, err
		}
		if a == nil {
			short, _ := clip(id, 40)
			return nil, mistake("no message or tool result of this session has a file %s; the tool attachments lists the files", short), nil
		}
		out = append(out, PostFile{Name: a.fileName(), Open: func() (io.ReadCloser, error) {
			data, err := files.bytes(ctx, a)
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if err != nil {
				why, _ := clip(err.Error(), 300)
				return nil, &unreadableError{id, noFile("cannot fetch the file: %s", why)}
			}
			return io.NopCloser(bytes.NewReader(data)), nil
		}})
	}
	return out, nil, nil
}

// fileName returns a plain name of a file with an ending that says what it is.
func (a *attachment) fileName() string {
	m := a.block.Media
	name := a.block.ID
	if m.Name != "" {
		name = sessions.FileName(m.Name)
	}
	if path.Ext(name) == "" {
		name += FileEnding(m.MIME)
	}
	return name
}

// endings are those of types that agents often pass on; the system's own list differs from machine to machine.
var endings = map[string]string{"image/png": ".png", "image/jpeg": ".jpg", "image/gif": ".gif", "image/webp": ".webp", "image/svg+xml": ".svg",
	"audio/mpeg": ".mp3", "audio/wav": ".wav", "audio/wave": ".wav", "audio/x-wav": ".wav", "audio/ogg": ".ogg", "application/ogg": ".ogg",
	"video/mp4": ".mp4", "application/pdf": ".pdf", "text/plain": ".txt", "text/html": ".html", "text/csv": ".csv", "text/markdown": ".md",
	"application/json": ".json", "application/zip": ".zip"}

// FileEnding returns the usual ending of files of a type, with its dot; "" when none is known.
func FileEnding(mime string) string {
	mime, _, _ = strings.Cut(mime, ";")
	return endings[strings.ToLower(strings.TrimSpace(mime))]
}

// chat finds the chat of an address or session, and the session that posts there.
func (t message) chat(ctx context.Context, c Caller, to string) (sessions.Key, channels.Address, *problem, error) {
	if a, err := channels.ParseAddress(to); err == nil {
		if _, err := sessions.Resolve(to, c.Session.Agent, t.deps.Scope); err != nil {
			if t.deps.Current != nil {
				a = t.deps.Current(a)
			}
			return t.known(ctx, c, a)
		}
	}
	s, bad, err := t.deps.find(ctx, c, to, "message")
	if err != nil || bad != nil {
		return "", channels.Address{}, bad, err
	}
	at := s.Last
	if s.Key == c.Session.Key && !c.Run.Reply.IsZero() {
		at = c.Run.Reply // of its chats the one that is being answered
	}
	if at.IsZero() {
		return "", at, mistake("Session %s has no chat to post into. sessions_send reaches its agent.", t.deps.display(c, s)), nil
	}
	return s.Key, at, nil, nil
}

// known finds a session that the caller sees among those that a chat has written to. A chat that only others see is not told from
// one that nobody has heard of.
func (t message) known(ctx context.Context, c Caller, a channels.Address) (sessions.Key, channels.Address, *problem, error) {
	keys, err := t.deps.Store.Known(ctx, a)
	if err != nil {
		return "", a, nil, err
	}
	for _, key := range keys {
		s, err := t.deps.Store.Get(ctx, key)
		switch {
		case errors.Is(err, sessions.ErrNotFound):
		case err != nil:
			return "", a, nil, fmt.Errorf("message: find session: %w", err)
		case !t.deps.reserved(s) && t.deps.sees(ctx, c, s):
			return key, a, nil, nil
		}
	}
	short, _ := clip(a.String(), 200)
	return "", a, mistake("No session that you can see has a message from %s. You can post only into chats that have written to this host.", short), nil
}
