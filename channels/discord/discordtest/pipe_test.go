package discordtest_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"parley/channels/discord/discordtest"
)

// A client that stops its heartbeat is thrown out after a while, which takes no time here.
func TestPiped(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		srv := discordtest.NewPiped(t)
		srv.AddGuild(house, "House", anna)
		srv.AddChannel(house, general, "general")
		ws, _, err := websocket.Dial(t.Context(), "ws://discord.test/?v=10&encoding=json", &websocket.DialOptions{HTTPClient: srv.Client()}) //nolint:bodyclose // of a handshake
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = ws.CloseNow() }()
		l := &link{t, ws}
		l.read()
		l.write(identify)
		if f, _ := l.read(); f.T != "READY" {
			t.Errorf("%+v", f)
		}
		began := time.Now()
		srv.Say(general, anna, "hello")
		if f, _ := l.read(); f.T != "MESSAGE_CREATE" {
			t.Errorf("%+v", f)
		}
		if _, code := l.read(); code != discordtest.CloseSessionTimedOut {
			t.Errorf("closed with %d", code)
		}
		if took := time.Since(began); took < 80*time.Second || took > 90*time.Second {
			t.Errorf("it took %s", took)
		}
	})
}
