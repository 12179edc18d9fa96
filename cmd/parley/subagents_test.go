package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/agent/modeltest"
	"parley/sessions"
)

// spawn is the program line of a sessions_spawn; further arguments come in pairs.
func spawn(task string, more ...any) string {
	args := map[string]any{"task": task}
	for i := 0; i < len(more); i += 2 {
		args[more[i].(string)] = more[i+1]
	}
	return use("sessions_spawn", args)
}

// reports scripts the announce steps of sub-agents.
func reports(text string) func(call) modeltest.Reply {
	return func(c call) modeltest.Reply {
		if c.Step == "report" {
			return words(text)
		}
		return words("REPLY_SKIP")
	}
}

// stats is the last line of a report.
var stats = regexp.MustCompile(`^Stats: \S[^•]* • runtime (\d+)s • tokens (\d+) \(in (\d+) / out (\d+)\) • sessionKey (\S+) • sessionId (\S+) • transcript (\S+)$`)

// TestReport has an agent start a sub-agent from a topic: its report lands there, through the bot of that agent, with figures that are
// true, and the agent knows of it.
//
// proves: N2, N5, N6, N10, N11, N13, N16
func TestReport(t *testing.T) {
	t.Parallel()
	tn := newTown(t, setup{})
	tn.words = reports("Status: a great success\n**Result:** I counted 42.\n\nTwice.\nNotes:\n- nothing odd")
	tn.start()
	task := program(use("remember", map[string]any{"text": "42"}), hold("child"), say("There are 42."))
	tn.hereB().tell(program(spawn(task, "label", "counting"), say("on it")))
	accepted := told[outcome](tn.world, atB, "sessions_spawn", 1)
	key := accepted.ChildSessionKey
	if accepted.Status != "accepted" || accepted.RunID == "" || !strings.HasPrefix(key, "agent:b:subagent:") {
		t.Fatalf("b was told %+v", accepted)
	}
	if got := tn.shows(tn.hereB(), 1); got[0] != "on it" { // the sub-agent is still at work
		t.Errorf("b says %q", got)
	}
	child := tn.sessions(false)[sessions.Key(key)]
	tn.free("child")
	post := tn.shows(tn.hereB(), 2)[1]
	lines := strings.Split(post, "\n")
	if want := "Status: success\n\nResult:\nI counted 42.\n\nTwice.\n\nNotes:\n"; !strings.HasPrefix(post, want) || !strings.Contains(post, "nothing odd") {
		t.Errorf("the report is\n%s", post)
	}
	m := stats.FindStringSubmatch(lines[len(lines)-1])
	if m == nil {
		t.Fatalf("the report ends with %q", lines[len(lines)-1])
	}
	if !slices.Equal(m[2:5], []string{"220", "200", "20"}) || m[5] != key || m[6] != string(child.ID) || child.Label != "counting" {
		t.Errorf("the figures are %q; the child is %+v", m, child)
	}
	path := m[7]
	if !filepath.IsAbs(path) {
		path = filepath.Join(tn.dir, path)
	}
	tn.until(10*time.Second, "the transcript is on disk", func() bool {
		b, err := os.ReadFile(path)
		return err == nil && strings.Contains(string(b), "There are 42.")
	})
	tn.only(map[place]int{tn.hereB(): 2})
	if ds := tn.deliveries(sessions.Announce); len(ds) != 1 || ds[0].To.Account != "two" || ds[0].To.Thread != "7" {
		t.Errorf("the announce: %+v", ds)
	}
	tn.hereB().tell("what did it say?")
	tn.shows(tn.hereB(), 3)
	turns := tn.modelCalls(atB, "turn")
	if last := turns[len(turns)-1]; !slices.ContainsFunc(last.Messages, func(m modeltest.Message) bool {
		return m.Role == "assistant" && strings.Contains(m.Text, "I counted 42.")
	}) {
		t.Errorf("b's agent does not know what was posted: %+v", last.Messages)
	}
}

// TestReportAfterKill kills the host while a sub-agent is at work: it goes on where it stood, there is one report, and its figures
// include what was used before.
//
// proves: N10, N13, N15
func TestReportAfterKill(t *testing.T) {
	t.Parallel()
	tn := newTown(t, setup{})
	tn.words = reports("Result: done")
	p := tn.start()
	noted := use("remember", map[string]any{"text": "42"})
	tn.hereB().tell(program(spawn(program(noted, noted, hold("child"), say("There are 42."))), say("on it")))
	tn.shows(tn.hereB(), 1)
	child := told[outcome](tn.world, atB, "sessions_spawn", 1).ChildSessionKey
	tn.asked(child, "child", 3)
	tn.quietBut(1)
	p.kill()
	tn.start()
	tn.asked(child, "child", 4)
	tn.free("child")
	lines := strings.Split(tn.shows(tn.hereB(), 2)[1], "\n")
	if m := stats.FindStringSubmatch(lines[len(lines)-1]); m == nil || !slices.Equal(m[2:5], []string{"330", "300", "30"}) || m[5] != child {
		t.Errorf("the figures are %q", lines[len(lines)-1])
	}
	tn.only(map[place]int{tn.hereB(): 2})
	if n := len(tn.results(child, "remember")); n != 2 || len(tn.modelCalls(child, "child")) != 4 {
		t.Errorf("%d results, %d model calls", n, len(tn.modelCalls(child, "child")))
	}
}

// TestReports is what a report says when something is not as it should be. Status is the host's.
//
// proves: N10, N11, N12, N13, N15
func TestReports(t *testing.T) {
	t.Parallel()
	noted := use("remember", map[string]any{"text": "x"})
	rosy := words("Status: success\nResult: All went well.\nNotes: as ever")
	tests := []ending{
		{"it failed", fail(), rosy, "Status: error\n\nResult:\nAll went well.\n\nNotes:\nas ever\n• Error: "},
		{"it said nothing", program(noted, say("")), words("Notes: see above"), "Status: success\n\nResult:\n{\"status\":\"ok\"}\n\nNotes:\nsee above\n\nStats: "},
		{"it chose silence", program(noted, say("NO_REPLY")), words(""), "Status: success\n\nResult:\n{\"status\":\"ok\"}\n\nNotes:\n"},
		{"nothing at all", say(""), words(""), "Status: success\n\nResult:\n(not available)\n\n"},
		{"the step failed", say("stored"), refused(), "Status: success\n\nResult:\nstored\n\nNotes:\n"},
		{"the step is empty", say("stored"), words(" \n"), "Status: success\n\nResult:\nstored\n\n"},
		{"the step says no", say("stored"), words("NO_REPLY"), ""},
		{"all failed", fail(), refused(), "Status: error\n\nResult:\n(not available)\n\nNotes:\n• Error: "},
		{"it failed later", program(noted, fail()), rosy, "Status: error\n\nResult:\nAll went well.\n\n"},
		{"a false status only", fail(), words("Status: success"), "Status: error\n\nResult:\n(not available)\n\n"},
		{"silence", say("stored"), words("\nANNOUNCE_SKIP "), ""},
	}
	tn := newTown(t, setup{Defaults: "subagents: {maxChildrenPerAgent: 50},"})
	tn.words = endings(tests)
	tn.start()
	tn.hereA().tell(spawnAll(tests))
	tn.asked("", "report", len(tests))
	posts := tn.shows(tn.hereA(), len(tests)-2)
	tn.only(map[place]int{tn.hereA(): len(tests) - 2})
	for i, test := range tests {
		child := told[outcome](tn.world, atA, "sessions_spawn", i+1).ChildSessionKey
		about := slices.DeleteFunc(slices.Clone(posts), func(s string) bool { return !strings.Contains(s, child) })
		switch {
		case test.want == "":
			if len(about) > 0 {
				t.Errorf("%s: %q", test.name, about)
			}
		case len(about) != 1 || !strings.HasPrefix(about[0], test.want) || !strings.Contains(about[0], " • runtime "):
			t.Errorf("%s: the reports are %q, and one should begin with\n%s", test.name, about, test.want)
		case test.name == "it failed later" && !strings.Contains(about[0], "tokens 110 (in 100 / out 10)"):
			t.Errorf("what it used before it failed does not count: %s", about[0])
		}
	}
}

// ending is a way for a sub-agent to end: its task, what the step says that words its report, and how the post begins; empty = silence.
type ending struct {
	name, task string
	words      modeltest.Reply
	want       string
}

// spawnAll starts a sub-agent for each, in this order. Their tasks have a last line with their name, which is not come to.
func spawnAll(all []ending, more ...any) string {
	var lines []string
	for _, e := range all {
		lines = append(lines, spawn(program(e.task, "("+e.name+")"), more...))
	}
	return together(lines...)
}

// endings scripts the steps that word the reports of tasks that spawnAll made.
func endings(all []ending) func(call) modeltest.Reply {
	return func(c call) modeltest.Reply {
		for _, e := range all {
			if strings.Contains(c.System, "("+e.name+")") {
				return e.words
			}
		}
		return words("of which task?")
	}
}

// TestChildSkips has the sub-agent itself say ANNOUNCE_SKIP: no announce step, nothing is posted.
//
// proves: N10, N15
func TestChildSkips(t *testing.T) {
	t.Parallel()
	tn := newTown(t, setup{})
	tn.words = reports("Result: not silent")
	tn.start()
	tn.hereA().tell(spawn(program(hold("child"), say("ANNOUNCE_SKIP\n"))))
	child := sessions.Key(told[outcome](tn.world, atA, "sessions_spawn", 1).ChildSessionKey)
	tn.asked(string(child), "child", 1)
	tn.free("child")
	tn.file(child, `"role":"assistant"`)
	tn.only(map[place]int{})
	if n := len(tn.modelCalls("", "report")); n != 0 {
		t.Errorf("%d announce steps", n)
	}
}

// TestRunTimeout ends a sub-agent that takes too long, at its time also when the host is killed meanwhile: a second one, whose time is
// shorter, says when that is.
//
// proves: N9, N11
func TestRunTimeout(t *testing.T) {
	t.Parallel()
	tn := newTown(t, setup{})
	tn.words = reports("Status: success\nResult: done in time")
	p := tn.start()
	const long, short = 4, 1
	tn.hereB().tell(program(spawn(hold("for ever"), "runTimeoutSeconds", long), say("started")))
	tn.shows(tn.hereB(), 1)
	tn.hereA().tell(spawn(hold("for ever"), "runTimeoutSeconds", short))
	ended := func(key, post string, limit time.Duration) {
		t.Helper()
		if !strings.HasPrefix(post, "Status: timeout\n") {
			t.Errorf("the report is\n%s", post)
		}
		id := told[outcome](tn.world, key, "sessions_spawn", 1).RunID
		run := fromAPI[[]sessions.Trace](tn.world, "/api/trace/"+id, nil)[0].Run
		if took := run.Ended.Sub(run.Created); run.Status != sessions.TimedOut || took < (limit-1)*time.Second || took > (limit+1)*time.Second {
			t.Errorf("the run ended after %s as %s, not after %d s", took, run.Status, limit)
		}
	}
	ended(atA, tn.shows(tn.hereA(), 1)[0], short)
	tn.quietBut(1) // a message that is under way would be sent again
	p.kill()
	tn.start()
	ended(atB, tn.shows(tn.hereB(), 2)[1], long)
	tn.only(map[place]int{tn.hereA(): 1, tn.hereB(): 2})
}

// TestCleanup deletes a sub-agent's session and its transcript after the report when that was asked for, and keeps them otherwise.
//
// proves: N14
func TestCleanup(t *testing.T) {
	t.Parallel()
	tn := newTown(t, setup{Defaults: "subagents: {archiveAfterMinutes: 0},"})
	tn.words = reports("Result: done")
	tn.start()
	tn.hereA().tell(program(spawn(say("kept")), spawn(program(hold("child"), say("gone")), "cleanup", "delete")))
	kept := sessions.Key(told[outcome](tn.world, atA, "sessions_spawn", 1).ChildSessionKey)
	gone := sessions.Key(told[outcome](tn.world, atA, "sessions_spawn", 2).ChildSessionKey)
	tn.until(10*time.Second, "the transcript of the child is there", func() bool { return len(tn.files(gone)) == 1 })
	path := tn.files(gone)[0]
	tn.free("child")
	tn.shows(tn.hereA(), 2)
	tn.until(10*time.Second, "the transcript is deleted", func() bool {
		_, err := os.Stat(path)
		return os.IsNotExist(err)
	})
	tn.quiet()
	all := tn.sessions(false)
	for k, row := range tn.sessions(true) {
		all[k] = row
	}
	if _, ok := all[gone]; ok {
		t.Errorf("the session %s is still there", gone)
	}
	if _, ok := all[kept]; !ok {
		t.Errorf("the session %s is not there", kept)
	}
	tn.file(kept, "kept")
}

// files are the transcript files of a session that is listed.
func (tn town) files(key sessions.Key) []string {
	tn.t.Helper()
	m, err := filepath.Glob(filepath.Join(tn.dir, "state", "agents", string(key.Agent()), "sessions", string(tn.sessions(false)[key].ID)+".jsonl"))
	if err != nil {
		tn.t.Fatal(err)
	}
	return m
}
