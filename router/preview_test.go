package router

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/agent"
	"parley/channels"
	"parley/channels/channeltest"
	"parley/policy"
	"parley/sessions"
)

// scribe is a model that writes word by word.
type scribe struct {
	pause  time.Duration // before each word
	answer string
	fails  error           // in the place of an end
	hold   <-chan struct{} // before it ends
}

func (w scribe) Stream(ctx context.Context, p agent.Prompt) iter.Seq2[agent.Delta, error] {
	return func(yield func(agent.Delta, error) bool) {
		for word := range strings.SplitAfterSeq(w.answer, " ") {
			if !sleep(ctx, w.pause) {
				yield(agent.Delta{}, ctx.Err())
				return
			}
			if !yield(agent.Delta{Text: word}, nil) {
				return
			}
		}
		if w.hold != nil {
			select {
			case <-w.hold:
			case <-ctx.Done():
				yield(agent.Delta{}, ctx.Err())
				return
			}
		}
		if w.fails != nil {
			yield(agent.Delta{}, w.fails)
			return
		}
		a := text(w.answer)
		yield(agent.Delta{Final: &a}, nil)
	}
}

// streams has an account show answers as s says.
func streams(s channels.Streaming) func(*Settings) {
	return func(set *Settings) { a := set.Accounts[account]; a.Streaming = s; set.Accounts[account] = a }
}

var edits = streams(channels.Streaming{Direct: channels.StreamEdit, Group: channels.StreamEdit})

// written starts a rig whose model is a scribe.
func writes(t *testing.T, w scribe, o channeltest.Options, with ...func(*Settings)) *rig {
	t.Helper()
	g := &rig{t: t, dir: folder(t), set: settingsFor(with...), fake: channeltest.NewFake(o), model: &script{}}
	g.models = func(name string) (agent.Candidate, error) {
		return agent.Candidate{Model: w, Name: "m", Label: name}, nil
	}
	g.start()
	return g
}

// tenSeconds is an answer of a hundred words in ten seconds.
func tenSeconds() scribe {
	var b strings.Builder
	for i := range 100 {
		fmt.Fprintf(&b, "word%02d ", i)
	}
	return scribe{pause: 100 * time.Millisecond, answer: strings.TrimSpace(b.String())}
}

// noPreviews fails unless nothing is left of them in memory and in the store.
func (g *rig) noPreviews() {
	g.t.Helper()
	synctest.Wait()
	list, err := g.store.Previews(g.t.Context())
	if err != nil || len(list) > 0 || len(g.r.gate.Previews.All()) > 0 {
		g.t.Errorf("left: %+v, %v; %+v", list, err, g.r.gate.Previews.All())
	}
}

// TestStreaming: an answer grows in one message, not faster than it may, and that message becomes it; typing ends with it.
func TestStreaming(t *testing.T) {
	for name, c := range map[string]struct {
		to          channels.Address
		least, most int // edits before the last one
		every       time.Duration
	}{"direct": {direct("a"), 8, 10, previewDirect}, "group": {groupChat("a"), 2, 3, previewSeveral}} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := tenSeconds()
				g := writes(t, w, channeltest.Options{}, edits)
				in := g.say(c.to, guest, "write")
				d := g.ended(1)[0]
				sent, changed, typed := g.fake.Calls(channeltest.OpSend), g.fake.Calls(channeltest.OpEdit), g.fake.Calls(channeltest.OpTyping)
				if len(sent) != 1 || len(changed) < c.least+1 || len(changed) > c.most+1 {
					t.Fatalf("%d sends, %d edits", len(sent), len(changed))
				}
				if n := len(sent[0].Out.Text); n < previewLeast || n > 120 || sent[0].Out.Key != string(d.Run)+".preview" || c.to.Type.Several() != (sent[0].Out.ReplyTo == in.ID) {
					t.Errorf("the first words: %+v", sent[0].Out)
				}
				last := sent[0]
				for _, e := range changed[:len(changed)-1] {
					if e.ID != sent[0].Receipt.ID || e.At.Sub(last.At) < c.every || !strings.HasPrefix(w.answer, e.Out.Text) || len(e.Out.Text) <= len(last.Out.Text) {
						t.Errorf("an edit after %s: %q", e.At.Sub(last.At), e.Out.Text)
					}
					last = e
				}
				if got := g.fake.Texts(channels.Address{}); !slices.Equal(got, []string{w.answer}) {
					t.Errorf("shown in the end: %q", got)
				}
				if d.State != sessions.Sent || d.Repeat || len(d.Receipts) != 1 || d.Receipts[0].ID != sent[0].Receipt.ID {
					t.Errorf("%+v", d)
				}
				g.noPreviews()
				<-time.After(time.Minute)
				if now := g.fake.Calls(channeltest.OpTyping); len(typed) != 2 || len(now) != len(typed) {
					t.Errorf("typing %d times, %d after the answer", len(typed), len(now)-len(typed))
				}
			})
		})
	}
}

// TestStreamingModes: what the settings and the platform say decides; without a word a draft in direct chats, nothing elsewhere.
func TestStreamingModes(t *testing.T) {
	off, draft, edit := channels.StreamOff, channels.StreamDraft, channels.StreamEdit
	for name, c := range map[string]struct {
		set    channels.Streaming
		to     channels.Address
		bare   bool // the platform can neither draft nor edit
		drafts bool
		edits  bool
	}{
		"nothing said, direct":   {channels.Streaming{}, direct("a"), false, true, false},
		"nothing said, group":    {channels.Streaming{}, groupChat("a"), false, false, false},
		"off":                    {channels.Streaming{Direct: off}, direct("a"), false, false, false},
		"a draft":                {channels.Streaming{Direct: draft, Group: edit}, direct("a"), false, true, false},
		"edits":                  {channels.Streaming{Direct: edit}, direct("a"), false, false, true},
		"edits, in a group":      {channels.Streaming{Direct: off, Group: edit}, groupChat("a"), false, false, true},
		"no draft in a group":    {channels.Streaming{Group: draft}, groupChat("a"), false, false, false},
		"the platform can not":   {channels.Streaming{Direct: draft}, direct("a"), true, false, false},
		"nor edit":               {channels.Streaming{Direct: edit}, direct("a"), true, false, false},
		"another account's says": {channels.Streaming{Direct: off, Group: edit}, direct("a"), false, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := tenSeconds()
				g := writes(t, w, channeltest.Options{}, streams(c.set))
				if c.bare {
					g.r.Attach(account, g.fake)
				}
				g.say(c.to, guest, "write")
				g.ended(1)
				if d, e := len(g.fake.Calls(channeltest.OpDraft)), len(g.fake.Calls(channeltest.OpEdit)); (d > 0) != c.drafts || (e > 0) != c.edits {
					t.Errorf("%d drafts, %d edits", d, e)
				}
				if got := g.fake.Texts(channels.Address{}); !slices.Equal(got, []string{w.answer}) {
					t.Errorf("shown in the end: %q", got)
				}
				g.noPreviews()
			})
		})
	}
}

// TestNothingToStream: a fast answer, a short one and one that is silent are never shown before they are whole.
func TestNothingToStream(t *testing.T) {
	for name, w := range map[string]scribe{
		"fast":   {answer: strings.Repeat("word ", 100)},
		"short":  {pause: time.Second, answer: "only a few words here"},
		"silent": {pause: 5 * time.Second, answer: "NO_REPLY"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				g := writes(t, w, channeltest.Options{}, edits)
				g.say(direct("a"), guest, "write")
				g.idle(1)
				<-time.After(time.Minute)
				if n := len(g.fake.Calls(channeltest.OpEdit, channeltest.OpRemove)); n != 0 || len(g.fake.Calls(channeltest.OpSend)) > 1 {
					t.Errorf("%d edits", n)
				}
				g.noPreviews()
			})
		})
	}
}

// TestOnlyTurnsStream: neither a sub-agent at work nor what it reports is shown before it is whole.
func TestOnlyTurnsStream(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{}, edits)
		for _, kind := range []sessions.RunKind{sessions.ChildRun, sessions.AnnounceRun, sessions.ResultRun, sessions.AskRun, sessions.JobRun, sessions.CompactRun, sessions.PostRun} {
			if got := g.r.gate.Stream(sessions.Run{Kind: kind, Reply: groupChat("a")}); got != channels.StreamOff {
				t.Errorf("%s: %s", kind, got)
			}
		}
		if got := g.r.gate.Stream(sessions.Run{Kind: sessions.TurnRun, Reply: groupChat("a")}); got != channels.StreamEdit {
			t.Errorf("a turn: %s", got)
		}
	})
}

// TestLongStream: what is longer than a message shows its beginning, which becomes the first part; the others follow.
func TestLongStream(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := tenSeconds()
		g := writes(t, w, channeltest.Options{Limits: channels.Limits{Text: 300}}, edits)
		g.say(direct("a"), guest, "write")
		d := g.ended(1)[0]
		if got := g.fake.Texts(channels.Address{}); len(got) != 3 || strings.Join(got, " ") != w.answer || len(d.Receipts) != 3 || d.State != sessions.Sent {
			t.Errorf("%d messages %q, %+v", len(got), got, d)
		}
		if n := len(g.fake.Calls(channeltest.OpEdit)); n < 3 || n > 6 {
			t.Errorf("%d edits of what does not grow any more", n)
		}
		g.noPreviews()
	})
}

// TestStreamThatEnds: a turn that is stopped, fails, or ends in silence after all leaves nothing of what was shown; where nothing can be
// removed, nothing that says anything.
func TestStreamThatEnds(t *testing.T) {
	broken := scribe{pause: 100 * time.Millisecond, answer: tenSeconds().answer, fails: errors.New("broken")}
	for name, c := range map[string]struct {
		w    scribe
		do   func(g *rig)
		bare bool
		want []string
	}{
		"stopped":     {tenSeconds(), func(g *rig) { g.say(direct("a"), guest, "/stop") }, false, []string{"⏹"}},
		"fails":       {broken, nil, false, []string{"Something went wrong"}},
		"not removed": {broken, nil, true, []string{"…", "Something went wrong"}},
		"deleted":     {tenSeconds(), func(g *rig) { _ = g.store.Delete(g.t.Context(), "agent:main:fake:direct:"+guest) }, false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				g := writes(t, c.w, channeltest.Options{}, edits)
				if c.bare {
					g.r.Attach(account, struct {
						*channeltest.Fake
						channels.Editor
					}{g.fake, g.fake.Editor()})
				}
				g.say(direct("a"), guest, "write")
				g.shown(1)
				<-time.After(3 * time.Second)
				if c.do != nil {
					c.do(g)
				}
				<-time.After(10 * time.Second)
				synctest.Wait()
				got := g.fake.Texts(channels.Address{})
				if len(got) != len(c.want) {
					t.Fatalf("%q", got)
				}
				for i, want := range c.want {
					if !strings.Contains(got[i], want) && want != "⏹" {
						t.Errorf("%q, want %q", got[i], want)
					}
				}
				g.noPreviews()
			})
		})
	}
}

// TestStreamUnderThePolicy: a flip ends the edits at once; when it is acknowledged no call reaches the chat any more, not even one that
// takes back what it shows.
//
// proves: P4, P7
func TestStreamUnderThePolicy(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := writes(t, tenSeconds(), channeltest.Options{}, edits)
		g.say(direct("a"), guest, "write")
		g.shown(1)
		<-time.After(2500 * time.Millisecond)
		g.fake.Script(channeltest.Step{Op: channeltest.OpEdit, Delay: 5 * time.Second}) // one is on its way
		<-time.After(time.Second)
		deny := policy.Deny
		began := time.Now()
		if _, err := g.r.Patch(t.Context(), "agent:main:fake:direct:"+guest, sessions.Patch{SendPolicy: &deny}); err != nil {
			t.Fatal(err)
		}
		if time.Since(began) < time.Second {
			t.Error("the flip did not wait for the edit that was on its way")
		}
		n := len(g.fake.Calls())
		d := g.ended(1)[0]
		<-time.After(20 * time.Minute)
		if d.State != sessions.Withheld || len(g.fake.Calls()) != n {
			t.Errorf("%s, %d calls after the flip: %+v", d.State, len(g.fake.Calls())-n, g.fake.Calls()[n:])
		}
		g.noPreviews()
	})
}

// TestNothingIsTakenBackAfterAFlip: a turn that fails after /send off leaves what was shown: not even that is taken back.
//
// proves: P4, P7
func TestNothingIsTakenBackAfterAFlip(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := tenSeconds()
		w.fails = errors.New("broken")
		g := writes(t, w, channeltest.Options{}, edits)
		g.say(direct("a"), guest, "write")
		g.shown(1)
		deny := policy.Deny
		if _, err := g.r.Patch(t.Context(), "agent:main:fake:direct:"+guest, sessions.Patch{SendPolicy: &deny}); err != nil {
			t.Fatal(err)
		}
		n := len(g.fake.Calls())
		d := g.ended(1)[0]
		<-time.After(20 * time.Minute)
		if d.Kind != sessions.Notice || d.State != sessions.Withheld || len(g.fake.Calls()) != n {
			t.Errorf("%s %s, %d calls after the flip: %+v", d.Kind, d.State, len(g.fake.Calls())-n, g.fake.Calls()[n:])
		}
		g.noPreviews()
	})
}

// TestStreamOfADenied: what may not leave is not shown either, before or after a flip back.
//
// proves: P4
func TestStreamOfADenied(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := writes(t, tenSeconds(), channeltest.Options{}, edits, func(s *Settings) {
			s.Session.SendPolicy.Rules = []policy.SendRule{{Action: policy.Deny, Match: policy.SendMatch{ChatType: channels.Group}}}
		})
		g.say(groupChat("a"), guest, "write")
		g.ended(1)
		if calls := g.fake.Calls(); len(calls) != 0 {
			t.Errorf("%+v", calls)
		}
		g.noPreviews()
	})
}

// TestStreamGivesWay: what is to be delivered in the chat goes first, no call overlaps another, and no preview takes the turn of a
// message where the account is paced.
func TestStreamGivesWay(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := writes(t, tenSeconds(), channeltest.Options{}, edits, paced(channels.Pacing{PerGroupPerMinute: 8}), edits)
		g.fake.Script(channeltest.Step{Delay: 3 * time.Second, Times: -1})
		g.say(groupChat("a"), guest, "write")
		<-time.After(2 * time.Second) // the first words are on their way
		g.say(groupChat("a"), guest, "/whoami")
		calls := g.shown(2)
		if g.ended(2); len(g.fake.Overlaps()) > 0 {
			t.Errorf("overlaps: %v", g.fake.Overlaps())
		}
		if calls[1].At.Sub(calls[0].At) > 3500*time.Millisecond {
			t.Errorf("the answer to a command waited %s", calls[1].At.Sub(calls[0].At))
		}
		if got := g.fake.Texts(groupChat("a")); len(got) != 2 || got[0] != tenSeconds().answer {
			t.Errorf("%q", got)
		}
	})
}
