package delivery_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/agent"
	"parley/channels"
	"parley/channels/channeltest"
	"parley/policy"
	"parley/router/filestore"
	"parley/router/routertest"
	"parley/sessions"
	"parley/tools"
)

// png and mp3 are how such files begin.
const (
	png = "\x89PNG\x0d\x0a\x1a\x0a"
	mp3 = "ID3\x03\x00\x00\x00\x00\x00\x00"
)

// ofBytes is a file that is posted, and how often it was opened.
func ofBytes(name, data string, opened *int) tools.PostFile {
	return tools.PostFile{Name: name, Open: func() (io.ReadCloser, error) {
		if opened != nil {
			*opened++
		}
		return io.NopCloser(strings.NewReader(data)), nil
	}}
}

// postsFiles starts a rig whose platform takes files, and gives what posts into chat a.
func postsFiles(t *testing.T, l channels.Limits) (g *routertest.Rig, post func(source, text string, files ...tools.PostFile) (tools.PostResult, error)) {
	t.Helper()
	g = routertest.New(t, channeltest.Options{Limits: l})
	g.Say(routertest.Group("a"), routertest.Guest, "hello")
	g.Shown(1)
	g.Idle(1)
	return g, func(source, text string, files ...tools.PostFile) (tools.PostResult, error) {
		t.Helper()
		return g.Router.ToolHost.Post(t.Context(), tools.PostRequest{Source: source, From: tools.Caller{Session: g.Session(routertest.KeyA), Run: g.Runs()[0]}, Session: routertest.KeyA, To: routertest.Group("a"), Text: text, Files: files})
	}
}

// messages writes down what was sent after the first message: the text, and the names of the files.
func messagesSent(g *routertest.Rig) (out []string) {
	for _, c := range g.Fake.Shown(channels.Address{})[1:] {
		line := c.Out.Text
		for _, f := range c.Files {
			line += "|" + f.Name + " " + string(f.Kind)
		}
		out = append(out, line)
	}
	return out
}

var anything = channels.Limits{Text: 200, Files: 2, FileBytes: 1000, Caption: 100}

// TestFilesOut posts files with a text: with it where that is short enough, else behind it; neighbours that go together in one message;
// what cannot be sent there is named.
func TestFilesOut(t *testing.T) {
	long := strings.Repeat("word ", 30)
	pictures := []tools.PostFile{ofBytes("1.png", png, nil), ofBytes("2.png", png, nil), ofBytes("3.png", png, nil)}
	mixed := []tools.PostFile{ofBytes("a.png", png, nil), ofBytes("b.txt", "text", nil), ofBytes("c.mp3", mp3, nil), ofBytes("../d.pdf", "%PDF-1", nil)}
	for name, c := range map[string]struct {
		limits channels.Limits
		text   string
		files  []tools.PostFile
		want   []string
	}{
		"caption":            {anything, "look", pictures, []string{"look|1.png image|2.png image", "|3.png image"}},
		"no text":            {anything, "", mixed, []string{"|a.png image", "|b.txt document", "|c.mp3 audio", "|d.pdf document"}},
		"long text":          {anything, long, pictures[:1], []string{strings.TrimSpace(long), "|1.png image"}},
		"no captions":        {channels.Limits{Text: 200, Files: 9, FileBytes: 1000}, "look", pictures, []string{"look", "|1.png image|2.png image|3.png image"}},
		"no files there":     {channels.Limits{Text: 400}, "look", pictures[:1], []string{"look\n\n(The file 1.png cannot be sent in this chat.)"}},
		"too large together": {channels.Limits{Text: 200, Files: 9, FileBytes: 1000, FilesBytes: 16, Caption: 100}, "look", pictures, []string{"look|1.png image|2.png image", "|3.png image"}},
		"too large": {channels.Limits{Text: 400, Files: 9, FileBytes: 7, Caption: 200}, "look", mixed[:2],
			[]string{"look\n\n(The file a.png is too large for this chat.)|b.txt document"}},
	} {
		t.Run(name, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				g, post := postsFiles(t, c.limits)
				res, err := post("tool:r:c", c.text, c.files...)
				if err != nil || !res.Verdict.Allowed() {
					t.Fatalf("%+v, %v", res, err)
				}
				d := g.Ended(2)[1]
				if got := messagesSent(g); !slices.Equal(got, c.want) || d.State != sessions.Sent || len(d.Receipts) != len(c.want) {
					t.Errorf("%q, want %q; %s, %d receipts, %s", got, c.want, d.State, len(d.Receipts), d.Error)
				}
				if d.Text != c.text || len(d.Files) != len(c.files) || len(d.Files[0].Hash) != 64 {
					t.Errorf("%+v", d)
				}
				g.Idle(2)
				msgs := g.Transcript(routertest.KeyA)
				if m := msgs[len(msgs)-1].Text(); !strings.HasSuffix(m, "[posted file: "+d.Files[len(d.Files)-1].String()+"]") || !strings.HasPrefix(m, strings.TrimSpace(c.text)) {
					t.Errorf("the transcript says %q", m)
				}
			})
		})
	}
}

// TestFilesOutOfTheWorkspace has an agent write a file and post it: what it changes afterwards is not sent, and what is not in its
// workspace is not read.
func TestFilesOutOfTheWorkspace(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{Limits: anything})
		hold := make(chan struct{})
		g.Fake.Script(channeltest.Step{Wait: hold})
		steps := []agent.Answer{
			routertest.Call("c1", "files", map[string]any{"action": "write", "path": "out/note.txt", "content": "first"}),
			routertest.Call("c2", "message", map[string]any{"to": "current", "text": "here", "files": []string{"out/note.txt"}}),
			routertest.Call("c3", "files", map[string]any{"action": "write", "path": "out/note.txt", "content": "changed"}),
			routertest.Call("c4", "message", map[string]any{"to": "current", "files": []string{"../parley.db"}}),
			routertest.Call("c5", "message", map[string]any{"to": "current", "files": []string{"nothing.txt"}}),
			routertest.Text("done"),
		}
		var results []string
		g.Model.Set(func(_ context.Context, p agent.Prompt) (agent.Answer, error) {
			if m := routertest.Last(p); m.Role == sessions.ToolResult {
				results = append(results, m.Text())
			}
			return steps[g.Model.Count()-1], nil
		})
		g.Say(routertest.Direct(routertest.Guest), routertest.Guest, "go")
		g.Until("asked", func() bool { return g.Model.Count() == len(steps) })
		close(hold)
		calls := g.Shown(2)
		if f := calls[0].Files; len(f) != 1 || f[0].Name != "note.txt" || string(f[0].Data) != "first" || calls[0].Out.Text != "here" {
			t.Errorf("%+v", calls[0])
		}
		if len(results) != 5 || !strings.Contains(results[3], "not inside the workspace") || !strings.Contains(results[4], "does not exist") {
			t.Errorf("%q", results)
		}
	})
}

// TestFilesOutUnderThePolicy: what the policy holds back is named in the row and never read; a retry by hand after a flip says why it has
// nothing to send. After a flip nothing of what waits is read or sent.
//
// proves: P4, P5, P7
func TestFilesOutUnderThePolicy(t *testing.T) {
	deny, allow := policy.Deny, policy.Allow
	routertest.Bubble(t, func(t *testing.T) {
		g, post := postsFiles(t, anything)
		patch := func(o *policy.Override) {
			if _, err := g.Router.Patch(t.Context(), routertest.KeyA, sessions.Patch{SendPolicy: o}); err != nil {
				t.Fatal(err)
			}
		}
		opened := 0
		patch(&deny)
		if res, err := post("tool:r:c1", "x", ofBytes("a.txt", "text", &opened)); err != nil || res.Verdict.Allowed() || res.Delivery != "" || opened != 0 {
			t.Errorf("%+v, %v, opened %d times", res, err, opened)
		}
		// Another session may post, this chat takes nothing.
		g.Say(routertest.Group("b"), routertest.Guest, "hello")
		g.Shown(2)
		g.Idle(2)
		from := tools.Caller{Session: g.Session(routertest.KeyB), Run: g.Runs()[1]}
		q := tools.PostRequest{Source: "tool:r:c2", From: from, Session: routertest.KeyA, To: routertest.Group("a"), Text: "x", Files: []tools.PostFile{ofBytes("a.txt", "text", &opened)}}
		res, err := g.Router.ToolHost.Post(t.Context(), q)
		d := g.Ended(3)[2]
		if err != nil || d.ID != res.Delivery || d.State != sessions.Withheld || opened != 0 || len(d.Files) != 1 || d.Files[0].Name != "a.txt" || d.Files[0].Hash != "" {
			t.Errorf("%+v, %v, opened %d times", d, err, opened)
		}
		// Allowed and kept, then denied while the platform asks to wait.
		patch(&allow)
		g.Fake.Script(channeltest.Step{Err: &channels.Error{Class: channels.Limited, RetryAfter: time.Minute, Err: errors.New("x")}})
		if _, err := post("tool:r:c3", "x", ofBytes("a.txt", "text", &opened)); err != nil || opened != 1 {
			t.Fatalf("%v, opened %d times", err, opened)
		}
		g.Until("tried", func() bool { return len(g.Fake.Calls(channeltest.OpSend)) == 3 })
		patch(&deny)
		if err := os.RemoveAll(filepath.Join(g.Dir, "outbox")); err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Hour / 2)
		if d := g.Ended(4)[3]; d.State != sessions.Withheld || len(g.Fake.Calls(channeltest.OpSend)) != 3 {
			t.Errorf("%s (%s), %d calls", d.State, d.Error, len(g.Fake.Calls(channeltest.OpSend)))
		}
	})
}

// TestFileThatIsGone: a file that is not there when it is to be sent is named in the text, or in its place; all else is sent.
func TestFileThatIsGone(t *testing.T) {
	const lost = "(The file a.txt is no longer available.)"
	one := []tools.PostFile{ofBytes("a.txt", "text", nil)}
	for name, c := range map[string]struct {
		spoil  func(path string) error
		limits channels.Limits
		files  []tools.PostFile
		want   []string
	}{
		"gone":            {os.Remove, anything, one, []string{"x\n\n" + lost}},
		"damaged":         {func(p string) error { return os.Truncate(p, 2) }, anything, one, []string{"x\n\n" + lost}},
		"not all":         {os.Remove, anything, append(one, ofBytes("b.txt", "b", nil)), []string{"x\n\n" + lost + "|b.txt document"}},
		"without caption": {os.Remove, channels.Limits{Text: 200, Files: 2}, append(one, ofBytes("b.png", png, nil)), []string{"x", lost, "|b.png image"}},
	} {
		t.Run(name, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				g, post := postsFiles(t, c.limits)
				g.Router.Attach(routertest.Account, nil)
				if _, err := post("tool:r:c", "x", c.files...); err != nil {
					t.Fatal(err)
				}
				if err := c.spoil(filepath.Join(g.Dir, "outbox", g.Deliveries()[1].Files[0].Hash)); err != nil {
					t.Fatal(err)
				}
				g.Router.Attach(routertest.Account, g.Fake.Full())
				if d := g.Ended(2)[1]; d.State != sessions.Sent || !slices.Equal(messagesSent(g), c.want) {
					t.Errorf("%s: %s; %q, want %q", d.State, d.Error, messagesSent(g), c.want)
				}
			})
		})
	}
}

// TestKilledBetweenFiles ends the process while the second message of a post is on its way: the next one sends what is left, and what
// may be there twice is marked, as for text.
func TestKilledBetweenFiles(t *testing.T) {
	for name, c := range map[string]struct {
		idempotent bool
		want       string
		repeat     bool
	}{
		"repeats":    {false, "[look|1.png image |2.txt document |2.txt document |3.png image]", true},
		"idempotent": {true, "[look|1.png image |2.txt document |3.png image]", false},
	} {
		t.Run(name, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				l := anything
				l.Idempotent = c.idempotent
				g, post := postsFiles(t, l)
				g.Fake.Script(channeltest.Step{}, channeltest.Step{Delay: sendGrace + time.Second, Arrives: true, Err: routertest.Class(channels.Ambiguous)})
				if _, err := post("tool:r:c", "look", ofBytes("1.png", png, nil), ofBytes("2.txt", "text", nil), ofBytes("3.png", png, nil)); err != nil {
					t.Fatal(err)
				}
				g.Until("the second is on its way", func() bool { d := g.Deliveries()[1]; return d.Part == 1 && d.State == sessions.Sending })
				synctest.Wait()
				g.Stop()
				g.Start()
				g.Until("all is sent", func() bool { return g.Deliveries()[1].State == sessions.Sent })
				d := g.Deliveries()[1]
				if got := fmt.Sprint(messagesSent(g)); got != c.want || d.Repeat != c.repeat || len(d.Receipts) != 3 {
					t.Errorf("%s, want %s; repeat %v, %d receipts", got, c.want, d.Repeat, len(d.Receipts))
				}
			})
		})
	}
}

// TestOutboxForgets keeps the files of deliveries that wait, and for an hour those of deliveries that are final, over restarts.
func TestOutboxForgets(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g, post := postsFiles(t, anything)
		for i, name := range []string{"sent.txt", "waits.txt"} {
			if i == 1 {
				g.Stop()
				g.Start()
				g.Router.Attach(routertest.Account, nil)
			}
			if _, err := post(fmt.Sprint("tool:r:", i), "", ofBytes(name, name, nil)); err != nil {
				t.Fatal(err)
			}
			if i == 0 {
				g.Ended(2)
			}
		}
		ds := g.Deliveries()
		kept := func(now time.Time) string {
			if err := g.Router.Outbox.Evict(t.Context(), g.Store, now, filestore.OutboxTTL); err != nil {
				t.Fatal(err)
			}
			return g.Router.Outbox.Check(ds[1].Files[0]) + "," + g.Router.Outbox.Check(ds[2].Files[0])
		}
		info, err := os.Stat(filepath.Join(g.Dir, "outbox", ds[2].Files[0].Hash)) // the file system has a clock of its own
		if err != nil {
			t.Fatal(err)
		}
		now := info.ModTime()
		for _, c := range []struct {
			after time.Duration
			want  string
		}{{59 * time.Minute, ","}, {61 * time.Minute, "the host no longer has the file sent.txt,"}, {300 * time.Hour, "the host no longer has the file sent.txt,"}} {
			if got := kept(now.Add(c.after)); got != c.want {
				t.Errorf("after %s: %q, want %q", c.after, got, c.want)
			}
		}
	})
}

// TestOutboxMakesRoom: when there is no room, the files of what was sent go, and of what failed, before one is refused; never those of
// what waits.
func TestOutboxMakesRoom(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g, post := postsFiles(t, anything)
		x := g.Router.Outbox
		sent := func(d sessions.Delivery) { // long ago
			path, old := filepath.Join(g.Dir, "outbox", d.Files[0].Hash), time.Now().Add(-filestore.MinOutbox-time.Minute)
			routertest.Check(t, os.Chtimes(path, old, old))
		}
		send := func(n int, data string) error {
			_, err := post(fmt.Sprint("tool:r:", n), "", ofBytes("a.txt", data, nil))
			return err
		}
		if err := send(0, "12345678"); err != nil {
			t.Fatal(err)
		}
		sent(g.Ended(2)[1])
		large, err := os.Create(filepath.Join(g.Dir, "outbox", "large")) // it leaves room for ten bytes, and takes none on the disk
		routertest.Check(t, err)
		routertest.Check(t, errors.Join(large.Truncate(1<<30-10), large.Close()))
		g.Router.Attach(routertest.Account, nil)
		if err := send(1, "abcdefgh"); err != nil {
			t.Errorf("the room of what was sent is not used: %v", err)
		}
		sent(g.Deliveries()[2])
		var refused *tools.Refused
		if err := send(2, "ABCDEFGH"); !errors.As(err, &refused) || x.Check(g.Deliveries()[2].Files[0]) != "" {
			t.Errorf("%v; %s", err, x.Check(g.Deliveries()[2].Files[0]))
		}
	})
}

// TestRetryWithoutItsFile: who has a failed delivery sent again is told that its file is not kept any more.
func TestRetryWithoutItsFile(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g, post := postsFiles(t, anything)
		g.Fake.Script(channeltest.Step{Err: routertest.Class(channels.Rejected)})
		if _, err := post("tool:r:c", "x", ofBytes("a.txt", "text", nil)); err != nil {
			t.Fatal(err)
		}
		d := g.Ended(2)[1]
		if err := os.Remove(filepath.Join(g.Dir, "outbox", d.Files[0].Hash)); err != nil {
			t.Fatal(err)
		}
		if _, err := g.Router.RetryDelivery(t.Context(), d.ID); !errors.Is(err, sessions.ErrConflict) || !strings.Contains(err.Error(), "the host no longer has the file") {
			t.Errorf("%v", err)
		}
	})
}

// The agent reads with its next turn which files a platform refused, once; what else was left out of a message is not told.
func TestRefusedFilesAreTold(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g, post := postsFiles(t, anything)
		g.Fake.Script(channeltest.Step{Chat: "a", LeftOut: "the file a.png"}, channeltest.Step{Chat: "a", LeftOut: "the reply reference"})
		if _, err := post("tool:r:c", "look", ofBytes("a.png", png, nil)); err != nil {
			t.Fatal(err)
		}
		g.Ended(2)
		if _, err := post("tool:r:d", "and"); err != nil {
			t.Fatal(err)
		}
		g.Ended(3)
		g.Idle(3)
		for i, want := range [][]string{{"The chat's platform refused files that you sent; the chat got your message without them: \"a.png, image/png, 8 bytes\""}, nil} {
			g.Say(routertest.Group("a"), routertest.Guest, "and now?")
			g.Shown(4 + i)
			msgs := g.Transcript(routertest.KeyA)
			at := len(msgs) - 2
			if got := routertest.Told(msgs[at]); !slices.Equal(got, want) {
				t.Errorf("turn %d is told %q, want %q", i, got, want)
			}
		}
	})
}
