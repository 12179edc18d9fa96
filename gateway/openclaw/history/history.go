package history

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"parley/channels"
	"parley/gateway/filesystem"
	"parley/gateway/openclaw/database"
	"parley/gateway/openclaw/report"
	"parley/policy"
	"parley/sessions"
)

// Bounds.
const (
	maxFile   = 64 << 20  // a sessions.json, in bytes
	maxMemory = 128 << 20 // histories that are kept between Read and Messages, in bytes of their events
	maxEvents = 256 << 20 // the newest events of a session that are read, in bytes
)

// Folder is a state folder and what Read needs beside it.
type Folder struct {
	Root      *os.Root // nothing outside is read
	Databases *database.Folder
	IDs       IDs
	Report    *report.Report
	MainKey   string                         // session.mainKey; "" = main
	Global    bool                           // session.scope is global
	Parse     func(text []byte) (any, error) // reads sessions.json
	Progress  func(done, total int)          // sessions read so far; nil = nobody looks

	// IsOwner reports whether a direct chat is an owner's. Where the main conversation belongs to the owners (session.dmScope owner-main), the
	// chat of another person does not become the place that it answers to. nil = everybody shares the main conversation.
	IsOwner func(channels.Address) bool

	maxEvents, maxMemory int64 // 0 = the constants; a test sets others
}

// History is the sessions of a state folder.
type History struct {
	Sessions []Imported

	reader
	found   []found
	taken   map[sessions.Key]string
	left    map[string][]string // sessions that are left out, by reason
	both    int                 // sessions that are in a database and in sessions.json
	all     counts
	counted map[string]bool // files of a sessions folder that belong to a session
	kept    int64           // bytes of events in memory
}

// reader is the folder and what is known of it.
type reader struct {
	root      *os.Root
	files     fs.FS
	databases *database.Folder
	ids       IDs
	report    *report.Report
	mainKey   string
	global    bool
	parse     func([]byte) (any, error)
	isOwner   func(channels.Address) bool
	maxEvents int64 // of a session, in bytes
	maxMemory int64 // of all kept histories, in bytes
}

// Imported is one session.
type Imported struct {
	Session sessions.Session
	Count   int   // messages
	Size    int64 // of the events that they are made of, in bytes

	history *History
	from    *found
	kept    []sessions.Message // nil if they were too much
}

// found is a session as a layout has it.
type found struct {
	raw     string // key
	agent   sessions.AgentID
	folder  string // of its JSONL files
	mainKey string
	entry   entry
	mapped  mapped
	windows []window // oldest first
	missing string   // why it has no transcript
	sqlite  bool
}

// window is the transcript between two resets.
type window struct {
	id     string // OpenClaw's session id
	begins time.Time
	each   func(ctx context.Context, take func(raw []byte, broken bool)) error
}

// Read reads the sessions of a folder. What cannot be read is a line of the report.
func Read(ctx context.Context, f Folder) (*History, error) {
	h := &History{reader: reader{root: f.Root, files: f.Root.FS(), databases: f.Databases, ids: f.IDs, report: f.Report, mainKey: strings.ToLower(cmp.Or(strings.TrimSpace(f.MainKey), "main")), global: f.Global, parse: f.Parse, isOwner: f.IsOwner, maxEvents: cmp.Or(f.maxEvents, maxEvents), maxMemory: cmp.Or(f.maxMemory, maxMemory)},
		taken: map[sessions.Key]string{}, left: map[string][]string{}, counted: map[string]bool{}}
	agents, err := fs.ReadDir(h.files, "agents")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		h.report.Need("agents", "the folder cannot be read, so no session was imported: "+err.Error())
	}
	for _, a := range agents {
		if !a.IsDir() {
			continue
		}
		if err := h.tables(ctx, a.Name()); err != nil {
			return nil, err
		}
		h.store(path.Join("agents", a.Name(), "sessions"), h.ids.Agent(a.Name()))
	}
	h.store("sessions", "main")
	for i := range h.found {
		if err := h.take(ctx, &h.found[i]); err != nil {
			return nil, err
		}
		if f.Progress != nil {
			f.Progress(i+1, len(h.found))
		}
	}
	h.summary()
	if len(h.Sessions) == 0 {
		h.report.Leave("sessions", "none was found in agents/*/agent/openclaw-agent.sqlite, agents/*/sessions/sessions.json and sessions/sessions.json; if OpenClaw keeps them elsewhere (agentDir, session.store), copy them to one of these places and import again")
	}
	return h, h.shared(ctx)
}

// Messages returns the history of a session, oldest message first.
func (x Imported) Messages(ctx context.Context) ([]sessions.Message, error) {
	if x.kept != nil || x.Count == 0 {
		return x.kept, nil
	}
	msgs, _, _, err := x.history.messages(ctx, x.from)
	return msgs, err
}

// take makes a session of what a layout has.
func (h *History) take(ctx context.Context, f *found) error {
	m := f.mapped
	switch by, twice := h.taken[m.key]; {
	case m.left != "":
		if f.entry.override() == policy.Deny {
			h.report.Need("session "+f.raw, "it was muted (sendPolicy: deny), and parley cannot tell which chat it is: before the host starts, add a rule to session.sendPolicy that denies that chat, or mute it with /send off")
		}
		h.left[m.left] = append(h.left[m.left], f.raw)
		return nil
	case m.key == sessions.GlobalKey && !h.global:
		h.left["session.scope is not global: no chat leads to them"] = append(h.left["session.scope is not global: no chat leads to them"], f.raw)
		return nil
	case twice && !f.sqlite && strings.HasPrefix(by, fromDatabase):
		h.both++
		return nil
	case twice:
		h.report.Leave("session "+f.raw, "left out: it has the same key in parley as "+strings.TrimPrefix(by, fromDatabase))
		return nil
	}
	msgs, n, size, err := h.messages(ctx, f)
	if err != nil {
		return err
	}
	what, e := "session "+f.raw, f.entry
	last := h.last(m.key, e)
	if p, err := m.key.Parse(); err == nil && p.Form == sessions.FormMain && !last.IsZero() && h.isOwner != nil && !h.isOwner(last) {
		last = channels.Address{}
		h.report.Differ(what+": where it answers", "a person who is no owner wrote last; it answers to the owner who writes next")
	}
	s := sessions.Session{Key: m.key, Agent: cmp.Or(m.key.Agent(), f.agent), ID: sessionID(e.SessionID, m.key), Title: titleOf(e.DisplayName, e.Subject), Label: titleOf(e.Label), SpawnedBy: m.parent, Settings: h.settings(what, e), Last: last}
	if ms, err := e.UpdatedAt.Int64(); err == nil && ms > 0 {
		s.Updated = time.UnixMilli(ms).UTC()
	} else if len(msgs) > 0 {
		s.Updated = msgs[len(msgs)-1].Time
	}
	if s.SpawnedBy == "" && e.SpawnedBy != "" {
		s.SpawnedBy = f.key(h, e.SpawnedBy)
	}
	x := Imported{Session: s, Count: len(msgs), Size: min(size, h.maxEvents), history: h, from: f}
	if over := size - h.maxEvents; over > 0 {
		h.report.Leave(what+": its oldest messages", fmt.Sprintf("the transcript has %d MB, and parley reads the newest %d MB of it: keep the file", size>>20, h.maxEvents>>20))
	}
	if h.kept+x.Size <= h.maxMemory {
		h.kept, x.kept = h.kept+x.Size, msgs
	}
	h.taken[m.key] = f.raw
	if f.sqlite {
		h.taken[m.key] = fromDatabase + f.raw
	}
	h.Sessions = append(h.Sessions, x)
	h.report.Sessions++
	h.report.Messages += len(msgs)
	h.all.add(n)
	if n.broken > 0 {
		h.report.Leave(fmt.Sprintf("%s: %s of its transcript", what, channels.Plural(n.broken, "line")), "they cannot be read; keep the file")
	}
	line := fmt.Sprintf("%s → %s, %s", what, m.key, channels.Plural(len(msgs), "message"))
	if len(f.windows) > 1 {
		line += fmt.Sprintf(" of %d conversations", len(f.windows))
	}
	if why := slices.DeleteFunc([]string{f.missing, m.note}, func(s string) bool { return s == "" }); len(why) > 0 {
		h.report.Differ(line, strings.Join(why, "; "))
		return nil
	}
	h.report.Carry(line, "")
	return nil
}

// fromDatabase begins the entries of taken that a database has.
const fromDatabase = "SQLite: "

// key returns parley's key for a key that an event or an entry names.
func (f *found) key(h *History, raw string) sessions.Key {
	if raw == "" {
		return ""
	}
	return keyFor(raw, f.agent, f.mainKey, h.ids).key
}

// messages reads the windows of a session as one history: the newest maxEvents bytes of their events. size is that of all events.
func (h *History) messages(ctx context.Context, f *found) (msgs []sessions.Message, n counts, size int64, err error) {
	msgs, n, size, err = h.part(ctx, f, 0)
	if err == nil && size > h.maxEvents { // the size is known only now
		msgs, n, _, err = h.part(ctx, f, size-h.maxEvents)
	}
	return msgs, n, size, err
}

// part reads maxEvents bytes of the events of a session, behind the first skip bytes.
func (h *History) part(ctx context.Context, f *found, skip int64) (msgs []sessions.Message, n counts, size int64, err error) {
	for _, w := range f.windows {
		t := transcript{id: windowID(w.id, f.mapped.key), key: func(k string) sessions.Key { return f.key(h, k) }}
		err := w.each(ctx, func(raw []byte, broken bool) {
			before := size
			if size += int64(len(raw)); before >= skip && size-skip <= h.maxEvents {
				t.add(raw, broken)
			}
		})
		if ctx.Err() != nil {
			return nil, n, size, ctx.Err()
		}
		if err != nil {
			f.missing = "a part of its transcript cannot be read: " + err.Error()
		}
		msgs = append(msgs, t.finish()...)
		n.add(t.n)
	}
	return msgs, n, size, nil
}

// summary reports what concerns many sessions, one line a kind.
func (h *History) summary() {
	say := func(count int, words, why string) {
		if count > 0 {
			h.report.Differ(fmt.Sprintf("transcripts: %s (%d)", words, count), why)
		}
	}
	n := h.all
	say(n.compactions, "summaries", "all messages are carried over instead; the older part is summed up again when it is needed")
	say(n.thinking, "pieces of thinking", "left out: they belong to the model and the account that made them")
	say(n.images, "images", "left out: without data, or too large")
	say(n.unanswered, "tool calls without a result", "each got a result that says so, because providers refuse calls without one")
	say(n.orphans, "tool results without a call", "left out: providers refuse them")
	say(n.mirrors, "copies of sent answers", "left out: the answers themselves are imported")
	say(n.extensions, "texts of extensions", "left out: OpenClaw's extensions wrote them for the model")
	say(n.otherRoles, "entries of other roles", "left out: no person and no model wrote them")
	say(n.hidden, "messages of abandoned branches", "left out: OpenClaw no longer showed them after a rewind or a fork")
	say(h.both, "sessions in JSONL files", "left out: the database has them too, and parley read them there")
	for _, why := range slices.Sorted(maps.Keys(h.left)) {
		keys := h.left[why]
		slices.Sort(keys)
		const few = 5
		list := strings.Join(keys[:min(len(keys), few)], ", ")
		if len(keys) > few {
			list += ", …"
		}
		h.report.Leave(fmt.Sprintf("sessions (%d): %s", len(keys), list), why)
	}
}

// read reads a file of the folder whole.
func (h *History) read(name string, limit int64) ([]byte, error) {
	return readFile(h.root, name, limit)
}

func readFile(root *os.Root, name string, limit int64) ([]byte, error) {
	f, err := filesystem.OpenIn(root, name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it is only read
	text, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(text)) > limit {
		return nil, fmt.Errorf("%s is larger than %d MB", name, limit>>20)
	}
	return text, err
}
