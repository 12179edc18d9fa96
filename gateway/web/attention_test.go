package web_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"parley/gateway/api"
	"parley/gateway/web/webtest"
	"parley/sessions"
)

// Whoever waits for a decision is counted in the menu of every view, and Status says it; the count goes when the decision is made elsewhere.
func TestMenuCountsWhoWaits(t *testing.T) {
	t.Parallel()
	w := newWorks(t, household)
	tab := webtest.Browser(t)
	enter(t, tab, w, "")
	webtest.Do(t, tab, chromedp.Navigate(w.URL+"/status"), chromedp.WaitVisible("#status"))
	const count = `document.querySelector('#side a[href="/pairing"] .count')`
	until(t, tab, count+`?.textContent === '1 waiting' && `+shows("#status", "One person waits for approval"))
	w.waitListener(t)
	w.mu.Lock()
	w.asking = nil
	w.mu.Unlock()
	w.tell(api.Event{Kind: "pairing"})
	until(t, tab, `!`+count+` && !`+shows("#status", "waits for approval")+` && document.querySelector('#side a[aria-current]').textContent.includes('Status')`)
}

// While the host does not answer, what the page shows looks old and says so, and a link does not end in the browser's error page.
func TestHostThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	w := newWorks(t, household)
	tab := webtest.Browser(t)
	webtest.Hurry(t, tab)
	webtest.Do(t, tab, chromedp.Navigate(w.login()), chromedp.Navigate(w.URL+"/runs"), chromedp.WaitVisible("#rows .run"))
	w.waitListener(t)
	w.dead.Store(true)
	w.Cut()
	until(t, tab, shows("#health", "no answer from the host since")+` && document.body.classList.contains('old')`)
	webtest.Press(t, tab, `document.querySelector('#side a[href="/usage"]')`)
	until(t, tab, shows("#alerts", "The host does not answer")+` && location.pathname === '/runs'`)
	w.dead.Store(false)
	until(t, tab, `!document.body.classList.contains('old') && `+shows("#health", "connected"))
	webtest.Press(t, tab, `document.querySelector('#side a[href="/usage"]')`)
	webtest.Do(t, tab, chromedp.WaitVisible("#usage"))
}

// What a person has typed into a form is there again after a reload, and is gone once it was sent. A code is not kept.
func TestTypedTextStays(t *testing.T) {
	t.Parallel()
	w := newWorks(t, household)
	tab := webtest.Browser(t)
	enter(t, tab, w, "")
	webtest.Do(t, tab, chromedp.Navigate(w.URL+"/cron"), chromedp.WaitVisible("#message"), chromedp.SendKeys("#message", "Water the beans"), chromedp.Reload(), chromedp.WaitVisible("#message"))
	until(t, tab, `document.getElementById('message').value === 'Water the beans'`)
	webtest.Do(t, tab, chromedp.SendKeys("#when", "0 7 * * *\r"))
	until(t, tab, shows("#jobs", "Water the beans"))
	if kept := webtest.Eval[[]string](t, tab, `Object.keys(sessionStorage).filter((k) => k.startsWith('parley:typed'))`); len(kept) > 0 {
		t.Errorf("it is kept after it was sent: %s", strings.Join(kept, ", "))
	}
	webtest.Do(t, tab, chromedp.Navigate(w.URL+"/pairing"), chromedp.WaitVisible("#code"), chromedp.SendKeys("#code", "ABC"), chromedp.Reload(), chromedp.WaitVisible("#code"))
	until(t, tab, `document.getElementById('code').value === ''`)
}

// A run that has worked for long is still among those at work when hundreds have begun since.
func TestLongRunsStayOnTop(t *testing.T) {
	t.Parallel()
	w := newWorks(t, household)
	began := time.Now().Add(-time.Hour)
	w.runs = []api.Run{{ID: "old", Key: anna, Status: sessions.Running, Request: "the long one", Created: began, Started: began}}
	for i := range 250 {
		w.runs = append([]api.Run{{ID: sessions.RunID(fmt.Sprint("done", i)), Key: anna, Status: sessions.Done, Request: "quick", Created: began.Add(time.Duration(i) * time.Second)}}, w.runs...)
	}
	page := w.get(t, "/runs")
	if _, after, ok := strings.Cut(page, `id="working"`); !ok || !strings.Contains(strings.Split(after, `id="ended"`)[0], "the long one") {
		t.Error("the long run is not among those at work")
	}
}
