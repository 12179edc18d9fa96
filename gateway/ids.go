package gateway

import (
	"context"
	"slices"
	"strings"

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
	switch {
	case err != nil || len(ids) == 0 || slices.Contains(ids, ref):
		return ref, err
	case len(ids) == 1:
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
