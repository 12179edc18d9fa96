package lesson

import (
	"context"
	"errors"
	"fmt"
	"unicode/utf8"

	"parley/sessions"
	"parley/sessions/sqlstore/engine"
)

// The bounds of a lesson in bytes: of its key, which an index of PostgreSQL must hold, and of each other text, which is cut.
const (
	maxLessonKey  = 2000
	maxLessonText = 4000
)

const lessonColumns = "provider, address, model, kind, name, value, instead, evidence, config, at"

const lessonKey = "provider = ? AND address = ? AND model = ? AND kind = ? AND name = ? AND value = ?"

// Store implements the methods of sessions.Store that are about lessons.
type Store struct{ db *engine.DB }

// New returns a store over a database.
func New(db *engine.DB) *Store { return &Store{db} }

// Lessons lists what is known of endpoints, oldest first.
func (s *Store) Lessons(ctx context.Context) ([]sessions.Lesson, error) {
	return engine.ReadList(ctx, s.db, "SELECT "+lessonColumns+" FROM lessons ORDER BY at, provider, address, model, kind, name, value", nil, func(r engine.Row) (sessions.Lesson, error) {
		return sessions.Lesson{Provider: r.Str(0), Address: r.Str(1), Model: r.Str(2), Kind: r.Str(3), Name: r.Str(4), Value: r.Str(5), Use: r.Str(6), Evidence: r.Str(7), Config: r.Str(8), At: r.Time(9)}, nil
	})
}

// Learn keeps lessons. One with too long a key is named in the error; the others are kept all the same.
func (s *Store) Learn(ctx context.Context, lessons ...sessions.Lesson) error {
	var keep []sessions.Lesson
	var refused error
	for _, l := range lessons {
		if n := len(l.Provider) + len(l.Address) + len(l.Model) + len(l.Kind) + len(l.Name) + len(l.Value); n > maxLessonKey {
			refused = errors.Join(refused, fmt.Errorf("lesson of %s/%s: its key has %d bytes, more than %d", cutBytes(l.Provider, 100), cutBytes(l.Model, 100), n, maxLessonKey))
			continue
		}
		l.Use, l.Evidence, l.Config = cutBytes(l.Use, maxLessonText), cutBytes(l.Evidence, maxLessonText), cutBytes(l.Config, maxLessonText)
		keep = append(keep, l)
	}
	if len(keep) == 0 {
		return refused
	}
	err := s.db.Write(ctx, "Learn", func(t *engine.Tx) error {
		for _, l := range keep {
			if err := learn(t, l); err != nil {
				return err
			}
		}
		return forgetOldest(t)
	})
	return errors.Join(err, refused)
}

func learn(t *engine.Tx, l sessions.Lesson) error {
	at := l.At
	if at.IsZero() {
		at = t.Now
	}
	_, err := t.Exec("INSERT INTO lessons ("+lessonColumns+") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (provider, address, model, kind, name, value)"+
		" DO UPDATE SET instead = excluded.instead, evidence = excluded.evidence, config = excluded.config, at = excluded.at",
		l.Provider, l.Address, l.Model, l.Kind, l.Name, l.Value, l.Use, l.Evidence, l.Config, engine.Ms(at))
	return err
}

// forgetOldest deletes the oldest of more than MaxLessons.
func forgetOldest(t *engine.Tx) error {
	n, err := t.Conn.Number(t.Ctx, "SELECT count(*) FROM lessons")
	if err != nil || n <= sessions.MaxLessons {
		return err
	}
	var old [][]any
	if err := t.Each("SELECT provider, address, model, kind, name, value FROM lessons ORDER BY at, provider, address, model, kind, name, value LIMIT ?", []any{n - sessions.MaxLessons}, func(r engine.Row) error {
		old = append(old, []any{r.Str(0), r.Str(1), r.Str(2), r.Str(3), r.Str(4), r.Str(5)})
		return nil
	}); err != nil {
		return err
	}
	for _, k := range old {
		if _, err := t.Exec("DELETE FROM lessons WHERE "+lessonKey, k...); err != nil {
			return err
		}
	}
	return nil
}

// Unlearn removes lessons by their keys. Times are compared as they are stored, in milliseconds.
func (s *Store) Unlearn(ctx context.Context, lessons ...sessions.Lesson) error {
	if len(lessons) == 0 {
		return nil
	}
	return s.db.Write(ctx, "Unlearn", func(t *engine.Tx) error {
		for _, l := range lessons {
			if _, err := t.Exec("DELETE FROM lessons WHERE "+lessonKey+" AND at <= ?", l.Provider, l.Address, l.Model, l.Kind, l.Name, l.Value, engine.Ms(l.At)); err != nil {
				return err
			}
		}
		return nil
	})
}

// Forget removes the lessons of a provider and a model, "" = any, and gives their number.
func (s *Store) Forget(ctx context.Context, provider, model string) (n int, err error) {
	var where engine.Where
	if provider != "" {
		where.And("provider = ?", provider)
	}
	if model != "" {
		where.And("model = ?", model)
	}
	err = s.db.Write(ctx, "Forget", func(t *engine.Tx) error {
		gone, err := t.Exec("DELETE FROM lessons"+where.String(), where.Args()...)
		n = int(gone)
		return err
	})
	return n, err
}

// cutBytes cuts a text to at most so many bytes, between two characters.
func cutBytes(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most]
}
