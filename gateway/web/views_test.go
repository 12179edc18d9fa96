package web_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"parley/channels"
	"parley/gateway/api"
	"parley/gateway/web/webtest"
	"parley/policy"
	"parley/sessions"
)

// paths are the views and one page of each thing that they list.
var paths = []string{"/runs", "/runs/r9", "/deliveries", "/deliveries/d7", "/policy?session=" + garden + "&to=", "/pairing", "/usage", "/cron", "/cron/j1", "/status", "/channels"}

// pictures are those that the documentation shows.
var pictures = map[string]string{"/runs": "runs.png", "/deliveries": "deliveries.png", paths[4]: "policy.png", "/usage": "usage.png", "/channels": "channels.png"}

const (
	nasty = `<img src=x onerror="document.body.dataset.pwned=1">"'}}{{.` + "\u202e" + `</script><script>document.body.dataset.pwned=1</script>`
	// wider than a phone, with no place to break it.
	wide = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft_Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft"
)

// hostile fills everything that others write with words that are no markup and fit nowhere.
func hostile(w *works) {
	household(w)
	for i := range w.runs {
		r := &w.runs[i]
		r.Request, r.Result, r.Error, r.Label, r.Agent = nasty+wide, wide+nasty, nasty+wide, nasty, sessions.AgentID(nasty+wide)
	}
	run := w.traces["r9"][0].Run
	run.Input = sessions.Message{Role: sessions.User, Content: sessions.TextContent(nasty + wide), Provenance: &sessions.Provenance{Kind: sessions.ExternalUser, Name: nasty + wide}}
	run.Error, run.Label, run.Model = nasty, nasty+wide, nasty+wide
	steps := w.traces["r9"][0].Steps
	steps[0].Content[0].Text, steps[0].Content[1].Name, steps[0].Content[1].Arguments = nasty+wide+"\n\n```\n"+wide+"\n```", nasty+wide, []byte(`{"a": "<script>document.body.dataset.pwned=1</script>`+wide+`"}`)
	steps[1].Content = sessions.TextContent(nasty + wide)
	for i := range w.deliveries {
		d := &w.deliveries[i]
		d.Text, d.Error, d.To.Chat = nasty+"\n\n"+wide, nasty+wide, channels.ChatID(nasty+wide)
		d.Verdict = &policy.Verdict{Action: policy.Deny, Rule: nasty + wide, Reason: wide + nasty}
		d.Receipts = []channels.Receipt{{ID: channels.MessageID(nasty + wide), At: w.now}}
	}
	w.rules.Rules[0].Match.To = nasty + wide
	w.sessions[1].Title, w.sessions[0].Label = nasty+wide, nasty
	w.asking[0].Name, w.asking[0].User = nasty+wide, nasty
	w.admitted[0].Name, w.admitted[0].User = nasty, nasty+wide
	for i := range w.jobs {
		j := &w.jobs[i]
		j.Name, j.Message, j.When, j.To, j.Status = nasty+wide, nasty+wide, nasty+wide, nasty+wide, nasty+wide
	}
	w.history["j1"][0].Result, w.history["j1"][1].Skipped = nasty+wide, nasty+wide
	for i := range w.usage {
		w.usage[i].Agent, w.usage[i].Model = sessions.AgentID(fmt.Sprint(nasty, wide, i%9)), nasty+wide
	}
	w.status.Model, w.status.ModelWhy, w.status.Config = nasty+wide, nasty+wide, "/"+wide+nasty
	for i := range w.status.Accounts {
		a := &w.status.Accounts[i]
		a.Name, a.Detail, a.Todo, a.Live = nasty+wide, nasty+wide, nasty+wide, false
	}
	w.status.Servers[0].Name, w.status.Sandbox = nasty+wide, []string{nasty + wide}
}

// Every view fits a phone of 360 px and a desk, in light and dark, with nothing, with much and with hostile words in it; nothing of it is
// markup, and the browser has nothing to complain about.
func TestHostViewsFit(t *testing.T) {
	t.Parallel()
	for name, fill := range map[string]func(*works){"nothing": nil, "much": household, "hostile": hostile} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorks(t, fill)
			tab := webtest.Browser(t)
			enter(t, tab, w, "")
			for _, path := range paths {
				if fill == nil && strings.Count(path, "/") > 1 {
					continue // there is no such thing
				}
				webtest.Do(t, tab, chromedp.EmulateViewport(360, 740), chromedp.Navigate(w.URL+path), chromedp.WaitVisible("h1"))
				fits(t, tab, path)
				webtest.Do(t, tab, chromedp.EmulateViewport(1280, 800))
				fits(t, tab, path)
				if webtest.Eval[bool](t, tab, `!!document.body.dataset.pwned || !!document.querySelector('main img, main script')`) {
					t.Errorf("%s: words became markup", path)
				}
				if file := pictures[path]; file != "" && name == "much" {
					picture(t, tab, file, "light", 1180, 820)
				}
			}
		})
	}
}

// Whether a run, a chat or a rule is on the page, as one text.
func shows(of, text string) string {
	return fmt.Sprintf(`document.querySelector(%q)?.textContent.includes(%q)`, of, text)
}

// sure answers the question before what cannot be undone.
func sure() chromedp.Action[chromedp.Void] {
	return chromedp.Click("#ask-yes")
}

// A run is stopped on its page; the tree shows it, and loads itself again when something happens.
func TestRunsView(t *testing.T) {
	t.Parallel()
	w := newWorks(t, household)
	tab := webtest.Browser(t)
	enter(t, tab, w, "")
	webtest.Do(t, tab, chromedp.Navigate(w.URL+"/runs"), chromedp.WaitVisible("#rows .run"))
	if !webtest.Eval[bool](t, tab, `!!document.querySelector('[data-run=r9] .below [data-run=r7] ~ [data-run=r6]') && !!document.querySelector('[data-run=r9] .below [data-run=r8]') && !!document.querySelector('[data-run=r5] .below [data-run=r4]')`) {
		t.Error("the sub-agents and asks are not below the runs that began them")
	}
	webtest.Do(t, tab, chromedp.Evaluate[chromedp.Void](`document.querySelector('select[name=status]').value = 'failed'; document.querySelector('select[name=status]').dispatchEvent(new Event('change', { bubbles: true }))`))
	until(t, tab, `document.querySelectorAll('[data-run]').length === 1 && location.search.includes('status=failed') && `+shows("#rows", "529"))

	webtest.Do(t, tab, chromedp.Navigate(w.URL+"/runs"), chromedp.WaitVisible("#rows .run"))
	until(t, tab, `document.querySelectorAll('[data-run]').length === 7`)
	w.waitListener(t)
	w.mu.Lock()
	w.runs = append([]api.Run{{ID: "r10", Key: anna, Status: sessions.Queued, Request: "One more thing", Created: time.Now()}}, w.runs...)
	w.mu.Unlock()
	w.tell(api.Event{Kind: "run", Run: "r10"})
	until(t, tab, shows("#working", "One more thing")+` && !`+shows("#ended", "One more thing"))
	until(t, tab, `(window.clock ??= document.querySelector('#working time[data-since]').textContent) !== document.querySelector('#working time[data-since]').textContent`)

	webtest.Do(t, tab, chromedp.Navigate(w.URL+"/runs/r9"), chromedp.WaitVisible("#cancel"), chromedp.Evaluate[chromedp.Void](`document.querySelector('#tool-c1').open = true`), chromedp.Click("#cancel"))
	until(t, tab, `document.getElementById('ask').open && `+shows("#ask-title", "Stop this run?"))
	w.tell(api.Event{Kind: "run", Run: "r9", Session: anna})                                                           // what happens in the meantime takes nothing away from under the question
	webtest.Do(t, tab, chromedp.Evaluate[chromedp.Void](`setTimeout(() => { document.body.dataset.later = 1 }, 700)`)) // beyond the pause of live.js
	until(t, tab, `!!document.body.dataset.later`)
	webtest.Do(t, tab, sure())
	until(t, tab, `!document.querySelector('#cancel') && `+shows(".timeline", "Stopped")+` && `+shows("#toasts", "Run stopped."))
	if !webtest.Eval[bool](t, tab, `document.querySelector('#tool-c1').open && !document.querySelector('#tool-c2').open && document.querySelector('#tool-c1').textContent.includes('"runId":"r7"')`) {
		t.Error("what was unfolded is folded again")
	}
}

// A message that failed is sent again from the list, one that is held is dropped on its page; what cannot be done says why.
func TestDeliveriesView(t *testing.T) {
	t.Parallel()
	w := newWorks(t, household)
	tab := webtest.Browser(t)
	enter(t, tab, w, "409")
	webtest.Do(t, tab, chromedp.Navigate(w.URL+"/deliveries?state=failed"), chromedp.WaitVisible("#retry-d7"))
	if n := webtest.Eval[int](t, tab, `document.querySelectorAll('tr[id^=d-]').length`); n != 1 {
		t.Errorf("%d failed deliveries are listed, want 1", n)
	}
	webtest.Do(t, tab, chromedp.Navigate(w.URL+"/deliveries"), chromedp.WaitVisible("#retry-d7"), chromedp.Click("#retry-d7"))
	until(t, tab, shows("#d-d7 .badge", "pending")+` && !document.querySelector('#retry-d7') && `+shows("#toasts", "queued for sending"))
	webtest.Do(t, tab, chromedp.Navigate(w.URL+"/deliveries/d6"), chromedp.WaitVisible("#drop"), chromedp.Click("#drop"))
	until(t, tab, `document.getElementById('ask').open`)
	webtest.Do(t, tab, sure())
	until(t, tab, shows("#delivery .badge", "dropped")+` && !document.querySelector('#drop') && !!document.querySelector('#retry')`)
	if !webtest.Eval[bool](t, tab, shows(".trail", "session.sendPolicy.default")) {
		t.Error("the steps of the decision are not shown")
	}
	// In the meantime it was sent: the API says so, and the page stays.
	w.mu.Lock()
	w.deliveries[3].State = sessions.Sent
	w.mu.Unlock()
	webtest.Do(t, tab, chromedp.Click("#retry"))
	until(t, tab, shows("#alerts", "is sent already")+` && !!document.querySelector('#retry')`)
}

// The tester shows the rule that decides and every step to it; what is no address stays in its field with the reason.
func TestPolicyView(t *testing.T) {
	t.Parallel()
	w := newWorks(t, household)
	tab := webtest.Browser(t)
	enter(t, tab, w, "")
	webtest.Do(t, tab, chromedp.Navigate(w.URL+"/policy"), chromedp.WaitVisible("[name=to]"), chromedp.SendKeys("[name=to]", "whatsapp/default/group/77\r"))
	until(t, tab, shows("#tried .note", "Withheld")+` && `+shows("#tried .note", "session.sendPolicy.rules[0]")+` && document.querySelectorAll('#tried tbody tr').length === 5 && location.search.includes('to=whatsapp')`)
	if hit := webtest.Eval[string](t, tab, `[...document.querySelectorAll('#tried tr.hit code')].map((e) => e.textContent).join()`); hit != "session.sendPolicy.rules[0]" {
		t.Errorf("these steps decide: %s", hit)
	}
	webtest.Do(t, tab, chromedp.Evaluate[chromedp.Void](`document.querySelector('[name=to]').value = ''`), chromedp.SendKeys("[name=to]", "nowhere\r"))
	until(t, tab, `document.querySelector('#to-refused')?.textContent.startsWith('to:') && document.querySelector('[name=to]').value === 'nowhere'`)
	webtest.Do(t, tab, chromedp.Reload(), chromedp.WaitVisible("#to-refused"))
	until(t, tab, `document.querySelector('[name=to]').value === 'nowhere'`)
	webtest.Do(t, tab, chromedp.Evaluate[chromedp.Void](`document.querySelector('[name=to]').value = ''`), chromedp.SendKeys("[name=session]", garden+"\r"))
	until(t, tab, shows("#tried .note", "session override"))
	webtest.Do(t, tab, chromedp.SendKeys("[name=sender]", "nobody\r"))
	until(t, tab, shows("#tools", `sender "nobody"`))
	webtest.Do(t, tab, chromedp.Evaluate[chromedp.Void](`document.querySelector('[name=sender]').value = ''`), chromedp.SendKeys("[name=sender]", "owner\r"))
	until(t, tab, shows("#tools", "sessions_send")+` && `+shows("#tools", "tools.deny"))
}

// A wrong code stays in its field with the host's words; the right one lets its person in, and taking that back asks first.
func TestPairingView(t *testing.T) {
	t.Parallel()
	w := newWorks(t, household)
	tab := webtest.Browser(t)
	enter(t, tab, w, "")
	webtest.Do(t, tab, chromedp.Navigate(w.URL+"/pairing"), chromedp.WaitVisible("#code"))
	if html := webtest.Eval[string](t, tab, `document.documentElement.outerHTML`); strings.Contains(html, rightCode) {
		t.Error("the code is on the page")
	}
	webtest.Do(t, tab, chromedp.SendKeys("#code", "WRONG123\r"))
	until(t, tab, shows("#code-refused", "nobody on telegram waits with this code")+` && document.getElementById('code').value === 'WRONG123' && document.getElementById('code').getAttribute('aria-describedby') === 'code-refused'`)
	webtest.Do(t, tab, chromedp.Evaluate[chromedp.Void](`document.getElementById('code').value = ''; document.querySelector('[name=owner]').checked = true`), chromedp.SendKeys("#code", rightCode+"\r"))
	until(t, tab, shows("#toasts", "Bo may write now. This person is an owner.")+` && !document.getElementById('code') && document.querySelectorAll('#people tbody tr').length === 3`)
	webtest.Press(t, tab, `document.querySelector('[aria-label="Remove the approval of Dan"]')`)
	until(t, tab, `document.getElementById('ask').open`)
	webtest.Do(t, tab, sure())
	until(t, tab, `document.querySelectorAll('#people tbody tr').length === 2 && !`+shows("#people", "Dan"))
}

// A job is added, corrected where the API refuses it, begun, changed, switched off and removed.
func TestCronView(t *testing.T) {
	t.Parallel()
	w := newWorks(t, household)
	tab := webtest.Browser(t)
	enter(t, tab, w, "")
	webtest.Do(t, tab, chromedp.Navigate(w.URL+"/cron"), chromedp.WaitVisible("#message"),
		chromedp.SendKeys("#message", "Water the <tomatoes>"), chromedp.SendKeys("#when", "often\r"))
	until(t, tab, shows("#when-refused", "five fields are needed")+` && document.getElementById('message').value === 'Water the <tomatoes>' && document.getElementById('when').value === 'often'`)
	webtest.Do(t, tab, chromedp.Evaluate[chromedp.Void](`document.getElementById('when').value = ''`), chromedp.SendKeys("#when", "0 7 * * *\r"))
	until(t, tab, shows("#jobs", "Water the <tomatoes>")+` && document.getElementById('message').value === '' && document.querySelectorAll('#jobs').length === 1`)
	webtest.Do(t, tab, chromedp.Click("#now-job3"))
	until(t, tab, shows("[data-job=job3]", "running"))

	webtest.Do(t, tab, chromedp.Navigate(w.URL+"/cron/j3"), chromedp.WaitVisible("#now"), chromedp.Click("#now"))
	until(t, tab, shows("#job .timeline", "by hand"))
	webtest.Do(t, tab, chromedp.Evaluate[chromedp.Void](`document.querySelector('#edit [name=way]').value = 'every'; document.querySelector('#edit [name=name]').value = 'Watering'; document.getElementById('when').value = ''`), chromedp.SendKeys("#when", "soon\r"))
	until(t, tab, shows("#when-refused", "want a time like 24h")+` && document.querySelector('#edit [name=name]').value === 'Watering'`)
	webtest.Do(t, tab, chromedp.Evaluate[chromedp.Void](`document.getElementById('when').value = ''`), chromedp.SendKeys("#when", "48h\r"))
	until(t, tab, shows("#job h1", "Watering")+` && `+shows("#job", "every 48h")+` && document.querySelectorAll('#job').length === 1`)
	webtest.Do(t, tab, chromedp.Click("#switch"))
	until(t, tab, shows("#switch", "Switch off"))
	webtest.Do(t, tab, chromedp.Click("#remove"))
	until(t, tab, `document.getElementById('ask').open`)
	webtest.Do(t, tab, sure(), chromedp.WaitVisible("#add"))
	until(t, tab, `location.pathname === '/cron' && document.querySelectorAll('#jobs tbody tr').length === 3`)
}

// A job that is begun by a double click is begun once, although the first click has put a new button in the place of the old one.
func TestDoubleClick(t *testing.T) {
	t.Parallel()
	w := newWorks(t, household)
	tab := webtest.Browser(t)
	enter(t, tab, w, "")
	webtest.Do(t, tab, chromedp.Navigate(w.URL+"/cron"), chromedp.WaitVisible("#now-j1"))
	until(t, tab, `!!document.getElementById('theme').title`)
	w.mu.Lock()
	before := len(w.history["j1"])
	w.mu.Unlock()
	webtest.Do(t, tab, chromedp.Evaluate[chromedp.Void](`(() => {
		window.twice = () => { for (let i = 0; i < 2; i++) document.getElementById('now-j1').click(); };
		document.addEventListener('htmx:beforeRequest', (e) => { if (e.detail.requestConfig.verb === 'post') window.went = true; });
		const now = Date.now; // of a page that takes a second to show what came
		document.addEventListener('htmx:afterSwap', (e) => { if (e.detail.requestConfig.verb === 'post') Date.now = () => now() + 1000; });
		document.addEventListener('toast', () => document.addEventListener('htmx:afterSettle', () => { window.twice(); document.body.dataset.again = 1; }, { once: true }), { once: true });
	})()`))
	webtest.Until(t, tab, `!!window.went || (window.twice(), !!window.went)`) // the button may have been put there just now
	until(t, tab, `!!document.body.dataset.again`)
	w.mu.Lock()
	defer w.mu.Unlock()
	if n := len(w.history["j1"]) - before; n != 1 {
		t.Errorf("it was begun %d times", n)
	}
}

// The bars of the chart say what the table says, for each range and measure.
func TestUsageView(t *testing.T) {
	t.Parallel()
	w := newWorks(t, household)
	tab := webtest.Browser(t)
	enter(t, tab, w, "")
	for _, path := range []string{"/usage?days=7", "/usage?days=30&show=tokens", "/usage?days=90"} {
		webtest.Do(t, tab, chromedp.Navigate(w.URL+path), chromedp.WaitVisible(".chart svg"))
		got := webtest.Eval[[]float64](t, tab, `[
			[...document.querySelectorAll('.chart rect')].reduce((sum, r) => sum + Number(r.dataset.value), 0),
			[...document.querySelectorAll('tbody tr td:not(:last-child) data')].reduce((sum, d) => sum + Number(d.value), 0),
			[...document.querySelectorAll('tbody tr td:last-child data')].reduce((sum, d) => sum + Number(d.value), 0),
			document.querySelectorAll('.chart rect').length, [...document.querySelectorAll('tbody tr td:not(:last-child) data')].filter((d) => d.value !== '0').length]`)
		if got[0] == 0 || got[0] != got[1] || got[1] != got[2] || got[3] != got[4] {
			t.Errorf("%s: the bars are %v, the cells %v, the days %v; %v bars for %v cells", path, got[0], got[1], got[2], got[3], got[4])
		}
		if wrong := webtest.Eval[string](t, tab, `(() => {
			const box = document.querySelector('.chart svg').getBoundingClientRect();
			return [...document.querySelectorAll('.chart rect')].map((r) => r.getBoundingClientRect()).filter((r) => r.left < box.left || r.right > box.right + 1 || r.top < box.top - 1 || r.bottom > box.bottom + 1 || r.width < 1).length + '';
		})()`); wrong != "0" {
			t.Errorf("%s: %s bars are out of the drawing", path, wrong)
		}
	}
}
