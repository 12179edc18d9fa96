package whatsapp_test

import (
	"testing"
	"time"

	"parley/channels/whatsapp"
	"parley/channels/whatsapp/whatsapptest"
)

// A server that takes connections and says nothing on them: the account ends at once when it is told to, and when such a connection breaks there is
// another one at once. The library by itself waits twenty seconds for the first frame, whatever happens.
func TestFaultSilentHandshake(t *testing.T) {
	t.Parallel()
	s := whatsapptest.New(t)
	h := newHost(t, s, s.NewPhone("Bot"))
	h.link()
	whatsapp.AtOnce(h.ch)
	began := time.Now()
	s.Stall(true)
	h.run()
	s.WaitStalled(1)
	if err := h.end(); err != nil {
		t.Error(err)
	}
	h.run()
	s.WaitStalled(2)
	s.Stall(false)
	h.online()
	if took := time.Since(began); took > 10*time.Second { // what the host gives an adapter to end
		t.Errorf("it took %s", took)
	}
}
