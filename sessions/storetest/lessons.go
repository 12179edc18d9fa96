package storetest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"parley/sessions"
)

func (f *fixture) lessons() []sessions.Lesson {
	f.t.Helper()
	list, err := f.Lessons(f.ctx)
	f.ok(err)
	return list
}

// A lesson replaces the one with its key, is listed by age, and is forgotten by provider, model or both.
func lessons(_ *testing.T, f *fixture) {
	at := func(n int) time.Time { return time.UnixMilli(1_700_000_000_000 + int64(n)) }
	one := sessions.Lesson{Provider: "p", Address: "https://p.example/v1", Model: "m", Kind: "parameter", Name: "reasoning_effort", Value: "none", Use: "low", Evidence: "Unsupported value", Config: "f00", At: at(2)}
	other, kind, model, provider := one, one, one, one
	other.Value, other.At = "", at(1)
	kind.Kind, kind.At = "images", at(3)
	model.Model, model.At = "n", at(4)
	provider.Provider, provider.At = "q", at(5)
	f.equal(f.lessons(), []sessions.Lesson(nil))
	f.ok(f.Learn(f.ctx))
	f.ok(f.Learn(f.ctx, one, other, kind))
	f.ok(f.Learn(f.ctx, model))
	f.ok(f.Learn(f.ctx, provider))
	f.equal(f.lessons(), []sessions.Lesson{other, one, kind, model, provider})
	one.Use, one.Evidence, one.Config, one.At = "", "other words", "f11", at(9)
	f.ok(f.Learn(f.ctx, one))
	f.ok(f.Learn(f.ctx, one))
	f.equal(f.lessons(), []sessions.Lesson{other, kind, model, provider, one})
	for _, c := range []struct {
		provider, model string
		n               int
		left            []sessions.Lesson
	}{
		{"nobody", "", 0, []sessions.Lesson{other, kind, model, provider, one}},
		{"p", "n", 1, []sessions.Lesson{other, kind, provider, one}},
		{"q", "", 1, []sessions.Lesson{other, kind, one}},
		{"", "m", 3, nil},
		{"", "", 0, nil},
	} {
		n, err := f.Forget(f.ctx, c.provider, c.model)
		f.ok(err)
		f.equal(n, c.n)
		f.equal(f.lessons(), c.left)
	}
	f.ok(f.Learn(f.ctx, one, other, model))
	f.ok(f.Unlearn(f.ctx))
	older := one
	older.At = at(8) // it was learned again since
	f.ok(f.Unlearn(f.ctx, other, older))
	f.ok(f.Unlearn(f.ctx, other))
	f.equal(f.lessons(), []sessions.Lesson{model, one})
	n, err := f.Forget(f.ctx, "", "")
	f.ok(err)
	f.equal(n, 2)
	now := time.Now().Truncate(time.Millisecond)
	model.At = time.Time{}
	f.ok(f.Learn(f.ctx, model))
	if l := f.lessons(); len(l) != 1 || l[0].At.Before(now) {
		f.t.Errorf("one without a time: %+v", l)
	}
}

// The oldest lessons go when there are too many. One with too long a key is refused, and those beside it are kept.
func lessonsBound(_ *testing.T, f *fixture) {
	const more = 5
	list := make([]sessions.Lesson, sessions.MaxLessons+more)
	for i := range list {
		list[i] = sessions.Lesson{Provider: "p", Model: fmt.Sprint(i), Kind: "images", At: time.UnixMilli(int64(1_000_000 + i))}
	}
	f.ok(f.Learn(f.ctx, list...))
	got := f.lessons()
	f.equal(len(got), sessions.MaxLessons)
	f.equal([]string{got[0].Model, got[len(got)-1].Model}, []string{fmt.Sprint(more), fmt.Sprint(len(list) - 1)})

	long := sessions.Lesson{Provider: "p", Model: "long", Kind: "parameter", Value: strings.Repeat("é", 2000), At: time.UnixMilli(9_000_000)}
	beside := sessions.Lesson{Provider: "p", Model: "beside", Kind: "images", Evidence: strings.Repeat("é", 10_000), At: time.UnixMilli(9_000_000)}
	if err := f.Learn(f.ctx, long, beside); err == nil || !strings.Contains(err.Error(), "p/long") {
		f.t.Errorf("a key of 4 kB: %v", err)
	}
	got = f.lessons()
	if last := got[len(got)-1]; last.Model != "beside" || len(last.Evidence) > 4000 || strings.ContainsRune(last.Evidence, '\uFFFD') {
		f.t.Errorf("%+v", last)
	}
}
