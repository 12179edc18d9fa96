package web_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"parley/channels"
	"parley/gateway/api"
	"parley/gateway/web/webtest"
)

const theCode = "a-code-for-the-phone"

const card = `document.querySelector('[data-account="fake (default)"]')`

// button is a visible button of the fake account's card.
func button(name string) string {
	return `[...` + card + `.querySelectorAll('button')].find((b) => b.textContent === '` + name + `' && b.offsetParent)`
}

// The page of the channels: what is not linked is linked there, by a code that is drawn anew with each step; the state follows by
// itself, and a logout asks first.
func TestChannelsPage(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	tab := webtest.Browser(t)
	webtest.Do(t, tab, chromedp.Navigate(h.Gateway.Link()), chromedp.WaitVisible("#text"), chromedp.Navigate(h.URL+"/channels"))
	webtest.Until(t, tab, card+`?.querySelector('.state').textContent === 'not linked' && `+card+`.querySelector('.todo').textContent === 'What to do: link it with the button below.'`)
	webtest.Until(t, tab, `document.getElementById('sum').textContent === '1 of 2 connected'`)

	webtest.Press(t, tab, button("Link…"))
	show := func(s channels.PairStep) {
		t.Helper()
		if err := h.Fake.Show(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	show(channels.PairStep{QR: theCode, Expires: time.Now().Add(30 * time.Second)})
	webtest.Until(t, tab, `document.querySelector('#login[open] #step svg[role=img][aria-label*="QR code that links fake"] path') && document.getElementById('progress').textContent.includes('Valid for')`)
	webtest.Screenshots(t, tab, "channels-login")
	first := webtest.Eval[string](t, tab, `document.querySelector('#step path').getAttribute('d')`)
	show(channels.PairStep{QR: theCode + "-2", Expires: time.Now().Add(30 * time.Second)})
	webtest.Until(t, tab, `document.querySelectorAll('#step svg').length === 1 && document.querySelector('#step path').getAttribute('d') !== '`+first+`'`)
	if err := h.Fake.Confirm(t.Context(), "Anna"); err != nil {
		t.Fatal(err)
	}
	webtest.Until(t, tab, `document.getElementById('progress').textContent === 'Linked as Anna.' && !document.querySelector('#step svg')`)
	webtest.Until(t, tab, card+`.dataset.tone === 'good' && `+card+`.querySelector('.state').textContent === 'connected' && `+card+`.textContent.includes('Anna')`)
	webtest.Press(t, tab, `document.getElementById('close')`)
	webtest.Until(t, tab, `!document.getElementById('login').open && document.getElementById('sum').textContent === 'all 2 connected'`)

	// What happens to an account is seen without reloading.
	h.Fake.End(channels.Replaced, "another client took this login over", &channels.Error{Class: channels.Unauthorized, Err: errors.New("replaced")})
	webtest.Until(t, tab, card+`.dataset.tone === 'bad' && `+card+`.textContent.includes('another client took this login over') && document.getElementById('news').textContent === 'fake (default): replaced'`)
	webtest.Screenshots(t, tab, "channels")
	webtest.Press(t, tab, button("Restart"))
	webtest.Until(t, tab, card+`.dataset.tone === 'good'`)

	webtest.Press(t, tab, button("Log out…"))
	webtest.Until(t, tab, `document.getElementById('logout').open`)
	webtest.Press(t, tab, `document.getElementById('stay')`)
	webtest.Until(t, tab, `!document.getElementById('logout').open && `+card+`.dataset.state === 'connected'`)
	webtest.Press(t, tab, button("Log out…"))
	webtest.Until(t, tab, `document.getElementById('logout').open`)
	webtest.Press(t, tab, `document.getElementById('leave')`)
	webtest.Until(t, tab, card+`.querySelector('.state').textContent === 'not linked'`)
}

// Instead of a QR code the page gives a code for a phone number; what goes wrong is said, and closing ends the login.
func TestChannelsPageByPhone(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	tab := webtest.Browser(t)
	webtest.Do(t, tab, chromedp.Navigate(h.Gateway.Link()), chromedp.WaitVisible("#text"), chromedp.Navigate(h.URL+"/channels"))
	webtest.Until(t, tab, card+`?.querySelector('.state').textContent === 'not linked'`)
	webtest.Press(t, tab, button("Link…"))
	if err := h.Fake.Show(t.Context(), channels.PairStep{QR: theCode}); err != nil {
		t.Fatal(err)
	}
	webtest.Until(t, tab, `!!document.querySelector('#step svg')`)
	webtest.Do(t, tab, chromedp.SendKeys("#phone", "0151 234\r"))
	webtest.Until(t, tab, `document.querySelector('#progress.failed')?.textContent.includes('country code')`)
	webtest.Do(t, tab, chromedp.Evaluate[chromedp.Void](`document.getElementById('phone').value = ''`), chromedp.SendKeys("#phone", "+49 151 2345678\r"))
	webtest.Until(t, tab, `document.querySelector('#step .code')?.textContent === 'CODE-5678'`)
	webtest.Screenshots(t, tab, "channels-code")
	if err := h.Fake.Fail(t.Context(), errors.New("the code was not typed in")); err != nil {
		t.Fatal(err)
	}
	webtest.Until(t, tab, `document.getElementById('progress').textContent.endsWith('the code was not typed in') && !document.querySelector('#step .code')`)
	webtest.Press(t, tab, `document.getElementById('again')`)
	if err := h.Fake.Show(t.Context(), channels.PairStep{QR: theCode}); err != nil {
		t.Fatal(err)
	}
	webtest.Until(t, tab, `!!document.querySelector('#step svg')`)
	webtest.Press(t, tab, `document.getElementById('close')`)
	webtest.Until(t, tab, `!document.getElementById('login').open && !document.querySelector('#step svg') && `+card+`.querySelector('.state').textContent === 'not linked'`)
	h.Until("the login is over", func(s api.Account) bool { return !s.Linking })
	if html := webtest.Eval[string](t, tab, `document.documentElement.outerHTML`); strings.Contains(html, "CODE-5678") {
		t.Error("the code is still in the page")
	}
}
