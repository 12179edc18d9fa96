package webtest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// Quiet has the test fail when a tab complains: errors and warnings in the console, breaches of the content security policy,
// exceptions, resources that are not there. Call it before the pages are opened; expected are parts of complaints that belong to the test.
func Quiet(t testing.TB, tab context.Context, expected func(complaint string) bool) {
	t.Helper()
	var mu sync.Mutex
	var said []string
	add := func(format string, a ...any) {
		mu.Lock()
		defer mu.Unlock()
		said = append(said, fmt.Sprintf(format, a...))
	}
	err := chromedp.Listen(tab, func(ev any) {
		switch e := ev.(type) {
		case *log.EventEntryAdded:
			if e.Entry.Level == log.EntryLevelError || e.Entry.Level == log.EntryLevelWarning {
				add("%s: %s %s", e.Entry.Source, e.Entry.Text, e.Entry.URL)
			}
		case *runtime.EventExceptionThrown:
			add("exception: %v", e.ExceptionDetails)
		case *runtime.EventConsoleAPICalled:
			if e.Type == "error" || e.Type == "warning" {
				add("console.%s: %v", e.Type, e.Args)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		mu.Lock()
		defer mu.Unlock()
		said = slices.DeleteFunc(said, func(s string) bool { return expected != nil && expected(s) })
		for _, s := range said[:min(len(said), 10)] {
			t.Errorf("the page complains: %.400s", s)
		}
	})
}
