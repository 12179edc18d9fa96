package gateway

import (
	"context"
	"slices"
	"strings"
	"time"

	"parley/channels"
	"parley/gateway/api"
	"parley/sessions"
	"parley/sessions/sqlstore"
)

const (
	shortLeast  = 6  // characters that the beginning of an id needs to stand for it
	wholeID     = 36 // characters of a UUID
	choicesMost = 8  // ids that are named when several fit
)

// whole gives the id that a person means by its beginning, when only one fits; what is none is given back as it is.
func (h *Host) whole(ctx context.Context, of sqlstore.IDs, ref string) (string, error) {
	if len(ref) < shortLeast || len(ref) >= wholeID {
		return ref, nil
	}
	ids, err := h.store.Beginning(ctx, of, strings.ToLower(ref), choicesMost+1)
	if err != nil || slices.Contains(ids, ref) {
		return ref, err
	}
	return onlyOne(ref, string(of), ids)
}

// onlyOne gives the id that begins so when there is only one; without any, what was asked for.
func onlyOne(ref, of string, ids []string) (string, error) {
	switch len(ids) {
	case 0:
		return ref, nil
	case 1:
		return ids[0], nil
	}
	more := ""
	if len(ids) > choicesMost {
		ids, more = ids[:choicesMost], ", …"
	}
	return "", api.Bad("%s is the beginning of the ids of several %s: write more of it (%s%s)", ref, of, strings.Join(ids, ", "), more)
}

func (h *Host) wholeRun(ctx context.Context, ref sessions.RunID) (sessions.RunID, error) {
	id, err := h.whole(ctx, sqlstore.RunIDs, string(ref))
	return sessions.RunID(id), err
}

func (h *Host) wholeDelivery(ctx context.Context, ref sessions.DeliveryID) (sessions.DeliveryID, error) {
	id, err := h.whole(ctx, sqlstore.DeliveryIDs, string(ref))
	return sessions.DeliveryID(id), err
}

// wholeJob gives the id of the job that a person means: its id, the beginning of that, or its name.
func (h *Host) wholeJob(ctx context.Context, ref string) (string, error) {
	jobs, err := h.store.ListJobs(ctx, "")
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
		return h.whole(ctx, sqlstore.JobIDs, ref)
	case 1:
		return named[0], nil
	}
	return "", api.Bad("%d jobs are called %.100q: name one by its id (%s)", len(named), ref, strings.Join(named, ", "))
}

// wholePerson gives the id of the person on a channel who is meant by its beginning, of those who were let in or turned down.
func (h *Host) wholePerson(ctx context.Context, channel channels.Kind, ref channels.UserID) (channels.UserID, error) {
	in, err := h.store.Admitted(ctx)
	if err != nil {
		return ref, err
	}
	out, err := h.store.Pairings(ctx, time.Now())
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
		case len(ref) >= shortLeast && strings.HasPrefix(string(p.User), string(ref)) && !slices.Contains(fit, string(p.User)):
			fit = append(fit, string(p.User))
		}
	}
	id, err := onlyOne(string(ref), "people", fit)
	return channels.UserID(id), err
}

// traceShort follows the run or the delivery whose id begins so.
func (h *Host) traceShort(ctx context.Context, ref string) ([]sessions.Trace, error) {
	for _, of := range []sqlstore.IDs{sqlstore.RunIDs, sqlstore.DeliveryIDs} {
		id, err := h.whole(ctx, of, ref)
		if err != nil {
			return nil, err
		}
		if id != ref {
			return h.store.Trace(ctx, id)
		}
	}
	return nil, nil
}
