package accounts

import (
	"sync"
	"time"

	"parley/channels"
	"parley/router/event"
	"parley/router/settings"
)

// ChangesInterval is the interval at which accounts are polled while a watch is open: an adapter changes its status without a call.
const ChangesInterval = time.Second

// reportedAccounts are the accounts as they were last told of.
type reportedAccounts struct {
	mu    sync.Mutex
	at    time.Time // when they were looked at
	lines map[settings.AccountRef]string
}

// TellChanges tells of each account whose state has changed since the last look. It is called when a page is rendered, when a stream
// opens and each second while one is open: a host without a watch has nothing to do.
func (s *Supervisor) TellChanges() {
	s.told.mu.Lock()
	defer s.told.mu.Unlock()
	was := s.told.lines
	if was != nil && time.Since(s.told.at) < ChangesInterval {
		return
	}
	now := map[settings.AccountRef]string{}
	for _, a := range s.Statuses() {
		ref := settings.AccountRef{Channel: a.Channel, Account: a.Account}
		now[ref] = a.Line()
		if line, known := was[ref]; was != nil && (!known || line != now[ref]) {
			s.Router.Tell(event.Event{Kind: event.KindAccount, Phase: string(a.State), Channel: a.Channel, Account: a.Account})
		}
	}
	for ref := range was {
		if _, there := now[ref]; !there {
			s.Router.Tell(event.Event{Kind: event.KindAccount, Phase: string(channels.Stopped), Channel: ref.Channel, Account: ref.Account})
		}
	}
	s.told.at, s.told.lines = time.Now(), now
}
