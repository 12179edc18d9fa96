package main

import (
	"strings"
	"testing"
	"time"

	"parley/gateway/prooftest"
)

// The host's own time is counted for each platform while it is there, and the slowest message is told of.
func TestOwnTimes(t *testing.T) {
	t.Parallel()
	began := time.Now()
	s := &soak{began: began, machine: &machine{}, disturbed: []disturbance{{"telegram", began.Add(10 * time.Second), began.Add(12 * time.Second)}}}
	h := &prooftest.History{}
	say := func(platform, token, text string, at, took time.Duration) {
		place := prooftest.Place{Platform: platform, Chat: "1"}
		h.Said = append(h.Said, prooftest.Said{Token: token, Text: text, Place: place, At: began.Add(at), Owes: []prooftest.Debt{{Token: token, Kind: prooftest.Answer, Place: place}}})
		if took > 0 {
			h.Shown = append(h.Shown, prooftest.Shown{Place: place, Verb: prooftest.Post, Text: "[" + token + "]", At: began.Add(at + took)})
		}
	}
	say("telegram", "m1", "[m1]", 0, 5*time.Millisecond)
	say("telegram", "m2", "[m2]", 9900*time.Millisecond, time.Second) // answered while it is away
	say("telegram", "m3", "[m3]", 11*time.Second, 3*time.Second)      // said while it is away
	say("discord", "m4", "[m4]", 11*time.Second, 70*time.Millisecond)
	say("discord", "m5", "[m5]", 20*time.Second, 0)
	say("discord", "m6", "[m6] ask: x", 20*time.Second, time.Second)
	f := &soaked{}
	f.own(s.overhead(h), false)
	f.own(s.overhead(&prooftest.History{Said: h.Said[3:4], Shown: h.Shown[3:4]}), true) // while it gets warm: not told
	if want := (unmeasuredMessages{Orders: 1, Unanswered: 1, Disturbed: 2}); f.Left != want {
		t.Errorf("%+v", f.Left)
	}
	if got := f.ofPlatforms(); f.Slowest.Token != "m4" || f.Platforms["discord"].Measured != 1 || f.Platforms["telegram"].Measured != 1 || !strings.HasSuffix(got, "slowest 70ms on discord, 11s after the start") {
		t.Errorf("%s; %+v", got, f.Slowest)
	}
}
