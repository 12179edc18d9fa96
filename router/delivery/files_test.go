package delivery_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"parley/agent"
	"parley/channels"
	"parley/channels/channeltest"
	"parley/router/command"
	"parley/router/filestore"
	"parley/router/routertest"
	"parley/sessions"
)

// shelf is a platform that has files by their refs.
type shelf struct {
	channels.Channel
	files   map[string]string
	fetched int
}

func (s *shelf) Fetch(ctx context.Context, m channels.Media, limit int64) ([]byte, error) {
	s.fetched++
	switch {
	case m.Ref == "hangs":
		select {} // whatever its ctx says
	case m.Ref == "panics":
		panic("in the adapter")
	}
	data, ok := s.files[m.Ref]
	if !ok {
		return nil, &channels.Error{Class: channels.Rejected, Err: errors.New("no such file any more")}
	}
	return []byte(data), ctx.Err()
}

// document is a file of a message; what its ref says is in it.
func document(name, ref string) channels.Media {
	return channels.Media{Kind: channels.Document, Name: name, Ref: ref, MIME: "text/plain", Size: 12}
}

// reads has the model read the file that the newest message brings, by the line that it was shown, and answer with what it got.
func reads(p agent.Prompt) agent.Answer {
	m := routertest.Last(p)
	if m.Role == sessions.ToolResult {
		return routertest.Text(m.Text())
	}
	for _, b := range m.Content {
		if id, ok := strings.CutPrefix(agent.FileLine(b), "[file "); ok && b.Type == sessions.FileBlock {
			id, _, _ = strings.Cut(id, ":")
			return routertest.Call("c1", "attachments", map[string]any{"action": "read", "id": id})
		}
	}
	return routertest.Text("no file")
}

// shelves starts a rig whose platform has files.
func shelves(t *testing.T, files map[string]string) (*routertest.Rig, *shelf) {
	g := routertest.New(t, channeltest.Options{})
	s := &shelf{Channel: g.Fake.Full(), files: files}
	g.Router.Attach(routertest.Account, s)
	g.Model.Set(func(_ context.Context, p agent.Prompt) (agent.Answer, error) { return reads(p), nil })
	return g, s
}

// TestFilesIn: a file that comes with a message is a line of the prompt, and the tool attachments reads it, from the platform once.
func TestFilesIn(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g, s := shelves(t, map[string]string{"r1": "the quarterly figures"})
		send := func(m ...channels.Media) string {
			before := len(g.Fake.Shown(channels.Address{}))
			g.Fake.Say(channels.Inbound{Address: routertest.Direct(routertest.Guest), Sender: channels.Sender{ID: routertest.Guest, Name: "Bo"}, Text: "look", Media: m})
			return g.Shown(before + 1)[before].Out.Text
		}
		var r struct{ Name, TextFromOutside string }
		for range 2 {
			if err := json.Unmarshal([]byte(send(document("../q.txt", "r1"))), &r); err != nil || r.Name != "q.txt" || r.TextFromOutside != "the quarterly figures" {
				t.Errorf("%+v, %v", r, err)
			}
		}
		if s.fetched != 1 {
			t.Errorf("fetched %d times", s.fetched)
		}
		if got := send(document("x", "")); got != "no file" {
			t.Errorf("a file that cannot be fetched: %s", got)
		}
		if got := send(document("gone", "gone")); !strings.Contains(got, "no such file any more") {
			t.Error(got)
		}
		if got := send(document("bad", "panics")); !strings.Contains(got, "the adapter panicked") {
			t.Error(got)
		}
		msgs := g.Transcript("agent:main:fake:direct:" + routertest.Guest)
		md := command.Markdown(g.Session("agent:main:fake:direct:"+routertest.Guest), msgs, false)
		if !strings.Contains(md, ": q.txt, text/plain, 12 bytes — tool attachments reads it]") || strings.Contains(md, "r1") {
			t.Errorf("the export: %.600s", md)
		}
	})
}

// TestFaultFileBeforeAccount: a turn that begins before its account is connected, as at a start and while a reload replaces it, waits for that
// with its file, but not for ever.
func TestFaultFileBeforeAccount(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g, s := shelves(t, map[string]string{"r1": "the quarterly figures"})
		for i, c := range []struct {
			after time.Duration
			want  string
		}{{fetcherWait - time.Second, "the quarterly figures"}, {fetcherWait + time.Second, "has no files to fetch, or is not connected"}} {
			g.Router.Attach(routertest.Account, nil)
			g.Fake.Say(channels.Inbound{Address: routertest.Direct(routertest.Guest), Sender: channels.Sender{ID: routertest.Guest, Name: "Bo"}, Text: "look", Media: []channels.Media{document(fmt.Sprint(i, ".txt"), "r1")}})
			<-time.After(c.after)
			g.Router.Attach(routertest.Account, s)
			if got := g.Shown(i + 1)[i].Out.Text; !strings.Contains(got, c.want) {
				t.Errorf("connected after %s: %s", c.after, got)
			}
			s.files["r1"] += " " // nothing is kept of the first
			if err := os.RemoveAll(filepath.Join(g.Dir, "media")); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func by(f channels.Fetcher) func(context.Context, channels.Address) channels.Fetcher {
	return func(context.Context, channels.Address) channels.Fetcher { return f }
}

// TestFileThatDoesNotCome: an adapter that never answers, and heeds no deadline, holds up one call for as long as a call may take.
func TestFileThatDoesNotCome(t *testing.T) {
	x := filestore.NewCache("", nil)
	for range 8 + 1 { // the last one finds no free place
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
		if _, err := x.Get(ctx, routertest.Direct(routertest.Guest), document("x", "hangs"), 100, by(&shelf{})); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
		cancel()
	}
}

// TestMediaLimits: what is too large is not fetched, or not taken; a file that was fetched for somebody with a higher limit is none for
// one with a lower.
func TestMediaLimits(t *testing.T) {
	t.Parallel()
	x, s := filestore.NewCache(t.TempDir(), nil), &shelf{files: map[string]string{"r": "0123456789"}}
	get := func(size, most int64) error {
		_, err := x.Get(t.Context(), routertest.Direct(routertest.Guest), channels.Media{Ref: "r", Size: size}, most, by(s))
		return err
	}
	for i, c := range []struct {
		size, most int64
		fetched    int
		ok         bool
	}{{11, 10, 0, false}, {0, 9, 1, false}, {0, 10, 2, true}, {0, 9, 2, false}, {0, 10, 2, true}} {
		if err := get(c.size, c.most); (err == nil) != c.ok || s.fetched != c.fetched {
			t.Errorf("%d: %v, fetched %d", i, err, s.fetched)
		}
	}
}

// TestMediaThatIsNotWhole: a kept file that is not as large as the platform said is fetched again, but not for ever.
func TestMediaThatIsNotWhole(t *testing.T) {
	t.Parallel()
	for size, want := range map[int64]int{10: 2, 12: 2, 0: 1} { // true, wrong, not said
		dir := t.TempDir()
		x, s := filestore.NewCache(dir, nil), &shelf{files: map[string]string{"r": "0123456789"}}
		m := channels.Media{Ref: "r", Size: size}
		var data []byte
		for i := range 4 {
			if i == 2 {
				if err := os.Truncate(filepath.Join(dir, filestore.ID(routertest.Direct(routertest.Guest), m)), 3); err != nil {
					t.Fatal(err)
				}
			}
			var err error
			if data, err = x.Get(t.Context(), routertest.Direct(routertest.Guest), m, 100, by(s)); err != nil {
				t.Fatal(err)
			}
		}
		if s.fetched != want || (want == 2) != (string(data) == "0123456789") {
			t.Errorf("said to have %d bytes: fetched %d times, %q", size, s.fetched, data)
		}
	}
}
