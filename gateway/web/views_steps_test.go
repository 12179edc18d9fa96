package web_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"parley/gateway/web/webtest"
)

// waitListener waits until a page listens to the events.
func (w *works) waitListener(t testing.TB) {
	t.Helper()
	w.wait(t, "no page listens", func() bool { return len(w.listening) > 0 })
}

// wait waits until what becomes of the host's data; otherwise says what is wrong.
func (w *works) wait(t testing.TB, otherwise string, done func() bool) {
	t.Helper()
	limit, tick := time.After(20*time.Second), time.NewTicker(5*time.Millisecond)
	defer tick.Stop()
	for {
		w.mu.Lock()
		ok := done()
		w.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-tick.C:
		case <-limit:
			t.Fatal(otherwise)
		}
	}
}

// fits checks that a page is not wider than the window.
func fits(t testing.TB, tab context.Context, path string) {
	t.Helper()
	if over := webtest.Eval[string](t, tab, `(() => {
		const main = document.querySelector('main');
		if (document.documentElement.scrollWidth <= innerWidth && main.scrollWidth <= main.clientWidth) return '';
		const wide = [...main.querySelectorAll('*')].filter((e) => e.getBoundingClientRect().right > innerWidth + 1 && !e.closest('.table, pre, .tabs, svg'));
		return innerWidth + ' px: ' + main.scrollWidth + ' ' + wide.slice(0, 3).map((e) => e.tagName + '.' + e.className + ' ' + e.textContent.slice(0, 40)).join('; ');
	})()`); over != "" {
		t.Errorf("%s is wider than %s", path, over)
	}
}

// enter comes in and has the test fail when the browser complains from then on; of the answers with the status refused it may.
func enter(t testing.TB, tab context.Context, w *works, refused string) {
	t.Helper()
	webtest.Do(t, tab, chromedp.Navigate(w.login())) // leads to the chat, which this host has not
	webtest.Do(t, tab, chromedp.Navigate(w.URL+"/channels"))
	webtest.Quiet(t, tab, func(c string) bool {
		return refused != "" && (strings.Contains(c, refused) || strings.HasPrefix(c, "console.error"))
	})
}

// until waits for a condition, and until the parts that were loaded can be used.
func until(t testing.TB, tab context.Context, expression string) {
	t.Helper()
	webtest.Until(t, tab, `!document.querySelector('.htmx-request, .htmx-settling, .htmx-added') && `+expression)
}
