package telegram

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"parley/channels"
)

// parallelChats bounds how many chats of a batch are offered at the same time.
const parallelChats = 64

// offer hands a batch to the inbox: the events of one chat one after the other, those of different chats at the same time. Then
// it moves the offset behind everything that was committed without a gap. It reports how many chats met a refusal; what follows a
// refused event in its chat is not offered, so that the order holds.
func (p *poller) offer(ctx context.Context, items []item) (refused int) {
	// Events under way may finish after ctx has ended.
	offering, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(ctx, func() {
		if channels.Sleep(offering, stopGrace) {
			cancel()
		}
	})()

	p.c.countIgnored(ctx, items)
	groups := byChat(items)
	p.markGestures(groups)
	var next, failures atomic.Int64
	var first atomic.Pointer[error]
	work := func() {
		for {
			i := int(next.Add(1)) - 1
			if i >= len(groups) {
				return
			}
			if err := p.offerChat(ctx, offering, groups[i]); err != nil {
				failures.Add(1)
				first.CompareAndSwap(nil, &err)
			}
		}
	}
	var workers sync.WaitGroup
	for range min(parallelChats, len(groups)) - 1 {
		workers.Go(work)
	}
	work()
	workers.Wait()

	p.advance(items)
	if n := failures.Load(); n > 0 {
		p.c.log.WarnContext(ctx, "Telegram events not accepted; retrying", "chats", n, "err", *first.Load())
	}
	return int(failures.Load())
}

// offerChat offers the events of one chat until one is refused or the host stops.
func (p *poller) offerChat(ctx, offering context.Context, group []*item) error {
	for _, it := range group {
		if ctx.Err() != nil || it.held {
			return nil
		}
		if it.skip == "" && !p.done[it.id] {
			switch err := p.inbox(offering, it.in); {
			case errors.Is(err, channels.ErrLeave):
				continue
			case err != nil:
				return err
			}
		}
		it.committed = true
		for _, part := range it.rest {
			part.committed = true
		}
	}
	return nil
}

// markGestures says of each message whose sender's next one belongs to it that more comes: both are in this batch.
func (p *poller) markGestures(groups [][]*item) {
	for _, group := range groups {
		last := map[channels.UserID]*item{}
		for _, it := range group {
			if it.held {
				break
			}
			if it.skip != "" || p.done[it.id] {
				continue
			}
			if before := last[it.in.Sender.ID]; before != nil && channels.InGesture(&before.in, &it.in) {
				before.in.More = true
			}
			last[it.in.Sender.ID] = it
		}
	}
}

// holdGesture holds with an album that may not be whole the messages before it that were sent with it.
func holdGesture(items []item, album *item) {
	at := slices.IndexFunc(items, func(it item) bool { return it.id == album.id })
	for i := range slices.Backward(items[:max(at, 0)]) {
		if it := &items[i]; it.skip == "" && channels.InGesture(&it.in, &album.in) {
			it.held, album = true, it
		}
	}
}

// byChat groups a batch by chat; the first events of the chats keep their order. A chat that moved is one with its new self. The
// parts of an album are left out: the first one speaks for them.
func byChat(items []item) [][]*item {
	groups := make([][]*item, 0, len(items))
	index := make(map[channels.ChatID]int, len(items))
	now := map[channels.ChatID]channels.ChatID{}
	for i := range items {
		if in := &items[i].in; in.Event == channels.Moved {
			now[in.Address.Chat] = in.MovedTo
		}
	}
	for i := range items {
		if items[i].part {
			continue
		}
		chat := items[i].in.Address.Chat
		if to, moved := now[chat]; moved {
			chat = to
		}
		n, known := index[chat]
		if !known {
			n = len(groups)
			index[chat] = n
			groups = append(groups, nil)
		}
		groups[n] = append(groups[n], &items[i])
	}
	return groups
}

// noteRenumbering forgets what was committed beyond the offset when the server counts anew: the same ids are other updates now.
func (p *poller) noteRenumbering(items []item) {
	if slices.ContainsFunc(items, func(it item) bool { return it.id != 0 && it.id < p.offset }) {
		clear(p.done)
	}
}

// advance moves the offset to the first update that is not committed, and remembers the committed ones beyond it.
func (p *poller) advance(items []item) {
	slices.SortStableFunc(items, func(a, b item) int { return int(max(-1, min(1, a.id-b.id))) })
	gap := false
	for _, it := range items {
		switch {
		case it.id == 0: // nothing to confirm it with; it is dropped with the next one that has an id
		case !it.committed:
			if !gap {
				p.offset, gap = it.id, true
			}
		case !gap:
			p.offset = it.id + 1
			delete(p.done, it.id)
		default:
			p.done[it.id] = true
		}
	}
	for id := range p.done {
		if id < p.offset {
			delete(p.done, id)
		}
	}
}

// item is one decoded update.
type item struct {
	id        int64 // update id; 0 = it has none that can be confirmed
	in        channels.Inbound
	skip      string  // what it is, of what a chat host has no use for: confirmed without being offered
	album     string  // the album that it is, or changes, a part of
	rest      []*item // the other parts of the album that this one speaks for
	part      bool    // another one speaks for it
	held      bool    // of an album that may not be whole: not offered now
	committed bool
}
