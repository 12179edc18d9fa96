package web_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"parley/channels"
	"parley/gateway/web"
	"parley/gateway/web/webtest"
	"parley/sessions"
)

const answer = `Here is **what I can do**, with a [link](https://example.org).

- list your sessions
- remember things

` + "```go\nfunc main() { println(\"hello\") }\n```" + `

| Channel | State |
|---|---|
| webchat | connected |

Ask away.`

// type a message and press Enter.
func say(text string) chromedp.Action[chromedp.Void] {
	return chromedp.SendKeys("#text", text+"\r")
}

const (
	lines = `document.querySelectorAll('#log .msg').length`
	last  = `[...document.querySelectorAll('#log .msg')].at(-1)`
)

// The page as a person uses it: in by the link, type, see the answer grow, reload, it is all there.
func TestPage(t *testing.T) {
	t.Parallel()
	next := make(chan struct{})
	host := webtest.NewHost(t, func(ctx context.Context, h *webtest.Host, in channels.Inbound) {
		step := func() bool {
			select {
			case <-next:
				return true
			case <-ctx.Done():
				return false
			}
		}
		_ = h.Hub.Typing(ctx, in.Address)
		for _, part := range []string{answer[:30], answer[:130]} {
			if !step() {
				return
			}
			_ = h.Hub.Draft(ctx, in.Address, "run-1", part)
		}
		if step() {
			_ = h.Say(ctx, in.Address, answer, sessions.Sent)
		}
	})
	tab := webtest.Browser(t)

	webtest.Do(t, tab, chromedp.Navigate(host.URL), chromedp.WaitVisible(".door h1"))
	webtest.Screenshots(t, tab, "door")
	webtest.Do(t, tab, chromedp.Navigate(host.Login()), chromedp.WaitVisible("#empty"))
	if url := webtest.Eval[string](t, tab, `location.href`); strings.Contains(url, "token") {
		t.Errorf("the token stays in the address bar: %s", url)
	}
	webtest.Until(t, tab, `document.getElementById('state').textContent === 'connected'`)
	webtest.Screenshots(t, tab, "empty")

	webtest.Do(t, tab, say("What can you do?"))
	webtest.Until(t, tab, lines+` === 1 && !!document.querySelector('#draft .typing')`)
	if left := webtest.Eval[string](t, tab, `document.getElementById('text').value`); left != "" {
		t.Errorf("%q is left in the box after Enter", left)
	}
	webtest.Screenshots(t, tab, "typing")
	next <- struct{}{}
	webtest.Until(t, tab, `document.querySelector('#draft .body strong')?.textContent === 'what I can do'`)
	next <- struct{}{}
	webtest.Until(t, tab, `document.querySelectorAll('#draft li').length === 2`)
	if n := webtest.Eval[int](t, tab, lines); n != 1 {
		t.Errorf("%d lines while the answer is a draft, want 1", n)
	}
	webtest.Screenshots(t, tab, "draft")
	next <- struct{}{}
	webtest.Until(t, tab, lines+` === 2 && `+last+`.textContent.includes('Ask away.') && !document.querySelector('#draft .body')`)
	webtest.Screenshots(t, tab, "answer")

	check := func(when string) {
		t.Helper()
		got := webtest.Eval[string](t, tab, last+`.querySelector('a').outerHTML`)
		if want := `<a href="https://example.org" target="_blank" rel="noopener noreferrer nofollow">link</a>`; got != want {
			t.Errorf("%s: link is %s", when, got)
		}
		if n := webtest.Eval[int](t, tab, lines); n != 2 {
			t.Errorf("%s: %d lines, want 2", when, n)
		}
	}
	check("live")
	webtest.Do(t, tab, chromedp.Evaluate[chromedp.Void](`navigator.clipboard.writeText = async (text) => { window.copied = text; }`), chromedp.Click("#log .copy"))
	webtest.Until(t, tab, `document.querySelector('#log .copy').textContent === 'Copied'`)
	if got := webtest.Eval[string](t, tab, `copied`); got != answer {
		t.Errorf("copied %q", got)
	}
	webtest.Do(t, tab, chromedp.Reload())
	webtest.Until(t, tab, lines+` === 2`)
	check("after reloading")
	if bad := webtest.Eval[[]string](t, tab, `performance.getEntriesByType('resource').map((e) => e.name).filter((n) => !n.startsWith(location.origin))`); len(bad) != 0 {
		t.Errorf("the page asked other sites: %v", bad)
	}
}

// A post whose answer is lost is repeated by itself and stays one message with one answer.
func TestPageSendsExactlyOnce(t *testing.T) {
	t.Parallel()
	host := webtest.NewHost(t, webtest.Echo)
	tab := webtest.Browser(t)
	webtest.Hurry(t, tab)
	webtest.Do(t, tab, chromedp.Navigate(host.Login()), chromedp.WaitVisible("#empty"))
	host.LoseAnswers(2)
	webtest.Do(t, tab, say("only <b>once</b>"))
	webtest.Until(t, tab, `!document.querySelector('.waiting') && Object.keys(localStorage).length === 0 && `+lines+` === 2`)
	if host.Posts() != 3 || len(host.Lines()) != 2 {
		t.Errorf("%d posts made %d lines, want 3 and 2", host.Posts(), len(host.Lines()))
	}
	if got := webtest.Eval[string](t, tab, `document.querySelector('.msg.user .body').innerHTML`); got != "only &lt;b&gt;once&lt;/b&gt;" {
		t.Errorf("shown as %s", got)
	}
}

// After a break the page comes back by itself, with what it missed in its place and nothing twice.
func TestPageReconnects(t *testing.T) {
	t.Parallel()
	host := webtest.NewHost(t, webtest.Echo)
	tab := webtest.Browser(t)
	webtest.Do(t, tab, chromedp.Navigate(host.Login()), chromedp.WaitVisible("#empty"), say("one"))
	webtest.Until(t, tab, lines+` === 2`)
	webtest.Do(t, tab, chromedp.Evaluate[chromedp.Void](`window.states = []; new MutationObserver(() => states.push(document.getElementById('state').textContent)).observe(document.getElementById('state'), { childList: true })`))
	host.Put(web.Line{ID: "missed", Role: web.Assistant, Text: "while you were away", Time: time.Now()})
	host.Cut()
	webtest.Until(t, tab, `states.join() === 'reconnecting…,connected'`)
	webtest.Do(t, tab, say("two"))
	webtest.Until(t, tab, lines+` === 5`)
	got := webtest.Eval[[]string](t, tab, `[...document.querySelectorAll('#log .body')].map((el) => el.textContent.trim())`)
	if want := "[one You said: one while you were away two You said: two]"; fmt.Sprint(got) != want {
		t.Errorf("got %v, want %s", got, want)
	}
}

// What a rule kept from the chat is marked, though nothing about it came live.
func TestPageMarksWithheld(t *testing.T) {
	t.Parallel()
	host := webtest.NewHost(t, func(ctx context.Context, h *webtest.Host, in channels.Inbound) {
		_ = h.Say(ctx, in.Address, "a secret", sessions.Withheld)
	})
	tab := webtest.Browser(t)
	webtest.Hurry(t, tab)
	webtest.Do(t, tab, chromedp.Navigate(host.Login()), chromedp.WaitVisible("#empty"), say("tell me"))
	webtest.Until(t, tab, last+`?.querySelector('.note')?.textContent === 'not delivered: withheld by rule session.sendPolicy.rules[0]'`)
	webtest.Screenshots(t, tab, "withheld")
}

// A command whose answer is withheld gets it marked, after the command, and so does the next one.
func TestPageMarksWithheldCommands(t *testing.T) {
	t.Parallel()
	host := webtest.NewHost(t, func(ctx context.Context, h *webtest.Host, in channels.Inbound) {
		_ = h.Answer(ctx, in.Address, "re "+in.Text, sessions.Withheld)
	})
	tab := webtest.Browser(t)
	webtest.Hurry(t, tab)
	webtest.Do(t, tab, chromedp.Navigate(host.Login()), chromedp.WaitVisible("#empty"))
	want := ""
	for i, command := range []string{"/help", "/status"} {
		webtest.Do(t, tab, say(command))
		webtest.Until(t, tab, fmt.Sprintf(`document.querySelectorAll('.msg.notice.withheld .note').length === %d`, i+1))
		want += fmt.Sprintf("%s re %s ", command, command)
		got := webtest.Eval[[]string](t, tab, `[...document.querySelectorAll('#log .body')].map((el) => el.textContent.trim())`)
		if strings.Join(got, " ")+" " != want {
			t.Errorf("got %v, want %s", got, want)
		}
	}
}

// Long chats are loaded piece by piece, backwards, without a gap or a repeat, and the view does not jump.
func TestPageScrollsBack(t *testing.T) {
	t.Parallel()
	host := webtest.NewHost(t, webtest.Echo)
	start := time.Now().Add(-70 * time.Hour)
	for i := range 70 {
		l := web.Line{ID: fmt.Sprint("m", i), Role: web.Assistant, Text: fmt.Sprintf("answer *%d*", i), Time: start.Add(time.Duration(i) * time.Hour)}
		if i%2 == 0 {
			l.Role, l.Text = web.User, fmt.Sprint("question ", i)
		}
		host.Put(l)
	}
	tab := webtest.Browser(t)
	webtest.Do(t, tab, chromedp.Navigate(host.Login()))
	webtest.Until(t, tab, lines+` >= 20 && document.querySelector('[data-id=m69]').getBoundingClientRect().bottom < innerHeight`)
	webtest.Screenshots(t, tab, "history")
	for range 10 {
		n := webtest.Eval[int](t, tab, lines)
		if n == 70 {
			break
		}
		webtest.Do(t, tab, chromedp.Evaluate[chromedp.Void](`document.getElementById('scroll').scrollTop = 0`))
		webtest.Until(t, tab, fmt.Sprintf("%s > %d", lines, n))
		if webtest.Eval[bool](t, tab, `document.getElementById('scroll').scrollTop === 0`) {
			t.Error("the view jumped to what was loaded")
		}
	}
	want := make([]string, 70)
	for i := range want {
		want[i] = fmt.Sprint("m", i)
	}
	if got := webtest.Eval[[]string](t, tab, `[...document.querySelectorAll('#log .msg')].map((el) => el.dataset.id)`); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v", got)
	}
	if n := webtest.Eval[int](t, tab, `document.querySelectorAll('#log .day').length`); n < 3 || n > 4 {
		t.Errorf("%d days for 70 hours", n)
	}
}

// What is said while an answer is written stands below it, from then on too, and there is a button to stop it for as long as it is written.
func TestPageSaidMeanwhile(t *testing.T) {
	t.Parallel()
	next := make(chan struct{})
	host := webtest.NewHost(t, func(ctx context.Context, h *webtest.Host, in channels.Inbound) {
		if in.Text != "first" {
			return
		}
		_ = h.Hub.Draft(ctx, in.Address, "run-1", "an answer")
		select {
		case <-next:
			_ = h.Say(ctx, in.Address, "an answer, whole", sessions.Sent)
		case <-ctx.Done():
		}
	})
	tab := webtest.Browser(t)
	webtest.Do(t, tab, chromedp.Navigate(host.Login()), chromedp.WaitVisible("#empty"), say("first"), chromedp.WaitVisible("#stop"))
	bodies := func() string {
		return strings.Join(webtest.Eval[[]string](t, tab, `[...document.querySelectorAll('.wide .msg .body')].map((el) => el.textContent.trim())`), "|")
	}
	webtest.Do(t, tab, say("second"))
	webtest.Until(t, tab, lines+` === 3`)
	if got := bodies(); got != "first|an answer|second" {
		t.Errorf("while it is written: %s", got)
	}
	next <- struct{}{}
	webtest.Until(t, tab, `document.querySelector('.msg.assistant')?.textContent.includes('whole') && document.getElementById('stop').hidden`)
	if got := bodies(); got != "first|an answer, whole|second" {
		t.Errorf("when it is there: %s", got)
	}
}
