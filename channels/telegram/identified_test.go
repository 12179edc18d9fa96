package telegram_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"parley/channels"
)

// No event is offered before it is on disk who the bot is, not even one that cannot be read, however late that is; it is asked for by
// no more calls meanwhile, and nothing is lost.
func TestEventsWaitForTheIdentity(t *testing.T) {
	for name, poison := range map[string]string{"readable": "", "no JSON": `{"update_id":$id,"message":{"text":"cut off`} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t)
				var noted atomic.Bool
				r.identified = func(ctx context.Context, who channels.UserID) {
					if channels.Sleep(ctx, time.Hour) {
						noted.Store(true)
					}
				}
				r.ch = r.open()
				r.refuse = func(in channels.Inbound) error {
					if !noted.Load() {
						t.Errorf("offered before it is on disk who the bot is: %+v", in)
					}
					return nil
				}
				if poison != "" {
					r.srv.Raw(poison)
				}
				r.srv.Say(anna, anna, "early")
				r.start()
				time.Sleep(59 * time.Minute) // virtual time
				if n := len(r.srv.Calls("getUpdates")); n > 10 {
					t.Errorf("%d polls", n)
				}
				time.Sleep(2 * time.Minute) // virtual time
				got := r.wait(1)
				if last := got[len(got)-1]; last.Text != "early" || len(got) != 1 && poison == "" || len(got) != 2 && poison != "" {
					t.Errorf("%+v", got)
				}
				if err := r.stop(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}
