package web_test

import (
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"parley/gateway/web/webtest"
)

// The chat on a whole host: the tool that is at work is named, and what a stop leaves is no half answer but its own line, also after a reload.
func TestChatPageWorksAndStops(t *testing.T) {
	t.Parallel()
	model := make(pen)
	h := newHostOf(t, model)
	tab := webtest.Browser(t)
	webtest.Do(t, tab, chromedp.Navigate(h.Gateway.Link()), chromedp.WaitVisible("#text"))
	webtest.Until(t, tab, `document.getElementById('state').textContent === 'connected'`)
	webtest.Do(t, tab, typed("Hello"))
	model.write(t, "Hello yourself.", "")
	webtest.Until(t, tab, lines+` === 2`)
	webtest.Do(t, tab, chromedp.Reload())
	webtest.Until(t, tab, lines+` === 2`)

	webtest.Do(t, tab, chromedp.Evaluate[chromedp.Void](`window.did = []; new MutationObserver(() => { const el = document.querySelector('#draft .doing'); if (el) did.push(el.textContent); }).observe(document.getElementById('draft'), { childList: true, subtree: true, characterData: true })`))
	webtest.Do(t, tab, typed("What do you see?"))
	for range 9 { // the stream of tools may be open only after the first of them
		model.write(t, "call session_status")
		<-time.After(100 * time.Millisecond)
		if webtest.Eval[bool](t, tab, `did.some((d) => d.startsWith('session_status'))`) {
			break
		}
	}
	webtest.Until(t, tab, `did.some((d) => d.startsWith('session_status'))`)
	model.write(t, "The first half")
	webtest.Until(t, tab, `document.querySelector('#draft .body')?.textContent.includes('The first half') && !document.querySelector('#draft .doing')`)
	webtest.Do(t, tab, chromedp.Click("#stop"))
	const stopped = `!document.querySelector('#draft *') && document.getElementById('stop').hidden && !document.body.textContent.includes('The first half') && ` + last + `.textContent.includes('Stopped by a person.')`
	webtest.Until(t, tab, stopped)
	webtest.Do(t, tab, chromedp.Reload())
	webtest.Until(t, tab, lines+` === 4 && `+stopped)
}
