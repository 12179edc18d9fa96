package session

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/google/uuid"

	"parley/policy"
	"parley/sessions"
	"parley/sessions/sqlstore/column"
	"parley/sessions/sqlstore/engine"
	"parley/sessions/sqlstore/transcript"
)

// Rows writes sessions, their other keys, and who wrote to them, in transactions of others.
type Rows struct {
	numbers     *engine.Sequence
	transcripts *transcript.Rows
}

// NewRows returns the rows of a database.
func NewRows(db *engine.DB, transcripts *transcript.Rows) *Rows {
	return &Rows{numbers: db.Sequence("SELECT max(num) FROM sessions"), transcripts: transcripts}
}

// Row is a session with its numbers in the store.
type Row struct {
	sessions.Session

	Num, Transcript int64
	NewChat         bool // Last had not written to it before this transaction
}

const sessionFields = "num, key, id, transcript, agent, title, label, last, spawned_by, settings, usage, context, aborted, archived, archive_at, created, updated, above, turns, by_agents, top, heard"

var sessionColumns = column.Nameless(sessionFields)

func scanSession(r engine.Row) (k Row, err error) {
	k.Num, k.Transcript = r.Int(0), r.Int(3)
	k.Session = sessions.Session{
		Key: sessions.Key(r.Str(1)), ID: sessions.ID(r.Str(2)), Agent: sessions.AgentID(r.Str(4)), Title: r.Str(5), Label: r.Str(6), Last: column.Address(r.Str(7)),
		SpawnedBy: sessions.Key(r.Str(8)), Context: int(r.Int(11)), Aborted: r.Bool(12), Archived: r.Bool(13), ArchiveAt: r.Time(14), Created: r.Time(15), Updated: r.Time(16),
		Turns: int(r.Int(18)), ByAgents: int(r.Int(19)), Top: sessions.Key(r.Str(20)), LastInput: r.Time(21),
	}
	if err = column.Decode(r.Str(9), &k.Settings); err == nil {
		err = column.Decode(r.Str(10), &k.Usage)
	}
	if err == nil {
		err = column.Decode(r.Str(17), &k.Above)
	}
	return k, err
}

func find(s sessions.Session) string {
	return strings.ToLower(string(s.Key) + "\n" + s.Title + "\n" + s.Label)
}

// Get reads a session, archived or not.
func (s *Rows) Get(t *engine.Tx, key sessions.Key) (Row, error) { return get(t.Ctx, t.Conn, key) }

// ChatDenies reports whether a key is of a thread that lies in a place whose own session has the send policy deny: the innermost one with an
// override decides.
func (s *Rows) ChatDenies(t *engine.Tx, key sessions.Key) (bool, error) {
	return chatDenies(t.Ctx, t.Conn, key)
}

func chatDenies(ctx context.Context, c *engine.Conn, key sessions.Key) (bool, error) {
	for outer, ok := key.Around(); ok; outer, ok = outer.Around() {
		k, err := get(ctx, c, outer)
		switch {
		case errors.Is(err, sessions.ErrNotFound):
		case err != nil:
			return false, err
		case k.Settings.SendPolicy != policy.Inherit:
			return k.Settings.SendPolicy != policy.Allow, nil
		}
	}
	return false, nil
}

func get(ctx context.Context, c *engine.Conn, key sessions.Key) (k Row, err error) {
	found, err := c.One(ctx, "SELECT "+sessionColumns+" FROM sessions WHERE key = ?", []any{string(key)}, func(r engine.Row) (err error) {
		k, err = scanSession(r)
		return err
	})
	if err == nil && !found {
		found, err = c.One(ctx, "SELECT "+sessionColumns+" FROM sessions WHERE key = (SELECT target FROM aliases WHERE key = ?)", []any{string(key)}, func(r engine.Row) (err error) {
			k, err = scanSession(r)
			return err
		})
	}
	if err == nil && !found {
		err = engine.NotFound("session", key)
	}
	return k, err
}

// Rename gives a session its chat's new title, if there is one.
func (s *Rows) Rename(t *engine.Tx, x sessions.RenameSession) error {
	k, err := s.Get(t, x.Key)
	if errors.Is(err, sessions.ErrNotFound) || err == nil && k.Title == x.Title {
		return nil
	}
	if err != nil {
		return err
	}
	k.Title = x.Title
	return s.Save(t, k)
}

// namesThread reports whether a session of a thread is called by its chat's name and its own: a message that tells the chat's alone takes
// nothing away.
func namesThread(s sessions.Session, chat string) bool {
	_, isThread := s.Key.Around()
	return isThread && strings.HasPrefix(s.Title, chat+" / ")
}

// Upsert makes a session or refreshes it: a new message came. An archived session lives again. The key of a chat that another one
// became is that one's session: Key says so.
func (s *Rows) Upsert(t *engine.Tx, x sessions.Session) (Row, error) {
	x.ArchiveAt = engine.FromMs(engine.Ms(x.ArchiveAt))
	k, err := s.Get(t, x.Key)
	if errors.Is(err, sessions.ErrNotFound) {
		return s.Create(t, x)
	}
	if err != nil {
		return k, err
	}
	was := k
	if x.Title != "" && !namesThread(k.Session, x.Title) {
		k.Title = x.Title
	}
	if !x.Last.IsZero() {
		k.Last = x.Last
	}
	if x.Label != "" {
		k.Label = x.Label
	}
	if k.SpawnedBy == "" {
		k.SpawnedBy = x.SpawnedBy
	}
	if len(k.Above) == 0 {
		k.Above = x.Above
	}
	if k.Top == "" {
		k.Top = x.Top
	}
	if !x.ArchiveAt.IsZero() {
		k.ArchiveAt = x.ArchiveAt
	}
	if !x.LastInput.IsZero() { // earlier than before where the clock was set back
		k.LastInput = engine.FromMs(engine.Ms(x.LastInput))
	}
	k.Archived = false
	if k.Label != "" && (k.Label != was.Label || was.Archived) {
		err := s.freeLabel(t, k.Label, k.Session)
		if err != nil && x.Label != "" {
			return k, err
		}
		if err != nil {
			k.Label = "" // another session got it while this one was archived
		}
	}
	k.Touch(x.Updated, t.Now)
	if k.Title == was.Title && k.Label == was.Label && k.Last == was.Last && k.SpawnedBy == was.SpawnedBy && k.Top == was.Top && len(k.Above) == len(was.Above) && k.ArchiveAt.Equal(was.ArchiveAt) && !was.Archived {
		_, err = t.Exec("UPDATE sessions SET updated = ?, heard = ? WHERE num = ?", engine.Ms(k.Updated), engine.Ms(k.LastInput), k.Num)
		return k, err
	}
	if k.Last != was.Last {
		if err := s.heard(t, &k); err != nil {
			return k, err
		}
	}
	return k, s.Save(t, k)
}

// Touch moves Updated on; it never goes back.
func (k *Row) Touch(given, now time.Time) {
	if given.IsZero() {
		given = now
	}
	if given.After(k.Updated) {
		k.Updated = engine.FromMs(engine.Ms(given))
	}
}

// Create makes a session.
func (s *Rows) Create(t *engine.Tx, x sessions.Session) (Row, error) {
	if x.Agent == "" {
		x.Agent = x.Key.Agent()
	}
	if err := s.freeLabel(t, x.Label, x); err != nil {
		return Row{}, err
	}
	if x.ID == "" {
		x.ID = newID()
	}
	x.Created, x.LastInput, x.Archived = engine.FromMs(engine.Ms(t.Now)), engine.FromMs(engine.Ms(x.LastInput)), false
	k := Row{Session: x}
	k.Updated = time.Time{}
	k.Touch(x.Updated, t.Now)
	k.Num = s.numbers.Next()
	if err := s.transcript(t, &k); err != nil {
		return k, err
	}
	settings, err := column.Encode(k.Settings)
	if err != nil {
		return k, err
	}
	above, err := column.EncodeList(k.Above)
	if err != nil {
		return k, err
	}
	_, err = t.Exec("INSERT INTO sessions ("+sessionFields+", find) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '', 0, 0, 0, ?, ?, ?, ?, 0, 0, ?, ?, ?)",
		k.Num, string(k.Key), string(k.ID), k.Transcript, string(k.Agent), k.Title, k.Label, k.Last.String(), string(k.SpawnedBy), settings,
		engine.Ms(k.ArchiveAt), engine.Ms(k.Created), engine.Ms(k.Updated), above, string(k.Top), engine.Ms(k.LastInput), find(k.Session))
	if err == nil {
		err = s.heard(t, &k)
	}
	return k, err
}

func newID() sessions.ID { return sessions.ID(uuid.Must(uuid.NewV7()).String()) }

// transcript gives the session an empty transcript under its id.
func (s *Rows) transcript(t *engine.Tx, k *Row) (err error) {
	k.Transcript, err = s.transcripts.Create(t, k.ID, k.Key, k.Agent)
	return err
}

// Save writes what may change in a session's row.
func (s *Rows) Save(t *engine.Tx, k Row) error {
	settings, err := column.Encode(k.Settings)
	if err != nil {
		return err
	}
	usage, err := column.Encode(k.Usage)
	if err != nil {
		return err
	}
	above, err := column.EncodeList(k.Above)
	if err != nil {
		return err
	}
	_, err = t.Exec("UPDATE sessions SET id = ?, transcript = ?, title = ?, label = ?, last = ?, spawned_by = ?, above = ?, top = ?, settings = ?, usage = ?, context = ?, turns = ?, by_agents = ?, aborted = ?, archived = ?, archive_at = ?, updated = ?, heard = ?, find = ? WHERE num = ?",
		string(k.ID), k.Transcript, k.Title, k.Label, k.Last.String(), string(k.SpawnedBy), above, string(k.Top), settings, usage, k.Context, k.Turns, k.ByAgents, k.Aborted, k.Archived, engine.Ms(k.ArchiveAt), engine.Ms(k.Updated), engine.Ms(k.LastInput), find(k.Session), k.Num)
	return err
}

// freeLabel refuses a label for a session when another live one has it. Sub-agents may share theirs. Who has it is not told: the
// asker may not see that session (contract V4).
func (s *Rows) freeLabel(t *engine.Tx, label string, x sessions.Session) error {
	if label == "" || x.SpawnedBy != "" {
		return nil
	}
	var other string
	if _, err := t.One("SELECT key FROM sessions WHERE label = ? AND label <> '' AND archived = 0 AND spawned_by = ''", []any{label}, func(r engine.Row) error { other = r.Str(0); return nil }); err != nil {
		return err
	}
	if other != "" && other != string(x.Key) {
		return engine.Conflict("the label %q is in use", label)
	}
	return nil
}

// Patch changes settings.
func (s *Rows) Patch(t *engine.Tx, k *Row, p sessions.Patch) error {
	setField(&k.Settings.SendPolicy, p.SendPolicy)
	setField(&k.Settings.Model, p.Model)
	setField(&k.Settings.Thinking, p.Thinking)
	setField(&k.Settings.Verbose, p.Verbose)
	setField(&k.Settings.Activation, p.Activation)
	setField(&k.Settings.Queue, p.Queue)
	setField(&k.Settings.Footer, p.Footer)
	if p.Label != nil && *p.Label != k.Label {
		if !k.Archived {
			if err := s.freeLabel(t, *p.Label, k.Session); err != nil {
				return err
			}
		}
		k.Label = *p.Label
	}
	return s.Save(t, *k)
}

func setField[T any](field *T, to *T) {
	if to != nil {
		*field = *to
	}
}

// Reset gives a session a new id and an empty transcript; what was set stays.
func (s *Rows) Reset(t *engine.Tx, k *Row) error {
	k.ID, k.Usage, k.Context, k.Aborted = newID(), sessions.Usage{}, 0, false
	k.Turns, k.ByAgents = 0, 0
	if !k.LastInput.IsZero() { // it is as new as a chat can be
		k.LastInput = engine.FromMs(engine.Ms(t.Now))
	}
	if _, err := t.Exec("DELETE FROM overheard WHERE key = ?", string(k.Key)); err != nil {
		return err
	}
	if err := s.transcript(t, k); err != nil {
		return err
	}
	return s.Save(t, *k)
}

// Archive takes a session out of the lists.
func (s *Rows) Archive(t *engine.Tx, k *Row) error {
	k.Archived = true
	return s.Save(t, *k)
}
