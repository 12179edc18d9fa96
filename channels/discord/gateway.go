package discord

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/bwmarrin/discordgo"
	"github.com/coder/websocket"
)

// The operations of the gateway, https://discord.com/developers/docs/topics/opcodes-and-status-codes#gateway
const (
	opDispatch       = 0
	opHeartbeat      = 1
	opIdentify       = 2
	opResume         = 6
	opReconnect      = 7
	opInvalidSession = 9
	opHello          = 10
	opHeartbeatAck   = 11
)

// How long each step of a connection may take. Nothing of a connection waits without a bound.
const (
	dialLimit  = 10 * time.Second
	helloLimit = 5 * time.Second
	readyLimit = 10 * time.Second
	writeLimit = 5 * time.Second
	closeLimit = 2 * time.Second
	maxFrame   = 64 << 20 // the first event of a large server has some megabytes
)

// intents are the kinds of events that are asked for. Message content has to be switched on for the bot.
const intents = discordgo.IntentsGuilds | discordgo.IntentsGuildMessages | discordgo.IntentsDirectMessages | discordgo.IntentMessageContent |
	discordgo.IntentsGuildMessageReactions | discordgo.IntentsDirectMessageReactions

// frame is one message of the gateway.
type frame struct {
	Op   int             `json:"op"`
	Data json.RawMessage `json:"d"`
	Seq  *int64          `json:"s"`
	Type string          `json:"t"`
}

// session is what the gateway needs to go on where a connection ended.
type session struct {
	id     string // empty = there is none: identify
	url    string
	seq    atomic.Int64
	failed int // resumes in a row that led to nothing
}

// link is one connection to the gateway.
type link struct {
	conn     *websocket.Conn
	ctx      context.Context // of everything that the link does; its cause says why the link ended
	end      context.CancelCauseFunc
	interval time.Duration
	seq      *atomic.Int64
	acked    atomic.Bool // since the last heartbeat
	seen     func()      // a heartbeat was acknowledged
}

var (
	errDeaf      = errors.New("the Discord gateway did not acknowledge a heartbeat")
	errNoHello   = fmt.Errorf("the Discord gateway sent no hello within %s", helloLimit)
	errNoReady   = fmt.Errorf("the Discord gateway accepted no session within %s", readyLimit)
	errReconnect = errors.New("the Discord gateway asked for a reconnect")
	errWrite     = errors.New("cannot write to the Discord gateway")
	errStopped   = errors.New("stopped")
)

// errInvalid says that the gateway does not know the session; Resume says that it may be tried again.
type errInvalid struct{ Resume bool }

func (errInvalid) Error() string { return "the Discord gateway rejected the session" }

// dial opens a connection and reads its first message. The link outlives ctx, so that it can say goodbye.
func dial(ctx context.Context, client *http.Client, address string, seq *atomic.Int64, seen func()) (*link, error) {
	where, err := gatewayAddress(address)
	if err != nil {
		return nil, err
	}
	direct := *client
	direct.Timeout = 0
	dialing, cancel := context.WithTimeout(ctx, dialLimit)
	defer cancel()
	conn, resp, err := websocket.Dial(dialing, where, &websocket.DialOptions{HTTPClient: &direct})
	if resp != nil && resp.Body != nil {
		_ = resp.Body.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("connect to the Discord gateway: %w", err)
	}
	conn.SetReadLimit(maxFrame)
	l := &link{conn: conn, seq: seq, seen: seen}
	l.ctx, l.end = context.WithCancelCause(context.WithoutCancel(ctx))
	defer context.AfterFunc(ctx, func() { l.end(errStopped) })()
	hello := time.AfterFunc(helloLimit, func() { l.end(errNoHello) })
	defer hello.Stop()
	f, err := l.read()
	var said struct {
		Interval int64 `json:"heartbeat_interval"`
	}
	switch {
	case err != nil:
	case f.Op != opHello || json.Unmarshal(f.Data, &said) != nil || said.Interval <= 0 || said.Interval > int64(time.Hour/time.Millisecond):
		err = fmt.Errorf("the Discord gateway sent op %d instead of hello", f.Op)
	}
	if err != nil {
		l.drop(err)
		return nil, err
	}
	l.interval = time.Duration(said.Interval) * time.Millisecond
	l.acked.Store(true)
	return l, nil
}

// gatewayAddress adds the protocol's version and encoding to the address that the platform gave.
func gatewayAddress(address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "ws" && u.Scheme != "wss" {
		return "", errors.New("the answer has no valid gateway address")
	}
	if u.Path == "" {
		u.Path = "/"
	}
	q := u.Query()
	q.Set("v", discordgo.APIVersion)
	q.Set("encoding", "json")
	u.RawQuery = q.Encode()
	return u.String(), nil
}

// why says what ended the link; nil while it lasts.
func (l *link) why() error { return context.Cause(l.ctx) }

// read gives the next message of the gateway. Its error is why the link ended.
func (l *link) read() (frame, error) {
	_, raw, err := l.conn.Read(l.ctx)
	if err != nil {
		if why := l.why(); why != nil {
			err = why
		}
		return frame{}, err
	}
	var f frame
	if err := json.Unmarshal(raw, &f); err != nil {
		return frame{}, fmt.Errorf("the Discord gateway sent invalid JSON: %w", err)
	}
	return f, nil
}

// write sends one message. A gateway that takes nothing ends the link.
func (l *link) write(ctx context.Context, op int, data any) error {
	raw, err := json.Marshal(map[string]any{"op": op, "d": data})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, writeLimit)
	defer cancel()
	if err := l.conn.Write(ctx, websocket.MessageText, raw); err != nil {
		l.end(errWrite)
		return l.why()
	}
	return nil
}

func (l *link) heartbeat(ctx context.Context) error {
	var seq any
	if n := l.seq.Load(); n > 0 {
		seq = n
	}
	return l.write(ctx, opHeartbeat, seq)
}

// beat sends heartbeats until the link ends, and ends it when one is not acknowledged before the next is due.
func (l *link) beat() {
	wait := time.NewTimer(time.Duration(rand.Float64() * float64(l.interval)))
	defer wait.Stop()
	for {
		select {
		case <-wait.C:
		case <-l.ctx.Done():
			return
		}
		if !l.acked.Swap(false) {
			l.end(errDeaf)
			return
		}
		if l.heartbeat(l.ctx) != nil {
			return
		}
		wait.Reset(l.interval)
	}
}

// acknowledge notes that the gateway answered a heartbeat.
func (l *link) acknowledge() {
	l.acked.Store(true)
	l.seen()
}

// drop ends the link without a word, so that its session can be resumed.
func (l *link) drop(why error) {
	l.end(why)
	_ = l.conn.CloseNow()
}

// leave says goodbye, which ends the session: the bot is shown as offline at once.
func (l *link) leave() {
	late := time.AfterFunc(closeLimit, func() { l.end(errStopped) })
	defer late.Stop()
	_ = l.conn.Close(websocket.StatusNormalClosure, "")
	l.end(errStopped)
}

// identify asks for a new session.
func (l *link) identify(ctx context.Context, token string, want discordgo.Intent) error {
	return l.write(ctx, opIdentify, map[string]any{
		"token": token, "intents": want, "compress": false, "large_threshold": 50,
		"properties": map[string]string{"os": runtime.GOOS, "browser": "parley", "device": "parley"},
	})
}

// resume asks for what came after the last message of a session.
func (l *link) resume(ctx context.Context, token string, s *session) error {
	return l.write(ctx, opResume, map[string]any{"token": token, "session_id": s.id, "seq": s.seq.Load()})
}
