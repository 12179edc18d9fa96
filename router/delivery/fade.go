package delivery

import (
	"context"
	"sync"
	"time"

	"parley/channels"
	"parley/sessions"
)

// sign is "typing…" in a chat, or what shows that a message was taken.
type sign struct {
	to channels.Address
	id channels.MessageID // empty = typing
}

// signs are those that channels show and that are removed after a while. Its mutex is a leaf.
type signs struct {
	mu    sync.Mutex
	shown map[sign]*time.Timer
}

// maxSigns bounds them; a further one stays until the platform ends it.
const maxSigns = 4096

// later calls fade after a wait, which begins again each time that the sign is shown.
func (s *signs) later(x sign, wait time.Duration, fade func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t, there := s.shown[x]; there && t.Reset(wait) {
		return
	}
	if s.shown == nil {
		s.shown = make(map[sign]*time.Timer)
	}
	if len(s.shown) < maxSigns {
		s.shown[x] = time.AfterFunc(wait, fade)
	}
}

func (s *signs) forget(x sign) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.shown, x)
}

// fadeLater removes a sign that was shown when its channel wants that, under the policy as it is then.
func (h *hints) fadeLater(ctx context.Context, key sessions.Key, to channels.Address, id channels.MessageID) {
	f := h.accounts.caps(to).Fader
	if f == nil {
		return
	}
	if wait := f.FadeAfter(to, id); wait > 0 {
		ctx := context.WithoutCancel(ctx) // what showed the sign is over by then
		h.signs.later(sign{to, id}, wait, func() { h.fade(ctx, key, sign{to, id}) })
	}
}

// fade removes a sign; a sign whose host or channel has ended meanwhile stays.
func (h *hints) fade(ctx context.Context, key sessions.Key, x sign) {
	h.signs.forget(x)
	f := h.accounts.caps(x.to).Fader
	if f == nil {
		return
	}
	to := x.to
	if x.id == "" { // a message stays where it is
		to = h.settings().Moved.Current(to)
	}
	h.life.begin(func(context.Context) {
		h.call(ctx, key, to, func(ctx context.Context) error { return f.Fade(ctx, to, x.id) })
	})
}
