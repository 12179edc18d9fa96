package web_test

import (
	"context"
	"testing"

	"github.com/chromedp/chromedp"

	"parley/gateway/web/webtest"
)

// The page signs every browser out, after a question: all tabs then show the page where one signs in, those of other browsers too, in chats and
// in views, and nothing of what they showed is left.
// source: OWASP Session Management Cheat Sheet, "Manual Session Expiration"; WAI-ARIA Authoring Practices, alertdialog
func TestSignOutPage(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	tab, elsewhere := webtest.Browser(t), webtest.Browser(t)
	chat, view := webtest.Beside(t, tab), webtest.Beside(t, tab)
	webtest.Do(t, tab, chromedp.EmulateViewport(1280, 800), chromedp.Navigate(h.Gateway.Link()), chromedp.WaitVisible("#text"), chromedp.Navigate(h.URL+"/status"), chromedp.WaitVisible("#status"))
	webtest.Do(t, chat, chromedp.Navigate(h.URL+"/"), chromedp.WaitVisible("#text"), chromedp.SendKeys("#text", "half written"))
	webtest.Do(t, view, chromedp.Navigate(h.URL+"/channels"), chromedp.WaitVisible("[data-account]"))
	webtest.Do(t, elsewhere, chromedp.Navigate(h.Gateway.Link()), chromedp.WaitVisible("#text"), chromedp.Navigate(h.URL+"/sessions"), chromedp.WaitVisible("#side"))
	unopened := h.Gateway.Link()

	const button, dialog = `document.getElementById('sign-out')`, `document.getElementById('ask')`
	if name := webtest.Eval[string](t, tab, button+`.textContent.trim() + '/' + `+button+`.title + '/' + `+button+`.tabIndex + '/' + (`+button+`.offsetParent !== null)`); name != "Sign out everywhere/Sign out everywhere/0/true" {
		t.Errorf("the button: %s", name)
	}
	press := func(keys ...string) {
		t.Helper()
		for _, k := range keys {
			webtest.Do(t, tab, chromedp.KeyEvent(k))
		}
	}
	webtest.Do(t, tab, chromedp.Evaluate[chromedp.Void](button+`.focus()`))
	press("\r")
	webtest.Until(t, tab, dialog+`.open`)
	if got := webtest.Eval[string](t, tab, `document.getElementById('ask-title').textContent + ' ' + document.activeElement.textContent`); got != "Sign out every browser? Cancel" {
		t.Errorf("the question: %s", got)
	}
	press("\r")
	webtest.Until(t, tab, `!`+dialog+`.open && document.activeElement === `+button)
	for _, in := range []context.Context{tab, chat, view, elsewhere} {
		if webtest.Eval[bool](t, in, `!!document.querySelector('.door')`) {
			t.Fatal("signed out by a no")
		}
	}
	press("\r")
	webtest.Until(t, tab, dialog+`.open`)
	press("\t", "\r")
	for _, in := range []context.Context{tab, chat, view, elsewhere} {
		webtest.Do(t, in, chromedp.WaitVisible(".door #token"))
		webtest.Until(t, in, `document.title === 'parley' && !document.getElementById('side')`)
	}
	webtest.Do(t, tab, chromedp.Navigate(unopened), chromedp.WaitVisible(".door .why"))
	webtest.Until(t, tab, `document.querySelector('.door .why')?.textContent.includes('was used or has expired')`)
	webtest.Do(t, tab, chromedp.Navigate(h.Gateway.Link()), chromedp.WaitVisible("#text"))
}
