package sqlstore

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"parley/policy"
	"parley/sessions"
	"parley/sessions/sqlstore/transcriptfile"
)

type mirrorLine struct {
	Type, ID, Key, Role, State, Rule, Message, Delivery string
	Seq                                                 int64
	Content                                             []sessions.Block
}

func readMirror(t *testing.T, path string) (out []mirrorLine) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for l := range strings.Lines(string(b)) {
		var x mirrorLine
		if err := json.Unmarshal([]byte(l), &x); err != nil || !strings.HasSuffix(l, "\n") {
			t.Fatalf("%q: %v", l, err)
		}
		out = append(out, x)
	}
	return out
}

// shape writes lines as words: s, u, a, d:state.
func shape(lines []mirrorLine) string {
	var out []string
	for _, l := range lines {
		switch l.Type {
		case "message":
			out = append(out, l.Role[:1])
		case "delivery":
			out = append(out, "d:"+l.State)
		default:
			out = append(out, l.Type[:1])
		}
	}
	return strings.Join(out, " ")
}

// proves: T1, T2
func TestMirror(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, Config{Dir: dir})
	ctx := t.Context()
	key, addr := chat(1)
	if err := life(ctx, s, 1, 1, "question", "answer"); err != nil {
		t.Fatal(err)
	}
	at, err := s.Get(ctx, key)
	if err != nil {
		t.Fatal(err)
	}
	path := s.TranscriptPath("main", at.ID)
	if want := filepath.Join(dir, "agents", "main", "sessions", string(at.ID)+".jsonl"); path != want {
		t.Errorf("%s, want %s", path, want)
	}
	s.FlushTranscriptFiles()
	lines := readMirror(t, path)
	if shape(lines) != "s u a d:sent" {
		t.Fatal(shape(lines))
	}
	if l := lines; l[0].Key != string(key) || l[0].ID != string(at.ID) || l[1].Content[0].Text != "question" || l[2].Seq <= l[1].Seq || l[3].Message != l[2].ID || l[3].Rule != "session.sendPolicy.default" {
		t.Errorf("%+v", lines)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Error(info.Mode(), err)
	}
	if info, err := os.Stat(filepath.Dir(path)); err != nil || info.Mode().Perm() != 0o700 {
		t.Error(info.Mode(), err)
	}
	// A withheld one says so; one without a message is not in the file.
	tail, err := s.Tail(ctx, at.ID, sessions.TailQuery{})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []sessions.Delivery{{ID: "w", Session: key, To: addr, Message: tail[1].ID}, {ID: "n", Session: key, To: addr}} {
		if _, err := s.Submit(ctx, sessions.Change{Ops: []sessions.Op{sessions.EnqueueDelivery(d)}}); err != nil {
			t.Fatal(err)
		}
		if _, err := s.BeginSend(ctx, d.ID, time.Now(), func(sessions.Session) policy.Verdict { return policy.Verdict{Action: policy.Deny, Rule: "r1"} }, sessions.FirstContactQuota{}); err != nil {
			t.Fatal(err)
		}
	}
	s.FlushTranscriptFiles()
	lines = readMirror(t, path)
	if shape(lines) != "s u a d:sent d:withheld" || lines[4].Rule != "r1" {
		t.Error(shape(lines))
	}
	// A rebuild gives the same, but with each delivery behind its message.
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := s.RebuildTranscriptFile(ctx, at.ID); err != nil {
		t.Fatal(err)
	}
	if again := readMirror(t, path); fmt.Sprint(again) != fmt.Sprint(lines) {
		t.Errorf("rebuilt:\n%v\nwas:\n%v", again, lines)
	}
	if err := s.RebuildTranscriptFile(ctx, "nobody"); err == nil {
		t.Error("rebuilt nothing")
	}
	// The file goes with its session.
	if err := s.Delete(ctx, key); err != nil {
		t.Fatal(err)
	}
	s.FlushTranscriptFiles()
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Error("the file of a deleted session is still there:", err)
	}
}

// What a turn takes up is in the file where it was merged, and what the host posted has the end of its delivery behind it, also
// when that came first. A rebuild gives the same.
//
// proves: T1, T2
func TestMirrorAbsorbAndPost(t *testing.T) {
	t.Parallel()
	s := open(t, Config{Dir: t.TempDir()})
	ctx := t.Context()
	key, addr := chat(1)
	queue := func(id string, kind sessions.RunKind, role sessions.Role, deliveries ...sessions.Delivery) {
		t.Helper()
		_, err := s.Submit(ctx, sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: key, Agent: "main"}}, Run: &sessions.Enqueue{Run: sessions.Run{ID: sessions.RunID(id), Kind: kind, Input: sessions.Message{ID: "in " + id, Role: role, Content: sessions.TextContent(id)}}}, Ops: sessions.EnqueueDeliveries(deliveries...)})
		if err != nil {
			t.Fatal(err)
		}
	}
	next := func(answer ...sessions.Message) {
		t.Helper()
		run, ok, err := s.Claim(ctx, key)
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		if len(answer) > 0 {
			queue("more", sessions.TurnRun, sessions.User)
			if _, err := s.MergeQueued(ctx, run.ID, sessions.MergeQuery{Kind: sessions.TurnRun}); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := s.Finish(ctx, run.ID, sessions.Outcome{Status: sessions.Done, Messages: answer}); err != nil {
			t.Fatal(err)
		}
	}
	queue("turn", sessions.TurnRun, sessions.User)
	queue("post", sessions.PostRun, sessions.Assistant, sessions.Delivery{ID: "d", Session: key, To: addr, Message: "in post", Text: "post"}, sessions.Delivery{ID: "waits", Session: key, To: addr, Message: "in post"})
	if _, err := s.BeginSend(ctx, "d", time.Now(), func(sessions.Session) policy.Verdict { return policy.Verdict{Action: policy.Deny, Rule: "r1"} }, sessions.FirstContactQuota{}); err != nil {
		t.Fatal(err)
	}
	next(sessions.Message{ID: "answer", Role: sessions.Assistant, Content: sessions.TextContent("answer")})
	s.FlushTranscriptFiles()
	next()
	at, err := s.Get(ctx, key)
	if err != nil {
		t.Fatal(err)
	}
	path := s.TranscriptPath("main", at.ID)
	s.FlushTranscriptFiles()
	lines := readMirror(t, path)
	if shape(lines) != "s u u a a d:withheld" || lines[2].Content[0].Text != "more" || lines[5].Message != "in post" || lines[5].Rule != "r1" {
		t.Fatalf("%s: %+v", shape(lines), lines)
	}
	if err := s.EndDelivery(ctx, "waits", sessions.Dropped, "x"); err != nil {
		t.Fatal(err)
	}
	s.FlushTranscriptFiles()
	if got := shape(readMirror(t, path)); got != "s u u a a d:withheld d:dropped" {
		t.Error(got)
	}
	if err := s.RebuildTranscriptFile(ctx, at.ID); err != nil {
		t.Fatal(err)
	}
	if got := shape(readMirror(t, path)); got != "s u u a a d:withheld d:dropped" {
		t.Error("rebuilt:", got)
	}
}

// Whatever a crash left of the file, the next message after the start completes it.
func TestMirrorGap(t *testing.T) {
	t.Parallel()
	for name, harm := range map[string]func(b string) string{
		"lines missing":        func(b string) string { return strings.Join(strings.SplitAfter(b, "\n")[:3], "") },
		"a delivery missing":   func(b string) string { l := strings.SplitAfter(b, "\n"); return strings.Join(l[:len(l)-2], "") },
		"last line torn":       func(b string) string { return b[:len(b)-20] },
		"first line torn":      func(b string) string { return b[:20] },
		"zeros at the end":     func(b string) string { return b[:len(b)/2] + strings.Repeat("\x00", 100) + "\n" },
		"zeros without an end": func(b string) string { return b + strings.Repeat("\x00", 100) },
		"empty":                func(string) string { return "" },
		"whole":                func(b string) string { return b },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			s := open(t, Config{Dir: dir})
			for i := range 3 {
				if err := life(t.Context(), s, 1, i, fmt.Sprint("q", i), strings.Repeat("a", 30_000)); err != nil {
					t.Fatal(err)
				}
			}
			key, _ := chat(1)
			at, err := s.Get(t.Context(), key)
			if err != nil {
				t.Fatal(err)
			}
			path := s.TranscriptPath("main", at.ID)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(harm(string(b))), 0o600); err != nil {
				t.Fatal(err)
			}
			s = open(t, Config{Dir: dir})
			if err := life(t.Context(), s, 1, 9, "after", "after"); err != nil {
				t.Fatal(err)
			}
			s.FlushTranscriptFiles()
			lines := readMirror(t, path)
			if got := shape(lines); got != "s u a d:sent u a d:sent u a d:sent u a d:sent" {
				t.Error(got)
			}
			for i := 1; i < len(lines); i++ {
				if l := lines[i]; l.Type == "message" && l.Content[0].Text == "" {
					t.Error(l)
				}
			}
		})
	}
}

// A mirror that cannot keep up drops lines from memory, never from the file.
func TestMirrorBehind(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var s *Store
	var full atomic.Bool
	s = open(t, Config{Dir: dir, Trace: func(_, phase string) {
		if full.Load() && phase == BeforeCommit {
			s.transcriptFiles.Append(make([]transcriptfile.Line, 8192)) // full of lines of a transcript that does not exist
		}
	}})
	if err := life(t.Context(), s, 1, 1, "q", "a"); err != nil {
		t.Fatal(err)
	}
	s.FlushTranscriptFiles()
	key, _ := chat(1)
	at, err := s.Get(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	full.Store(true)
	if err := life(t.Context(), s, 1, 2, "q2", "a2"); err != nil {
		t.Fatal(err)
	}
	s.FlushTranscriptFiles()
	if got := shape(readMirror(t, s.TranscriptPath("main", at.ID))); got != "s u a d:sent u a d:sent" {
		t.Error(got)
	}
}

// No id can point outside the folder, and two ids never share a file.
func TestTranscriptPath(t *testing.T) {
	t.Parallel()
	s := transcriptfile.New(slog.New(slog.DiscardHandler), nil, "/state")
	hostile := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", ".", "..", "../..", "/etc/passwd", "a/b", `a\b`, "a\x00b", "..\u2215", "%2e%2e", strings.Repeat("x", 500), strings.Repeat("x", 501), "CON", "a.jsonl"}))
	rapid.Check(t, func(t *rapid.T) {
		a, i := hostile.Draw(t, "agent"), hostile.Draw(t, "id")
		b, j := hostile.Draw(t, "agent2"), hostile.Draw(t, "id2")
		p, q := s.Path(sessions.AgentID(a), sessions.ID(i)), s.Path(sessions.AgentID(b), sessions.ID(j))
		part := strings.Split(p, "/")
		if filepath.Clean(p) != p || len(part) != 6 || !strings.HasPrefix(p, "/state/agents/") || part[4] != "sessions" || len(part[3]) > 255 || len(part[5]) > 255 || strings.ContainsAny(p, "\x00\\") {
			t.Fatalf("%q %q: %q", a, i, p)
		}
		if p == q && (a != b || i != j) {
			t.Fatalf("%q %q and %q %q share %q", a, i, b, j, p)
		}
	})
}

// A person put an older database in place, as the way back of an upgrade says: the transcripts' files forget what the store forgot, and
// follow it again.
//
// proves: T1
func TestMirrorAheadOfTheStore(t *testing.T) {
	t.Parallel()
	s := open(t, Config{Dir: t.TempDir()})
	dir := s.conf.Dir
	talk := func(n int, words string) {
		t.Helper()
		if err := life(t.Context(), s, 1, n, words, "answer to "+words); err != nil {
			t.Fatal(err)
		}
		s.FlushTranscriptFiles()
	}
	again := func() {
		t.Helper()
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	talk(1, "one")
	at, err := s.Get(t.Context(), firstKey())
	if err != nil {
		t.Fatal(err)
	}
	path := s.TranscriptPath("main", at.ID)
	again()
	older, err := os.ReadFile(filepath.Join(dir, DatabaseFile))
	if err != nil {
		t.Fatal(err)
	}
	s = open(t, Config{Dir: dir})
	talk(2, "forgotten")
	again()
	if err := errors.Join(os.WriteFile(filepath.Join(dir, DatabaseFile), older, 0o600), os.Remove(filepath.Join(dir, CommitsFile))); err != nil {
		t.Fatal(err)
	}
	s = open(t, Config{Dir: dir})
	talk(3, "after")
	b, err := os.ReadFile(path)
	if text := string(b); err != nil || strings.Contains(text, "forgotten") || strings.Count(text, `"one"`) != 1 || !strings.Contains(text, "answer to after") {
		t.Errorf("%v: %s", err, text)
	}
}

func firstKey() sessions.Key {
	key, _ := chat(1)
	return key
}
