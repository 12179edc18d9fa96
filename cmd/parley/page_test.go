package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"parley/agent/modeltest"
	"parley/gateway/web/webtest"
)

// pageConfig is a host with the web chat alone.
func (w *world) pageConfig(model, extra string) {
	w.t.Helper()
	text := "state: state\ngateway: {listen: \"127.0.0.1:0\"}\n" + model + extra
	whole := w.dir + "/config.yaml" // at once: a host may be reading it
	if err := errors.Join(os.WriteFile(whole+".new", []byte(text), 0o600), os.Rename(whole+".new", whole)); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) link() string {
	w.t.Helper()
	out, code := w.cli("open")
	if code != 0 {
		w.t.Fatalf("parley open: %s", out)
	}
	return strings.TrimSpace(out)
}

const (
	messages = `document.querySelectorAll('#log .msg')`
	newest   = `([...document.querySelectorAll('#log .msg')].at(-1)?.textContent ?? '')`
)

// TestPage is the newcomer's way: open the link, type, see the answer as it is written, reload, it is all there.
func TestPage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.model.Script(func(r modeltest.Request) modeltest.Reply {
		return modeltest.Reply{Text: []string{"The first half, ", "and the second."}, Between: 1500e6}
	})
	w.pageConfig("models: {providers: {mock: {api: openai, baseUrl: "+w.model.URL()+"/v1, apiKey: x}}}\nagents: {defaults: {model: mock/mock-1}}\n", "")
	w.start()
	tab := webtest.Browser(t)
	webtest.Do(t, tab, chromedp.Navigate(w.link()), chromedp.WaitVisible("#text"))
	webtest.Until(t, tab, `document.getElementById('state').textContent === 'connected'`)
	webtest.Do(t, tab, chromedp.SendKeys("#text", "Tell me\r"))
	webtest.Until(t, tab, `(document.querySelector('#draft .body')?.textContent ?? '').includes('The first half')`)
	if got := webtest.Eval[string](t, tab, `document.querySelector('#draft .body')?.textContent ?? ''`); strings.Contains(got, "second") {
		t.Errorf("the answer was not streamed: the first draft is %q", got)
	}
	webtest.Until(t, tab, newest+`.includes('and the second.')`)
	webtest.Do(t, tab, chromedp.Reload())
	webtest.Until(t, tab, messages+`.length === 2 && `+newest+`.includes('The first half, and the second.')`)

	webtest.Do(t, tab, chromedp.SendKeys("#text", "/send off\r"))
	webtest.Until(t, tab, newest+`.includes('Send policy set to off.')`)
	webtest.Do(t, tab, chromedp.SendKeys("#text", "Anything else?\r"))
	w.until(10e9, "the model answers", func() bool { return w.model.Count() == 2 })
	w.quiet()
	webtest.Do(t, tab, chromedp.Reload())
	webtest.Until(t, tab, newest+`.includes('withheld')`)
}

// TestOffline talks to the built-in model through the terminal chat: real tools, no key, no network.
func TestOffline(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.pageConfig("", "")
	w.start()
	for _, c := range []struct{ say, want string }{
		{"What can you do?", "list my sessions"},
		{"Remember that the bins go out on Tuesday", "noted"},
		{"What do you remember about bins?", "Tuesday"},
		{"List my sessions", "main"},
		{"Show the history of this chat", "bins go out"},
		{"In the background, what time is it?", "background"},
		{"Compose a sonnet", "offline model"},
	} {
		cmd := w.command("--config", "config.yaml", "chat")
		cmd.Stdin = strings.NewReader(c.say + "\n")
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(strings.ToLower(string(out)), strings.ToLower(c.want)) {
			t.Errorf("%q was answered (%v)\n%s\nwant %q in it", c.say, err, out, c.want)
		}
	}
	w.until(10e9, "the background task is announced", func() bool {
		out, _ := w.cli("deliveries", "list")
		return strings.Contains(out, "announce")
	})
}

// TestOfflinePage is the first minute of a newcomer in the browser.
func TestOfflinePage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.pageConfig("", "")
	w.start()
	tab := webtest.Browser(t)
	webtest.Do(t, tab, chromedp.Navigate(w.link()), chromedp.WaitVisible("#text"))
	webtest.Until(t, tab, `document.getElementById('state').textContent === 'connected'`)
	for i, c := range []struct{ say, want string }{
		{"Remember that the bins go out on Tuesday", "Noted"},
		{"What do you remember about bins?", "Tuesday"},
		{"List my sessions", "main"},
		{"In the background, what time is it?", "Status: success"},
	} {
		if i == 3 {
			webtest.Screenshots(t, tab, "offline") // what README.md shows
		}
		webtest.Do(t, tab, chromedp.SendKeys("#text", c.say+"\r"))
		webtest.Until(t, tab, fmt.Sprintf(`%s.length >= %d && [...%s].some((m) => !m.classList.contains('user') && m.textContent.includes(%q))`, messages, 2*i+2, messages, c.want))
	}
}
