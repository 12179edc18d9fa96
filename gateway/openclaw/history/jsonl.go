package history

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"parley/channels/pattern"
	"parley/gateway/filesystem"
	"parley/sessions"
)

// Kinds of files of a sessions folder that are no transcript of a live session, as the report names them.
// source: openclaw/openclaw src/config/sessions/artifacts.ts (08495516)
var (
	artifacts = []struct {
		name *pattern.Pattern
		kind string
	}{
		{pattern.New(`\.trajectory\.jsonl$|\.trajectory-path\.json$`), "records of model calls"},
		{pattern.New(`(?i)\.checkpoint\.[0-9a-f-]{36}\.jsonl$`), "copies from before a summary; the transcripts have the same messages"},
		{pattern.New(`\.jsonl\.deleted\.[^/]+$`), "transcripts of deleted sessions"},
		{pattern.New(`\.jsonl\.bak[.-][^/]+$|^sessions\.json\..*$|\.bak$|\.migrated$|\.lock$|\.tmp$`), "backups and leftovers"},
	}
	resetFile = pattern.New(`^(.+)\.jsonl\.reset\.[^/]+$`)
)

// store finds the sessions of a sessions.json.
func (h *History) store(folder string, agent sessions.AgentID) {
	name := path.Join(folder, "sessions.json")
	text, err := h.read(name, maxFile)
	var raw any
	if err == nil {
		raw, err = h.parse(text)
	}
	rows, ok := raw.(map[string]any)
	if err == nil && !ok {
		err = errors.New("it is no object")
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		h.report.Leave(name, fmt.Sprintf("it cannot be read: %v", err))
	}
	var list []found
	for _, key := range slices.Sorted(maps.Keys(rows)) {
		b, err := json.Marshal(rows[key])
		f := found{raw: key, agent: agent, folder: folder, mainKey: h.mainKey}
		if err == nil {
			err = json.Unmarshal(b, &f.entry)
		}
		if err != nil {
			h.report.Need("session "+key, "its row cannot be read, so it is not imported ("+err.Error()+"): if it was muted, deny its chat in session.sendPolicy")
			continue
		}
		f.mapped = keyFor(f.entry.fullKey(f.raw, h.ids), agent, h.mainKey, h.ids)
		if p, err := f.mapped.key.Parse(); err == nil && p.Thread != "" {
			f.entry.LastThread = string(p.Thread)
		}
		list = append(list, f)
	}
	newestFirst(list)
	files, err := fs.ReadDir(h.files, folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		h.report.Leave(folder, "the folder cannot be read: "+err.Error())
	}
	h.link(folder, list, files)
	h.found = append(h.found, list...)
	h.rest(folder, files)
}

// newestFirst orders sessions, so that the newest of two that become the same is taken.
func newestFirst(list []found) {
	at := func(f found) int64 { ms, _ := f.entry.UpdatedAt.Int64(); return ms }
	slices.SortStableFunc(list, func(a, b found) int { return cmp.Or(cmp.Compare(at(b), at(a)), cmp.Compare(a.raw, b.raw)) })
}

// link gives each session its windows: the file that its entry names, and those from before resets.
func (h *History) link(folder string, list []found, files []fs.DirEntry) {
	byID := map[string][]string{} // files from before a reset, by session id
	for _, f := range files {
		if m := resetFile.FindStringSubmatch(f.Name()); m != nil {
			byID[m[1]] = append(byID[m[1]], f.Name())
		}
	}
	for i := range list {
		f := &list[i]
		for _, id := range f.entry.Family {
			if id == f.entry.SessionID {
				continue
			}
			for _, name := range append(byID[id], path.Base(id)+".jsonl") {
				h.addFile(f, id, path.Join(folder, name), h.look(path.Join(folder, name)).begins)
			}
		}
		for _, name := range byID[f.entry.SessionID] {
			h.addFile(f, f.entry.SessionID+"/"+name, path.Join(folder, name), h.look(path.Join(folder, name)).begins)
		}
		sortWindows(f.windows)
		if name, ok := h.file(folder, f.entry); ok {
			h.addFile(f, f.entry.SessionID, name, time.Time{})
		} else if f.entry.SessionID != "" && len(f.windows) == 0 {
			f.missing = "there is no file of its transcript"
		}
	}
	h.adopt(folder, list, files)
}

// addFile adds a file to a session, once.
func (h *History) addFile(f *found, id, name string, begins time.Time) {
	info, err := fs.Stat(h.files, name)
	if err != nil || !info.Mode().IsRegular() || h.counted[name] {
		return
	}
	h.counted[name] = true
	f.windows = append(f.windows, h.fileWindow(id, name, begins))
}

func (h *History) fileWindow(id, name string, begins time.Time) window {
	return window{id: id, begins: begins, each: func(_ context.Context, take func([]byte, bool)) error { return h.eachLine(name, take) }}
}

func sortWindows(list []window) {
	slices.SortStableFunc(list, func(a, b window) int { return a.begins.Compare(b.begins) })
}

// eachLine hands over the lines of a file, which may be compressed.
func (h *History) eachLine(name string, take func(raw []byte, broken bool)) error {
	f, err := filesystem.OpenIn(h.root, name)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // it is only read
	if !strings.HasSuffix(name, ".zst") {
		return lines(f, take)
	}
	d, err := newDecoder(f, maxArchive)
	if err != nil {
		return err
	}
	defer d.Close()
	return lines(d, take)
}

// file finds the transcript that an entry names.
func (h *History) file(folder string, e entry) (string, bool) {
	var tries []string
	if e.SessionFile != "" && !strings.HasPrefix(e.SessionFile, "sqlite:") {
		tries = append(tries, path.Join(folder, path.Base(strings.ReplaceAll(e.SessionFile, `\`, "/"))))
	}
	if e.SessionID != "" {
		tries = append(tries, path.Join(folder, path.Base(e.SessionID)+".jsonl"))
		if topic := e.topicOf(); topic != "" {
			tries = append(tries, path.Join(folder, path.Base(fmt.Sprintf("%s-topic-%s.jsonl", e.SessionID, topic))))
		}
	}
	for _, t := range tries {
		if info, err := fs.Stat(h.files, t); err == nil && info.Mode().IsRegular() {
			return t, true
		}
	}
	return "", false
}

// looked is what the first lines of a transcript say.
type looked struct {
	begins time.Time
	chat   evidence
	mixed  bool // it has messages of several chats
	people bool // no job, hook or sub-agent began it
}

// look reads the first lines of a transcript: when it began, and which chat its wrappings name.
func (h *History) look(name string) (l looked) {
	f, err := filesystem.OpenIn(h.root, name)
	if err != nil {
		return l
	}
	defer func() { _ = f.Close() }() // it is only read
	var r io.Reader = f
	if strings.HasSuffix(name, ".zst") {
		d, err := newDecoder(f, maxArchive)
		if err != nil {
			return l
		}
		defer d.Close()
		r = d
	}
	first := true
	_ = lines(io.LimitReader(r, 256<<10), func(raw []byte, broken bool) { // a cut line is broken, and passed over
		var e event
		if broken || json.Unmarshal(raw, &e) != nil {
			return
		}
		if at, err := time.Parse(time.RFC3339Nano, e.Timestamp); err == nil && l.begins.IsZero() {
			l.begins = at
		}
		if e.Message == nil || e.Message.Role != "user" {
			return
		}
		text := plainText(e.Message.Content)
		_, w := unwrap(text, e.time())
		if first {
			l.people = !machine.MatchString(text)
			first = false
		}
		if w.chat.id == "" {
			return
		}
		if l.chat.id != "" && l.chat.id != w.chat.id {
			l.mixed = true
		}
		l.chat = w.chat
	})
	return l
}

// machine begins the first message of a transcript that no person began.
var machine = pattern.New(`^(?:\[cron:|\[Subagent|\[hook|Hook |Read HEARTBEAT\.md|System: |System \(untrusted\): |\[Inter-session)`)

func plainText(raw json.RawMessage) string {
	blocks, _ := content(raw, &counts{})
	var b strings.Builder
	for _, x := range blocks {
		b.WriteString(x.Text)
	}
	return b.String()
}

// adopt gives transcripts that no entry names to the session that they belonged to before a reset. Older versions did not note it, so only
// a clear case counts: the one session whose chat the messages name, or the one conversation that the agent has.
func (h *History) adopt(folder string, list []found, files []fs.DirEntry) {
	who, earlier := newOwners(list), map[*found][]window{}
	for _, file := range files {
		name := path.Join(folder, file.Name())
		id, isTranscript := strings.CutSuffix(file.Name(), ".jsonl")
		if m := resetFile.FindStringSubmatch(file.Name()); m != nil {
			id, isTranscript = m[1], true
		}
		if !isTranscript || h.counted[name] || artifact(file.Name()) != "" || !file.Type().IsRegular() {
			continue
		}
		l := h.look(name)
		if f := who.of(l); f != nil {
			h.counted[name] = true
			earlier[f] = append(earlier[f], h.fileWindow(id, name, l.begins))
		}
	}
	for f, windows := range earlier {
		all := append(windows, f.windows...)
		sortWindows(all[:len(all)-min(len(f.windows), 1)]) // the current one is the last
		f.windows, f.missing = all, ""
	}
}

// owners are the sessions that transcripts without a name can belong to.
type owners struct {
	byChat                map[evidence][]*found // without the channel
	main                  *found
	conversations, direct int
	others                bool // there are sessions of jobs, hooks or sub-agents
}

func newOwners(list []found) *owners {
	o := &owners{byChat: map[evidence][]*found{}}
	for i := range list {
		f := &list[i]
		p, err := f.mapped.key.Parse()
		if err != nil {
			continue
		}
		switch p.Form {
		case sessions.FormCron, sessions.FormHook, sessions.FormSubagent, sessions.FormNode:
			o.others = true
			continue
		case sessions.FormMain:
			if p.Thread == "" {
				o.main = f
			}
		case sessions.FormPeer, sessions.FormChannelPeer, sessions.FormAccountPeer:
			o.direct++
			o.byChat[evidence{id: p.ID}] = append(o.byChat[evidence{id: p.ID}], f)
		case sessions.FormGroup, sessions.FormRoom:
			if at := (evidence{id: p.ID, group: true}); p.Thread == "" {
				o.byChat[at] = append(o.byChat[at], f)
			}
		}
		o.conversations++
	}
	return o
}

// of returns the session of a transcript. nil = unclear.
func (o *owners) of(l looked) *found {
	if !l.people || l.mixed {
		return nil
	}
	if l.chat.id == "" {
		if o.conversations == 1 && !o.others {
			return o.main
		}
		return nil
	}
	var of []*found
	for _, f := range o.byChat[evidence{id: l.chat.id, group: l.chat.group}] {
		if p, err := f.mapped.key.Parse(); err == nil && (p.Channel == "" || l.chat.channel == "" || string(p.Channel) == l.chat.channel) {
			of = append(of, f)
		}
	}
	switch {
	case len(of) == 1:
		return of[0]
	case len(of) == 0 && !l.chat.group && o.direct == 0:
		return o.main
	}
	return nil
}

// artifact returns the kind of a file that is no transcript of a live session; "" = it may be one.
func artifact(name string) string {
	for _, a := range artifacts {
		if a.name.MatchString(name) {
			return a.kind
		}
	}
	return ""
}

// rest reports the files of a sessions folder that belong to no session, one line a kind.
func (h *History) rest(folder string, files []fs.DirEntry) {
	unnamed := 0
	kinds := map[string]int{}
	for _, f := range files {
		name := f.Name()
		switch kind := artifact(name); {
		case h.counted[path.Join(folder, name)] || name == "sessions.json" || name == "cold" && f.IsDir():
		case kind != "":
			kinds[kind]++
		case strings.HasSuffix(name, ".jsonl") || resetFile.MatchString(name):
			unnamed++
		default:
			kinds["other files"]++
		}
	}
	if unnamed > 0 {
		h.report.Leave(fmt.Sprintf("%s: transcripts of sessions that were reset or deleted (%d)", folder, unnamed), "no session names them; keep the files")
	}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		h.report.See(fmt.Sprintf("%s (%d)", folder, kinds[kind]), kind)
	}
}
