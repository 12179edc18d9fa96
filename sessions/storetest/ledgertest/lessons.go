package ledgertest

import (
	"fmt"
	"strings"
	"time"

	"parley/sessions"
	"parley/sessions/storetest/fixture"
)

func listLessons(f *fixture.Store) []sessions.Lesson {
	f.Helper()
	list, err := f.Lessons(f.Context())
	f.OK(err)
	return list
}

// A lesson replaces the one with its key, is listed by age, and is forgotten by provider, model or both.
func lessons(f *fixture.Store) {
	at := func(n int) time.Time { return time.UnixMilli(1_700_000_000_000 + int64(n)) }
	one := sessions.Lesson{Provider: "p", Address: "https://p.example/v1", Model: "m", Kind: "parameter", Name: "reasoning_effort", Value: "none", Use: "low", Evidence: "Unsupported value", Config: "f00", At: at(2)}
	other, kind, model, provider := one, one, one, one
	other.Value, other.At = "", at(1)
	kind.Kind, kind.At = "images", at(3)
	model.Model, model.At = "n", at(4)
	provider.Provider, provider.At = "q", at(5)
	f.Equal(listLessons(f), []sessions.Lesson(nil))
	f.OK(f.Learn(f.Context()))
	f.OK(f.Learn(f.Context(), one, other, kind))
	f.OK(f.Learn(f.Context(), model))
	f.OK(f.Learn(f.Context(), provider))
	f.Equal(listLessons(f), []sessions.Lesson{other, one, kind, model, provider})
	one.Use, one.Evidence, one.Config, one.At = "", "other words", "f11", at(9)
	f.OK(f.Learn(f.Context(), one))
	f.OK(f.Learn(f.Context(), one))
	f.Equal(listLessons(f), []sessions.Lesson{other, kind, model, provider, one})
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
		n, err := f.Forget(f.Context(), c.provider, c.model)
		f.OK(err)
		f.Equal(n, c.n)
		f.Equal(listLessons(f), c.left)
	}
	f.OK(f.Learn(f.Context(), one, other, model))
	f.OK(f.Unlearn(f.Context()))
	older := one
	older.At = at(8) // it was learned again since
	f.OK(f.Unlearn(f.Context(), other, older))
	f.OK(f.Unlearn(f.Context(), other))
	f.Equal(listLessons(f), []sessions.Lesson{model, one})
	n, err := f.Forget(f.Context(), "", "")
	f.OK(err)
	f.Equal(n, 2)
	now := time.Now().Truncate(time.Millisecond)
	model.At = time.Time{}
	f.OK(f.Learn(f.Context(), model))
	if l := listLessons(f); len(l) != 1 || l[0].At.Before(now) {
		f.Errorf("one without a time: %+v", l)
	}
}

// The oldest lessons go when there are too many. One with too long a key is refused, and those beside it are kept.
func lessonsBound(f *fixture.Store) {
	const more = 5
	list := make([]sessions.Lesson, sessions.MaxLessons+more)
	for i := range list {
		list[i] = sessions.Lesson{Provider: "p", Model: fmt.Sprint(i), Kind: "images", At: time.UnixMilli(int64(1_000_000 + i))}
	}
	f.OK(f.Learn(f.Context(), list...))
	got := listLessons(f)
	f.Equal(len(got), sessions.MaxLessons)
	f.Equal([]string{got[0].Model, got[len(got)-1].Model}, []string{fmt.Sprint(more), fmt.Sprint(len(list) - 1)})

	long := sessions.Lesson{Provider: "p", Model: "long", Kind: "parameter", Value: strings.Repeat("é", 2000), At: time.UnixMilli(9_000_000)}
	beside := sessions.Lesson{Provider: "p", Model: "beside", Kind: "images", Evidence: strings.Repeat("é", 10_000), At: time.UnixMilli(9_000_000)}
	if err := f.Learn(f.Context(), long, beside); err == nil || !strings.Contains(err.Error(), "p/long") {
		f.Errorf("a key of 4 kB: %v", err)
	}
	got = listLessons(f)
	if last := got[len(got)-1]; last.Model != "beside" || len(last.Evidence) > 4000 || strings.ContainsRune(last.Evidence, '\uFFFD') {
		f.Errorf("%+v", last)
	}
}
