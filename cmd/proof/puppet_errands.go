package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"parley/agent/modeltest"
)

// errand answers what errands of a kill run say (see errands).
func (s scene) errand(last string, n int) (token string, reply modeltest.Reply, is bool) {
	switch {
	case strings.Contains(last, orderWrite):
		token = first(bracketed, last)
		reply = words("It goes on.")
		for range 8 {
			reply.Text = append(reply.Text, " And one more of those words.")
		}
		reply.Text = append(reply.Text, " Done "+shown(token)) // what a kill leaves of the first words has no token: nobody can take it back
		reply.Between = 200 * time.Millisecond
		return token, reply, true
	case strings.Contains(last, orderTalk):
		for range 20 {
			reply.Text = append(reply.Text, "On and on it goes, word by word. ")
		}
		reply.Between = 200 * time.Millisecond
		return "", reply, true
	case strings.Contains(last, orderNote) && s.results == 0:
		reply.ToolCalls = []modeltest.ToolCall{{ID: fmt.Sprintf("call-%d-0", n), Name: "remember", Arguments: `{"text": "The beans want water."}`}}
	case strings.Contains(last, orderSlow):
		reply = words("NO_REPLY")
	default:
		return "", reply, false
	}
	if strings.Contains(last, orderSlow) {
		reply.Delay = time.Second
	}
	return "", reply, true
}

var wantedToken = regexp.MustCompile(`\((e\d+)\)`)

// see notes what people said that a prompt holds; mu is held.
func (p *puppet) see(r modeltest.Request) {
	times := map[string]int{}
	for _, m := range r.Messages {
		if m.Role != "user" {
			continue
		}
		for _, found := range wantedToken.FindAllStringSubmatch(m.Text, -1) {
			times[found[1]]++
		}
	}
	if p.saw == nil {
		p.saw = map[string]int{}
	}
	for token, n := range times {
		p.saw[token] = max(p.saw[token], n)
	}
}

// seen says how often a prompt held what has a token of errands, at most; 0 = none has.
func (p *puppet) seen(token string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.saw[token]
}

// askedIn counts the calls about a session.
func (p *puppet) askedIn(session string) (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, a := range p.asked {
		if a.Session == session {
			n++
		}
	}
	return n
}

// askedFor reports whether a call was about a token.
func (p *puppet) askedFor(token string) bool {
	return !slices.Contains(p.missed([]string{token}), token)
}
