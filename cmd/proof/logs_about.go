package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"parley/gateway/api"
	"parley/gateway/prooftest"
	"parley/sessions"
)

// written is a message as its platform names it: how the host's own list leads back to what people wrote.
type written struct {
	place prooftest.Place
	id    string
}

// about fills in which messages the host says that its own words are about: those without a token, a notice or the answer to a command.
// It asks the host for the path of each.
func (c *crowd) about(ctx context.Context, list []prooftest.Listed) error {
	for i := range list {
		l := &list[i]
		if bracketed.MatchString(l.Text) {
			continue
		}
		var paths []sessions.Trace
		if err := c.w.ask(ctx, http.MethodGet, "/api/trace/"+url.PathEscape(l.ID), nil, nil, &paths); err != nil {
			return fmt.Errorf("what delivery %s is about: %w", l.ID, err)
		}
		for _, p := range paths {
			if !slices.ContainsFunc(p.Deliveries, func(d sessions.Delivery) bool { return string(d.ID) == l.ID }) {
				continue // another step of its chain
			}
			at := placeOf(sessions.Delivery{To: p.Address})
			c.name(l, at, p.Source)
			if p.Run != nil {
				if err := c.batch(ctx, l, at, p.Run); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// batch adds the messages that a run took up besides its own.
func (c *crowd) batch(ctx context.Context, l *prooftest.Listed, at prooftest.Place, run *sessions.Run) error {
	var all []api.Run
	if err := c.w.ask(ctx, http.MethodGet, "/api/runs", url.Values{"session": {string(run.Key)}, "limit": {"1000"}}, nil, &all); err != nil {
		return fmt.Errorf("what run %s took up: %w", run.ID, err)
	}
	for _, x := range all {
		if x.Batch == run.ID {
			c.name(l, at, x.Source)
		}
	}
	return nil
}

// name adds the message with an id in a place to what a delivery is about.
func (c *crowd) name(l *prooftest.Listed, at prooftest.Place, id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if token := c.ids[written{at, id}]; token != "" && !slices.Contains(l.For, token) {
		l.For = append(l.For, token)
	}
}
