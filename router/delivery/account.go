package delivery

import (
	"context"
	"maps"
	"slices"
	"sync"

	"parley/channels"
	"parley/router/filestore"
	"parley/router/pace"
	"parley/router/settings"
)

// accounts knows the way out of each account: its channel, its pace, and its chats. Its mutex guards the map and the channels; it is a leaf.
type accounts struct {
	settings func() *settings.Snapshot

	mu sync.Mutex
	m  map[settings.AccountRef]*account
}

// account is one account's way out.
type account struct {
	ref   settings.AccountRef
	pace  *pace.Pacer
	chats chats // guarded by queues.mu

	// Guarded by accounts.mu.
	ch    channels.Channel // nil: not attached (yet)
	caps  channels.Caps
	ready chan struct{} // closed and replaced when ch changes
}

func newAccounts(set func() *settings.Snapshot) *accounts {
	return &accounts{settings: set, m: make(map[settings.AccountRef]*account)}
}

// of finds or makes an account.
func (x *accounts) of(ref settings.AccountRef) *account {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.find(ref)
}

// find is of; x.mu is held.
func (x *accounts) find(ref settings.AccountRef) *account {
	a := x.m[ref]
	if a == nil {
		a = &account{ref: ref, ready: make(chan struct{}), chats: newChats(), pace: pace.New(x.settings().Accounts[ref].Pacing)}
		x.m[ref] = a
	}
	return a
}

// all lists the accounts.
func (x *accounts) all() []*account {
	x.mu.Lock()
	defer x.mu.Unlock()
	return slices.Collect(maps.Values(x.m))
}

// get finds an account, nil if there is none.
func (x *accounts) get(ref settings.AccountRef) *account {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.m[ref]
}

// attach gives an account its channel; nil takes it away.
func (x *accounts) attach(ref settings.AccountRef, ch channels.Channel) {
	x.mu.Lock()
	defer x.mu.Unlock()
	a := x.find(ref)
	a.ch, a.caps = ch, channels.Caps{}
	if ch != nil {
		a.caps = channels.Probe(ch)
	}
	a.tellChange()
}

// tellChange wakes who waits for an account's channel; accounts.mu is held.
func (a *account) tellChange() {
	close(a.ready)
	a.ready = make(chan struct{})
}

// remove forgets an account, which has another name now; nil if there was none.
func (x *accounts) remove(ref settings.AccountRef) *account {
	x.mu.Lock()
	defer x.mu.Unlock()
	a := x.m[ref]
	if a != nil {
		delete(x.m, ref)
		a.tellChange()
	}
	return a
}

// abandoned lists the accounts of a channel that have no connection and are not configured.
func (x *accounts) abandoned(kind channels.Kind, configured []channels.AccountID) (out []*account) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for ref, a := range x.m {
		if ref.Channel == kind && a.ch == nil && !slices.Contains(configured, ref.Account) {
			out = append(out, a)
		}
	}
	return out
}

// channel gives an account's channel, nil when it is not attached, and what is closed when that changes.
func (x *accounts) channel(a *account) (channels.Channel, <-chan struct{}) {
	a.pace.Set(x.settings().Accounts[a.ref].Pacing)
	x.mu.Lock()
	defer x.mu.Unlock()
	return a.ch, a.ready
}

// attached gives an account's channel, nil when it is not attached.
func (x *accounts) attached(a *account) channels.Channel {
	x.mu.Lock()
	defer x.mu.Unlock()
	return a.ch
}

// caps are the abilities of the account that an address belongs to; none when it is not attached.
func (x *accounts) caps(to channels.Address) channels.Caps {
	to = x.settings().Moved.Called(to)
	x.mu.Lock()
	defer x.mu.Unlock()
	if a := x.m[settings.Ref(to)]; a != nil {
		return a.caps
	}
	return channels.Caps{}
}

// limits are what a message to an address may be.
func (x *accounts) limits(a *account, ch channels.Channel, to channels.Address) channels.Limits {
	l := ch.Limits(to)
	if c := x.settings().Accounts[a.ref].Chunk; c > 0 && (l.Text == 0 || c < l.Text) {
		l.Text = c
	}
	return l
}

// fetcherTimeout is how long a file waits for the account that it came from.
const fetcherTimeout = filestore.PictureTimeout / 2

// fetcher is what fetches files from where an address is. It waits for an account that is configured, for fetcherTimeout at most.
func (x *accounts) fetcher(ctx context.Context, from channels.Address) channels.Fetcher {
	from = x.settings().Moved.Called(from)
	if _, there := x.settings().Accounts[settings.Ref(from)]; !there {
		return x.caps(from).Fetcher
	}
	ctx, cancel := context.WithTimeout(ctx, fetcherTimeout)
	defer cancel()
	for {
		x.mu.Lock()
		a := x.find(settings.Ref(from))
		there, caps, changed := a.ch != nil, a.caps, a.ready
		x.mu.Unlock()
		if there {
			return caps.Fetcher
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil
		}
	}
}
