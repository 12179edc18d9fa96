package whatsapp

import (
	"context"
	"errors"
	"maps"
	"time"

	"parley/channels"
)

const (
	mostTries    = 3 // in place, before the stanza is left to the server
	noticeTries  = 6 // of what cannot be left to the server and may be lost
	mostInsisted = 256
	refusedFirst = time.Second
)

var tryWaits = []time.Duration{100 * time.Millisecond, 300 * time.Millisecond, time.Second, 3 * time.Second, 10 * time.Second}

var errEnding = errors.New("the Run is ending")

// refusal is the stanza that a chat waits for: something in it was not taken.
type refusal struct {
	stanza string
	at     time.Time
}

// offer hands what one stanza says to the inbox, in order. What is refused is tried again in place a few times; then the chats that it
// is about wait for the next connection, on which the server sends the stanza again, and so does what is behind it, until it has come:
// the library may still be at one of them when the new connection begins.
func (l *link) offer(stanza string, list ...channels.Inbound) bool {
	for i := range list {
		if r, held := l.held[list[i].Address.Chat]; held && r.stanza != stanza {
			l.heldBack = true
			return false
		}
	}
	for i := range list {
		if err := l.try(list[i]); err != nil {
			if !errors.Is(err, errEnding) {
				l.refuse(stanza, list, err)
			}
			return false
		}
	}
	for i := range list {
		delete(l.held, list[i].Address.Chat)
	}
	if len(l.held) == 0 {
		l.retry.Lock()
		l.refusals.Reset()
		l.retry.Unlock()
	}
	return true
}

// try offers an event a few times.
func (l *link) try(in channels.Inbound) error {
	for try := 0; ; try++ {
		err := l.inbox(l.offering, in)
		switch {
		case err == nil:
			return nil
		case l.closing.Load() || l.offering.Err() != nil:
			return errEnding
		case try+1 >= mostTries:
			return err
		case !l.pause(tryWaits[try]):
			return errEnding
		}
	}
}

// pause waits between two tries. false: the Run is ending.
func (l *link) pause(d time.Duration) bool {
	const look = 50 * time.Millisecond
	for end := time.Now().Add(d); time.Now().Before(end); {
		if !channels.Sleep(l.offering, min(look, time.Until(end))) || l.closing.Load() {
			return false
		}
	}
	return true
}

// refuse leaves the chats of a stanza to the next connection and sees to it that there is one.
func (l *link) refuse(stanza string, list []channels.Inbound, err error) {
	for i := range list {
		l.held[list[i].Address.Chat] = refusal{stanza: stanza, at: time.Now()}
	}
	l.fetchAgain()
	l.c.log.WarnContext(l.offering, "a WhatsApp event was not taken; it is fetched again", "chat", list[0].Address.Chat, "err", err)
}

// fetchAgain sees to it that there is another connection: however much waits, it waits for one.
func (l *link) fetchAgain() {
	l.retry.Lock()
	defer l.retry.Unlock()
	if l.again == nil {
		l.again = time.AfterFunc(l.refusals.NextBackOff(), func() { l.end(ending{atOnce: true, again: true, detail: "fetching what was not taken"}) })
	}
}

// keysFailed is told when the key file cannot be used for a message.
func (l *link) keysFailed(err error) {
	l.fetchAgain()
	l.c.log.WarnContext(l.offering, "the WhatsApp key file cannot be used; what comes meanwhile is fetched again", "err", err)
}

func (l *link) stopRetry() {
	l.retry.Lock()
	defer l.retry.Unlock()
	if l.again != nil {
		l.again.Stop()
		l.again = nil
	}
}

// allCame ends the waiting for what was refused on earlier connections and did not come again. What waited behind it is fetched.
func (l *link) allCame() {
	maps.DeleteFunc(l.held, func(_ channels.ChatID, r refusal) bool { return r.at.Before(l.connected) })
	if l.heldBack {
		l.fetchAgain()
	}
}

// insist offers what the library has acknowledged already, so that the server does not send it again: after a few tries beside the
// other events, each in its turn. What is not taken before the Run ends is lost. tries 0: until it is taken.
func (l *link) insist(in channels.Inbound, tries int, stale func() bool) {
	err := l.try(in)
	if err == nil {
		return
	}
	select {
	case l.insisting <- struct{}{}:
	default:
		l.lost(in, err)
		return
	}
	l.background.Go(func() {
		defer func() { <-l.insisting }()
		for try := mostTries; tries == 0 || try < tries; try++ {
			if !l.pause(tryWaits[min(try, len(tryWaits)-1)]) || !l.take() {
				break
			}
			done := stale()
			if !done {
				err = l.inbox(l.offering, in)
				done = err == nil
			}
			l.give()
			if done {
				return
			}
		}
		l.lost(in, err)
	})
}

func (l *link) lost(in channels.Inbound, err error) {
	l.c.log.WarnContext(context.WithoutCancel(l.offering), "a WhatsApp event was not taken and does not come again", "event", in.Event, "id", in.ID, "err", err)
}
