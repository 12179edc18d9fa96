package operations

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"parley/gateway/api"
	"parley/sessions"
	"parley/sessions/sqlstore"
)

// programs are the kinds of sessions that a program of one principal talks in: agent:<agent>:openai:<principal>/<user> and
// agent:<agent>:mcp:<principal>.
var programs = map[string]bool{"openai": true, "mcp": true}

// principalOf gives the principal whose program a session was made for; "" = it is nobody's alone.
func principalOf(key sessions.Key) string {
	p, err := key.Parse()
	if err != nil || p.Form != sessions.FormOther || !programs[string(p.Channel)] {
		return ""
	}
	name, _, _ := strings.Cut(p.ID, "/")
	if plain, err := url.PathUnescape(name); err == nil {
		return plain
	}
	return name
}

// authorizeSession says why a principal may not say something in a session, nor stop what it is at; nil when it may. What one program talks about,
// in its own sessions and in those of the sub-agents below, no other token changes, but admins do.
func authorizeSession(ctx context.Context, store *sqlstore.Store, key sessions.Key) error {
	who := api.Caller(ctx)
	if who.Scope.Allows(api.Admin) {
		return nil
	}
	s, err := store.Get(ctx, key)
	if err != nil && !errors.Is(err, sessions.ErrNotFound) {
		return err
	}
	if name := principalOf(cmp.Or(s.Top, key)); name != "" && name != who.Name {
		return api.Refuse(http.StatusForbidden, "session %s belongs to the token %q: others need the scope admin to talk there or to stop it", key, name)
	}
	return nil
}
