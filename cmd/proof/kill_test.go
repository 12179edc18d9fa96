package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/agent/modeltest"
	"parley/cmd/internal/failpoint"
	"parley/gateway/prooftest"
)

// A small kill run of the real program comes to its end, and the checker finds nothing; what it kept says what was done.
//
// proves: D1, D2, D3, D4
func TestKillRun(t *testing.T) {
	t.Parallel()
	path, dir := theHost(t), shortDir(t)
	f, err := killRun(t.Context(), killConfig{Program: path, Dir: filepath.Join(dir, "w"), Kills: 6, Messages: 30, Spawns: 8, Seed: 1, Progress: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	v := f.Verdict
	if !v.OK() {
		t.Error(v)
	}
	if f.AtPoints+f.Random != 6 || f.AtPoints == 0 || f.Random == 0 || v.Kills != 6+f.Rest || f.Messages < 30 || f.Spawns < 8 || f.Exchanges == 0 || f.Flips < 8 || v.Answers.Owed != f.Messages {
		t.Errorf("not what was asked for: %+v\n%s", f, v)
	}
	if lives := f.history.Asked[len(f.history.Asked)-1].Life; lives == 0 || lives > f.Lives {
		t.Errorf("the last model call is of life %d of %d", lives, f.Lives)
	}
	if err := keepHistory(dir, f.history, v); err != nil {
		t.Error(err)
	}
	logs, _ := filepath.Glob(filepath.Join(dir, "w", "log", "life-*.log"))
	if len(logs) != f.Lives {
		t.Errorf("%d logs of %d lives", len(logs), f.Lives)
	}
	var table strings.Builder
	f.print(&table, "")
	if !strings.Contains(table.String(), "fail-points") {
		t.Error(table.String())
	}
	again := 0
	for _, a := range f.Ambiguous {
		again += max(0, a.Shown-1)
	}
	if again != v.Twice {
		t.Errorf("%d texts are listed as shown again, and the checker counts %d", again, v.Twice)
	}
	t.Logf("%d kills, %d at fail-points, %d messages, %d faults", f.AtPoints+f.Random, f.AtPoints, f.Messages, len(v.Faults))
}

// A run at one platform's receipts kills there and nowhere else: each kill hid the end of a send there.
//
// proves: D3
func TestKillAtOnePlatform(t *testing.T) {
	t.Parallel()
	const point = "PartSent+whatsapp before-commit"
	f := killAt(t, killConfig{Kills: 3, Messages: 24, Seed: 1, Platform: whatsappServer}, point)
	if !f.Verdict.OK() || f.AtPoints != 3 || f.Random != 0 || f.At[point] != 3 || len(f.At) != 1 {
		t.Errorf("%d kills at fail-points %v, %d at random\n%s", f.AtPoints, f.At, f.Random, f.Verdict)
	}
	for _, k := range f.history.Kills {
		if k.Where == point && k.Sends[whatsappServer] == 0 {
			t.Errorf("no send on WhatsApp was under way at the kill of life %d: %v", k.Life, k.Sends)
		}
	}
	var table strings.Builder
	f.print(&table, "")
	if want := point + " 3×"; !strings.Contains(table.String(), want) {
		t.Errorf("not said: %s\n%s", want, table.String())
	}
}

// A host that does not come to the fail-point that was asked for by name is not killed at random: it is stopped softly, the figures say
// so, and the run fails by that name.
func TestKillNeverAtRandom(t *testing.T) {
	t.Parallel()
	const point = "Fire before-commit" // jobs are on Telegram
	f := killAt(t, killConfig{Kills: 1, Messages: 2, Seed: 1, Patience: time.Second, Platform: "discord"}, point)
	if !f.Verdict.OK() || f.AtPoints != 0 || f.Random != 0 || f.Stopped != 1 || f.Late[point] != 1 || len(f.history.Kills) > 0 {
		t.Errorf("%d kills at fail-points, %d at random, %d stopped, late %v, kills %v\n%s", f.AtPoints, f.Random, f.Stopped, f.Late, f.history.Kills, f.Verdict)
	}
	if bad := strings.Join(f.faults(), "; "); bad != "0 of the 1 kills that were asked for; never the place of a kill: "+point {
		t.Errorf("it fails by %q", bad)
	}
	var table strings.Builder
	f.print(&table, "")
	if want := "stopped softly, no kill: " + point + " 1×"; !strings.Contains(table.String(), want) {
		t.Errorf("not said: %s\n%s", want, table.String())
	}
}

// killAt is a run at the fail-points that match.
func killAt(t *testing.T, c killConfig, pattern string) *killed {
	t.Helper()
	var err error
	dir := shortDir(t)
	c.Program = theHost(t)
	if c.At, err = matching(pattern); err != nil {
		t.Fatal(err)
	}
	c.Dir, c.Progress = filepath.Join(dir, "w"), io.Discard
	f, err := killRun(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// A host that ends though nobody was to end it is a missed mark, and what was there until then is kept.
func TestKillRunOfAHostThatDies(t *testing.T) {
	t.Parallel()
	host := theHost(t)
	for text, want := range map[string]string{
		"echo boom; exit 3": "life 1 ended by itself: exit status 3\nboom",
		fmt.Sprintf("export %s='Finish before-commit' %s=3; exec %s \"$@\"", failpoint.KillOp, failpoint.KillNth, host): "life 1 was killed, and not by this run", // when it was ready
	} {
		dir := shortDir(t)
		c := killConfig{Program: script(t, filepath.Join(dir, "program"), text), Dir: filepath.Join(dir, "w"), Kills: 2, Messages: 2, Seed: 1, Progress: io.Discard}
		f, err := killRun(t.Context(), c)
		if !errors.Is(err, errMark) || !strings.Contains(err.Error(), want) || f == nil || f.Verdict != nil || f.history == nil {
			t.Fatalf("%+v: %v", f, err)
		}
		if n := len(f.history.Said); (n > 0) != strings.HasPrefix(text, "export") {
			t.Errorf("%q: %d messages", want, n)
		}
		interrupted, cancel := context.WithCancel(t.Context())
		cancel()
		if !f.worthKeeping(t.Context(), err) || f.worthKeeping(interrupted, err) || (*killed)(nil).worthKeeping(t.Context(), err) {
			t.Error("what broke off is kept, and what was interrupted or did not begin is not")
		}
	}
}

// An interrupt is no missed mark, and leaves nothing to look at.
func TestKillRunInterrupted(t *testing.T) {
	t.Parallel()
	host := theHost(t)
	dir := shortDir(t)
	ctx, interrupt := context.WithCancel(t.Context())
	said := writes(func(b []byte) {
		if bytes.HasPrefix(b, []byte("seed ")) {
			interrupt()
		}
	})
	f, err := killRun(ctx, killConfig{Program: host, Dir: filepath.Join(dir, "w"), Kills: 2, Messages: 20, Seed: 1, Progress: said})
	if f != nil || !errors.Is(err, context.Canceled) || errors.Is(err, errMark) {
		t.Errorf("%+v: %v", f, err)
	}
}

// writes is called with what is written.
type writes func([]byte)

func (w writes) Write(b []byte) (int, error) { w(b); return len(b), nil }

// A fail-point's name chooses that one alone; a pattern, all that match.
func TestMatching(t *testing.T) {
	t.Parallel()
	for pattern, want := range map[string]int{"PartSent before-commit": 1, "PartSent+whatsapp before-commit": 1, "^PartSent.*before": 4, "Submit+reset": 2,
		"Accept+(reset|stop) ": 4, `^Submit\+no\w+ `: 2, "Submit+pa[a-z]+ ": 4, "(": -1} {
		at, err := matching(pattern)
		got := -1
		if err == nil {
			got = len(newPoints(at, 1).all)
		}
		if got != want {
			t.Errorf("%s: %d fail-points, want %d (%v)", pattern, got, want, err)
		}
	}
}

// A planner makes as many messages and sub-agents as it is told, the same for the same seed, and every text holds its token.
func TestPlans(t *testing.T) {
	t.Parallel()
	places := []*place{
		{Place: prooftest.Place{Platform: "telegram", Chat: "1"}, Session: "agent:a:one"},
		{Place: prooftest.Place{Platform: "whatsapp", Chat: "2"}, Session: "agent:b:two"},
	}
	made := func(seed uint64) (all []plan) {
		p := planner{r: rand.New(rand.NewPCG(seed, 2)), places: places, left: 400, spawns: 80}
		for p.left > 0 {
			all = append(all, p.next())
		}
		return all
	}
	one, same := made(1), made(1)
	spawns, waits := 0, 0
	for i, p := range one {
		if p.text != same[i].text || p.said.Owes[0].Token != p.said.Token || !strings.HasPrefix(p.text, "["+p.said.Token+"]") {
			t.Errorf("message %d: %+v, %+v", i, p, same[i])
		}
		for _, d := range p.said.Owes {
			if d.Kind == prooftest.Report {
				spawns++
			}
		}
		if strings.Contains(p.text, "|1") {
			if waits++; p.at != places[0] {
				t.Errorf("agent b waits for another: %s", p.text)
			}
		}
	}
	full := planner{r: rand.New(rand.NewPCG(1, 2)), places: places, left: 50, spawns: mostSpawns * 50}
	for full.left > 0 {
		full.next()
	}
	if full.spawns > 0 {
		t.Errorf("%d sub-agents of %d were not asked for", full.spawns, mostSpawns*50)
	}
	if len(one) != 400 || spawns < 80 || spawns > 90 || waits == 0 {
		t.Errorf("%d messages, %d sub-agents, %d exchanges that wait", len(one), spawns, waits)
	}
}

// The fail-points of a run are those that a pattern chooses of the known ones, and what occurs besides: each is tried before any is
// tried twice, and one that was not reached yet before those that were.
func TestPoints(t *testing.T) {
	t.Parallel()
	p := newPoints(regexp.MustCompile("^(Claim|Accept|Other) before"), 2)
	p.learn([]string{"Claim before-commit", "Claim after-commit", "Accept before-commit", "Claim before-commit"})
	if want := []string{"Accept before-commit", "Claim before-commit"}; !slices.Equal(p.all, want) || !p.brief {
		t.Fatalf("%v", p.all)
	}
	dice := rand.New(rand.NewPCG(1, 1))
	a, _ := p.next(dice)
	b, nth := p.next(dice)
	if a == b || nth != 1 {
		t.Errorf("%s, %s for the %d. time", a, b, nth)
	}
	p.hit(a)
	if c, _ := p.next(dice); c != b || !slices.Equal(p.unreached(), []string{b}) {
		t.Errorf("%s, not reached %v", c, p.unreached())
	}
	p.learn([]string{"Other before-commit"})
	if !slices.Contains(p.all, "Other before-commit") {
		t.Errorf("%v", p.all)
	}
}

// Each known fail-point is one that a commit can stand for. One that none stands for would fail every run that has kills for all.
func TestPointsThatThereAre(t *testing.T) {
	t.Parallel()
	for _, point := range knownPoints() {
		name, phase, _ := strings.Cut(point, " ")
		if is := failpoint.Points(name, phase); !slices.Contains(is, point) {
			t.Errorf("%s stands for %v alone", point, is)
		}
	}
}

// A run with kills for all fail-points fails by the name of each that was never the place of one; and by what should not occur.
func TestPointsThatAreMissed(t *testing.T) {
	t.Parallel()
	some := regexp.MustCompile("^(Claim|Fire) ")
	p := newPoints(some, 8)
	for _, point := range p.all[1:] {
		p.hit(point)
	}
	if got := p.judge(); len(got) != 1 || !strings.Contains(got[0], p.all[0]) || strings.Contains(got[0], p.all[1]) {
		t.Errorf("%q of %v", got, p.all)
	}
	p.hit(p.all[0])
	if p.learn([]string{"Claim before-commit"}); len(p.judge()) > 0 {
		t.Errorf("%q", p.judge())
	}
	if p.learn([]string{"Patch before-commit"}); len(p.judge()) != 1 {
		t.Errorf("%q", p.judge())
	}
	few := newPoints(some, 7)
	if few.tried["Fire after-commit"]++; len(few.judge()) > 0 || len(few.unreached()) != 4 {
		t.Errorf("%q, %v", few.judge(), few.unreached())
	}
	few.named = true // then what was waited for counts
	if got := few.judge(); len(got) != 1 || got[0] != "never the place of a kill: Fire after-commit" {
		t.Errorf("by name: %q", got)
	}
	all, halfOf := regexp.MustCompile(""), func(kills int) int { return (kills + 1) / 2 }
	if newPoints(all, halfOf(judgedFrom())).brief || !newPoints(all, halfOf(judgedFrom()-1)).brief {
		t.Errorf("--help says that a run fails by a fail-point's name from %d kills on, and it does not", judgedFrom())
	}
	if none := newPoints(regexp.MustCompile("Nothing"), 1); len(none.all) > 0 || !strings.Contains(unknown("Nothing").Error(), "PartSent") {
		t.Errorf("%v", none.all)
	}
}

// The puppet shows tokens in brackets only where they are owed.
func TestPuppet(t *testing.T) {
	t.Parallel()
	user := func(text string) modeltest.Message { return modeltest.Message{Role: "user", Text: text} }
	for _, c := range []struct{ name, system, said, token, text, calls string }{
		{"an answer", "", "[message of 12:00]\n\n[m7]", "m7", "done [m7]", ""},
		{"several at once: the newest", "", "[m6]\n[m7]", "m7", "done [m7]", ""},
		{"no message of the run", "", "hello", "", "NO_REPLY", ""},
		{"orders", "", "[m7] ask:agent:b:x|1 spawn:late", "m7", "", `sessions_send{"message":"exchange m7.x1","sessionKey":"agent:b:x","timeoutSeconds":1} sessions_spawn{"runTimeoutSeconds":1,"task":"task m7.s1 late"}`},
		{"asked by another", "This message comes from another session", "exchange m7.x1", "m7.x1", "round one", ""},
		{"an announcement", "This is the announce step of an exchange\n- Original request: \"exchange m7.x1\"", "Announce step.", "m7.x1", "we agreed on [m7.x1]", ""},
		{"a task", "You are a sub-agent of", "task m7.s1 ok", "m7.s1", "found [m7.s1]", ""},
		{"a report", "This is the announce step of your task\n- Task: \"task m7.s1 ok\"\n- Your result: \"found [m7.s1] [m7.s1.n1]\"\n", "x", "m7.s1", "Result: [m7.s1] [m7.s1.n1]", ""},
		{"a report without a result", "This is the announce step of your task\n- Task: \"task m7.s1 late\"\n- Your result: not available\n", "x", "m7.s1", "Result: [m7.s1]", ""},
	} {
		r := modeltest.Request{System: c.system, Messages: []modeltest.Message{user(c.said)}}
		token, reply := sceneOf(r).play(r)
		var calls []string
		for _, tc := range reply.ToolCalls {
			calls = append(calls, fmt.Sprint(tc.Name, tc.Arguments))
		}
		if got := strings.Join(reply.Text, ""); token != c.token || got != c.text || strings.Join(calls, " ") != c.calls {
			t.Errorf("%s: %q, %q, %v", c.name, token, got, calls)
		}
	}
}
