package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"time"

	"parley/agent/modeltest"
	"parley/gateway/prooftest"
)

// stopped is a /stop or /new that people wrote: from its answer on the places show nothing more, and the model is not asked in their sessions.
type stopped struct {
	by    string // the command
	in    *place
	quiet []*place // in, and the other side of its exchange where the one that asked is stopped
}

// stopGrace is what may end behind the answer to a stop: what was being sent, and a call of the model that begins in the same moment.
const stopGrace = time.Second

// orderAsk has the model ask the session behind it, and wait as many seconds as stand behind that.
const orderAsk = "ask for me"

var askedSession = regexp.MustCompile(orderAsk + ` ([^| ]+)\|(\d+)`)

// stopInChat stops a turn, or an exchange on either side.
func stopInChat(ctx context.Context, e *errands) {
	if e.n%3 > 0 {
		stopExchange(ctx, e)
		return
	}
	if at, _, ok := e.atWork(ctx); ok {
		e.stop("/stop", at, at)
	}
}

// stopExchange has one session ask another, and stops one of the two at some moment of that: also where the host was killed meanwhile.
func stopExchange(ctx context.Context, e *errands) {
	other, ok := e.begun(ctx)
	if !ok {
		return
	}
	at, _ := e.group()
	e.say(at, fmt.Sprintf("%s %s|%d", orderAsk, other.Session, 20*rand.IntN(2)))
	begun := until(ctx, errandLimit, "the other session is asked", func() bool { return e.r.model.stepped(other.Session, stepAsk) }) == nil
	if begun {
		select {
		case <-ctx.Done():
		case <-time.After(time.Duration(rand.Int64N(int64(2 * time.Second)))):
		}
	}
	by := []string{"/stop", "/new"}[rand.IntN(2)]
	if begun && rand.IntN(3) == 0 { // else what is stopped there may come behind the stop
		e.stop(by, other, other)
		return
	}
	e.stop(by, at, at, other)
}

// stepped reports whether the model was asked for a step of a session.
func (p *puppet) stepped(session, step string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.ContainsFunc(p.asked, func(a prooftest.Asked) bool { return a.Session == session && a.Step == step })
}

// stop writes a command that ends all in a place.
func (e *errands) stop(by string, in *place, quiet ...*place) {
	e.stops = append(e.stops, stopped{by, in, quiet})
	e.say(in, by)
}

// asks answers what stopExchange says, and takes its time in the steps of such an exchange: they are to be stopped.
func (s scene) asks(last string, r modeltest.Request) (reply modeltest.Reply, is bool) {
	m := askedSession.FindStringSubmatch(last)
	if m == nil || s.step != stepTurn {
		return reply, false
	}
	if s.results > 0 {
		return words("They were asked."), true
	}
	args, _ := json.Marshal(map[string]any{"sessionKey": m[1], "message": "Please " + orderSlow, "timeoutSeconds": json.Number(m[2])}) // texts and a number
	return modeltest.Reply{ToolCalls: []modeltest.ToolCall{{ID: fmt.Sprintf("call-%d-0", r.N), Name: "sessions_send", Arguments: string(args)}}}, true
}

// slowly is how long a step takes of an exchange that is to be stopped.
func (s scene) slowly(r modeltest.Request) time.Duration {
	if s.step != stepAsk && s.step != stepReply && s.step != stepAnnounce {
		return 0
	}
	if slices.ContainsFunc(r.Messages, func(m modeltest.Message) bool {
		return strings.Contains(m.Text, orderSlow) || strings.Contains(m.Text, orderAsk)
	}) {
		return 400 * time.Millisecond
	}
	return 0
}

// past finds what came after the answer to a stop, and counts the stops that have one.
func past(stops []stopped, shown []prooftest.Shown, asked []prooftest.Asked) (answered int, faults []prooftest.Fault) {
	for _, s := range stops {
		i := slices.IndexFunc(shown, func(x prooftest.Shown) bool {
			return x.Place == s.in.Place && x.Verb == prooftest.Post && (s.by == "/stop" && strings.HasPrefix(x.Text, "⚙️") || s.by == "/new" && strings.HasPrefix(x.Text, "✅"))
		})
		if i < 0 {
			faults = append(faults, prooftest.Fault{Kind: prooftest.Lost, Place: s.in.Place, Why: "no answer to " + s.by})
			continue
		}
		answered++
		end := shown[i].At.Add(stopGrace)
		for _, at := range s.quiet {
			for _, x := range shown {
				if x.Text == shown[i].Text { // a kill hid whether it had arrived
					continue
				}
				if x.Place == at.Place && x.At.After(end) && (x.Verb == prooftest.Post || x.Verb == prooftest.Edit) {
					faults = append(faults, prooftest.Fault{Kind: prooftest.Foreign, Place: at.Place, Why: fmt.Sprintf("%q is shown %s after the answer to %s, %q", x.Text, x.At.Sub(shown[i].At), s.by, shown[i].Text)})
				}
			}
			for _, a := range asked {
				if a.Session == at.Session && a.At.After(end) {
					faults = append(faults, prooftest.Fault{Kind: prooftest.Prompted, Place: at.Place, Why: fmt.Sprintf("the model is asked for a step %q %s after the answer to %s, %q", a.Step, a.At.Sub(shown[i].At), s.by, shown[i].Text)})
				}
			}
		}
	}
	return answered, faults
}
