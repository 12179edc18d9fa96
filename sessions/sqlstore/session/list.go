package session

import (
	"context"
	"parley/channels"
	"parley/sessions"
	"parley/sessions/sqlstore/column"
	"parley/sessions/sqlstore/engine"
	"strings"
)

// List gives sessions, newest first.
func (s *Store) List(ctx context.Context, q sessions.Query) (list []sessions.Session, err error) {
	var where engine.Where
	if q.SpawnedBy != "" || q.Keys != nil { // few of all: the planner must not walk the index by archived for them
		where.And("+archived = ?", q.Archived)
	} else {
		where.And("archived = ?", q.Archived)
	}
	if q.Agent != "" {
		where.And("agent = ?", string(q.Agent))
	}
	if q.Agents != nil {
		if len(q.Agents) == 0 {
			return nil, nil
		}
		where.And("agent IN ("+engine.Marks(len(q.Agents))+")", engine.Args(q.Agents)...)
	}
	if q.SpawnedBy != "" {
		where.And("spawned_by = ? AND spawned_by <> ''", string(q.SpawnedBy))
	}
	if q.Keys != nil {
		if len(q.Keys) == 0 {
			return nil, nil
		}
		where.And("key IN ("+engine.Marks(len(q.Keys))+")", engine.Args(q.Keys)...)
	}
	if q.Label != "" {
		where.And("label = ?", q.Label)
	}
	if !q.Since.IsZero() {
		where.And("updated >= ?", engine.Ms(q.Since))
	}
	if q.Search != "" {
		where.And("find LIKE ? ESCAPE '!'", "%"+engine.Like(strings.ToLower(q.Search))+"%")
	}
	err = s.db.Read(ctx, func(c *engine.Conn) error {
		list, err = engine.List(ctx, c, "SELECT "+sessionColumns+" FROM sessions"+where.String()+" ORDER BY updated DESC, num DESC LIMIT ? OFFSET ?", where.Args(engine.Limit(q.Limit, 50), max(q.Offset, 0)),
			func(r engine.Row) (sessions.Session, error) {
				k, err := scanSession(r)
				return k.Session, err
			})
		for i := range list {
			if err == nil {
				list[i].ChatDeny, err = chatDenies(ctx, c, list[i].Key)
			}
		}
		return err
	})
	return list, err
}

// Writers gives the chats that have written to a session.
func (s *Store) Writers(ctx context.Context, key sessions.Key) ([]channels.Address, error) {
	return engine.ReadList(ctx, s.db, "SELECT h.address FROM heard h JOIN sessions s ON s.key = h.key WHERE h.key = ? ORDER BY CASE WHEN h.address = s.last THEN 0 ELSE 1 END, h.at DESC, h.address", []any{string(key)},
		func(r engine.Row) (channels.Address, error) { return column.Address(r.Str(0)), nil })
}

// Known gives the sessions that a chat has written to, archived or not.
func (s *Store) Known(ctx context.Context, from channels.Address) ([]sessions.Key, error) {
	return engine.ReadList(ctx, s.db, "SELECT h.key FROM heard h JOIN sessions s ON s.key = h.key WHERE h.address = ? ORDER BY s.updated DESC, s.num DESC", []any{from.String()},
		func(r engine.Row) (sessions.Key, error) { return sessions.Key(r.Str(0)), nil })
}

// ContextLines gives the group talk that the session's next turn must be shown, oldest first.
func (s *Store) ContextLines(ctx context.Context, key sessions.Key) ([]sessions.ContextLine, error) {
	return engine.ReadList(ctx, s.db, overheardOf, []any{string(key)}, scanOverheard(key))
}
