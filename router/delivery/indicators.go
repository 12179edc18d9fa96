package delivery

import (
	"context"
	"sync"
	"time"

	"parley/channels"
	"parley/sessions"
)

// indicator is "typing…" in a chat, or the mark that shows that a message was accepted.
type indicator struct {
	to channels.Address
	id channels.MessageID // empty = typing
}

// indicators are shown by channels and removed after a while. Its mutex is a leaf.
type indicators struct {
	mu    sync.Mutex
	shown map[indicator]*time.Timer
}

// maxIndicators bounds them; a further one stays until the platform ends it.
const maxIndicators = 4096

// scheduleRemoval calls remove after a wait, which begins again each time that the indicator is shown.
func (s *indicators) scheduleRemoval(x indicator, wait time.Duration, remove func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t, there := s.shown[x]; there && t.Reset(wait) {
		return
	}
	if s.shown == nil {
		s.shown = make(map[indicator]*time.Timer)
	}
	if len(s.shown) < maxIndicators {
		s.shown[x] = time.AfterFunc(wait, remove)
	}
}

func (s *indicators) drop(x indicator) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.shown, x)
}

// removeIndicatorLater removes an indicator after a while where its channel wants that, under the policy of that time.
func (h *hints) removeIndicatorLater(ctx context.Context, key sessions.Key, to channels.Address, id channels.MessageID) {
	f := h.accounts.caps(to).Fader
	if f == nil {
		return
	}
	if wait := f.FadeAfter(to, id); wait > 0 {
		ctx := context.WithoutCancel(ctx) // the caller has ended by then
		h.indicators.scheduleRemoval(indicator{to, id}, wait, func() { h.removeIndicator(ctx, key, indicator{to, id}) })
	}
}

// removeIndicator removes an indicator; one whose host or channel has ended meanwhile stays. So does "typing…" of a chat that has moved: the platform
// ends it, and the policy of the session that it was shown for says nothing about the new place.
func (h *hints) removeIndicator(ctx context.Context, key sessions.Key, x indicator) {
	h.indicators.drop(x)
	f := h.accounts.caps(x.to).Fader
	if f == nil || x.id == "" && h.settings().Moved.Current(x.to) != x.to {
		return
	}
	h.life.begin(func(context.Context) {
		h.call(ctx, key, x.to, func(ctx context.Context) error { return f.Fade(ctx, x.to, x.id) })
	})
}
