package web_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"parley/agent"
	"parley/gateway/api"
	"parley/gateway/web/webtest"
	"parley/sessions"
)

// pen is a model whose answers a test writes, piece by piece; an empty piece ends an answer, and one like "call NAME" ends it with a call of a tool.
type pen chan string

func (p pen) Stream(ctx context.Context, _ agent.Prompt) iter.Seq2[agent.Delta, error] {
	return func(yield func(agent.Delta, error) bool) {
		text := ""
		for {
			select {
			case piece := <-p:
				if piece == "" {
					a := agent.Answer{Content: sessions.TextContent(text), Stop: "stop", Usage: sessions.Usage{Input: 100, Output: 10}}
					yield(agent.Delta{Final: &a}, nil)
					return
				}
				if tool, ok := strings.CutPrefix(piece, "call "); ok {
					a := agent.Answer{Content: []sessions.Block{{Type: sessions.ToolCallBlock, ID: "c1", Name: tool, Arguments: []byte("{}")}}, Stop: "tool"}
					yield(agent.Delta{Final: &a}, nil)
					return
				}
				text += piece
				if !yield(agent.Delta{Text: piece}, nil) {
					return
				}
			case <-ctx.Done():
				yield(agent.Delta{}, ctx.Err())
				return
			}
		}
	}
}

func (p pen) write(t *testing.T, pieces ...string) {
	t.Helper()
	for _, s := range pieces {
		select {
		case p <- s:
		case <-t.Context().Done():
			t.Fatal("nobody reads the answer")
		}
	}
}

const (
	newestLine  = `[...document.querySelectorAll('#log .said')].at(-1)`
	hostileText = `<script>window.pwned = 1</script><img src=x onerror="window.pwned = 1"> {{.}} ${1} ` + "\u202eevil\u202c \u05e9\u05dc\u05d5\u05dd \U0001F469\u200d\U0001F467 "
)

func typed(text string) chromedp.Action[chromedp.Void] { return chromedp.SendKeys("#text", text+"\r") }

// The page of a session, on a whole host: found in the list with the keyboard, its answer seen as it is written, its policy switched
// and seen to work, a turn stopped, what is hostile shown as text, a reset with the old conversation still there, found by its words.
func TestSessionPage(t *testing.T) {
	t.Parallel()
	model := make(pen)
	h := newHostOf(t, model)
	tab := webtest.Browser(t)
	webtest.Quiet(t, tab, func(complaint string) bool { return strings.Contains(complaint, "status of 403") }) // what the policy refuses
	wide := chromedp.EmulateViewport(1280, 800)
	webtest.Do(t, tab, wide, chromedp.Navigate(h.Gateway.Link()), chromedp.WaitVisible("#text"))
	webtest.Until(t, tab, `document.getElementById('state').textContent === 'connected'`)
	webtest.Do(t, tab, typed("Hello"))
	model.write(t, "Hello yourself.", "")
	webtest.Until(t, tab, `document.querySelectorAll('#log .msg').length === 2`)

	webtest.Do(t, tab, chromedp.Navigate(h.URL+"/sessions"), chromedp.WaitVisible("[data-row]"), chromedp.KeyEvent("j"))
	webtest.Until(t, tab, `document.activeElement.matches('[data-row] a') && document.activeElement.getAttribute('href') === '/sessions/agent:main:main'`)
	webtest.Do(t, tab, chromedp.KeyEvent("\r"), chromedp.WaitVisible("#panel"))
	webtest.Until(t, tab, `document.querySelectorAll('#log .said').length === 2 && `+newestLine+`.querySelector('.mark').textContent.includes('sent')`)

	t.Run("stream", func(t *testing.T) { streamed(t, tab, model) })
	t.Run("policy", func(t *testing.T) { switched(t, tab, h, model) })
	t.Run("hostile", func(t *testing.T) { shownAsText(t, tab, model) })
	t.Run("stop", func(t *testing.T) { stopped(t, tab, model) })
	t.Run("reset", func(t *testing.T) { begunAnew(t, tab) })
	t.Run("search", func(t *testing.T) { foundAgain(t, tab, h) })
}

// streamed sees an answer grow, and then once in the transcript.
func streamed(t *testing.T, tab context.Context, model pen) {
	webtest.Do(t, tab, typed("Tell me"))
	webtest.Until(t, tab, `!document.getElementById('stop').hidden && !document.getElementById('work').hidden`)
	model.write(t, "The **first** half, ")
	webtest.Until(t, tab, `document.querySelector('#draft .md strong')?.textContent === 'first'`)
	model.write(t, "and the second.", "")
	webtest.Until(t, tab, newestLine+`.textContent.includes('The first half, and the second.') && !document.querySelector('#draft *') && document.getElementById('stop').hidden`)
	if n := webtest.Eval[int](t, tab, `document.querySelectorAll('#log .said').length`); n != 4 {
		t.Errorf("%d lines, want 4", n)
	}
	if said := webtest.Eval[string](t, tab, newestLine+`.textContent`); strings.Contains(said, "webchat") {
		t.Errorf("an answer that was not to go anywhere went to %s", said)
	}
}

// switched turns the policy to deny and back: what it says, what the API says, and what becomes of the next message whose answer is for the chat.
func switched(t *testing.T, tab context.Context, h *host, model pen) {
	mark := func(want string) {
		t.Helper()
		model.write(t, "An answer for the chat.", "")
		webtest.Until(t, tab, `(`+newestLine+`.querySelector('.mark')?.textContent ?? '').includes('`+want+`')`)
	}
	webtest.Do(t, tab, chromedp.Click("#deliver"))
	webtest.Press(t, tab, `document.getElementById('policy-deny')`)
	webtest.Until(t, tab, `document.getElementById('verdict').textContent.includes('withheld') && document.querySelector('#verdict code').textContent === 'session override'`)
	res, err := h.Ask(t.Context(), "GET", "/api/policy/explain?session=main&to=webchat/default/direct/main", "")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	var x api.Explanation
	if err := json.NewDecoder(res.Body).Decode(&x); err != nil || x.Verdict.Allowed() {
		t.Errorf("after deny the API says %+v, %v", x, err)
	}
	webtest.Do(t, tab, typed("And now?"))
	webtest.Until(t, tab, newestLine+`.querySelector('.mark').textContent.includes('not sent: send blocked by session policy: session override')`)
	webtest.Press(t, tab, newestLine+`.querySelector('.mark button')`) // the words are in the box again
	webtest.Press(t, tab, `document.getElementById('policy-inherit')`)
	webtest.Until(t, tab, `document.getElementById('verdict').textContent.includes('Answers are sent')`)
	webtest.Do(t, tab, typed(" Again"))
	mark("sent")
}

// shownAsText says and answers what would do harm in a page that believes it; nothing moves out of the view of a small phone.
func shownAsText(t *testing.T, tab context.Context, model pen) {
	long := strings.Repeat("x", 10000)
	say := fmt.Sprintf(`(() => { const b = document.getElementById('text'); b.value = %q; b.dispatchEvent(new Event('input')); document.getElementById('composer').requestSubmit(); })()`, hostileText+long)
	webtest.Do(t, tab, chromedp.EmulateViewport(360, 700), chromedp.Evaluate[chromedp.Void](say))
	model.write(t, hostileText, "[a](javascript:window.pwned=1) ", long, "")
	webtest.Until(t, tab, newestLine+`.matches('.agent') && `+newestLine+`.textContent.includes('xxxx') && !document.querySelector('#draft *')`)
	const lines = `[...document.querySelectorAll('#log .said')].slice(-2)`
	for _, c := range []string{
		`!window.pwned`, `!document.querySelector('#log :is(script, img, [onerror], [href^=javascript])')`,
		lines + `.every((el) => el.textContent.includes('<script>window.pwned = 1</script>') && el.textContent.includes('{{.}}') && el.textContent.includes('\u{1F469}\u200d\u{1F467}'))`,
		`document.documentElement.scrollWidth <= 360 && document.getElementById('scroll').scrollWidth <= 360`,
	} {
		if !webtest.Eval[bool](t, tab, c) {
			t.Errorf("not so: %s", c)
		}
	}
	webtest.Do(t, tab, chromedp.EmulateViewport(1280, 800))
}

func stopped(t *testing.T, tab context.Context, model pen) {
	webtest.Do(t, tab, typed("Think for ever"))
	model.write(t, "Well")
	webtest.Until(t, tab, `document.querySelector('#draft .md')?.textContent.includes('Well')`)
	webtest.Do(t, tab, chromedp.Click("#stop", chromedp.NodeVisible))
	webtest.Until(t, tab, `document.getElementById('stop').hidden && document.getElementById('work').hidden && !document.querySelector('#draft *') && document.querySelector('.toast').textContent.includes('Stopped')`)
}

// begunAnew resets, which asks first; what was said before can still be read.
func begunAnew(t *testing.T, tab context.Context) {
	press := func(sel string) {
		t.Helper()
		webtest.Press(t, tab, `document.querySelector('`+sel+`')`)
	}
	press("#reset")
	webtest.Until(t, tab, `document.getElementById('ask').open`)
	if asks := webtest.Eval[string](t, tab, `document.getElementById('ask').textContent`); !strings.Contains(asks, "Settings stay") {
		t.Errorf("it asks %q", asks)
	}
	press("#ask button[value=no]")
	webtest.Until(t, tab, `!document.querySelector('#ask[open]') && document.querySelectorAll('#log .said').length > 8`)
	press("#reset")
	webtest.Until(t, tab, `document.getElementById('ask').open`)
	press("#ask-yes")
	webtest.Do(t, tab, chromedp.WaitVisible("#nothing"))
	press(".plain a")
	webtest.Do(t, tab, chromedp.WaitVisible(".note"))
	webtest.Until(t, tab, `document.querySelector('#log').textContent.includes('The first half') && !document.getElementById('composer')`)
}

// foundAgain searches for what was said before the reset, and goes there.
func foundAgain(t *testing.T, tab context.Context, h *host) {
	webtest.Do(t, tab, chromedp.Navigate(h.URL+"/search"), chromedp.WaitVisible("#q"), chromedp.SendKeys("#q", "second half"))
	webtest.Until(t, tab, `[...document.querySelectorAll('.hits mark')].map((m) => m.textContent).join() === 'half,second'`)
	webtest.Do(t, tab, chromedp.Navigate(webtest.Eval[string](t, tab, `document.querySelector('.hits a').href`)))
	webtest.Until(t, tab, `document.querySelector('.said.found')?.textContent.includes('The first half, and the second.')`)
}
