package sqlstore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/google/uuid"

	"parley/channels"
	"parley/sessions"
	"parley/sessions/sqlstore/engine"
	"parley/sessions/sqlstore/transcriptfile"
)

// sessionRows keeps sessions, their other keys, and who wrote to them.
type sessionRows struct {
	repository

	files *transcriptfile.Writer
}

// known is a session with its numbers in the store.
type known struct {
	sessions.Session
	num, transcript int64
}

const sessionFields = "num, key, id, transcript, agent, title, label, last, spawned_by, settings, usage, context, aborted, archived, archive_at, created, updated, above, turns, by_agents, top, heard"

var sessionColumns = nameless(sessionFields)

// nameless selects columns under a name of one letter. Rows are read by position, and the driver makes a text of each column's name
// whenever a statement runs: those of one letter cost nothing.
func nameless(columns string) string { return strings.ReplaceAll(columns, ",", " AS a,") + " AS a" }

func scanSession(r engine.Row) (k known, err error) {
	k.num, k.transcript = r.Int(0), r.Int(3)
	k.Session = sessions.Session{
		Key: sessions.Key(r.Str(1)), ID: sessions.ID(r.Str(2)), Agent: sessions.AgentID(r.Str(4)), Title: r.Str(5), Label: r.Str(6), Last: address(r.Str(7)),
		SpawnedBy: sessions.Key(r.Str(8)), Context: int(r.Int(11)), Aborted: r.Bool(12), Archived: r.Bool(13), ArchiveAt: r.Time(14), Created: r.Time(15), Updated: r.Time(16),
		Turns: int(r.Int(18)), ByAgents: int(r.Int(19)), Top: sessions.Key(r.Str(20)), Heard: r.Time(21),
	}
	if err = decode(r.Str(9), &k.Settings); err == nil {
		err = decode(r.Str(10), &k.Usage)
	}
	if err == nil {
		err = decode(r.Str(17), &k.Above)
	}
	return k, err
}

// decode reads a JSON body; the empty text is the zero value. One that does not decode is ErrUnread.
func decode(s string, v any) error {
	if s == "" {
		return nil
	}
	if err := json.Unmarshal([]byte(s), v); err != nil {
		return fmt.Errorf("%w: %w", sessions.ErrUnread, err)
	}
	return nil
}

// encode writes a JSON body; the zero value is the empty text.
func encode[T comparable](v T) (string, error) {
	var zero T
	if v == zero {
		return "", nil
	}
	return marshal(v)
}

// encodeList writes a list; the empty one is the empty text.
func encodeList[T any](v []T) (string, error) {
	if len(v) == 0 {
		return "", nil
	}
	return marshal(v)
}

// address reads an address back. Unlike ParseAddress it takes empty parts, which addresses made inside the host may have.
func address(s string) channels.Address {
	if a, err := channels.ParseAddress(s); err == nil {
		return a
	}
	p := strings.SplitN(s, "/", 5)
	for i := range p {
		if v, err := url.PathUnescape(p[i]); err == nil {
			p[i] = v
		}
	}
	for len(p) < 5 {
		p = append(p, "")
	}
	return channels.Address{Channel: channels.Kind(p[0]), Account: channels.AccountID(p[1]), Type: channels.ChatType(p[2]), Chat: channels.ChatID(p[3]), Thread: channels.ThreadID(p[4])}
}

func find(s sessions.Session) string {
	return strings.ToLower(string(s.Key) + "\n" + s.Title + "\n" + s.Label)
}

// session reads a session, archived or not.
func (s *sessionRows) session(t *tx, key sessions.Key) (known, error) {
	return getSession(t.Ctx, t.Conn, key)
}

func getSession(ctx context.Context, c *engine.Conn, key sessions.Key) (k known, err error) {
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

// rename gives a session its chat's new title, if there is one.
func (s *sessionRows) rename(t *tx, x sessions.RenameSession) error {
	k, err := s.session(t, x.Key)
	if errors.Is(err, sessions.ErrNotFound) || err == nil && k.Title == x.Title {
		return nil
	}
	if err != nil {
		return err
	}
	k.Title = x.Title
	return s.save(t, k)
}

// upsert makes a session or refreshes it: a new message came. An archived session lives again. The key of a chat that another one
// became is that one's session: Key says so.
func (s *sessionRows) upsert(t *tx, x sessions.Session) (known, error) {
	x.ArchiveAt = engine.FromMs(engine.Ms(x.ArchiveAt))
	k, err := s.session(t, x.Key)
	if errors.Is(err, sessions.ErrNotFound) {
		return s.create(t, x)
	}
	if err != nil {
		return k, err
	}
	was := k
	if x.Title != "" {
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
	if !x.Heard.IsZero() { // earlier than before where the clock was set back
		k.Heard = engine.FromMs(engine.Ms(x.Heard))
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
	k.touch(x.Updated, t.Now)
	if k.Title == was.Title && k.Label == was.Label && k.Last == was.Last && k.SpawnedBy == was.SpawnedBy && k.Top == was.Top && len(k.Above) == len(was.Above) && k.ArchiveAt.Equal(was.ArchiveAt) && !was.Archived {
		_, err = t.Exec("UPDATE sessions SET updated = ?, heard = ? WHERE num = ?", engine.Ms(k.Updated), engine.Ms(k.Heard), k.num)
		return k, err
	}
	if k.Last != was.Last {
		if err := s.heard(t, k); err != nil {
			return k, err
		}
	}
	return k, s.save(t, k)
}

// touch moves Updated on; it never goes back.
func (k *known) touch(given, now time.Time) {
	if given.IsZero() {
		given = now
	}
	if given.After(k.Updated) {
		k.Updated = engine.FromMs(engine.Ms(given))
	}
}

func (s *sessionRows) create(t *tx, x sessions.Session) (known, error) {
	if x.Agent == "" {
		x.Agent = x.Key.Agent()
	}
	if err := s.freeLabel(t, x.Label, x); err != nil {
		return known{}, err
	}
	if x.ID == "" {
		x.ID = newID()
	}
	x.Created, x.Heard, x.Archived = engine.FromMs(engine.Ms(t.Now)), engine.FromMs(engine.Ms(x.Heard)), false
	k := known{Session: x}
	k.Updated = time.Time{}
	k.touch(x.Updated, t.Now)
	t.n.session++
	k.num = t.n.session
	if err := s.transcript(t, &k); err != nil {
		return k, err
	}
	settings, err := encode(k.Settings)
	if err != nil {
		return k, err
	}
	above, err := encodeList(k.Above)
	if err != nil {
		return k, err
	}
	_, err = t.Exec("INSERT INTO sessions ("+sessionFields+", find) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '', 0, 0, 0, ?, ?, ?, ?, 0, 0, ?, ?, ?)",
		k.num, string(k.Key), string(k.ID), k.transcript, string(k.Agent), k.Title, k.Label, k.Last.String(), string(k.SpawnedBy), settings,
		engine.Ms(k.ArchiveAt), engine.Ms(k.Created), engine.Ms(k.Updated), above, string(k.Top), engine.Ms(k.Heard), find(k.Session))
	if err == nil {
		err = s.heard(t, k)
	}
	return k, err
}

func newID() sessions.ID { return sessions.ID(uuid.Must(uuid.NewV7()).String()) }

// transcript gives the session an empty transcript under its id.
func (s *sessionRows) transcript(t *tx, k *known) error {
	t.n.transcript++
	k.transcript = t.n.transcript
	_, err := t.Exec("INSERT INTO transcripts (num, id, key, agent, created) VALUES (?, ?, ?, ?, ?)", k.transcript, string(k.ID), string(k.Key), string(k.Agent), engine.Ms(t.Now))
	return err
}

// save writes what may change in a session's row.
func (s *sessionRows) save(t *tx, k known) error {
	settings, err := encode(k.Settings)
	if err != nil {
		return err
	}
	usage, err := encode(k.Usage)
	if err != nil {
		return err
	}
	above, err := encodeList(k.Above)
	if err != nil {
		return err
	}
	_, err = t.Exec("UPDATE sessions SET id = ?, transcript = ?, title = ?, label = ?, last = ?, spawned_by = ?, above = ?, top = ?, settings = ?, usage = ?, context = ?, turns = ?, by_agents = ?, aborted = ?, archived = ?, archive_at = ?, updated = ?, heard = ?, find = ? WHERE num = ?",
		string(k.ID), k.transcript, k.Title, k.Label, k.Last.String(), string(k.SpawnedBy), above, string(k.Top), settings, usage, k.Context, k.Turns, k.ByAgents, k.Aborted, k.Archived, engine.Ms(k.ArchiveAt), engine.Ms(k.Updated), engine.Ms(k.Heard), find(k.Session), k.num)
	return err
}

// freeLabel refuses a label for a session when another live one has it. Sub-agents may share theirs. Who has it is not told: the
// asker may not see that session (contract V4).
func (s *sessionRows) freeLabel(t *tx, label string, x sessions.Session) error {
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

func (s *sessionRows) patch(t *tx, k *known, p sessions.Patch) error {
	set(&k.Settings.SendPolicy, p.SendPolicy)
	set(&k.Settings.Model, p.Model)
	set(&k.Settings.Thinking, p.Thinking)
	set(&k.Settings.Verbose, p.Verbose)
	set(&k.Settings.Activation, p.Activation)
	set(&k.Settings.Queue, p.Queue)
	set(&k.Settings.Footer, p.Footer)
	if p.Label != nil && *p.Label != k.Label {
		if !k.Archived {
			if err := s.freeLabel(t, *p.Label, k.Session); err != nil {
				return err
			}
		}
		k.Label = *p.Label
	}
	return s.save(t, *k)
}

func set[T any](field *T, to *T) {
	if to != nil {
		*field = *to
	}
}

// reset gives a session a new id and an empty transcript; what was set stays.
func (s *sessionRows) reset(t *tx, k *known) error {
	k.ID, k.Usage, k.Context, k.Aborted = newID(), sessions.Usage{}, 0, false
	k.Turns, k.ByAgents = 0, 0
	if !k.Heard.IsZero() { // it is as new as a chat can be
		k.Heard = engine.FromMs(engine.Ms(t.Now))
	}
	if _, err := t.Exec("DELETE FROM overheard WHERE key = ?", string(k.Key)); err != nil {
		return err
	}
	if err := s.transcript(t, k); err != nil {
		return err
	}
	return s.save(t, *k)
}

// Get finds a session by key, archived or not.
func (s *sessionRows) Get(ctx context.Context, key sessions.Key) (sessions.Session, error) {
	var k known
	err := s.read(ctx, func(c *engine.Conn) (err error) {
		k, err = getSession(ctx, c, key)
		return err
	})
	return k.Session, err
}

// GetByID finds a session that is not archived by its current id.
func (s *sessionRows) GetByID(ctx context.Context, id sessions.ID) (sessions.Session, error) {
	var k known
	err := s.read(ctx, func(c *engine.Conn) error {
		found, err := c.One(ctx, "SELECT "+sessionColumns+" FROM sessions WHERE id = ? AND archived = 0", []any{string(id)}, func(r engine.Row) (err error) {
			k, err = scanSession(r)
			return err
		})
		if err == nil && !found {
			err = engine.NotFound("session", id)
		}
		return err
	})
	return k.Session, err
}

// onSession runs a change of a session that exists.
func (s *sessionRows) onSession(ctx context.Context, name string, key sessions.Key, change func(*tx, *known) error) (sessions.Session, error) {
	var k known
	err := s.write(ctx, name, func(t *tx) (err error) {
		if k, err = s.session(t, key); err != nil {
			return err
		}
		return change(t, &k)
	})
	return k.Session, err
}

// Patch changes settings of a session that exists.
func (s *sessionRows) Patch(ctx context.Context, key sessions.Key, p sessions.Patch) (sessions.Session, error) {
	return s.onSession(ctx, "Patch", key, func(t *tx, k *known) error { return s.patch(t, k, p) })
}

// Reset gives the session a new id and an empty transcript.
func (s *sessionRows) Reset(ctx context.Context, key sessions.Key) (sessions.Session, error) {
	return s.onSession(ctx, "Reset", key, s.reset)
}

// Archive takes the session out of the lists; a new message brings it back.
func (s *sessionRows) Archive(ctx context.Context, key sessions.Key) error {
	_, err := s.onSession(ctx, "Archive", key, s.archive)
	return err
}

func (s *sessionRows) archive(t *tx, k *known) error {
	k.Archived = true
	return s.save(t, *k)
}
