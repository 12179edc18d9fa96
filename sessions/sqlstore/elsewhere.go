package sqlstore

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"parley/channels"
	"parley/sessions"
	"parley/sessions/sqlstore/engine"
	"parley/sessions/sqlstore/row"
	"parley/sessions/sqlstore/session"
)

// This file keeps a chat's sessions informed of each other: after a change of session.dmScope, of a binding or of an identity link, a chat
// writes to another session, while what the old one has begun is still posted there.

// The bounds of what a session is told of others' posts.
const (
	maxPostedLines = 50       // at the first message of a chat to the session
	maxPostedText  = 2 << 10  // bytes of one post
	maxPostedBytes = 16 << 10 // of all lines at the first message
	maxPostedLook  = 1000     // deliveries of each other session that are looked through
)

// postedLine words a delivery that arrived; false when it is no agent's words.
func postedLine(d sessions.Delivery, to sessions.Key) (sessions.ContextLine, bool) {
	text := d.Text
	for _, f := range d.Files {
		text += "\n[file: " + f.Name + "]"
	}
	return sessions.ContextLine{Key: to, Event: sessions.PostedElsewhere, Text: channels.CutText(strings.TrimSpace(text), maxPostedText), Time: d.Updated, Keep: maxStopLines},
		d.Session != "" && (d.Kind == sessions.Reply || d.Kind == sessions.Announce || d.Kind == sessions.Posted)
}

// tellOthers tells the session that a chat writes to now of what another one has posted there: with its next turn. No other session is told, as it
// may belong to other people. An answer is told when the chat has written to that session since the message that it answers.
func (s *deliveries) tellOthers(t *tx, d sessions.Delivery) error {
	line, said := postedLine(d, "")
	if !said {
		return nil
	}
	var newest []sessions.ContextLine // two at most
	err := t.Each("SELECT h.key, h.at FROM heard h JOIN sessions s ON s.key = h.key WHERE h.address = ? ORDER BY h.at DESC, h.key LIMIT 2", []any{d.To.String()}, func(r engine.Row) error {
		newest = append(newest, sessions.ContextLine{Key: sessions.Key(r.Str(0)), Time: r.Time(1)})
		return nil
	})
	switch {
	case err != nil || len(newest) == 0:
		return err
	case newest[0].Key == d.Session:
		return nil
	case len(newest) > 1 && newest[0].Time.Equal(newest[1].Time): // which of them is not known
		return nil
	}
	if d.Kind == sessions.Reply {
		run, _, err := row.GetRun(t.Ctx, t.Conn, d.Run)
		switch {
		case errors.Is(err, sessions.ErrNotFound):
			return nil
		case err != nil:
			return err
		case run.Kind == sessions.TurnRun && newest[0].Time.Before(run.Created):
			return nil
		}
	}
	line.Key = newest[0].Key
	return s.lines.Append(t, line)
}

// postedBefore gives what other sessions have posted into a chat since its last message, oldest first, for one that it writes to for the first
// time.
func (s *deliveries) postedBefore(t *tx, at session.Row) (lines []sessions.ContextLine, err error) {
	type other struct {
		key   string
		since int64
	}
	var others []other
	if err := t.Each("SELECT key, at FROM heard WHERE address = ? AND key <> ? ORDER BY key", []any{at.Last.String(), string(at.Key)}, func(r engine.Row) error {
		others = append(others, other{r.Str(0), r.Int(1)})
		return nil
	}); err != nil {
		return nil, err
	}
	var posts []sessions.Delivery
	for _, x := range others {
		found, err := row.ListDeliveries(t.Ctx, t.Conn, "seq IN (SELECT seq FROM deliveries WHERE session = ? AND session <> '' ORDER BY seq DESC LIMIT ?) AND address = ? AND state = 'sent' AND updated >= ? ORDER BY seq DESC LIMIT ?",
			x.key, maxPostedLook, at.Last.String(), x.since, maxPostedLines)
		if err != nil {
			return nil, err
		}
		posts = append(posts, found...)
	}
	slices.SortFunc(posts, func(a, b sessions.Delivery) int {
		return cmp.Or(a.Updated.Compare(b.Updated), cmp.Compare(a.Seq, b.Seq))
	})
	for _, d := range posts {
		if line, said := postedLine(d, at.Key); said {
			lines = append(lines, line)
		}
	}
	lines = lines[max(0, len(lines)-maxPostedLines):]
	room := maxPostedBytes
	for i, l := range slices.Backward(lines) {
		if room -= len(l.Text); room < 0 {
			return lines[i+1:], nil
		}
	}
	return lines, nil
}

// introduce shows a turn what others have posted into its chat, which writes to the turn's session for the first time. Without a turn it is kept
// for the next one. It gives the run to queue.
func (s *changes) introduce(t *tx, q *queuedRun, at session.Row) (*queuedRun, error) {
	lines, err := s.deliveries.postedBefore(t, at)
	if err != nil || len(lines) == 0 {
		return q, err
	}
	t.Label(true, "introduce")
	if q == nil || q.Run.Kind != sessions.TurnRun {
		for _, l := range lines {
			if err := s.lines.Append(t, l); err != nil {
				return q, err
			}
		}
		return q, nil
	}
	next := *q
	in := &next.Run.Input
	if in.Content = slices.Clone(in.Content); len(in.Content) > 0 && in.Content[0].Type == sessions.ContextBlock {
		lines = append(lines, in.Content[0].ContextLines()...)
		in.Content = in.Content[1:]
	}
	in.Content = slices.Insert(in.Content, 0, sessions.NewContextBlock(lines))
	next.body, err = row.EncodeRun(next.Run)
	return &next, err
}
