package main

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/channels"
	"parley/gateway/prooftest"
	"parley/sessions"
)

// silent is a run whose last life has left something in some places: the texts are called as the places are counted.
func silent(t *testing.T, left ...int) *run {
	t.Helper()
	w := testWorld(t, worldConfig{})
	r := &run{w: w, crowd: newCrowd(w), dice: rand.New(rand.NewPCG(1, 1)), ledger: ledger{own: map[sessions.Key]bool{}}}
	for _, i := range left {
		at := w.places[i]
		r.ledger.open = append(r.ledger.open, sessions.Delivery{ID: sessions.DeliveryID(id(int64(i))), Session: sessions.Key(at.Session), To: channels.Address{
			Channel: channels.Kind(at.Platform), Account: channels.AccountID(at.Account), Type: channels.Direct, Chat: channels.ChatID(at.Chat), Thread: channels.ThreadID(at.Thread),
		}})
	}
	return r
}

// again changes the denies as before some lives, until a place is denied, and gives what the configuration says then.
func (r *run) again(t *testing.T, lives int) string {
	t.Helper()
	for range lives {
		if err := r.silence(true); err != nil {
			t.Fatal(err)
		}
		if len(r.silences.now) > 0 {
			break
		}
	}
	b, err := os.ReadFile(r.w.config())
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// A place in which a kill left something is denied in the configuration until that is decided: in force once the next life has begun, and
// again allowed in the same way. Meanwhile nobody else changes its policy.
func TestSilence(t *testing.T) {
	t.Parallel()
	r := silent(t, 0)
	at := r.w.places[0]
	if got := r.again(t, 200); !strings.Contains(got, `sendPolicy: {rules: [{match: {to: "telegram/one/direct/1001"}, action: deny}]}`) || at.policy.TryLock() {
		t.Fatalf("not denied, or not for itself:\n%s", got)
	}
	over := make(chan struct{})
	close(over)
	p := &process{trace: filepath.Join(t.TempDir(), "trace"), Done: over}
	if <-r.inForce(t.Context(), p); !r.crowd.flips[0].Acked.IsZero() {
		t.Error("in force though no life began")
	}
	if err := os.WriteFile(p.trace, []byte("Recover before-commit\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	<-r.inForce(t.Context(), p)
	if f := r.crowd.flips; len(f) != 1 || !f[0].Deny || f[0].Place != at.Place || f[0].Acked.Before(f[0].Asked) {
		t.Errorf("%+v", f)
	}
	if r.again(t, 1); len(r.crowd.flips) != 1 {
		t.Error("it ends before its text is decided")
	}
	r.ledger.open = nil
	if got := r.again(t, 1); !strings.Contains(got, "sendPolicy: {rules: []}") || len(r.crowd.flips) != 2 || r.crowd.flips[1].Deny || !at.policy.TryLock() {
		t.Errorf("%+v\n%s", r.crowd.flips, got)
	}
	<-r.inForce(t.Context(), p)
	if r.crowd.flips[1].Acked.IsZero() {
		t.Error("not allowed though a life began")
	}
}

// Nothing is denied where the rules do not decide, somebody else changes the policy, or much waits; and a host that is left alone has no deny.
func TestSilenceNowhere(t *testing.T) {
	t.Parallel()
	r := silent(t, 1, 2)
	r.ledger.own[sessions.Key(r.w.places[1].Session)] = true
	r.w.places[2].policy.Lock()
	if got := r.again(t, 200); !strings.Contains(got, "sendPolicy: {rules: []}") || len(r.crowd.flips) > 0 {
		t.Errorf("%+v\n%s", r.crowd.flips, got)
	}
	r.w.places[2].policy.Unlock()
	r.ledger.open = slices.Repeat(r.ledger.open, mostSilenced+1)
	if got := r.again(t, 200); strings.Contains(got, "action: deny") {
		t.Errorf("denied though much waits there:\n%s", got)
	}
	r.ledger.open = r.ledger.open[:2]
	if got := r.again(t, 200); !strings.Contains(got, "action: deny") {
		t.Error(got)
	}
	if err := r.silence(false); err != nil || len(r.w.says.denied) > 0 {
		t.Errorf("%v, %v", r.w.says.denied, err)
	}
}

// A silence ends though its text is never decided.
func TestSilenceEnds(t *testing.T) {
	t.Parallel()
	r := silent(t, 3)
	r.again(t, 200)
	for range mostSilent {
		r.again(t, 1)
	}
	if len(r.crowd.flips) < 2 || r.crowd.flips[1].Deny {
		t.Errorf("%+v", r.crowd.flips)
	}
}

// The texts that were withheld by a silence are counted; a run of all fail-points fails without any, when it has enough kills.
func TestSilenced(t *testing.T) {
	t.Parallel()
	r := &run{silences: silences{all: []*silence{{texts: []sessions.DeliveryID{"a", "b"}, flip: 0}, {texts: []sessions.DeliveryID{"c"}, flip: 1}}}}
	r.Kills = judgedFrom()
	h := &prooftest.History{Flips: []prooftest.Flip{{Deny: true, Acked: time.Now()}, {Deny: true}}}
	withheld := func(id, rule string) prooftest.Listed {
		return prooftest.Listed{ID: id, State: "withheld", Rule: rule}
	}
	const rule = "session.sendPolicy.rules[0]"
	for _, c := range []struct {
		name   string
		listed []prooftest.Listed
		kept   int
	}{
		{"one of its texts", []prooftest.Listed{withheld("a", rule), {ID: "b", State: "sent", Rule: rule}}, 1},
		{"another text", []prooftest.Listed{withheld("x", rule)}, 0},
		{"by the session", []prooftest.Listed{withheld("a", "session override")}, 0},
		{"of one that was never in force", []prooftest.Listed{withheld("c", rule)}, 0},
	} {
		h.Listed, r.fig = c.listed, killed{}
		if r.silenced(h); r.fig.Silenced != 1 || r.fig.Kept != c.kept || (len(r.fig.Missed) == 0) != (c.kept > 0) {
			t.Errorf("%s: %+v", c.name, r.fig)
		}
	}
	r.Kills--
	r.fig = killed{}
	r.silenced(h)
	if len(r.fig.Missed) > 0 {
		t.Errorf("too few kills to fail by that: %q", r.fig.Missed)
	}
}
