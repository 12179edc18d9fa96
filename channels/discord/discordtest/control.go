package discordtest

import (
	"encoding/json"
	"time"
)

// Next says what happens to the next gateway connections, one after the other.
func (s *Server) Next(links ...Link) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gw.links = append(s.gw.links, links...)
}

// Heartbeat sets the interval that HELLO asks for; Discord's is 41.25 s.
func (s *Server) Heartbeat(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gw.heartbeat = d
}

// Privileged says which privileged intents are switched on in the developer portal; who asks for another one gets 4014.
func (s *Server) Privileged(intents int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gw.allowed = intents
}

// IdentifyLimit sets how often the bot may IDENTIFY within a day that begins now, and the time that has to pass between two;
// Discord: 1,000 and 5 s. One more than that is a violation.
func (s *Server) IdentifyLimit(remaining int, every time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gw.startLimit, s.gw.total, s.gw.every, s.gw.renewal = remaining, max(remaining, 1), every, time.Now().Add(24*time.Hour)
}

// Replay sets how many events a session keeps for RESUME. What is older than that is only in the channels.
func (s *Server) Replay(events int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gw.replay = events
}

// Stats counts what happened at the gateway so far.
func (s *Server) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.gw.stats
	st.Open = len(s.gw.conns)
	return st
}

// Ready reports whether a client is connected and identified or resumed.
func (s *Server) Ready() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ready()
}

func (s *Server) ready() bool {
	for _, x := range s.gw.sessions {
		if x.conn != nil {
			return true
		}
	}
	return false
}

// each does something with every open connection.
func (s *Server) each(do func(*conn)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.gw.conns {
		do(c)
	}
	s.notify()
}

// Disconnect ends every gateway connection with a close code. CloseNoStatus and CloseAbnormal work too.
func (s *Server) Disconnect(code int) { s.each(func(c *conn) { c.end(code) }) }

// Drop cuts every gateway connection as a lost line does.
func (s *Server) Drop() { s.Disconnect(CloseAbnormal) }

// Reconnect asks every client to connect again and to resume (op 7).
func (s *Server) Reconnect() { s.each(func(c *conn) { c.send(opReconnect, nil) }) }

// Invalidate tells every client that its session is not valid (op 9), and whether it may be resumed.
func (s *Server) Invalidate(resumable bool) {
	s.each(func(c *conn) {
		c.send(opInvalidSession, resumable)
		if c.session == nil {
			return
		}
		if c.session.conn = nil; !resumable {
			c.forget()
		}
		c.session = nil
	})
}

// Silence makes every open connection deaf: heartbeats are not answered and events do not come, until it ends.
func (s *Server) Silence() {
	s.each(func(c *conn) {
		c.link.NoAck = true
		if c.session != nil && c.session.conn == c {
			c.session.conn = nil
		}
	})
}

// Expire forgets every session: a client that tries to resume has to identify again, and what happened meanwhile is only in the channels.
func (s *Server) Expire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.gw.sessions)
}

// Ask makes Discord ask for a heartbeat at once (op 1).
func (s *Server) Ask() { s.each(func(c *conn) { c.send(opHeartbeat, nil) }) }

// Raw sends a dispatch exactly as given, bad ones included; d is its JSON. It is not validated.
func (s *Server) Raw(name, d string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, x := range s.gw.sessions {
		s.dispatch(x, name, json.RawMessage(d))
	}
}

// dropAll cuts every connection without waiting for what is queued.
func (s *Server) dropAll() {
	s.each(func(c *conn) {
		c.ended = true
		c.cancel()
	})
}

func (s *Server) gatewayURL() string { return "ws://" + s.listener.Addr().String() }
