package turn_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/agent"
	"parley/channels"
	"parley/channels/channeltest"
	"parley/router/filestore"
	"parley/router/routertest"
	"parley/router/turn"
)

// album is a platform that gives files.
type album struct {
	channels.Channel
	mu      sync.Mutex
	fetched map[string]int
	gone    bool
}

func (a *album) Fetch(ctx context.Context, m channels.Media, limit int64) ([]byte, error) {
	a.mu.Lock()
	a.fetched[m.Ref]++
	a.mu.Unlock()
	if strings.HasPrefix(m.Ref, "slow") {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	if m.Ref == "panic" {
		panic(m.Ref)
	}
	if a.gone {
		return nil, &channels.Error{Class: channels.Transient, Err: errors.New("no such file any more")}
	}
	if limit != filestore.MaxPicture {
		return nil, fmt.Errorf("limit %d", limit)
	}
	if m.Ref == "text" {
		return []byte("this is no picture"), nil
	}
	return []byte("\x89PNG\x0d\x0a\x1a\x0a" + m.Ref), nil
}

// times is how often a file was asked for.
func (a *album) times(ref string) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.fetched[ref]
}

// TestPictures: a model sees the pictures that came with messages, the newest of them; they are fetched once, over restarts too; one
// that cannot be had is named, and costs no answer.
func TestPictures(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{})
		a := &album{fetched: map[string]int{}}
		attach := func() {
			a.Channel = g.Fake.Full()
			g.Router.Attach(routertest.Account, a)
		}
		attach()
		n := 0
		show := func(refs ...string) []string {
			t.Helper()
			in := channels.Inbound{Address: routertest.Direct(routertest.Guest), Sender: channels.Sender{ID: routertest.Guest, Name: "Bo"}, Text: "look"}
			for _, r := range refs {
				in.Media = append(in.Media, channels.Media{Kind: channels.Image, Ref: r, MIME: "image/jpeg"})
			}
			g.Fake.Say(in)
			n++
			g.Shown(n)
			g.Idle(n)
			<-time.After(time.Minute)
			g.Model.Mu.Lock()
			defer g.Model.Mu.Unlock()
			return routertest.Seen(g.Model.Asked[len(g.Model.Asked)-1])
		}
		if got := fmt.Sprint(show("a", "b")); got != "[a image/png b image/png]" {
			t.Errorf("two pictures: %s", got)
		}
		if got := fmt.Sprint(show("text")); got != "[a image/png b image/png [a picture that the host could not load]]" {
			t.Errorf("no picture: %s", got)
		}
		g.Stop()
		g.Start()
		attach()
		a.gone = true
		if got := fmt.Sprint(show("c")); got != "[a image/png b image/png [a picture that the host could not load] [a picture that the host could not load]]" {
			t.Errorf("after a restart, the platform has none any more: %s", got)
		}
		if a.times("a") != 1 || a.times("b") != 1 {
			t.Error("what was fetched once is fetched again")
		}
		if show(); a.times("c") != 1 {
			t.Error("what could not be had a minute ago is fetched again")
		}
		a.gone = false
		<-time.After(5 * time.Minute)
		if got := show("d", "e", "f", "g", "h", "i"); len(got) != 10 || strings.Join(got[:2], " ") != strings.Repeat("[a picture that was shown earlier] ", 1)+"[a picture that was shown earlier]" || !strings.HasPrefix(got[3], "c ") || !strings.HasPrefix(got[9], "i ") {
			t.Errorf("too many: %q", got)
		}
		path := filepath.Join(g.Dir, "media", filestore.ID(routertest.Direct(routertest.Guest), channels.Media{Ref: "i"}))
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%v, %v", info, err)
		}
		g.Router.Media.Evict(time.Now().Add(mediaKept - time.Hour))
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	})
}

// Pictures that do not come cost one wait for all of them, in the first call of a turn.
func TestPicturesThatDoNotCome(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{}, routertest.FewTools)
		a := &album{fetched: map[string]int{}, Channel: g.Fake.Full()}
		g.Router.Attach(routertest.Account, a)
		g.Model.Set(func(_ context.Context, p agent.Prompt) (agent.Answer, error) {
			if n := g.Model.Count(); n < 4 {
				return routertest.Call(fmt.Sprint("c", n), "remember", map[string]any{"text": "x"}), nil
			}
			return routertest.Text(fmt.Sprint(routertest.Seen(p))), nil
		})
		in := channels.Inbound{Address: routertest.Direct(routertest.Guest), Sender: channels.Sender{ID: routertest.Guest, Name: "Bo"}, Text: "look"}
		for i := range turn.MaxPictures - 2 {
			in.Media = append(in.Media, channels.Media{Kind: channels.Image, Ref: fmt.Sprint("slow", i), MIME: "image/jpeg"})
		}
		in.Media = append(in.Media, channels.Media{Kind: channels.Image, Ref: "panic"}, channels.Media{Kind: channels.Image, Ref: "there"})
		began := time.Now()
		g.Fake.Say(in)
		answer := g.Shown(1)[0].Out.Text
		if took := time.Since(began); took < filestore.PictureTimeout || took > filestore.PictureTimeout+2*time.Second {
			t.Errorf("the turn took %s", took)
		}
		if strings.Count(answer, "could not load") != turn.MaxPictures-1 || !strings.Contains(answer, "there image/png") || a.times("slow0") != 1 || a.times("slow5") != 1 {
			t.Errorf("%s; fetched %d and %d times", answer, a.times("slow0"), a.times("slow5"))
		}
	})
}
