package operations

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"parley/channels"
	"parley/gateway/api"
	"parley/gateway/config"
	"parley/sessions"
	"parley/sessions/sqlstore"
)

// Resolver finds what people name: sessions, runs, deliveries, jobs and people, by their ids, the beginnings of ids, or their names.
type Resolver struct {
	store  *sqlstore.Store
	config func() *config.Config
}

const (
	minShortID = 6  // characters that the beginning of an id needs to stand for it
	idLength   = 36 // characters of a UUID
	maxChoices = 8  // ids that are named when several fit
)

// whole gives the id that a person means by its beginning, when only one fits; what is none is given back as it is.
func (r *Resolver) whole(ctx context.Context, of sqlstore.IDs, ref string) (string, error) {
	if len(ref) < minShortID || len(ref) >= idLength {
		return ref, nil
	}
	ids, err := r.store.Beginning(ctx, of, strings.ToLower(ref), maxChoices+1)
	if err != nil || slices.Contains(ids, ref) {
		return ref, err
	}
	return uniqueID(ref, string(of), ids)
}

// uniqueID gives the id that begins so when there is only one; without any, what was asked for.
func uniqueID(ref, of string, ids []string) (string, error) {
	switch len(ids) {
	case 0:
		return ref, nil
	case 1:
		return ids[0], nil
	}
	more := ""
	if len(ids) > maxChoices {
		ids, more = ids[:maxChoices], ", …"
	}
	return "", api.Bad("%s is ambiguous: several ids of %s begin with it; give more characters (%s%s)", ref, of, strings.Join(ids, ", "), more)
}

func (r *Resolver) wholeRun(ctx context.Context, ref sessions.RunID) (sessions.RunID, error) {
	id, err := r.whole(ctx, sqlstore.RunIDs, string(ref))
	return sessions.RunID(id), err
}

func (r *Resolver) wholeDelivery(ctx context.Context, ref sessions.DeliveryID) (sessions.DeliveryID, error) {
	id, err := r.whole(ctx, sqlstore.DeliveryIDs, string(ref))
	return sessions.DeliveryID(id), err
}

// wholeJob gives the id of the job that a person means: its id, the beginning of that, or its name.
func (r *Resolver) wholeJob(ctx context.Context, ref string) (string, error) {
	jobs, err := r.store.ListJobs(ctx, "")
	if err != nil {
		return "", err
	}
	var named []string
	for _, j := range jobs {
		switch {
		case j.ID == ref:
			return ref, nil
		case strings.EqualFold(j.Name, ref):
			named = append(named, j.ID)
		}
	}
	switch len(named) {
	case 0:
		return r.whole(ctx, sqlstore.JobIDs, ref)
	case 1:
		return named[0], nil
	}
	return "", api.Bad("%d jobs have the name %.100q: use an id (%s)", len(named), ref, strings.Join(named, ", "))
}

// wholePerson gives the id of the person on a channel who is meant by its beginning, of those who were let in or turned down.
func (r *Resolver) wholePerson(ctx context.Context, channel channels.Kind, ref channels.UserID) (channels.UserID, error) {
	in, err := r.store.Admitted(ctx)
	if err != nil {
		return ref, err
	}
	out, err := r.store.Pairings(ctx, time.Now())
	if err != nil {
		return ref, err
	}
	for _, p := range out {
		if p.Rejected {
			in = append(in, sessions.Admitted{Channel: p.Channel, User: p.User})
		}
	}
	var fit []string
	for _, p := range in {
		switch {
		case p.Channel != channel:
		case p.User == ref:
			return ref, nil
		case len(ref) >= minShortID && strings.HasPrefix(string(p.User), string(ref)) && !slices.Contains(fit, string(p.User)):
			fit = append(fit, string(p.User))
		}
	}
	id, err := uniqueID(string(ref), "people", fit)
	return channels.UserID(id), err
}

// traceShort follows the run or the delivery whose id begins so.
func (r *Resolver) traceShort(ctx context.Context, ref string) ([]sessions.Trace, error) {
	for _, of := range []sqlstore.IDs{sqlstore.RunIDs, sqlstore.DeliveryIDs} {
		id, err := r.whole(ctx, of, ref)
		if err != nil {
			return nil, err
		}
		if id != ref {
			return r.store.Trace(ctx, id)
		}
	}
	return nil, nil
}

// sessionKey resolves what people call a session: a key, "main", a session id.
func (r *Resolver) sessionKey(ctx context.Context, ref string) (sessions.Key, error) {
	s, err := r.session(ctx, ref)
	return s.Key, err
}

func (r *Resolver) session(ctx context.Context, ref string) (s sessions.Session, err error) {
	res, err := r.resolve(ctx, ref)
	if err != nil {
		return s, err
	}
	if res.Key == "" {
		return r.store.GetByID(ctx, res.ID)
	}
	return r.store.Get(ctx, res.Key) // the key of a chat that has moved is another name
}

func (r *Resolver) resolve(ctx context.Context, ref string) (sessions.Ref, error) {
	if ref == "" {
		return sessions.Ref{}, api.Bad("session is missing: give a key, a session id or main")
	}
	c := r.config()
	_, def := c.Agents.IDs()
	res, err := sessions.Resolve(ref, def, c.Session.Scope)
	if err == nil {
		return res, nil
	}
	id, failed := r.whole(ctx, sqlstore.SessionIDs, ref)
	switch {
	case failed != nil:
		return res, failed
	case id != ref:
		return sessions.Ref{ID: sessions.ID(id)}, nil
	}
	return res, fmt.Errorf("session: %w", err)
}
