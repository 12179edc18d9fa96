package web_test

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"parley/gateway/api"
	"parley/gateway/web/webtest"
	"parley/sessions"
)

// request puts a new run into the list and tells of it.
func (w *works) request(what string) {
	w.mu.Lock()
	w.runs = append([]api.Run{{ID: sessions.RunID("new" + what), Key: anna, Status: sessions.Queued, Request: what, Created: time.Now()}}, w.runs...)
	w.mu.Unlock()
	w.tell(api.Event{Kind: "run", Run: sessions.RunID("new" + what)})
}

// hold keeps streams from opening until they may.
func (w *works) hold() (open func()) {
	may := make(chan struct{})
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = may
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.closed = nil
		close(may)
	}
}

// cut breaks every connection, and waits until the host has noticed: what it tells from then on is not told to them.
func (w *works) cut(t *testing.T) {
	t.Helper()
	w.mu.Lock()
	cut := slices.Collect(maps.Keys(w.listening))
	w.mu.Unlock()
	w.Cut()
	w.wait(t, "a stream that was cut off still listens", func() bool {
		return !slices.ContainsFunc(cut, func(l chan string) bool { return w.listening[l] })
	})
}

// What happens after the page was made and before its stream is open is shown, and so is what happens while the stream is cut off; when
// nothing did, nothing is read again.
func TestLiveMissesNothing(t *testing.T) {
	t.Parallel()
	w := newWorks(t, household)
	tab := webtest.Browser(t)
	webtest.Do(t, tab, chromedp.Navigate(w.login()))
	open := w.hold()
	webtest.Do(t, tab, chromedp.Navigate(w.URL+"/runs"), chromedp.WaitVisible("#rows .run"))
	w.request("before the stream")
	open()
	until(t, tab, shows("#rows", "before the stream"))
	w.waitListener(t)

	open = w.hold()
	w.cut(t)
	w.request("while it was cut off")
	open()
	until(t, tab, shows("#rows", "while it was cut off"))
	w.waitListener(t)
	w.mu.Lock()
	before := w.asked["/runs"]
	w.mu.Unlock()
	const health = `performance.getEntriesByType('resource').filter((e) => e.name.endsWith('/parts/health')).length`
	read := webtest.Eval[int](t, tab, health)
	w.cut(t)
	w.waitListener(t)
	w.tell(api.Event{Kind: "account"}) // the health is read again, and the rows would be at the same time
	until(t, tab, fmt.Sprintf("%s > %d", health, read))
	w.mu.Lock()
	defer w.mu.Unlock()
	if n := w.asked["/runs"] - before; n != 0 || before != 2 {
		t.Errorf("the rows were read %d times, and %d times more when nothing had happened", before, n)
	}
}

// However much happens, a part is read again twice a second at most, the last time after the last event; the page can be used meanwhile.
func TestLiveIsCalm(t *testing.T) {
	t.Parallel()
	w := newWorks(t, household)
	tab := webtest.Browser(t)
	webtest.Do(t, tab, chromedp.Navigate(w.login()), chromedp.Navigate(w.URL+"/runs"), chromedp.WaitVisible("#rows .run"))
	w.waitListener(t)
	began := time.Now()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for i := range 50 {
		<-tick.C
		w.request(fmt.Sprint("request ", i))
	}
	until(t, tab, shows("#rows", "request 49"))
	w.mu.Lock()
	n := w.asked["/runs"]
	w.mu.Unlock()
	if most := int(time.Since(began)/(500*time.Millisecond)) + 2; n > most {
		t.Errorf("the rows were read %d times, %d at most", n, most)
	}
	// What was loaded is alive at once: an event that comes right then is not lost.
	webtest.Do(t, tab, chromedp.Evaluate[chromedp.Void](`document.addEventListener('htmx:afterRequest', () => htmx.trigger('#rows', 'live'), { once: true })`))
	w.tell(api.Event{Kind: "run"})
	w.wait(t, "the second event was lost", func() bool { return w.asked["/runs"] >= n+2 })
}

// Jobs are listed a hundred at a time.
func TestCronPages(t *testing.T) {
	t.Parallel()
	w := newWorks(t, household)
	for i := range 250 {
		w.jobs = append(w.jobs, api.Job{ID: fmt.Sprint("more", i), Message: "look", When: "every 1h"})
	}
	all := len(w.jobs)
	for path, want := range map[string]struct {
		rows  int
		links string
	}{
		"/cron":                {100, `href="/cron?offset=100">Later`},
		"/cron?offset=100":     {100, `href="/cron">Sooner`},
		"/cron?offset=200":     {all - 200, `hx-get="/cron?offset=200"`},
		"/cron?offset=9999":    {all - 200, "Sooner"},
		"/cron?offset=nothing": {100, `hx-get="/cron"`},
	} {
		page := w.get(t, path)
		if n := strings.Count(page, "data-job="); n != want.rows || !strings.Contains(page, want.links) {
			t.Errorf("%s: %d rows, want %d and %s", path, n, want.rows, want.links)
		}
	}
}

// get reads a page as the owner.
func (w *works) get(t *testing.T, path string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer test-token")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	page, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

// The counts of the deliveries are those of what is listed.
func TestDeliveryCounts(t *testing.T) {
	t.Parallel()
	w := newWorks(t, household)
	for _, key := range []string{"", anna, garden} {
		page := w.get(t, "/deliveries?session="+key)
		counts := map[sessions.DeliveryState]int{}
		for _, d := range w.deliveries {
			if key == "" || string(d.Session) == key {
				counts[d.State]++
			}
		}
		tabs := strings.Count(page, ` <span class="soft">`)
		for state, n := range counts {
			if !strings.Contains(page, fmt.Sprintf(`>%s <span class="soft">%d</span>`, state, n)) {
				t.Errorf("session %q: not %d times %s in %s", key, n, state, page)
			}
		}
		if tabs != len(counts) || len(counts) == 0 {
			t.Errorf("session %q: %d tabs for %d states", key, tabs, len(counts))
		}
	}
}
