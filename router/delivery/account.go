package delivery

import (
	"context"
	"slices"
	"sync"

	"parley/channels"
	"parley/router/filestore"
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
	pace  *pacer
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
func (a *accounts) of(ref settings.AccountRef) *account {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.find(ref)
}

// find is of; a.mu is held.
func (a *accounts) find(ref settings.AccountRef) *account {
	o := a.m[ref]
	if o == nil {
		o = &account{ref: ref, ready: make(chan struct{}), chats: newChats(), pace: newPacer(a.settings().Accounts[ref].Pacing)}
		a.m[ref] = o
	}
	return o
}

// get finds an account, nil if there is none.
func (a *accounts) get(ref settings.AccountRef) *account {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.m[ref]
}

// attach gives an account its channel; nil takes it away.
func (a *accounts) attach(ref settings.AccountRef, ch channels.Channel) {
	a.mu.Lock()
	defer a.mu.Unlock()
	o := a.find(ref)
	o.ch, o.caps = ch, channels.Caps{}
	if ch != nil {
		o.caps = channels.Probe(ch)
	}
	o.tellChange()
}

// tellChange wakes who waits for an account's channel; accounts.mu is held.
func (o *account) tellChange() {
	close(o.ready)
	o.ready = make(chan struct{})
}

// remove forgets an account, which has another name now; nil if there was none.
func (a *accounts) remove(ref settings.AccountRef) *account {
	a.mu.Lock()
	defer a.mu.Unlock()
	o := a.m[ref]
	if o != nil {
		delete(a.m, ref)
		o.tellChange()
	}
	return o
}

// abandoned lists the accounts of a channel that have no connection and are not configured.
func (a *accounts) abandoned(kind channels.Kind, configured []channels.AccountID) (out []*account) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for ref, o := range a.m {
		if ref.Channel == kind && o.ch == nil && !slices.Contains(configured, ref.Account) {
			out = append(out, o)
		}
	}
	return out
}

// channel gives an account's channel, nil when it is not attached, and what is closed when that changes.
func (a *accounts) channel(o *account) (channels.Channel, <-chan struct{}) {
	o.pace.set(a.settings().Accounts[o.ref].Pacing)
	a.mu.Lock()
	defer a.mu.Unlock()
	return o.ch, o.ready
}

// attached gives an account's channel, nil when it is not attached.
func (a *accounts) attached(o *account) channels.Channel {
	a.mu.Lock()
	defer a.mu.Unlock()
	return o.ch
}

// caps are the abilities of the account that an address belongs to; none when it is not attached.
func (a *accounts) caps(to channels.Address) channels.Caps {
	to = a.settings().Moved.Called(to)
	a.mu.Lock()
	defer a.mu.Unlock()
	if o := a.m[settings.Ref(to)]; o != nil {
		return o.caps
	}
	return channels.Caps{}
}

// limits are what a message to an address may be.
func (a *accounts) limits(o *account, ch channels.Channel, to channels.Address) channels.Limits {
	l := ch.Limits(to)
	if c := a.settings().Accounts[o.ref].Chunk; c > 0 && (l.Text == 0 || c < l.Text) {
		l.Text = c
	}
	return l
}

// fetcherTimeout is how long a file waits for the account that it came from.
const fetcherTimeout = filestore.PictureTimeout / 2

// fetcher is what fetches files from where an address is. It waits for an account that is configured, for fetcherTimeout at most.
func (a *accounts) fetcher(ctx context.Context, from channels.Address) channels.Fetcher {
	from = a.settings().Moved.Called(from)
	if _, there := a.settings().Accounts[settings.Ref(from)]; !there {
		return a.caps(from).Fetcher
	}
	ctx, cancel := context.WithTimeout(ctx, fetcherTimeout)
	defer cancel()
	for {
		a.mu.Lock()
		o := a.find(settings.Ref(from))
		there, caps, changed := o.ch != nil, o.caps, o.ready
		a.mu.Unlock()
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
