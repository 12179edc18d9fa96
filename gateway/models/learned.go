package models

import (
	"context"
	"time"

	"parley/sessions"
)

// lessonsTimeout bounds how long a model call waits until the store has what it learned.
const lessonsTimeout = 5 * time.Second

// Keep has the store keep what endpoints were seen to refuse, and reads what earlier processes learned. Without it the first calls learn
// again. It is called once, before the first call of a model.
func (m *Set) Keep(ctx context.Context, store sessions.Lessons) {
	m.store = store
	known, err := store.Lessons(ctx)
	if err != nil {
		m.log.Error("cannot load learned refusals", "err", err)
		return
	}
	if secret := m.learn.Load(known); len(secret) > 0 {
		m.drop(ctx, secret...)
	}
}

// Known lists what was learned about endpoints.
func (m *Set) Known() []sessions.Lesson { return m.learn.Known() }

// Forget removes lessons from memory and from the store, and says how many there were. What the store cannot forget is logged.
func (m *Set) Forget(ctx context.Context, provider, model string) int {
	n := m.learn.Forget(provider, model)
	if m.store == nil {
		return n
	}
	ctx, cancel := context.WithTimeout(ctx, lessonsTimeout)
	defer cancel()
	kept, err := m.store.Forget(ctx, provider, model)
	if err != nil {
		m.log.Error("cannot delete learned refusals", "err", err)
	}
	return max(n, kept)
}

// save is lessons.Config.Save: losing one costs a refused request after the next start. A call that is over by then has learned it
// all the same.
func (m *Set) save(ctx context.Context, learned ...sessions.Lesson) {
	if m.store == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lessonsTimeout)
	defer cancel()
	if err := m.store.Learn(ctx, learned...); err != nil {
		m.log.Warn("cannot save a learned refusal", "err", err)
	}
}

// drop is lessons.Config.Drop: it ends lessons in the store that were found wrong; otherwise the next start would try them again.
func (m *Set) drop(ctx context.Context, wrong ...sessions.Lesson) {
	if m.store == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lessonsTimeout)
	defer cancel()
	if err := m.store.Unlearn(ctx, wrong...); err != nil {
		m.log.Warn("cannot delete an outdated refusal", "err", err)
	}
}
