package whatsapp_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"go.mau.fi/whatsmeow/socket"
	"go.uber.org/goleak"

	"parley/channels/channeltest"
	"parley/channels/whatsapp"
	"parley/channels/whatsapp/whatsapptest"
)

// The library's reader of a connection holds a frame that nobody takes, and the connection ends: by a close, or by its context. Not
// parallel: the leak check would see other tests' goroutines.
func TestFrameThatNobodyTakes(t *testing.T) {
	for name, end := range map[string]func(*socket.FrameSocket, context.CancelFunc){
		"closed":    func(fs *socket.FrameSocket, _ context.CancelFunc) { fs.Close(websocket.StatusNormalClosure) },
		"cancelled": func(_ *socket.FrameSocket, cut context.CancelFunc) { cut() },
	} {
		t.Run(name, func(t *testing.T) {
			before := goleak.IgnoreCurrent()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true})
				if err != nil {
					t.Error(err)
					return
				}
				defer func() { _ = ws.CloseNow() }()
				three := []byte("\x00\x00\x01a\x00\x00\x01b\x00\x00\x01c")
				if err := ws.Write(r.Context(), websocket.MessageBinary, three); err != nil {
					t.Error(err)
				}
				_, _, _ = ws.Read(r.Context())
			}))
			ctx, cut := context.WithCancel(t.Context())
			defer cut()
			fs := socket.NewFrameSocket(whatsapp.LibraryLog(ctx, slog.New(slog.DiscardHandler)).Sub("Socket"), server.Client())
			fs.URL = server.URL
			if err := fs.Connect(ctx); err != nil {
				t.Fatal(err)
			}
			select {
			case frame := <-fs.Frames: // the reader goes on to the second one without a look at the connection
				if string(frame) != "a" {
					t.Errorf("the first frame is %q", frame)
				}
			case <-time.After(bound):
				t.Fatal("no frame came")
			}
			end(fs, cut)
			server.CloseClientConnections()
			server.Close()
			server.Client().CloseIdleConnections()
			goleak.VerifyNone(t, before)
		})
	}
}

// The account hangs up while a flood arrives: nothing is left, and the log of it is that of any end. Not parallel, as above.
func TestHangUpOnAFlood(t *testing.T) {
	s := whatsapptest.New(t)
	h := newHost(t, s, s.NewPhone("Bot"))
	h.link()
	before := goleak.IgnoreCurrent()
	for range channeltest.Times(6, 1000) {
		h.run()
		h.online()
		h.phone.Flood()
		if err := h.end(); err != nil {
			t.Fatal(err)
		}
		h.phone.WaitOffline()
	}
	goleak.VerifyNone(t, before)
	if log := h.log.String(); strings.Contains(log, "level=WARN") || strings.Contains(log, "level=ERROR") {
		t.Errorf("the log of a normal end:\n%s", log)
	}
}
