package event

import (
	"fmt"
	"testing"
	"testing/synctest"

	"parley/sessions"
)

// A watcher that lags behind is cut off, texts first; the others do not notice, and nothing waits for it.
func TestWatchCutsOff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var b Bus
		slow, cancel := b.Watch(Filter{})
		defer cancel()
		quick, cancelQuick := b.Watch(Filter{})
		defer cancelQuick()
		read := make(chan int)
		go func() {
			n := 0
			for e := range quick {
				if n++; e.Job == "last" {
					break
				}
			}
			read <- n
		}()
		const texts = 10
		for i := range texts { // of as many runs
			b.Publish(Event{Kind: KindText, Run: sessions.RunID(fmt.Sprint(i))})
			synctest.Wait()
		}
		for range maxWaiting {
			b.Publish(Event{Kind: KindJob})
			synctest.Wait()
		}
		if n := len(b.all); n != 2 {
			t.Fatalf("%d watch: the texts were to go first", n)
		}
		b.Publish(Event{Kind: KindJob, Job: "last"})
		if n := <-read; n != texts+maxWaiting+1 {
			t.Errorf("the quick one read %d", n)
		}
		if n := len(b.all); n != 1 {
			t.Errorf("%d watch", n)
		}
		for range slow {
			t.Log("what was on its way")
		}
	})
}
