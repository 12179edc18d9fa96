package discordtest_test

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/bwmarrin/discordgo"
	"github.com/coder/websocket"

	"parley/channels/discord/discordtest"
)

// discordgo reconnects by itself here; it resumes as long as it can.
func TestResume(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.dg.ShouldReconnectOnError = true
	s.open().next("GUILD_CREATE")
	for i, cut := range []func(){s.srv.Drop, func() { s.srv.Disconnect(discordtest.CloseUnknown) }, func() { s.srv.Disconnect(discordtest.CloseNoStatus) }, s.srv.Reconnect} {
		// discordgo beats once as soon as it is connected; when that fails it ends the session itself.
		s.until("a heartbeat", func() bool { return s.srv.Stats().Heartbeats > i })
		cut()
		text := string(rune('a' + i))
		s.srv.Say(general, anna, text) // nobody is connected, or not for long
		if m := as[discordgo.MessageCreate](s, "MESSAGE_CREATE"); m.Content != text {
			t.Fatalf("%s came instead of %s", m.Content, text)
		}
		s.next("RESUMED")
	}
	if st := s.srv.Stats(); st.Identifies != 1 || st.Resumed != 4 {
		t.Errorf("%+v", st)
	}
}

// link is a client that does only what it is told.
type link struct {
	*testing.T
	ws *websocket.Conn
}

func dial(t *testing.T, srv *discordtest.Server) *link {
	t.Helper()
	ws, _, err := websocket.Dial(t.Context(), "ws"+srv.URL()[4:]+"/?v=10&encoding=json", nil) //nolint:bodyclose // of a handshake
	if err != nil {
		t.Fatal(err)
	}
	ws.SetReadLimit(1 << 20)
	t.Cleanup(func() { _ = ws.CloseNow() })
	return &link{t, ws}
}

type frame struct {
	Op int             `json:"op"`
	T  string          `json:"t"`
	S  int             `json:"s"`
	D  json.RawMessage `json:"d"`
}

func (l *link) read() (f frame, code int) {
	l.Helper()
	_, data, err := l.ws.Read(l.Context())
	if err != nil {
		return f, int(websocket.CloseStatus(err))
	}
	if err := json.Unmarshal(data, &f); err != nil {
		l.Fatal(err)
	}
	return f, 0
}

func (l *link) write(text string) {
	l.Helper()
	if err := l.ws.Write(l.Context(), websocket.MessageText, []byte(text)); err != nil {
		l.Fatal(err)
	}
}

const identify = `{"op":2,"d":{"token":"` + discordtest.BotToken + `","intents":512,"properties":{"os":"linux"}}}`

// Every way in which Discord refuses a client.
func TestCloseCodes(t *testing.T) {
	t.Parallel()
	for want, text := range map[int]string{
		discordtest.CloseUnknownOpcode:        `{"op":99}`,
		discordtest.CloseDecodeError:          `no JSON`,
		discordtest.CloseNotAuthenticated:     `{"op":3,"d":{}}`,
		discordtest.CloseAuthenticationFailed: `{"op":2,"d":{"token":"x","intents":1,"properties":{}}}`,
		discordtest.CloseInvalidIntents:       `{"op":2,"d":{"token":"` + discordtest.BotToken + `","intents":8388608,"properties":{}}}`,
		discordtest.CloseDisallowedIntents:    `{"op":2,"d":{"token":"` + discordtest.BotToken + `","intents":256,"properties":{}}}`,
		discordtest.CloseInvalidShard:         `{"op":2,"d":{"token":"` + discordtest.BotToken + `","intents":1,"properties":{},"shard":[1,1]}}`,
	} {
		srv := discordtest.New(nil)
		t.Cleanup(srv.Close)
		l := dial(t, srv)
		if f, _ := l.read(); f.Op != 10 {
			t.Errorf("op %d instead of HELLO", f.Op)
		}
		l.write(text)
		if _, code := l.read(); code != want {
			t.Errorf("%s: %d instead of %d", text, code, want)
		}
	}
}

func TestResumeByHand(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.srv.Replay(2)
	l := dial(t, s.srv)
	l.read()
	l.write(identify)
	f, _ := l.read()
	var ready struct {
		SessionID string `json:"session_id"`
	}
	if err := json.Unmarshal(f.D, &ready); err != nil || f.T != "READY" || f.S != 1 {
		t.Fatalf("%+v %v", f, err)
	}
	l.write(`{"op":1,"d":1}`)
	if f, _ = l.read(); f.Op != 11 {
		t.Errorf("op %d instead of an answer to the heartbeat", f.Op)
	}
	s.srv.Say(general, anna, "without the intent")
	if f, _ = l.read(); f.T != "MESSAGE_CREATE" || content(t, f) != "" {
		t.Errorf("%s %q is seen without the intent for it", f.T, content(t, f))
	}
	resume := func(seq string) *link {
		l := dial(t, s.srv)
		l.read()
		l.write(`{"op":6,"d":{"token":"` + discordtest.BotToken + `","session_id":"` + ready.SessionID + `","seq":` + seq + `}}`)
		return l
	}
	s.srv.Drop()
	l.read()
	s.srv.Say(general, anna, "while away")
	s.srv.Next(discordtest.Link{Again: true})
	if f, _ = resume("2").read(); f.Op != 9 || string(f.D) != "true" {
		t.Errorf("%+v", f)
	}
	l = resume("2")
	if f, _ = l.read(); f.T != "MESSAGE_CREATE" || f.S != 3 {
		t.Errorf("%+v", f)
	}
	if f, _ = l.read(); f.T != "RESUMED" {
		t.Errorf("%+v", f)
	}
	s.srv.Drop()
	s.srv.Say(general, anna, "1")
	s.srv.Say(general, anna, "2")
	s.srv.Say(general, anna, "3")
	if f, _ = resume("4").read(); f.Op != 9 || string(f.D) != "false" {
		t.Errorf("more was missed than is kept: %+v", f)
	}
}

func content(t *testing.T, f frame) string {
	var m struct {
		Content string `json:"content"`
	}
	if err := json.Unmarshal(f.D, &m); err != nil {
		t.Error(err)
	}
	return m.Content
}

func TestLinks(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.srv.Heartbeat(time.Hour)
	s.srv.Next(discordtest.Link{Close: 4000}, discordtest.Link{NoAck: true}, discordtest.Link{}, discordtest.Link{NoHello: true})
	l := dial(t, s.srv)
	l.read()
	if _, code := l.read(); code != 4000 {
		t.Errorf("closed with %d", code)
	}
	l = dial(t, s.srv)
	l.read()
	l.write(`{"op":1,"d":null}`)
	l.write(identify)
	if f, _ := l.read(); f.T != "READY" {
		t.Errorf("%+v instead of READY: the heartbeat was answered", f)
	}
	l.write(identify)
	if _, code := l.read(); code != discordtest.CloseAlreadyAuthenticated {
		t.Errorf("a second IDENTIFY: %d", code)
	}
	s.srv.IdentifyLimit(10, time.Hour)
	l = dial(t, s.srv)
	l.read()
	l.write(identify)
	if f, _ := l.read(); f.Op != 9 || string(f.D) != "false" {
		t.Errorf("two IDENTIFYs within an hour: %+v", f)
	}
	l = dial(t, s.srv)
	l.write(identify)
	s.until("four connections", func() bool { return s.srv.Stats().Connections == 4 })
	s.srv.Disconnect(discordtest.CloseUnknown)
	if f, code := l.read(); code != 4000 {
		t.Errorf("%+v came on a silent connection", f)
	}
}

// A client that does not follow the protocol fails the test that made the server. The OpenAPI description is what keeps the stand-in
// true; where it is missing everything else runs all the same.
func TestViolations(t *testing.T) {
	t.Parallel()
	spec, err := discordtest.FindSpec()
	if errors.Is(err, discordtest.ErrNoSpec) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if bad := spec.Type("MessageResponse", map[string]any{"id": "x"}); len(bad) == 0 {
		t.Error("a message without a channel is valid")
	}
	s := newScene(t)
	srv := discordtest.New(nil)
	t.Cleanup(srv.Close)
	srv.Validate(spec)
	srv.AddGuild(house, "House")
	srv.AddChannel(house, general, "general")
	s.dg.Client = srv.Client()
	for what, call := range map[string]func() error{
		"content": func() error { return s.raw("POST", "channels/"+general+"/messages", map[string]any{"content": 7}) },
		"query":   func() error { return s.raw("GET", "channels/"+general+"/messages?since=1", nil) },
		"limit":   func() error { return s.raw("GET", "channels/"+general+"/messages?limit=101", nil) },
		"id":      func() error { return s.raw("GET", "channels/general", nil) },
		"path":    func() error { return s.raw("GET", "channels/"+general+"/nonsense", nil) },
		"nonce":   func() error { _, err := s.post(general, "x", "01234567890123456789012345"); return err },
		"needed": func() error {
			return s.raw("PUT", "applications/"+discordtest.BotID+"/commands", []any{map[string]any{}})
		},
		"unwanted": func() error { return s.raw("PUT", "channels/"+general+"/messages/1/reactions/x/@me", map[string]any{}) },
		"attachments": func() error {
			return s.raw("POST", "channels/"+general+"/messages", map[string]any{"attachments": "x"})
		},
	} {
		before := len(srv.Violations())
		_ = call()
		if got := srv.Violations(); len(got) == before {
			t.Errorf("%s: nothing was found", what)
		}
	}
}

func (s *scene) raw(method, path string, body any) error {
	_, err := s.dg.RequestWithBucketID(method, discordgo.EndpointAPI+path, body, path)
	return err
}
