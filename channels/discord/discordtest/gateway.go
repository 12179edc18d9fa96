package discordtest

import (
	"bytes"
	"compress/zlib"
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"github.com/coder/websocket"
)

// The opcodes of the gateway.
const (
	opDispatch       = 0
	opHeartbeat      = 1
	opIdentify       = 2
	opPresence       = 3
	opVoice          = 4
	opResume         = 6
	opReconnect      = 7
	opMembers        = 8
	opInvalidSession = 9
	opHello          = 10
	opAck            = 11
)

// The codes that a gateway connection ends with. NoStatus is a close frame without a code; Abnormal is none at all: the TCP
// connection is gone.
const (
	CloseNormal               = 1000
	CloseNoStatus             = 1005
	CloseAbnormal             = 1006
	CloseUnknown              = 4000
	CloseUnknownOpcode        = 4001
	CloseDecodeError          = 4002
	CloseNotAuthenticated     = 4003
	CloseAuthenticationFailed = 4004
	CloseAlreadyAuthenticated = 4005
	CloseInvalidSequence      = 4007
	CloseRateLimited          = 4008
	CloseSessionTimedOut      = 4009
	CloseInvalidShard         = 4010
	CloseShardingRequired     = 4011
	CloseInvalidVersion       = 4012
	CloseInvalidIntents       = 4013
	CloseDisallowedIntents    = 4014
)

// Link is what happens to a gateway connection.
type Link struct {
	Status       int  // the upgrade is answered with this HTTP status
	NoHello      bool // it is open and nothing comes
	Close        int  // it ends with this code right after HELLO
	NoAck        bool // heartbeats are never answered
	GuildsFirst  bool // GUILD_CREATE comes before READY
	RefuseResume bool // RESUME is answered with an invalid session that cannot be resumed
	Again        bool // RESUME is answered with an invalid session that can be resumed: try again
	NoReady      bool // IDENTIFY and RESUME are never answered
}

// gateway is the state of all gateway connections. Its fields are under Server.mu.
type gateway struct {
	past       uint64
	conns      map[*conn]bool
	sessions   map[string]*session
	links      []Link // of the next connections
	heartbeat  time.Duration
	allowed    int // privileged intents
	startLimit int // IDENTIFYs that are left until renewal
	total      int
	renewal    time.Time
	every      time.Duration // between two IDENTIFYs; 0 = not enforced
	last       time.Time
	replay     int // events that a session keeps
	stats      Stats
	vain       int // RESUMEs since the last that was granted, or IDENTIFY
}

// Stats counts what happened at the gateway.
type Stats struct {
	Connections int // accepted so far
	Open        int
	Identifies  int
	Resumes     int // asked for
	Resumed     int // granted
	Vain        int // most RESUMEs in a row that led to nothing
	Heartbeats  int
}

func newGateway() gateway {
	return gateway{
		conns: map[*conn]bool{}, sessions: map[string]*session{}, heartbeat: 41250 * time.Millisecond, startLimit: 1000, total: 1000, replay: 1000,
		allowed: IntentMessageContent | IntentGuildMembers, renewal: time.Now().Add(24 * time.Hour),
	}
}

// renew begins another day of IDENTIFYs when it is time.
func (g *gateway) renew() {
	for now := time.Now(); !now.Before(g.renewal); g.renewal = g.renewal.Add(24 * time.Hour) {
		g.startLimit = g.total
	}
}

// conn is one gateway connection. What goes out waits in a queue, so that nobody who makes something happen waits for a client.
type conn struct {
	s       *Server
	ws      *websocket.Conn
	link    Link
	session *session // under Server.mu
	zlib    bool
	ended   bool // by the server, under Server.mu
	cancel  context.CancelFunc

	mu    sync.Mutex
	queue []frame
	wake  chan struct{}
}

// frame is a payload, or the end of the connection.
type frame struct {
	data  []byte
	close int
}

func (c *conn) push(f frame) {
	c.mu.Lock()
	c.queue = append(c.queue, f)
	c.mu.Unlock()
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

func (c *conn) send(op int, d any) {
	data, _ := json.Marshal(object{"op": op, "d": d, "s": nil, "t": nil})
	c.push(frame{data: data})
}

// write sends what is queued until the connection ends.
func (c *conn) write(ctx context.Context) {
	defer c.cancel()
	for {
		c.mu.Lock()
		list := c.queue
		c.queue = nil
		c.mu.Unlock()
		for _, f := range list {
			if f.close != 0 {
				if f.close == CloseAbnormal {
					_ = c.ws.CloseNow()
				} else {
					_ = c.ws.Close(websocket.StatusCode(f.close), "")
				}
				return
			}
			kind, data := websocket.MessageText, f.data
			if c.zlib && len(data) > 1024 {
				kind, data = websocket.MessageBinary, deflate(data)
			}
			if c.ws.Write(ctx, kind, data) != nil {
				return
			}
		}
		select {
		case <-c.wake:
		case <-ctx.Done():
			return
		}
	}
}

func deflate(data []byte) []byte {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	_, _ = w.Write(data)
	_ = w.Close()
	return b.Bytes()
}

// serveGateway is one connection from its upgrade to its end.
func (s *Server) serveGateway(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	var link Link
	if len(s.gw.links) > 0 {
		link, s.gw.links = s.gw.links[0], s.gw.links[1:]
	}
	if q := r.URL.Query(); q.Get("encoding") != "json" || q.Get("v") != "9" && q.Get("v") != "10" || q.Get("compress") != "" {
		s.violate("gateway: %s: want v=9 or v=10, encoding=json, no compress", r.URL.RawQuery)
	}
	s.mu.Unlock()
	if link.Status != 0 {
		http.Error(w, http.StatusText(link.Status), link.Status)
		return
	}
	ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true, CompressionMode: websocket.CompressionDisabled})
	if err != nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background()) // the request's context ends when the connection is hijacked
	c := &conn{s: s, ws: ws, link: link, cancel: cancel, wake: make(chan struct{}, 1)}
	var writer sync.WaitGroup
	writer.Go(func() { c.write(ctx) })
	if c.open() {
		c.read(ctx)
	}
	cancel()
	_ = ws.CloseNow()
	writer.Wait()
	c.gone()
}

// open greets a client. It reports false when the server was closed meanwhile.
func (c *conn) open() bool {
	s := c.s
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.down {
		return false
	}
	s.gw.conns[c] = true
	s.gw.stats.Connections++
	if !c.link.NoHello {
		c.send(opHello, object{"heartbeat_interval": s.gw.heartbeat.Milliseconds(), "_trace": []any{}})
	}
	if c.link.Close != 0 {
		c.end(c.link.Close)
	}
	s.notify()
	return true
}

// gone forgets a connection. Its session can be resumed, unless the client ended it.
func (c *conn) gone() {
	s := c.s
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.gw.conns, c)
	if c.session != nil && c.session.conn == c {
		c.session.conn = nil
	}
	s.notify()
}

// end closes the connection after what is queued. The caller holds s.mu.
func (c *conn) end(code int) {
	if c.ended {
		return
	}
	c.ended = true
	switch code {
	case CloseAuthenticationFailed, CloseInvalidSequence, CloseSessionTimedOut, CloseInvalidShard, CloseShardingRequired, CloseInvalidVersion,
		CloseInvalidIntents, CloseDisallowedIntents:
		c.forget()
	}
	if c.session != nil && c.session.conn == c {
		c.session.conn = nil // what happens from now on waits in the session
	}
	c.push(frame{close: code})
}

// forget ends the session.
func (c *conn) forget() {
	if c.session != nil {
		delete(c.s.gw.sessions, c.session.id)
	}
}

// payload is what a client sends.
type payload struct {
	Op int             `json:"op"`
	D  json.RawMessage `json:"d"`
}

// read handles what the client sends until the connection ends.
func (c *conn) read(ctx context.Context) {
	s := c.s
	c.ws.SetReadLimit(4096)
	s.mu.Lock()
	patience := 2*s.gw.heartbeat + time.Second // a client that has stopped its heartbeat is gone
	s.mu.Unlock()
	silent := time.AfterFunc(patience, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		c.end(CloseSessionTimedOut)
	})
	defer silent.Stop()
	for {
		_, data, err := c.ws.Read(ctx)
		if err != nil {
			s.mu.Lock()
			if code := websocket.CloseStatus(err); !c.ended && (code == websocket.StatusNormalClosure || code == websocket.StatusGoingAway) {
				c.forget() // Discord ends a session that its client closes with 1000 or 1001
			}
			s.mu.Unlock()
			return
		}
		var p payload
		s.mu.Lock()
		if json.Unmarshal(data, &p) != nil {
			c.end(CloseDecodeError)
		} else if !c.ended && !c.link.NoHello {
			if p.Op == opHeartbeat {
				silent.Reset(patience)
			}
			c.handle(p)
		}
		s.notify()
		s.mu.Unlock()
	}
}
