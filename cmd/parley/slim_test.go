package main

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// Memory is given back soon after the start and after each burst, once a minute at most, and not while a chat goes on at its pace.
func TestSlim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		l, collected, freed := newWorkload(), uint64(5), 0
		go slim(ctx, l, func() uint64 { return collected }, func() { freed++ })
		after := func(d time.Duration, want int, what string) {
			t.Helper()
			time.Sleep(d)
			if synctest.Wait(); freed != want {
				t.Fatalf("%s: given back %d times, want %d", what, freed, want)
			}
		}
		work := func(n uint64) {
			l.set(true)
			collected += n
			l.set(false)
		}
		after(2*time.Second, 1, "the start")
		for range 7 {
			work(1)
			after(time.Minute, 1, "a message now and then")
		}
		for range 10 {
			work(1)
			after(2*time.Second, 1, "a burst that goes on")
		}
		l.set(true)
		after(time.Minute, 1, "a long turn")
		l.set(false)
		after(4*time.Second, 2, "a burst")
		work(100)
		after(50*time.Second, 2, "a second burst within a minute")
		work(0)
		after(15*time.Second, 3, "a second burst")
		after(time.Hour, 3, "an idle hour")
		cancel()
		synctest.Wait()
	})
}

// A host collects garbage sooner than the runtime would by itself, and as the environment says where that says anything.
func TestGrowth(t *testing.T) {
	t.Parallel()
	for environment, want := range map[string]string{"GOGC=": "50", "GOGC=300": "300"} {
		t.Run(environment, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.env = []string{environment}
			w.config("", "")
			p := w.start()
			resp, err := http.Get(p.url + "/metrics")
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = resp.Body.Close() }()
			metrics, err := io.ReadAll(resp.Body)
			if err != nil || !strings.Contains(string(metrics), "\ngo_gc_gogc_percent "+want+"\n") {
				t.Errorf("the metrics do not say %s %%: %v", want, err)
			}
			p.stop()
		})
	}
}
