package sqlstore

import (
	"context"
	"strings"

	"parley/sessions"
	"parley/sessions/sqlstore/engine"
)

// List gives sessions, newest first.
func (s *sessionRows) List(ctx context.Context, q sessions.Query) (out []sessions.Session, err error) {
	where, args := []string{"archived = ?"}, []any{q.Archived}
	add := func(cond string, arg ...any) { where, args = append(where, cond), append(args, arg...) }
	if q.Agent != "" {
		add("agent = ?", string(q.Agent))
	}
	if q.Agents != nil {
		if len(q.Agents) == 0 {
			return nil, nil
		}
		add("agent IN ("+engine.Marks(len(q.Agents))+")", anys(q.Agents)...)
	}
	if q.SpawnedBy != "" {
		add("spawned_by = ? AND spawned_by <> ''", string(q.SpawnedBy))
	}
	if q.Keys != nil {
		if len(q.Keys) == 0 {
			return nil, nil
		}
		add("key IN ("+engine.Marks(len(q.Keys))+")", anys(q.Keys)...)
	}
	if q.Label != "" {
		add("label = ?", q.Label)
	}
	if !q.Since.IsZero() {
		add("updated >= ?", engine.Ms(q.Since))
	}
	if q.Search != "" {
		add("find LIKE ? ESCAPE '!'", "%"+likeEscape.Replace(strings.ToLower(q.Search))+"%")
	}
	args = append(args, orDefault(q.Limit, 50), max(q.Offset, 0))
	err = s.read(ctx, func(c *engine.Conn) error {
		out = nil
		return c.Each(ctx, "SELECT "+sessionColumns+" FROM sessions WHERE "+strings.Join(where, " AND ")+" ORDER BY updated DESC, num DESC LIMIT ? OFFSET ?", args, func(r engine.Row) error {
			k, err := scanSession(r)
			out = append(out, k.Session)
			return err
		})
	})
	return out, err
}

// anys returns ids as arguments of a query.
func anys[T ~string](ids []T) []any {
	out := make([]any, len(ids))
	for i, id := range ids {
		out[i] = string(id)
	}
	return out
}

var likeEscape = strings.NewReplacer("!", "!!", "%", "!%", "_", "!_")

func orDefault(n, def int) int {
	if n > 0 {
		return n
	}
	return def
}
