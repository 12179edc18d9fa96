package whatsapp

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"

	"parley/channels"
)

const (
	mostTries    = 3 // in place, before the stanza is left to the server
	noticeTries  = 6 // of what cannot be left to the server and may be lost
	mostInsisted = 256
	refusedFirst = time.Second
)

var tryWaits = []time.Duration{100 * time.Millisecond, 300 * time.Millisecond, time.Second, 3 * time.Second, 10 * time.Second}

var errEnding = errors.New("the connection is closing")

// refusal is the stanza that a chat waits for: something in it was not taken.
type refusal struct {
	stanza string
	at     time.Time
}

// intake hands what a link has read to the inbox, and brings back what was not taken.
type intake struct {
	*link

	inbox    channels.Inbox
	held     map[channels.ChatID]refusal // chats that wait for this one to come again; guarded by the turn
	heldBack bool                        // on this connection something was behind one of them; guarded by the turn

	retry    sync.Mutex  // guards the two below
	again    *time.Timer // brings back what was refused
	refusals *backoff.ExponentialBackOff

	insisting chan struct{} // one for each event that is tried beside the others
}

// offer hands what one stanza says to the inbox, in order. What is refused is tried again in place a few times; then the chats that it
// is about wait for the next connection, on which the server sends the stanza again, and so does what is behind it, until it has come:
// the library may still be at one of them when the new connection begins.
func (k *intake) offer(stanza string, list ...channels.Inbound) bool {
	for i := range list {
		if r, held := k.held[list[i].Address.Chat]; held && r.stanza != stanza {
			k.heldBack = true
			return false
		}
	}
	for i := range list {
		if err := k.try(list[i]); err != nil {
			if !errors.Is(err, errEnding) {
				k.refuse(stanza, list, err)
			}
			return false
		}
	}
	for i := range list {
		delete(k.held, list[i].Address.Chat)
	}
	if len(k.held) == 0 {
		k.retry.Lock()
		k.refusals.Reset()
		k.retry.Unlock()
	}
	return true
}

// try offers an event a few times.
func (k *intake) try(in channels.Inbound) error {
	for try := 0; ; try++ {
		err := k.inbox(k.offering, in)
		switch {
		case err == nil:
			return nil
		case k.closing.Load() || k.offering.Err() != nil:
			return errEnding
		case try+1 >= mostTries:
			return err
		case !k.pause(tryWaits[try]):
			return errEnding
		}
	}
}

// pause waits between two tries. false: the connection is closing.
func (k *intake) pause(d time.Duration) bool {
	const look = 50 * time.Millisecond
	for end := time.Now().Add(d); time.Now().Before(end); {
		if !channels.Sleep(k.offering, min(look, time.Until(end))) || k.closing.Load() {
			return false
		}
	}
	return true
}

// refuse leaves the chats of a stanza to the next connection and sees to it that there is one.
func (k *intake) refuse(stanza string, list []channels.Inbound, err error) {
	for i := range list {
		k.held[list[i].Address.Chat] = refusal{stanza: stanza, at: time.Now()}
	}
	k.fetchAgain()
	k.c.log.WarnContext(k.offering, "WhatsApp event not accepted; fetching it again", "chat", list[0].Address.Chat, "err", err)
}

// fetchAgain sees to it that there is another connection: however much waits, it waits for one.
func (k *intake) fetchAgain() {
	k.retry.Lock()
	defer k.retry.Unlock()
	if k.again == nil {
		k.again = time.AfterFunc(k.refusals.NextBackOff(), func() { k.end(ending{atOnce: true, again: true, detail: "reconnecting to fetch events again"}) })
	}
}

// keysFailed is told when the key file cannot be used for a message.
func (k *intake) keysFailed(err error) {
	k.fetchAgain()
	k.c.log.WarnContext(k.offering, "cannot use the WhatsApp key file", "hint", "parley fetches the affected events again", "err", err)
}

func (k *intake) stopRetry() {
	k.retry.Lock()
	defer k.retry.Unlock()
	if k.again != nil {
		k.again.Stop()
		k.again = nil
	}
}

// allCame ends the waiting for what was refused on earlier connections and did not come again. What waited behind it is fetched.
func (k *intake) allCame() {
	maps.DeleteFunc(k.held, func(_ channels.ChatID, r refusal) bool { return r.at.Before(k.connected) })
	if k.heldBack {
		k.fetchAgain()
	}
}

// insist offers what the library has acknowledged already, so that the server does not send it again: after a few tries beside the
// other events, each in its turn. What is not taken before the Run ends is lost. tries 0: until it is taken.
func (k *intake) insist(in channels.Inbound, tries int, stale func() bool) {
	err := k.try(in)
	if err == nil {
		return
	}
	select {
	case k.insisting <- struct{}{}:
	default:
		k.lost(in, err)
		return
	}
	k.background.Go(func() {
		defer func() { <-k.insisting }()
		for try := mostTries; tries == 0 || try < tries; try++ {
			if !k.pause(tryWaits[min(try, len(tryWaits)-1)]) || !k.take() {
				break
			}
			done := stale()
			if !done {
				err = k.inbox(k.offering, in)
				done = err == nil
			}
			k.give()
			if done {
				return
			}
		}
		k.lost(in, err)
	})
}

func (k *intake) lost(in channels.Inbound, err error) {
	k.c.log.WarnContext(context.WithoutCancel(k.offering), "WhatsApp event not accepted and lost", "event", in.Event, "id", in.ID, "err", err)
}
