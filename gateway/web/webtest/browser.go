package webtest

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/storage"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
)

// patience bounds one test's whole use of the browser, so that a page that never shows what is waited for fails the test.
const patience = 90 * time.Second

// shared is the browser of all tests that run at the same time: starting one costs more than most tests, and so does a window.
var shared struct {
	mu    sync.Mutex
	users int
	ctx   context.Context
	stop  func()
	free  []window // that no test uses
}

// window is a window of the browser with one tab, in a profile of its own.
type window struct {
	profile cdp.BrowserContextID
	tab     target.ID
}

// Keep has the browser, once it has started, stay until release is called, also while no test uses it: for a TestMain.
func Keep() (release func()) {
	shared.mu.Lock()
	defer shared.mu.Unlock()
	shared.users++
	return leave
}

func leave() {
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if shared.users--; shared.users == 0 && shared.stop != nil {
		shared.stop()
		shared.stop, shared.free = nil, nil
	}
}

// Browser gives the context of a tab in a profile of its own, in a headless Chromium that tests share: it starts with the first
// and ends with the last. The test is skipped when there is no Chromium; PARLEY_CHROMIUM names one that is not in PATH.
func Browser(t testing.TB) context.Context {
	t.Helper()
	path := find(t)
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if shared.stop == nil {
		shared.ctx, shared.stop = start(t, path)
	}
	shared.users++
	t.Cleanup(leave)
	ctx, cancel := context.WithTimeout(shared.ctx, patience)
	t.Cleanup(cancel)
	w, err := take(ctx)
	if err != nil {
		t.Fatal(err)
	}
	tab, detach := chromedp.NewContext(ctx, chromedp.WithTargetID(w.tab), chromedp.WithDetachOnCancel())
	t.Cleanup(func() {
		err := clean(tab, w)
		detach()
		if err == nil {
			shared.mu.Lock()
			defer shared.mu.Unlock()
			shared.free = append(shared.free, w)
		}
	})
	Do(t, tab, chromedp.Func(func(ctx context.Context, tab *chromedp.Target) error { // each tab believes that it is in front
		_, err := cdp.Call(ctx, tab, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true})
		return err
	}))
	return tab
}

// Beside gives another tab in the profile of a tab, for as long as the test.
func Beside(t testing.TB, tab context.Context) context.Context {
	t.Helper()
	c := chromedp.FromContext(tab)
	info, err := cdp.Call(tab, c.Browser, target.GetTargetInfo, target.GetTargetInfoParams{TargetID: c.Target.TargetID})
	if err != nil {
		t.Fatal(err)
	}
	yes := true // in a window of its own: both are seen
	made, err := cdp.Call(tab, c.Browser, target.CreateTarget, target.CreateTargetParams{URL: "about:blank", BrowserContextID: info.TargetInfo.BrowserContextID, NewWindow: &yes})
	if err != nil {
		t.Fatal(err)
	}
	other, _ := chromedp.NewContext(tab, chromedp.WithTargetID(made.TargetID))
	return other
}

// take gives a window that no test uses, or a new one. What a test had it believe, its size and its colours, ended with that test.
func take(ctx context.Context) (w window, err error) {
	if n := len(shared.free); n > 0 {
		w, shared.free = shared.free[n-1], shared.free[:n-1]
		return w, nil
	}
	browser, yes := chromedp.FromContext(ctx).Browser, true
	profile, err := cdp.Call(ctx, browser, target.CreateBrowserContext, target.CreateBrowserContextParams{})
	if err != nil {
		return w, err
	}
	made, err := cdp.Call(ctx, browser, target.CreateTarget, target.CreateTargetParams{URL: "about:blank", BrowserContextID: profile.BrowserContextID, NewWindow: &yes})
	return window{profile.BrowserContextID, made.TargetID}, err
}

// clean leaves nothing of a test in a window.
func clean(tab context.Context, w window) error {
	return chromedp.Do(tab,
		chromedp.Evaluate[chromedp.Void](`try { localStorage.clear(); sessionStorage.clear() } catch { }`), // a page that failed to load has none
		chromedp.Navigate("about:blank"),
		chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
			_, err := cdp.Call(ctx, chromedp.FromContext(ctx).Browser, storage.ClearCookies, storage.ClearCookiesParams{BrowserContextID: w.profile})
			return err
		}))
}

// start starts a browser.
func start(t testing.TB, path string) (ctx context.Context, stop func()) {
	t.Helper()
	profile, err := os.MkdirTemp("/dev/shm", "parley-chromium-") // in memory: a start waits for the disk many times
	if err != nil {
		profile, err = os.MkdirTemp("", "parley-chromium-")
	}
	if err != nil {
		t.Fatal(err)
	}
	opts := []chromedp.ExecAllocatorOption{
		chromedp.ExecPath(path), chromedp.UserDataDir(profile),
		chromedp.Headless, chromedp.DisableGPU, chromedp.NoFirstRun, chromedp.NoDefaultBrowserCheck,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true), chromedp.Flag("disable-extensions", true), chromedp.Flag("disk-cache-size", "1"),
		chromedp.Flag("disable-features", "PreloadTopChromeWebUI,WebUIOmniboxPopup,InitialWebUI,WebUIReloadButton,Translate"), // what is around a page
		chromedp.Flag("disable-backgrounding-occluded-windows", true), chromedp.Flag("disable-renderer-backgrounding", true), chromedp.Flag("disable-background-timer-throttling", true),
	}
	if os.Geteuid() == 0 {
		opts = append(opts, chromedp.NoSandbox) // Chromium refuses root otherwise
	}
	ctx, end := chromedp.NewExecAllocator(context.Background(), opts...)
	ctx, closeTab := chromedp.NewContext(ctx)
	stop = func() {
		closeTab()
		end()
		_ = os.RemoveAll(profile) // what the system cleans up otherwise
	}
	if err := chromedp.Do(ctx); err != nil {
		stop()
		t.Fatal(err)
	}
	return ctx, stop
}

func find(t testing.TB) string {
	t.Helper()
	if p := os.Getenv("PARLEY_CHROMIUM"); p != "" {
		return p
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "headless-shell"} {
		if p, err := exec.LookPath(name); err == nil {
			return p
		}
	}
	t.Skip("no Chromium in PATH: install one or name it in PARLEY_CHROMIUM")
	return ""
}

// Do runs steps in a tab and ends the test when one fails.
func Do(t testing.TB, tab context.Context, steps ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	if err := chromedp.Do(tab, steps...); err != nil {
		t.Fatal(err)
	}
}

// Until waits until a JavaScript expression is true in a tab, and ends the test when it never is.
func Until(t testing.TB, tab context.Context, expression string) {
	t.Helper()
	if _, err := chromedp.Run(tab, chromedp.Poll[bool](expression, chromedp.WithPollingInterval(20*time.Millisecond))); err != nil {
		html, _ := chromedp.Run(tab, chromedp.OuterHTML("main"))
		t.Fatalf("waiting for %s: %v\nthe page shows %s", expression, err, html)
	}
}

// Press clicks what a JavaScript expression gives, as soon as it is there and can be used: while a part of a page is being exchanged, its
// buttons do nothing yet.
func Press(t testing.TB, tab context.Context, expression string) {
	t.Helper()
	Until(t, tab, `!document.querySelector('.htmx-request, .htmx-settling, .htmx-added') && ((b) => !!b && !b.disabled && (b.click(), true))(`+expression+`)`)
}

// Hurry makes the timers of the pages that a tab opens from now on ten times as fast, for what a page does again after seconds.
func Hurry(t testing.TB, tab context.Context) {
	t.Helper()
	Do(t, tab, chromedp.Func(func(ctx context.Context, tab *chromedp.Target) error {
		_, err := cdp.Call(ctx, tab, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{
			Source: `{ const wait = setTimeout; window.setTimeout = (f, ms, ...more) => wait(f, ms / 10, ...more); }`,
		})
		return err
	}))
}

// Eval gives the value of a JavaScript expression in a tab.
func Eval[T any](t testing.TB, tab context.Context, expression string) T {
	t.Helper()
	v, err := chromedp.Run(tab, chromedp.Evaluate[T](expression))
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// looks are how screenshots are taken.
var looks = []struct {
	name          string
	width, height int64
	mobile        bool
	scheme        string
}{
	{"light", 1100, 760, false, "light"},
	{"dark", 1100, 760, false, "dark"},
	{"mobile", 390, 780, true, "light"},
	{"mobile-dark", 390, 780, true, "dark"},
}

// Screenshots saves the tab as it looks in light and dark, wide and on a phone, as <prefix>-<look>.png in the folder
// PARLEY_SCREENSHOTS. Without that variable it does nothing.
func Screenshots(t testing.TB, tab context.Context, prefix string) {
	t.Helper()
	dir := os.Getenv("PARLEY_SCREENSHOTS")
	if dir == "" {
		return
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, l := range looks {
		view := []chromedp.EmulateViewportOption{chromedp.EmulateScale(2)}
		if l.mobile {
			view = append(view, mobile)
		}
		Do(t, tab, Scheme(l.scheme), chromedp.EmulateViewport(l.width, l.height, view...),
			chromedp.Sleep(400*time.Millisecond)) // new lines move into place
		png, err := chromedp.Run(tab, chromedp.CaptureScreenshot())
		if err != nil {
			t.Fatalf("screenshot %s: %v", l.name, err)
		}
		if err := os.WriteFile(filepath.Join(dir, prefix+"-"+l.name+".png"), png, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	Do(t, tab, chromedp.ResetViewport(), Scheme(""))
}

func mobile(p *emulation.SetDeviceMetricsOverrideParams, touch *emulation.SetTouchEmulationEnabledParams) {
	p.Mobile, touch.Enabled = true, true
}

// Scheme has a page believe that the system is light or dark; empty = as it is.
func Scheme(scheme string) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, tab *chromedp.Target) error {
		p := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}
		_, err := cdp.Call(ctx, tab, emulation.SetEmulatedMedia, p)
		return err
	})
}
