package web_test

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"parley/channels/webchat"
	"parley/gateway/web"
	"parley/gateway/web/webtest"
	"parley/sessions"
)

var update = flag.Bool("update", false, "make the pictures of docs/ anew")

// picture saves the tab for the documentation, when -update asks for it.
func picture(t *testing.T, tab context.Context, name, scheme string, width, height int64) {
	t.Helper()
	if !*update {
		return
	}
	webtest.Do(t, tab, webtest.Scheme(scheme), chromedp.EmulateViewport(width, height), chromedp.Sleep(400*time.Millisecond)) // what moves has moved
	png, err := chromedp.Run(tab, chromedp.CaptureScreenshot())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join("..", "..", "docs", name), png, 0o644); err != nil {
		t.Fatal(err)
	}
}

const noScroll = `document.documentElement.scrollWidth <= innerWidth && document.getElementById('scroll').scrollWidth <= document.getElementById('scroll').clientWidth`

// notHere is what a browser says of pages that are not there: the chat of a host without one.
func notHere(complaint string) bool { return strings.Contains(complaint, "status of 404") }

// The views of sessions fit a phone of 360 px and a desk, in light and in dark, also with words that fit nowhere and are no markup; the
// browser has nothing to complain about.
func TestSessionViewsFit(t *testing.T) {
	t.Parallel()
	w := newTalks(t)
	family(w)
	bad := `<img src=x onerror="window.pwned=1">` + "\u202e" + strings.Repeat("w", 400)
	w.rows[3].Title, w.rows[3].Label, w.rows[3].Channel = bad, "", bad
	w.said["s4"] = []sessions.Message{
		{ID: "1", Seq: 1, Role: sessions.User, Time: w.now, Content: sessions.TextContent(bad), Provenance: &sessions.Provenance{Kind: sessions.ExternalUser, Name: bad, Title: bad}},
		{ID: "2", Seq: 2, Role: sessions.Assistant, Time: w.now, Error: bad, Content: []sessions.Block{{Type: sessions.ThinkingBlock, Text: bad}, {Type: sessions.TextBlock, Text: bad + "\n\n    " + bad}, {Type: sessions.ToolCallBlock, ID: "c", Name: bad, Arguments: []byte(`{"a":"` + strings.Repeat("z", 900) + `"}`)}},
			MessageExtras: &sessions.MessageExtras{Deliveries: []sessions.Mark{{Delivery: "d", State: sessions.Withheld, To: bad, Rule: bad}}}},
	}
	w.hits[1].Snippet = "Cleo " + bad
	tab := webtest.Browser(t)
	webtest.Quiet(t, tab, notHere)
	webtest.Do(t, tab, chromedp.Navigate(w.login()))
	for _, path := range []string{"/sessions", "/sessions/agent:main:discord:channel:42", "/sessions/" + club + "?transcript=earlier", "/search?q=Cleo"} {
		for _, width := range []int64{360, 1280} {
			webtest.Do(t, tab, chromedp.EmulateViewport(width, 800), chromedp.Navigate(w.URL+path))
			webtest.Until(t, tab, `!!document.querySelector('h1')`)
			for _, scheme := range []string{"light", "dark"} {
				webtest.Do(t, tab, webtest.Scheme(scheme))
				dark := webtest.Eval[bool](t, tab, `getComputedStyle(document.body).backgroundColor === 'rgb(23, 23, 21)'`)
				if dark != (scheme == "dark") || !webtest.Eval[bool](t, tab, noScroll) {
					t.Errorf("%s at %d in %s: dark %v, it scrolls sideways or not: %v", path, width, scheme, dark, webtest.Eval[[]int](t, tab, `[document.documentElement.scrollWidth, document.getElementById('scroll').scrollWidth, document.getElementById('scroll').clientWidth]`))
				}
			}
			if webtest.Eval[bool](t, tab, `!!window.pwned || !!document.querySelector('main img')`) {
				t.Errorf("%s: what a stranger wrote is markup", path)
			}
		}
	}
}

// The keys do what their list says, the menu of a phone opens and closes, and the chosen colours are remembered.
func TestKeysAndColours(t *testing.T) {
	t.Parallel()
	w := newTalks(t)
	family(w)
	tab := webtest.Browser(t)
	webtest.Quiet(t, tab, notHere)
	key := chromedp.KeyEvent
	webtest.Do(t, tab, chromedp.EmulateViewport(1280, 800), chromedp.Navigate(w.login()), chromedp.Navigate(w.URL+"/sessions"), chromedp.WaitVisible("#rows"), key("?"))
	webtest.Until(t, tab, `document.querySelector('#keys[open]')?.textContent.includes('next and previous row')`)
	webtest.Do(t, tab, key("\u001b"))
	webtest.Until(t, tab, `!document.querySelector('dialog[open]')`)
	webtest.Do(t, tab, key("j"), key("j"), key("j"), key("k"))
	webtest.Until(t, tab, `document.activeElement.id === 'row-s2'`)
	// A key of the test's browser would be typed as well, which a keyboard's is not.
	webtest.Do(t, tab, chromedp.Evaluate[chromedp.Void](`document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: '/', bubbles: true, cancelable: true }))`))
	webtest.Until(t, tab, `document.activeElement.name === 'search'`)
	webtest.Do(t, tab, key("Garden"))
	webtest.Until(t, tab, `document.querySelectorAll('[data-row]').length === 1 && location.search === '?search=Garden'`)
	webtest.Do(t, tab, key("\u001b"), key("j"), key("\r"), chromedp.WaitVisible("#panel"))
	webtest.Until(t, tab, `document.querySelector('.who h1').textContent === 'Garden club'`)

	press := func(id string) {
		t.Helper()
		webtest.Press(t, tab, `document.getElementById('`+id+`')`)
	}
	webtest.Do(t, tab, webtest.Scheme("light"))
	press("theme")
	press("theme")
	webtest.Until(t, tab, `getComputedStyle(document.body).backgroundColor === 'rgb(23, 23, 21)'`)
	webtest.Do(t, tab, chromedp.Navigate(w.URL+"/sessions"))
	webtest.Until(t, tab, `!!document.getElementById("theme").title`)
	if !webtest.Eval[bool](t, tab, `getComputedStyle(document.body).backgroundColor === 'rgb(23, 23, 21)' && document.getElementById('theme').title === 'Colours: dark'`) {
		t.Error("the dark colours are forgotten on the next page")
	}
	press("theme")
	webtest.Until(t, tab, `getComputedStyle(document.body).backgroundColor === 'rgb(250, 249, 246)' && localStorage.length === 0`)

	webtest.Do(t, tab, chromedp.EmulateViewport(360, 700))
	const shown = `getComputedStyle(document.getElementById('side')).visibility === 'visible'`
	webtest.Until(t, tab, `!(`+shown+`)`)
	press("menu")
	webtest.Until(t, tab, shown+` && document.getElementById('menu').getAttribute('aria-expanded') === 'true' && document.getElementById('side').contains(document.activeElement)`)
	webtest.Do(t, tab, key("\u001b"))
	webtest.Until(t, tab, `!(`+shown+`) && document.activeElement.id === 'menu'`)
}

// What the host refuses is shown in its words, where a screen reader hears it, and a question comes before what cannot be undone.
func TestRefusalIsShown(t *testing.T) {
	t.Parallel()
	w := newTalks(t)
	family(w)
	tab := webtest.Browser(t)
	webtest.Do(t, tab, chromedp.EmulateViewport(1280, 800), chromedp.Navigate(w.login()), chromedp.Navigate(w.URL+"/sessions/"+club), chromedp.WaitVisible("#panel"))
	webtest.Press(t, tab, `document.getElementById('delete')`)
	webtest.Until(t, tab, `document.querySelector('#ask[open]')?.textContent.includes('permanently deletes') && document.activeElement.value === 'no'`)
	webtest.Press(t, tab, `document.getElementById('ask-yes')`)
	webtest.Until(t, tab, `document.querySelector('#alerts[role=alert] .toast')?.textContent.includes('is at work')`)
}

// The pictures of the documentation: made-up people in front of the real page.
func TestPictures(t *testing.T) {
	t.Parallel()
	if !*update {
		t.Log("only with -update: the pictures are looked at by people")
		return
	}
	host := webtest.NewHost(t, webtest.Echo)
	at := time.Now().Add(-30 * time.Minute)
	for i, text := range []string{"Remember that the bins go out on Tuesday", "Noted. *What do you remember?* brings it back, also after a restart.", "Is anything on this weekend?", "Two things, from the garden club and the parents' group:\n\n| When | What |\n|---|---|\n| Saturday, 10:00 | mulching the beds, by the compost |\n| Sunday, before 12:00 | Cleo brings the key to the shed |\n\nShall I remind you of the key?", "Yes, at nine please"} {
		l := web.Line{ID: string(rune('a' + i)), Role: web.User, Text: text, Time: at.Add(time.Duration(i) * time.Minute)}
		if i%2 == 1 {
			l.Role = web.Assistant
		}
		host.Put(l)
	}
	tab := webtest.Browser(t)
	webtest.Do(t, tab, chromedp.EmulateViewport(1280, 800), chromedp.Navigate(host.Login()))
	webtest.Until(t, tab, lines+` === 5 && document.getElementById('state').textContent === 'connected'`)
	_ = host.Hub.Draft(t.Context(), host.Hub.Address(webchat.DefaultChat), "run-1", "I will write to you on **Sunday at nine**, so that you can")
	picture(t, tab, "page.png", "light", 1280, 800)

	w := newTalks(t)
	family(w)
	webtest.Do(t, tab, chromedp.Navigate(w.login()), chromedp.Navigate(w.URL+"/sessions"))
	webtest.Until(t, tab, `!!document.getElementById("theme").title`)
	picture(t, tab, "sessions.png", "light", 1280, 640)
	webtest.Do(t, tab, chromedp.Navigate(w.URL+"/sessions/"+club), chromedp.WaitVisible("#panel"))
	picture(t, tab, "session.png", "light", 1280, 800)
	picture(t, tab, "page-dark.png", "dark", 1280, 800)
	picture(t, tab, "page-phone.png", "dark", 390, 780)
}
