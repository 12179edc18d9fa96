package discord

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"parley/channels"
)

const (
	fillMost = 500 // messages of one chat
	fillPage = 100 // the most that the platform gives at once
	fillAge  = 24 * time.Hour
)

// open begins a session: events wait until it is on disk who the bot is and known what else is there. Every chat that has a session then
// reads what came after its last message on disk, and the others what the session's servers tell to be missed.
func (q *queues) open(who channels.UserID) {
	q.mu.Lock()
	q.held = true
	q.fills++
	turn := q.fills
	q.mu.Unlock()
	q.wg.Go(func() {
		q.c.identified(q.ctx, who)
		last, since, err := q.onDisk()
		if err != nil || q.ctx.Err() != nil {
			return
		}
		q.mu.Lock()
		defer q.mu.Unlock()
		if turn == q.fills { // there is no newer session
			q.release(last, since)
		}
	})
}

// onDisk waits until it is known what is on disk and which servers the session has, or the Run ends.
func (q *queues) onDisk() (last []channels.Position, since string, err error) {
	if q.c.seen == nil {
		return nil, "", nil
	}
	for wait := time.Second; ; wait = min(2*wait, time.Minute) {
		if last, since, err = q.c.known(q.ctx); err == nil {
			return last, since, q.c.names.complete(q.ctx)
		}
		q.c.log.WarnContext(q.ctx, "cannot read last Discord message ids; events wait", "err", err)
		if !channels.Sleep(q.ctx, wait) {
			return nil, "", q.ctx.Err()
		}
	}
}

// release lets events through; q.mu is held.
func (q *queues) release(last []channels.Position, since string) {
	q.since, q.stored, q.collects = since, map[channels.ChatID]bool{}, false
	for _, p := range last {
		if p.Address.Channel == Kind && p.Address.Account == q.c.account && isID(string(p.ID)) {
			q.stored[p.Address.Chat] = true
			q.chat(p.Address.Chat).miss(string(p.ID))
			q.c.names.hint(p.Address)
		}
	}
	q.held = false
	q.find(q.found)
	q.found = nil
	for _, c := range q.chats {
		q.work(c)
	}
}

// known gives what is on disk: the newest message of each chat that has a session, and from where the others are read; empty = they
// are not, as nothing was ever taken.
func (c *Channel) known(ctx context.Context) (last []channels.Position, since string, err error) {
	if last, err = c.seen(ctx); err != nil || c.cursor == nil {
		return last, "", err
	}
	if since, err = c.cursor(ctx); err != nil || !isID(since) {
		return last, "", err
	}
	return last, idAt(idTime(since).Add(-overlap)), nil
}

// fill reads a chat's messages after a known one and offers them.
func (q *queues) fill(c *chat, g gap) {
	if newer(c.filled, g.after) {
		g.after = c.filled // an earlier reading came that far
	}
	if q.c.names.complete(q.ctx) != nil {
		return
	}
	lost, err := q.read(c, g)
	switch {
	case q.ctx.Err() != nil:
		return
	case err != nil:
		q.c.names.shut(string(c.id))
		q.c.log.InfoContext(q.ctx, "lost access to a Discord chat", "chat", c.id, "err", err)
		return
	}
	if lost != "" {
		q.c.log.WarnContext(q.ctx, "Discord messages missed", "chat", c.id, "reason", lost)
		in := q.c.gapEvent(c.id, g.after, lost)
		q.offer(in)
	}
}

func permanent(err error) bool {
	class := channels.Classify(err).Class
	return class == channels.Rejected || class == channels.Unsupported
}

// read offers a chat's messages after an id, oldest first. lost says in words what is missing.
func (q *queues) read(c *chat, g gap) (lost string, err error) {
	after := g.after
	if q.c.names.asks(string(c.id)) {
		if err := q.patiently(forever, func() error { return q.c.lookup(q.ctx, string(c.id)) }); err != nil {
			return "", err
		}
	}
	if oldest := idAt(time.Now().Add(-fillAge)); newer(oldest, after) {
		first, err := q.page(c.id, after, 1)
		if err != nil {
			return "", err
		}
		if len(first) == 0 {
			return "", nil
		}
		if newer(oldest, first[0].id) {
			lost = "parley did not read messages older than a day"
		}
		after = oldest
	}
	for n := 0; ; {
		size, full := fillPage, n >= fillMost && !g.shed // what was here already is not given up
		if full {
			size = 1
		}
		page, err := q.page(c.id, after, size)
		if err != nil || len(page) == 0 {
			return lost, err
		}
		if full && q.came(c, page[0].id) {
			return lost, nil
		}
		if full {
			return "more than " + strconv.Itoa(fillMost) + " messages arrived while the bot was offline; parley did not read the later ones", nil
		}
		n += len(page)
		for i, m := range page {
			after = m.id
			if !q.again(c, m, page[i+1:]) {
				return lost, q.ctx.Err()
			}
		}
	}
}

// came reports whether a message and what follows it came from the gateway: it waits in its chat's line, or did and is read next.
func (q *queues) came(c *chat, id string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return c.gap != nil && c.gap.shed || slices.ContainsFunc(c.events, func(e event) bool { return e.id != "" && !newer(e.id, id) })
}

// again offers one message that was read before those that follow it.
func (q *queues) again(c *chat, m stored, follow []stored) bool {
	e := event{kind: "MESSAGE_CREATE", data: m.raw, id: m.id, late: true, at: time.Now()}
	q.findStarter(c, e)
	q.complete(c.id, &e)
	var next []event
	for _, f := range follow[:min(len(follow), gestureAhead)] {
		next = append(next, event{kind: "MESSAGE_CREATE", data: f.raw, late: true, at: e.at})
	}
	for _, in := range q.c.decode(e) {
		in.More = q.c.goesWithNext(&in, next)
		if !q.offer(in) {
			return false
		}
	}
	q.reread.put(m.id, struct{}{})
	if newer(m.id, c.filled) {
		c.filled = m.id
	}
	return true
}

// stored is a message as REST gives it.
type stored struct {
	id  string
	raw json.RawMessage
}

// page reads the messages that follow an id, oldest first.
func (q *queues) page(chat channels.ChatID, after string, size int) ([]stored, error) {
	var list []stored
	err := q.patiently(forever, func() error {
		select {
		case q.reads <- struct{}{}:
			defer func() { <-q.reads }()
		case <-q.ctx.Done():
			return q.ctx.Err()
		}
		var raws []json.RawMessage
		query := url.Values{"after": {after}, "limit": {strconv.Itoa(size)}}
		if err := q.c.rest.get(q.ctx, channelPath(chat, "/messages?"+query.Encode()), messagesRoute(http.MethodGet, chat), &raws); err != nil {
			return err
		}
		list = list[:0]
		for _, raw := range raws {
			var m struct{ ID string }
			if json.Unmarshal(raw, &m) == nil && newer(m.ID, after) {
				list = append(list, stored{m.ID, raw})
			}
		}
		return nil
	})
	slices.SortFunc(list, func(a, b stored) int { return compareIDs(a.id, b.id) })
	return list, err
}

// complete adds to a message what only the gateway's events have: the sender's place in the server.
func (q *queues) complete(chat channels.ChatID, e *event) {
	at, _ := q.c.names.find(string(chat))
	if at.guild == "" {
		return
	}
	var m map[string]json.RawMessage
	if json.Unmarshal(e.data, &m) != nil {
		return
	}
	var author wireUser
	if json.Unmarshal(m["author"], &author) != nil || m["webhook_id"] != nil {
		author.ID = ""
	}
	if author.ID != "" && m["member"] == nil {
		var member json.RawMessage
		if err := q.patiently(forever, func() error { return q.c.member(q.ctx, at.guild, author.ID, &member) }); err == nil {
			m["member"] = member
		}
	}
	if raw, err := json.Marshal(m); err == nil {
		e.data = raw
	}
}

// member reads somebody's place in a server; what was read lately is used again.
func (c *Channel) member(ctx context.Context, guild, user string, into *json.RawMessage) error {
	if raw, known := c.members.get(guild + "/" + user); known && time.Since(raw.at) < time.Minute {
		*into = raw.json
		return nil
	}
	where := route{path: "guilds/members", verb: http.MethodGet, major: guild}
	err := c.rest.get(ctx, "/guilds/"+url.PathEscape(guild)+"/members/"+url.PathEscape(user), where, into)
	if err == nil {
		c.members.put(guild+"/"+user, memberRead{*into, time.Now()})
	}
	return err
}

type memberRead struct {
	json json.RawMessage
	at   time.Time
}
