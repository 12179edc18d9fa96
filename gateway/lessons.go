package gateway

import (
	"context"
	"log/slog"
	"time"

	"parley/agent/lessons"
	"parley/sessions"
)

// lessonsTimeout bounds how long a model call waits until the store has what it learned.
const lessonsTimeout = 5 * time.Second

// keptLessons is what endpoints were seen to refuse, in memory and in the store.
type keptLessons struct {
	*lessons.Book
	store sessions.Lessons
	log   *slog.Logger
}

// dropLessons ends lessons in the store that were found wrong; otherwise the next start would try them again.
func (h *Host) dropLessons(ctx context.Context, wrong ...sessions.Lesson) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lessonsTimeout)
	defer cancel()
	if err := h.store.Unlearn(ctx, wrong...); err != nil {
		h.log.Warn("cannot drop what an endpoint refuses no more", "err", err)
	}
}

// Forget removes lessons from both, and says how many there were. What the store cannot forget is logged.
func (k keptLessons) Forget(ctx context.Context, provider, model string) int {
	ctx, cancel := context.WithTimeout(ctx, lessonsTimeout)
	defer cancel()
	n := k.Book.Forget(provider, model)
	kept, err := k.store.Forget(ctx, provider, model)
	if err != nil {
		k.log.Error("cannot forget what endpoints refuse", "err", err)
	}
	return max(n, kept)
}

// loadLessons reads what earlier processes learned. Without it the first calls learn again.
func (h *Host) loadLessons(ctx context.Context) {
	h.lessons = keptLessons{h.models.learn, h.store, h.log}
	known, err := h.store.Lessons(ctx)
	if err != nil {
		h.log.Error("cannot read what endpoints refuse", "err", err)
		return
	}
	h.models.learn.Load(known)
}

// keepLessons is lessons.Config.Save: losing one costs a refused request after the next start. A call that is over by then has learned it
// all the same.
func (h *Host) keepLessons(ctx context.Context, learned ...sessions.Lesson) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lessonsTimeout)
	defer cancel()
	if err := h.store.Learn(ctx, learned...); err != nil {
		h.log.Warn("cannot keep what an endpoint refuses", "err", err)
	}
}
