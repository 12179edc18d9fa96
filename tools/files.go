package tools

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

//go:embed files.md
var filesText string

const (
	filesListed  = 200       // entries of a folder that are shown
	filesLines   = 2000      // lines of a file that are shown at once
	filesBytes   = 40 * 1024 // of text that are shown at once
	maxFiles     = 10_000    // files of a workspace
	filesLongest = 400       // bytes of a path
	filesDefault = 1 << 20   // tools.files.maxBytes
	filesTotal   = 256 << 20 // tools.files.maxTotalBytes
)

type filesArgs struct {
	Action  string  `json:"action" jsonschema:"what to do"`
	Path    string  `json:"path,omitempty" jsonschema:"file or folder; list: empty = the whole workspace"`
	Content *string `json:"content,omitempty" jsonschema:"write and append: the text"`
	Old     string  `json:"old,omitempty" jsonschema:"edit: the text to replace, with enough around it to be the only one"`
	New     *string `json:"new,omitempty" jsonschema:"edit: what comes in its place"`
	Offset  integer `json:"offset,omitzero" jsonschema:"read: first line, from 1; list: entries to leave out"`
	Column  integer `json:"column,omitzero" jsonschema:"read: first byte of that line, from 1, when a line comes in pieces"`
	Limit   integer `json:"limit,omitzero" jsonschema:"read: lines, list: entries"`
}

// text gives the text that an action needs, and the name of its argument; "" = it needs none.
func (a filesArgs) text() (text *string, name string) {
	switch a.Action {
	case fileWrite, fileAppend:
		return a.Content, "content"
	case fileEdit:
		return a.New, "new"
	}
	return nil, ""
}

const (
	fileList   = "list"
	fileRead   = "read"
	fileWrite  = "write"
	fileAppend = "append"
	fileEdit   = "edit"
	fileDelete = "delete"
)

var fileActions = []string{fileList, fileRead, fileWrite, fileAppend, fileEdit, fileDelete}

var filesSchema = schemaOf[filesArgs](map[string][]string{"action": fileActions})

// filesResult is what a call says; which fields are set depends on the action.
type filesResult struct {
	Path    string      `json:"path"`
	Done    string      `json:"done,omitempty"` // what was changed
	Size    int64       `json:"size,omitempty"`
	Lines   int         `json:"lines,omitempty"` // of the whole file
	From    int         `json:"from,omitempty"`  // first line that is shown
	Text    string      `json:"text,omitempty"`
	Binary  bool        `json:"binary,omitempty"` // it is no text, so it is not shown
	Entries []fileEntry `json:"entries,omitempty"`
	Total   int         `json:"total,omitempty"`      // entries of the folder
	Next    int         `json:"next,omitempty"`       // offset that shows more
	Column  int         `json:"nextColumn,omitempty"` // and the column, in the middle of a line
	Cut     bool        `json:"truncated,omitempty"`
	Note    string      `json:"note,omitempty"`
}

type fileEntry struct {
	Name     string `json:"name"` // folders end with /
	Size     int64  `json:"size,omitempty"`
	Modified string `json:"modified"`
}

type files struct{ deps Deps }

// FilesTool is the tool files: the files of the agent's workspace, which nothing leads out of.
func FilesTool(d Deps) Tool { return files{d} }

func (files) Spec() Spec { return Spec{Name: "files", Description: filesText, Schema: filesSchema} }

func (t files) Call(_ context.Context, c Call) (Result, error) {
	args, bad := decode[filesArgs](c.Args)
	if bad == nil {
		bad = oneOf("action", args.Action, fileActions)
	}
	var name string
	if bad == nil {
		name, bad = filePath(args.Path, args.Action)
	}
	if bad != nil {
		return bad.result(), nil
	}
	at, err := t.deps.openFolder(c.Caller)
	if err != nil {
		return Result{}, err
	}
	if at == nil {
		return mistake("this host has no workspace for the agent, so there are no files").result(), nil
	}
	defer func() { _ = at.Close() }()
	if text, argument := args.text(); text == nil && argument != "" {
		return mistake("%s is required: the text, \"\" for none", argument).result(), nil
	}
	w := at.files(t.deps.config().Files, c.Source())
	w.again = c.Caller.Run.Attempt > 1
	if args.Action != fileList && args.Action != fileRead {
		defer lockFolder(at.dir)()
		if w.ofPrompt(name) {
			return forbidden("%s is part of your instructions: only people change it", name).result(), nil
		}
	}
	r, err := t.do(w, name, args)
	if err != nil {
		return fileProblem(args.Action, name, err).result(), nil
	}
	r.Path = name
	return reply(r), nil
}

// changing has a *sync.Mutex for each folder, by its path: one change of it at a time, by whichever tool.
var changing sync.Map

// lockFolder has a folder to itself: a change reads what is there and writes what becomes of it, and others change it as well.
func lockFolder(dir string) (unlock func()) {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	m, _ := changing.LoadOrStore(dir, new(sync.Mutex))
	mu := m.(*sync.Mutex) //nolint:forcetypeassert // nothing else is in it
	mu.Lock()
	return mu.Unlock
}

func (t files) do(w workspace, name string, args filesArgs) (r filesResult, err error) {
	switch args.Action {
	case fileList:
		return w.list(name, args.Offset.or(0), args.Limit.bound(filesListed, filesListed))
	case fileRead:
		return w.read(name, t.deps.Redact, args)
	case fileWrite:
		return w.write(name, *args.Content)
	case fileAppend:
		return w.append(name, *args.Content)
	case fileEdit:
		return w.edit(name, args.Old, *args.New)
	}
	return w.delete(name)
}

// filePath checks a path and gives it in its shortest form.
func filePath(p, action string) (string, *problem) {
	p = strings.TrimSpace(p)
	if p == "" && action == fileList {
		p = "."
	}
	switch {
	case p == "":
		return "", mistake("path is required: the file, relative to the workspace")
	case len(p) > filesLongest:
		return "", mistake("the path is longer than %d bytes", filesLongest)
	case !utf8.ValidString(p) || strings.ContainsFunc(p, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return "", mistake("the path has invalid characters")
	}
	p = path.Clean(p)
	local, err := filepath.Localize(p)
	if err != nil || !filepath.IsLocal(local) || strings.Contains(p, `\`) {
		return "", forbidden("%s is not inside the workspace: give a relative path, with / and without ..", p)
	}
	if p == "." && action != fileList {
		return "", mistake("this is the workspace itself; name a file in it")
	}
	if ours(path.Base(p)) {
		return "", forbidden("names that begin with %s belong to the host", tempPrefix)
	}
	return p, nil
}

// fileProblem returns the error of a file operation as text, without the path of the workspace.
func fileProblem(action, name string, err error) *problem {
	if p, ok := errors.AsType[*fileError](err); ok {
		return mistake("%s %s: %s", action, name, p.text)
	}
	why := "the operation failed"
	switch {
	case errors.Is(err, fs.ErrNotExist):
		why = "the file does not exist; list shows the files"
	case errors.Is(err, fs.ErrPermission):
		why = "the system does not permit that"
	default:
		if p, ok := errors.AsType[*fs.PathError](err); ok {
			why = p.Err.Error()
		}
		if strings.Contains(why, "escapes") {
			return forbidden("%s %s: the path leads out of the workspace", action, name)
		}
	}
	return mistake("%s %s: %s", action, name, why)
}

// fileError is a reason in plain words.
type fileError struct{ text string }

func (e *fileError) Error() string { return e.text }

func noFile(format string, a ...any) error { return &fileError{fmt.Sprintf(format, a...)} }

// list shows a folder, folders first.
func (w workspace) list(name string, skip, limit int) (r filesResult, err error) {
	all, err := fs.ReadDir(w.root.FS(), name)
	if err != nil {
		return r, err
	}
	all = slices.DeleteFunc(all, func(e fs.DirEntry) bool { return ours(e.Name()) })
	slices.SortStableFunc(all, func(a, b fs.DirEntry) int {
		if a.IsDir() != b.IsDir() {
			if a.IsDir() {
				return -1
			}
			return 1
		}
		return strings.Compare(a.Name(), b.Name())
	})
	r.Total, r.Entries = len(all), []fileEntry{}
	skip = min(max(skip, 0), len(all))
	for _, e := range all[skip:min(skip+limit, len(all))] {
		row := fileEntry{Name: strings.ToValidUTF8(e.Name(), "\uFFFD")}
		if info, err := e.Info(); err == nil {
			row.Size, row.Modified = info.Size(), info.ModTime().UTC().Format("2006-01-02T15:04:05Z")
		}
		switch {
		case e.IsDir():
			row.Name, row.Size = row.Name+"/", 0
		case !e.Type().IsRegular():
			row.Name += " (no plain file)"
		}
		r.Entries = append(r.Entries, row)
	}
	if n := skip + len(r.Entries); n < len(all) {
		r.Next, r.Cut = n, true
	}
	return r, nil
}

// read shows lines of a text file, without the secrets in it.
func (w workspace) read(name string, redact func(string) string, args filesArgs) (r filesResult, err error) {
	text, info, err := w.load(name)
	if notText, ok := errors.AsType[*binaryError](err); ok {
		return filesResult{Size: notText.size, Binary: true, Note: "the content is not text, so it is not shown"}, nil
	}
	if err != nil {
		return r, err
	}
	if redact != nil {
		text = redact(text) // before it is cut: half a secret looks like none
	}
	lines := slices.Collect(strings.Lines(text))
	from, column, limit := max(args.Offset.or(1), 1), max(args.Column.or(1), 1), args.Limit.bound(filesLines, filesLines)
	for most := filesBytes; ; most /= 2 { // what has to be escaped takes more room
		r = filesResult{Size: info.Size(), Lines: len(lines), From: min(from, len(lines))}
		if r.piece(lines, from, column, limit, most); len(encode(r)) <= maxRows {
			return r, nil
		}
	}
}

// piece returns as many whole lines as fit, or a part of the first line if that is too long.
func (r *filesResult) piece(lines []string, from, column, limit, most int) {
	if from > len(lines) {
		r.Note = "there are no more lines"
		return
	}
	var b strings.Builder
	at := from - 1
	line := lines[at]
	start := min(column-1, len(line))
	for start < len(line) && !utf8.RuneStart(line[start]) {
		start++
	}
	if line = line[start:]; len(line) > most {
		n := most
		for !utf8.RuneStart(line[n]) {
			n--
		}
		r.Text, r.Next, r.Column, r.Cut = line[:n], from, start+n+1, true
		r.Note = "this is a part of one long line: continue with offset and column from next and nextColumn"
		return
	}
	for ; at < len(lines) && at < from-1+limit && b.Len()+len(line) <= most; at++ {
		b.WriteString(line)
		if at+1 < len(lines) {
			line = lines[at+1]
		}
	}
	if r.Text = b.String(); at < len(lines) {
		r.Next, r.Cut = at+1, true
	}
}
