package telegram

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"regexp"
	"strconv"
	"time"

	"github.com/cenkalti/backoff/v5"
	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"parley/channels"
)

const (
	conflictWait   = 55 * time.Second // behind conflictWaits: well under one call in thirty seconds
	conflictMemory = 2 * time.Minute  // conflicts with less between them are one row, though polls in between succeed

	stopGrace    = 5 * time.Second // for events under way when Run is told to end
	confirmLimit = 2 * time.Second // for the last confirmation
	staleWait    = time.Second     // before asking a server again that repeats what was confirmed
	fullBatch    = 100             // most updates that the platform gives at once
	minPoll      = time.Second / 2 // between two polls of a server that answers at once with nothing: it does not wait for updates
)

// conflictWaits are the waits after the first conflicts in a row. Of two long polls Telegram ends the older one, with a conflict, and the newer one
// gets the updates: it keeps nothing of a host that is gone, so a poll is worth a try soon. The waits grow, as two hosts that poll would end each
// other's polls for ever; together they are a little more than the 40 s for which a host may still run beside the one that takes its place.
//
// source: tdlib/telegram-bot-api, Client.cpp (do_get_updates, abort_long_poll, fail_query_conflict)
var conflictWaits = []time.Duration{1500 * time.Millisecond, 3 * time.Second, 6 * time.Second, 12 * time.Second, 19 * time.Second}

// allowedUpdates are the kinds of updates that are asked for.
const allowedUpdates = `["message","edited_message","channel_post","edited_channel_post","message_reaction","my_chat_member","stopped_message_generation"]`

// poller is one Run.
type poller struct {
	c     *Channel
	inbox channels.Inbox

	offset    int64 // the first update that is not committed; 0 = whatever the server has
	confirmed int64 // the offset that the server was told last
	limit     int
	done      map[int64]bool // committed updates beyond offset
	quick     bool           // the next poll does not wait on the server, to learn soon how things are

	network   *backoff.ExponentialBackOff
	refusals  *backoff.ExponentialBackOff
	tokens    *backoff.ExponentialBackOff // while the token is not accepted
	deadline  time.Duration               // of the last poll
	conflicts int                         // in a row
	conflict  time.Time                   // the last one
	removed   bool                        // a webhook, in this row
	gapNoted  bool
	newest    int64                  // the last update that was committed before this Run; 0 = unknown
	poisoned  int                    // answers with one update in a row that could not be read
	albums    map[albumKey]albumSeen // those that are waited for
	identity  chan struct{}          // closed once it is on disk who the bot is
}

// Run implements channels.Channel. The server keeps the position: a new Run gets what was not confirmed, and an update is
// confirmed only after the inbox took it. The cursor of a store is not used as a position on purpose: Telegram renumbers updates
// after a quiet week and on another server, and an offset that is too high would delete updates unseen.
func (c *Channel) Run(ctx context.Context, inbox channels.Inbox) error {
	if c.hook != nil {
		return c.listen(ctx, inbox)
	}
	c.health.Set(ctx, channels.Connecting, "")
	mine := c.claimed(ctx)
	if mine == nil {
		c.health.Set(ctx, channels.Stopped, "")
		return nil
	}
	defer func() { _ = mine.Close() }()
	p := &poller{
		c: c, inbox: inbox, limit: fullBatch, done: map[int64]bool{}, quick: true, identity: make(chan struct{}),
		network: channels.NewBackoff(250*time.Millisecond, 40*time.Second), refusals: channels.NewBackoff(200*time.Millisecond, 5*time.Second),
		tokens: channels.NewBackoff(refusedFirst, refusedMost),
	}
	running, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	identified := make(chan struct{})
	go func() {
		defer close(identified)
		if err := c.identify(running); err != nil {
			cancel(err)
		} else if c.self() != nil {
			close(p.identity)
		}
	}()
	err := p.loop(running)
	cancel(nil)
	<-identified
	if fatal, ok := errors.AsType[*channels.Error](context.Cause(running)); ok {
		err = fatal
	}
	if err != nil {
		return err
	}
	p.confirm(ctx)
	c.drop()
	c.health.Set(ctx, channels.Stopped, "")
	return nil
}

// asked says in the account's state how long Telegram asked to wait, and gives that.
func (c *Channel) asked(ctx context.Context, wait time.Duration) time.Duration {
	c.health.Set(ctx, channels.Disconnected, "Telegram's rate limit: parley waits until "+time.Now().Add(wait).Format(time.RFC3339))
	return wait
}

// identify learns who the bot is, once for the life of the channel. It fails only on a token that is not accepted for long.
func (c *Channel) identify(ctx context.Context) error {
	wait, tokens := channels.NewBackoff(250*time.Millisecond, 40*time.Second), channels.NewBackoff(refusedFirst, refusedMost)
	for c.self() == nil {
		raw, err := c.calls.ofBot(ctx, c.calls.sends, callTimeout, "getMe", nil)
		me := new(identity)
		if err == nil {
			err = json.Unmarshal(raw, me)
		}
		switch {
		case err == nil && me.ID != 0:
			if c.identified(ctx, channels.UserID(strconv.FormatInt(me.ID, 10))); ctx.Err() != nil {
				return nil
			}
			c.mu.Lock()
			c.me = me
			c.mu.Unlock()
			c.health.Named(me.Username)
			return nil
		case err == nil:
			err = errors.New("getMe: an answer without an id")
		}
		if ctx.Err() != nil {
			return nil
		}
		failed := channels.Classify(err)
		if failed.Class == channels.Unauthorized {
			if err := c.refused(ctx, failed); err != nil {
				return err
			}
			channels.Sleep(ctx, tokens.NextBackOff())
			continue
		}
		c.log.WarnContext(ctx, "Telegram getMe failed; events wait", "err", failed)
		if failed.Class == channels.Limited {
			c.asked(ctx, failed.RetryAfter)
		}
		if !channels.Sleep(ctx, max(wait.NextBackOff(), failed.RetryAfter)) {
			return nil
		}
	}
	return nil
}

// loop polls and offers until ctx ends. It returns an error only for a token that is not accepted for long.
func (p *poller) loop(ctx context.Context) error {
	for ctx.Err() == nil {
		began := time.Now()
		raw, err := p.fetch(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			failed := channels.Classify(err)
			p.quick = true
			if failed.Class == channels.Unauthorized {
				if err := p.c.refused(ctx, failed); err != nil {
					return err
				}
				channels.Sleep(ctx, p.tokens.NextBackOff())
				continue
			}
			wait := p.trouble(ctx, failed)
			if said, ok := errors.AsType[*apiError](failed); ok && len(said.body) > 0 {
				p.poison(ctx, said.body)
			}
			channels.Sleep(ctx, wait)
			continue
		}
		items, err := p.read(ctx, raw)
		if err != nil {
			p.c.health.Set(ctx, channels.Disconnected, "getUpdates: "+err.Error())
			p.poison(ctx, raw)
			channels.Sleep(ctx, p.network.NextBackOff())
			continue
		}
		waited := !p.quick
		p.quick, p.limit, p.poisoned = false, fullBatch, 0
		p.network.Reset()
		p.tokens.Reset()
		p.c.refusal.clear()
		p.c.health.Set(ctx, channels.Connected, "")
		if len(items) == 0 {
			if waited {
				channels.Sleep(ctx, time.Until(began.Add(minPoll)))
			}
			continue
		}
		p.noteGap(ctx, items)
		p.noteRenumbering(items)
		wait := p.collect(items, time.Now())
		before := p.offset
		switch refused := p.offer(ctx, items); {
		case refused > 0:
			p.quick = true
			channels.Sleep(ctx, p.refusals.NextBackOff())
		case wait > 0:
			p.quick = true
			channels.Sleep(ctx, min(wait, albumLook))
		case p.offset <= before:
			channels.Sleep(ctx, staleWait)
		default:
			p.refusals.Reset()
		}
	}
	return nil
}

var updateID = regexp.MustCompile(`"update_id"\s*:\s*([0-9]{1,18})\b`)

// poison handles an answer that is no JSON, so that its updates cannot be told apart: one at a time is asked for, and one that cannot
// be read three times is listed as unreadable and passed over. An update without an id in front of it could not be passed over, but there
// is none: the server makes the id of an update from its place in the queue, whatever is in it, and confirms by the same number.
func (p *poller) poison(ctx context.Context, raw []byte) {
	const tries = 3
	if p.limit != 1 {
		p.limit, p.poisoned = 1, 0
		return
	}
	if p.poisoned++; p.poisoned < tries {
		return
	}
	id := updateID.FindSubmatch(raw)
	if id == nil || !p.identified(ctx) {
		return
	}
	n, err := strconv.ParseInt(string(id[1]), 10, 64)
	if err != nil || n <= 0 || n < p.offset {
		return
	}
	it := decoder{account: p.c.account}.unreadable(raw, wireUpdate{}, "an update that is not JSON")
	it.id, it.in.ID, it.in.Cursor = n, messageID(n), strconv.FormatInt(n, 10)
	p.offer(ctx, []item{it})
}

// read decodes a batch; it waits for the bot's identity, without which mentions and replies could not be told.
func (p *poller) read(ctx context.Context, raw json.RawMessage) ([]item, error) {
	if isEmptyList(raw) || !p.identified(ctx) {
		return nil, nil
	}
	return p.c.decoder(ctx).batch(raw)
}

// identified waits until it is on disk who the bot is: nothing is offered before. It is false when ctx ends first.
func (p *poller) identified(ctx context.Context) bool {
	select {
	case <-p.identity:
		return true
	case <-ctx.Done():
		return false
	}
}

func isEmptyList(raw json.RawMessage) bool { return string(bytes.TrimSpace(raw)) == "[]" }

// fetch makes one getUpdates. A poll that outlives its deadline hangs: its connection is given up, and with own connections all
// of that client.
func (p *poller) fetch(ctx context.Context) (json.RawMessage, error) {
	timeout := p.c.timeout
	if p.quick {
		timeout = 0
	}
	p.deadline = timeout + pollGrace
	params := tgbotapi.Params{"timeout": strconv.Itoa(int(timeout / time.Second)), "allowed_updates": allowedUpdates, "limit": strconv.Itoa(p.limit)}
	if p.offset != 0 {
		params["offset"] = strconv.FormatInt(p.offset, 10)
	}
	raw, err := p.c.calls.ofBot(ctx, p.c.polls, p.deadline, "getUpdates", params)
	switch {
	case err == nil:
		p.confirmed = p.offset
	case errors.Is(err, errTooLarge):
		p.limit = 1
	case errors.Is(err, context.DeadlineExceeded) && p.c.ownPoll:
		p.c.polls.CloseIdleConnections()
		p.c.polls = newClient()
	}
	return raw, err
}

// noteGap says, once a Run, when updates are missing between what was committed last and what the server has. Events of one batch
// are committed in any order, so less than a batch proves nothing.
func (p *poller) noteGap(ctx context.Context, items []item) {
	if p.gapNoted || p.c.cursor == nil {
		return
	}
	p.gapNoted = true
	text, err := p.c.cursor(ctx)
	last, bad := strconv.ParseInt(text, 10, 64)
	if err != nil || bad != nil {
		return
	}
	p.newest = last
	if missing := items[0].id - last - 1; missing > fullBatch {
		p.c.log.WarnContext(ctx, "Telegram dropped updates before they were fetched", "hint", "Telegram keeps updates for one day",
			"missing", missing, "last", last, "next", items[0].id)
	}
}

// trouble notes a failed poll and says how long to wait.
func (p *poller) trouble(ctx context.Context, failed *channels.Error) time.Duration {
	said, _ := errors.AsType[*apiError](failed)
	if said == nil {
		said = &apiError{Method: "getUpdates", Description: failed.Error()}
	}
	switch {
	case said.Code == http.StatusConflict:
		return p.conflicted(ctx, said)
	case failed.Class == channels.Limited:
		return p.c.asked(ctx, max(failed.RetryAfter, p.network.NextBackOff()))
	case errors.Is(failed, context.DeadlineExceeded):
		p.c.health.Set(ctx, channels.Disconnected, fmt.Sprintf("Telegram did not answer getUpdates for %s; reconnecting", p.deadline))
		return p.network.NextBackOff()
	default:
		p.c.health.Set(ctx, channels.Disconnected, said.Error())
		return p.network.NextBackOff()
	}
}

// conflicted handles 409: another poller, or a webhook. Two hosts with one token push each other out by turns, each with polls
// that succeed in between: such conflicts count as a row as well, or both would poll every other second for ever.
func (p *poller) conflicted(ctx context.Context, said *apiError) time.Duration {
	if time.Since(p.conflict) > conflictMemory {
		p.conflicts, p.removed = 0, false
	}
	p.conflict = time.Now()
	p.conflicts++
	detail := "another process polls with this bot token: stop that process, or use a separate bot for this host"
	if said.says("webhook") {
		if detail = "another program has set a webhook for this bot: call deleteWebhook, or set takeOverWebhook: true"; p.c.cfg.TakeOverWebhook {
			_, err := p.c.calls.ofBot(ctx, p.c.calls.sends, callTimeout, "deleteWebhook", nil)
			switch failed := channels.Classify(err); {
			case err == nil && !p.removed:
				p.removed = true
				p.c.log.WarnContext(ctx, "removed Telegram webhook because takeOverWebhook is true")
				return 0
			case err == nil:
				detail = "another program keeps setting a webhook for this bot: stop that program"
			case failed.RetryAfter > 0:
				p.conflicts--
				return p.c.asked(ctx, failed.RetryAfter)
			default:
				detail = "cannot remove this bot's webhook: " + failed.Error()
			}
		}
	}
	state, wait := channels.Conflict, conflictWait
	if p.conflicts == 1 {
		state = channels.Disconnected
	}
	if p.conflicts <= len(conflictWaits) {
		wait = conflictWaits[p.conflicts-1]
	}
	p.c.health.Set(ctx, state, detail)
	return wait + rand.N(wait/20)
}

// confirm tells the server what was committed since the last poll, so that the next Run does not get it again. Best effort: what
// is not confirmed is offered again, which is harmless.
func (p *poller) confirm(ctx context.Context) {
	if p.offset == p.confirmed {
		return
	}
	params := tgbotapi.Params{"offset": strconv.FormatInt(p.offset, 10), "timeout": "0", "limit": "1", "allowed_updates": allowedUpdates}
	if _, err := p.c.calls.ofBot(context.WithoutCancel(ctx), p.c.polls, confirmLimit, "getUpdates", params); err != nil {
		p.c.log.InfoContext(ctx, "Telegram updates not confirmed; Telegram sends them again", "err", err)
	}
}
