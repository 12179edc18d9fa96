package history

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"

	"parley/gateway/openclaw/database"
)

// newest is the newest schema of an agent's database that is described.
// source: openclaw/openclaw docs/reference/database-schemas/agent-schema-history.md (26bb0906)
const newest = 25

// maxEvent bounds an event in a database, as maxLine bounds a line. A larger one is broken.
const maxEvent = maxLine

// entryText is the entry of a session; NULL for one that is larger than OpenClaw writes.
var entryText = "CASE WHEN octet_length(entry_json) <= " + strconv.Itoa(maxEvent) + " THEN entry_json END"

// agentDatabase is one database with sessions.
type agentDatabase struct {
	*History
	agent   string // folder below agents
	name    string // of the file
	mainKey string
	windows map[string][]tableWindow // by session key, oldest first
	archive map[string]cold          // by session id
	chats   map[string]chat          // by session id
}

type tableWindow struct {
	id string
	at int64
}

// chat is the conversation of a window.
type chat struct{ channel, account, peer string }

// databasesOf lists the databases of an agent: its own, and shared session stores beside it.
func (h *History) databasesOf(agent string) (names []string) {
	folder := path.Join("agents", agent, path.Dir(database.Agent))
	files, err := fs.ReadDir(h.files, folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		h.report.Leave(folder, "the folder cannot be read: "+err.Error())
	}
	for _, f := range files {
		if strings.HasPrefix(f.Name(), "openclaw-agent.") && strings.HasSuffix(f.Name(), ".sqlite") {
			names = append(names, path.Join(folder, f.Name()))
		}
	}
	return names
}

// tables finds the sessions in the databases of an agent.
func (h *History) tables(ctx context.Context, agent string) error {
	for _, name := range h.databasesOf(agent) {
		err := h.table(ctx, agent, name)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			h.report.Need(name, "its sessions cannot be read: "+err.Error())
		}
	}
	return nil
}

func (h *History) table(ctx context.Context, agent, name string) error {
	d, err := h.databases.Open(ctx, name)
	if err != nil {
		return err
	}
	x := &agentDatabase{History: h, agent: agent, name: name, mainKey: h.mainKey, windows: map[string][]tableWindow{}, archive: map[string]cold{}, chats: map[string]chat{}}
	hasEvents := d.Has("transcript_events", "session_id", "seq", "event_json")
	var entries, windows string
	switch {
	case d.Has("session_nodes", "session_key", "current_session_id", "entry_json") && d.Has("session_windows", "session_id", "session_key", "created_at") && hasEvents:
		entries = "SELECT session_key, current_session_id, " + entryText + ", " + either(d, "session_nodes", "entry_valid", "0") + ", " + either(d, "session_nodes", "updated_at", "0") + ", " +
			either(d, "session_nodes", "spawned_by", "''") + ", " + either(d, "session_nodes", "label", "''") + ", " + either(d, "session_nodes", "display_name", "''") + " FROM session_nodes"
		windows = "SELECT session_id, session_key, created_at FROM session_windows ORDER BY session_key, created_at, session_id"
	case d.Has("session_entries", "session_key", "session_id", "entry_json") && hasEvents: // schema 4 to 13
		entries = "SELECT session_key, session_id, " + entryText + ", 0, " + either(d, "session_entries", "updated_at", "0") + ", '', '', '' FROM session_entries"
		if d.Has("sessions", "session_id", "session_key") {
			at := either(d, "sessions", "created_at", either(d, "sessions", "updated_at", "0"))
			windows = "SELECT session_id, session_key, " + at + " FROM sessions ORDER BY session_key, 3, session_id"
		}
	case d.Version() > newest || d.Has("session_nodes") || d.Has("session_entries"):
		return fmt.Errorf("a newer OpenClaw wrote it (schema %d); a newer parley may read it", d.Version())
	default: // schema 1: sessions were still in JSONL files
		h.report.See(name, "keys and memory index; the sessions of this version are in JSONL files")
		return nil
	}
	if d.Version() > newest {
		h.report.Differ(name, fmt.Sprintf("a newer OpenClaw wrote it (schema %d): parley read the tables and columns that it knows", d.Version()))
	}
	if d.Has("session_key_contract", "main_key") {
		err = d.Each(ctx, "SELECT main_key FROM session_key_contract LIMIT 1", nil, func(scan func(...any) error) error { return scan(&x.mainKey) })
	}
	if err == nil && windows != "" {
		err = d.Each(ctx, windows, nil, func(scan func(...any) error) error {
			var w tableWindow
			var key string
			err := scan(&w.id, &key, &w.at)
			x.windows[key] = append(x.windows[key], w)
			return err
		})
	}
	if err == nil {
		err = x.beside(ctx, d)
	}
	if err != nil {
		return err
	}
	return x.entries(ctx, d, entries)
}

// either returns a column, or a value where the table does not have it.
func either(d *database.Database, table, column, otherwise string) string {
	if d.Has(table, column) {
		return "coalesce(" + column + ", " + otherwise + ")"
	}
	return otherwise
}

// beside reads the cold archives and the conversations of all windows.
func (x *agentDatabase) beside(ctx context.Context, d *database.Database) error {
	if d.Has("session_transcript_cold_archives", "session_id", "archive_name", "archive_sha256", "event_count", "archive_bytes", "storage") {
		err := d.Each(ctx, "SELECT session_id, archive_name, archive_sha256, event_count, archive_bytes, storage FROM session_transcript_cold_archives", nil, func(scan func(...any) error) error {
			var c cold
			var storage string
			err := scan(&c.session, &c.name, &c.sum, &c.events, &c.bytes, &storage)
			c.blob = storage == "sqlite"
			x.archive[c.session] = c
			return err
		})
		if err != nil {
			return err
		}
	}
	if d.Has("session_conversations", "session_id", "conversation_id", "role") && d.Has("conversations", "conversation_id", "channel", "account_id", "kind", "peer_id") {
		err := d.Each(ctx, `SELECT s.session_id, c.channel, coalesce(c.account_id, ''), c.peer_id FROM session_conversations s JOIN conversations c ON c.conversation_id = s.conversation_id
			WHERE s.role = 'primary' AND c.kind = 'direct' AND c.peer_id IS NOT NULL`, nil, func(scan func(...any) error) error {
			var id string
			var c chat
			err := scan(&id, &c.channel, &c.account, &c.peer)
			x.chats[id] = c
			return err
		})
		if err != nil {
			return err
		}
	}
	for table, words := range map[string]string{
		"session_transcript_archives": "transcripts of deleted or reset sessions, left out",
		"session_pending_inputs":      "messages that waited for an answer; they get none",
	} {
		if !d.Has(table) {
			continue
		}
		n, err := d.Count(ctx, table)
		if err != nil {
			return err
		}
		if n > 0 {
			x.report.Leave(fmt.Sprintf("%s: table %s (%d)", x.name, table, n), words)
		}
	}
	return nil
}

// entries finds the sessions.
func (x *agentDatabase) entries(ctx context.Context, d *database.Database, query string) error {
	var list []found
	folder := path.Join("agents", x.agent, "sessions")
	err := d.Each(ctx, query, nil, func(scan func(...any) error) error {
		f := found{agent: x.ids.Agent(x.agent), folder: folder, mainKey: x.mainKey, sqlite: true}
		var current, spawnedBy, label, name string
		var text []byte
		var valid, updated int64
		if err := scan(&f.raw, &current, &text, &valid, &updated, &spawnedBy, &label, &name); err != nil {
			return err
		}
		switch err := json.Unmarshal(text, &f.entry); {
		case err != nil: // it may have been muted
			f.entry = entry{SendPolicy: unreadable}
		case valid < 0:
			x.report.Differ("session "+f.raw, "OpenClaw's entry is invalid: only its send policy and its messages are carried over")
			f.entry = entry{SendPolicy: f.entry.SendPolicy, LastChannel: f.entry.LastChannel}
		}
		f.entry.SessionID = current
		if _, err := f.entry.UpdatedAt.Int64(); err != nil {
			f.entry.UpdatedAt = json.Number(strconv.FormatInt(updated, 10))
		}
		for to, s := range map[*string]string{&f.entry.SpawnedBy: spawnedBy, &f.entry.Label: label, &f.entry.DisplayName: name} {
			if *to == "" {
				*to = s
			}
		}
		if c, ok := x.chats[current]; ok {
			f.entry.LastChannel, f.entry.LastTo, f.entry.LastAccount = c.channel, c.peer, c.account
		}
		f.mapped = keyFor(f.entry.fullKey(f.raw, x.ids), f.agent, x.mainKey, x.ids)
		x.window(&f, current)
		list = append(list, f)
		return nil
	})
	if err != nil {
		return err
	}
	newestFirst(list)
	x.found = append(x.found, list...)
	return x.orphans(ctx, d, list)
}

// window gives a session its windows, the current one last.
func (x *agentDatabase) window(f *found, current string) {
	ids := x.windows[f.raw]
	if i := slices.IndexFunc(ids, func(w tableWindow) bool { return w.id == current }); i >= 0 {
		ids = append(slices.Delete(slices.Clone(ids), i, i+1), ids[i])
	} else if current != "" {
		ids = append(slices.Clone(ids), tableWindow{id: current})
	}
	for _, w := range ids {
		f.windows = append(f.windows, window{id: w.id, begins: time.UnixMilli(w.at), each: func(ctx context.Context, take func([]byte, bool)) error { return x.events(ctx, w.id, take) }})
		x.counted[path.Join(f.folder, path.Base(w.id)+".jsonl")] = true
	}
}

// orphans reports the transcripts that belong to no session.
func (x *agentDatabase) orphans(ctx context.Context, d *database.Database, list []found) error {
	known := map[string]bool{}
	for _, f := range list {
		for _, w := range f.windows {
			known[w.id] = true
		}
	}
	lost := 0
	err := d.Each(ctx, "SELECT DISTINCT session_id FROM transcript_events", nil, func(scan func(...any) error) error {
		var id string
		err := scan(&id)
		if !known[id] {
			lost++
		}
		return err
	})
	if err == nil && lost > 0 {
		x.report.Leave(fmt.Sprintf("%s: transcripts without a session (%d)", x.name, lost), "keep the file")
	}
	return err
}

// events hands over the events of a window: rows, a cold archive, or a JSONL file that OpenClaw did not move into the database.
func (x *agentDatabase) events(ctx context.Context, id string, take func([]byte, bool)) error {
	if c, ok := x.archive[id]; ok {
		data, err := x.cold(ctx, c)
		if err == nil {
			err = c.read(data, take)
		}
		if err != nil {
			return fmt.Errorf("cold archive %s: %w", c.name, err)
		}
		return nil
	}
	d, err := x.databases.Open(ctx, x.name)
	if err != nil {
		return err
	}
	packed := "NULL, NULL"
	if d.Has("transcript_events", "event_zstd", "event_utf8_bytes") {
		packed = "CASE WHEN octet_length(event_zstd) <= " + strconv.Itoa(maxFrame) + " THEN event_zstd END, event_utf8_bytes"
	}
	var decoder *zstd.Decoder
	rows := 0
	err = d.Each(ctx, "SELECT CASE WHEN octet_length(event_json) <= "+strconv.Itoa(maxEvent)+" THEN event_json END, "+packed+" FROM transcript_events WHERE session_id = ? ORDER BY seq", []any{id}, func(scan func(...any) error) error {
		var text, frame []byte
		var size *int64
		if err := scan(&text, &frame, &size); err != nil {
			return err
		}
		rows++
		if text != nil || size == nil {
			take(text, text == nil)
			return nil
		}
		if decoder == nil {
			var err error
			if decoder, err = newDecoder(nil, maxFrame); err != nil {
				return err
			}
		}
		text, err := inflate(decoder, frame, *size)
		take(text, err != nil)
		return nil
	})
	if decoder != nil {
		decoder.Close()
	}
	if err != nil || rows > 0 {
		return err
	}
	err = x.eachLine(path.Join("agents", x.agent, "sessions", path.Base(id)+".jsonl"), take)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// cold returns the bytes of a cold archive.
func (x *agentDatabase) cold(ctx context.Context, c cold) (data []byte, err error) {
	if c.blob {
		d, err := x.databases.Open(ctx, x.name)
		if err != nil {
			return nil, err
		}
		err = d.Each(ctx, "SELECT CASE WHEN octet_length(archive_blob) <= "+strconv.Itoa(maxArchive)+" THEN archive_blob END FROM session_transcript_cold_archives WHERE session_id = ?", []any{c.session}, func(scan func(...any) error) error { return scan(&data) })
		return data, err
	}
	if !archiveName.MatchString(c.name) {
		return nil, errors.New("its name is not that of an archive")
	}
	for _, folder := range []string{path.Join("agents", x.agent, "sessions", "cold"), path.Join(path.Dir(x.name), "cold")} {
		if data, err = x.read(path.Join(folder, c.name), maxArchive); !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	return data, err
}
