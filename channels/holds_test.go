package channels_test

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/channels"
)

// The next process keeps to what the platform asked of this one, and to nothing that was asked of another bot.
func TestHoldsOutliveTheProcess(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "not", "there", "yet")
	synctest.Test(t, func(t *testing.T) {
		all := channels.NewHolds(dir, slog.New(slog.DiscardHandler))
		open := func(server, bot string) *channels.BotHolds {
			return channels.NewHolds(dir, slog.New(slog.DiscardHandler)).Of(server, bot)
		}
		left := func(h *channels.BotHolds, key string, want time.Duration) {
			t.Helper()
			if got := h.Left(key); got != want {
				t.Errorf("%s: %s is left, want %s", key, got, want)
			}
		}
		h := all.Of("s", "secret")
		left(h, "a", 0)
		h.Set(time.Hour, "a", "aa")
		h.Set(time.Minute, "a") // the later end counts
		h.Set(10*time.Second, "b")
		h.Set(time.Millisecond, "short")
		h.Set(0, "never")
		h.Set(-time.Hour, "never")
		all.Of("s", "another").Set(time.Minute, "b")
		time.Sleep(20 * time.Second)
		for _, h := range []*channels.BotHolds{h, all.Of("s", "secret"), open("s", "secret")} {
			left(h, "a", time.Hour-20*time.Second)
			left(h, "aa", time.Hour-20*time.Second)
			for _, key := range []string{"b", "short", "never", "c"} {
				left(h, key, 0)
			}
		}
		left(open("s", "another"), "a", 0)
		left(open("another", "secret"), "a", 0)
		left(open("s", "another"), "b", 40*time.Second)
		left((*channels.Holds)(nil).Of("s", "secret"), "a", 0)
		time.Sleep(time.Hour)
		left(open("s", "secret"), "a", 0)
		text, err := os.ReadFile(filepath.Join(dir, "holds.json"))
		if err != nil || strings.Contains(string(text), "secret") {
			t.Errorf("%s, %v", text, err)
		}
		if info, err := os.Stat(filepath.Join(dir, "holds.json")); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%v, %v", info, err)
		}
	})
}

// What a file says from another clock does not count, nor what makes no sense; one that is damaged, or cannot be written, is said, and costs nothing else.
func TestHoldsOfABadFile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dir, log := t.TempDir(), &strings.Builder{}
		open := func() *channels.BotHolds {
			return channels.NewHolds(dir, slog.New(slog.NewTextHandler(log, nil))).Of("s", "t")
		}
		open().Set(time.Hour, "a")
		path := filepath.Join(dir, "holds.json")
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		year := time.Now().Format("2006-")
		ahead := strings.ReplaceAll(string(text), year, time.Now().AddDate(5, 0, 0).Format("2006-"))
		ages := regexp.MustCompile(`"until":"....`).ReplaceAllString(string(text), `"until":"2900`)
		for _, c := range []struct {
			text string
			want time.Duration
			said bool
		}{{ahead, 0, false}, {ages, 24 * time.Hour, false}, {`{"a":`, 0, true}, {"", 0, true}, {"null", 0, false}, {`{"a":7}`, 0, true}} {
			log.Reset()
			if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			h := open()
			if got := h.Left("a"); got != c.want || strings.Contains(log.String(), "cannot read stored retry times") != c.said {
				t.Errorf("%q: %s is left; %s", c.text, got, log)
			}
			if h.Set(time.Minute, "b"); open().Left("b") != time.Minute {
				t.Errorf("%q: what came after it was not kept; %s", c.text, log)
			}
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(path, 0o700); err != nil {
			t.Fatal(err)
		}
		h := open()
		if h.Set(time.Minute, "a"); h.Left("a") != time.Minute || !strings.Contains(log.String(), "cannot read stored retry times") || !strings.Contains(log.String(), "cannot store retry times") {
			t.Errorf("%s is left; %s", h.Left("a"), log)
		}
		if _, err := os.Stat(path + ".new"); err == nil {
			t.Error("a part of a file stays")
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if h.Set(time.Millisecond, "b"); open().Left("a") != time.Minute {
			t.Errorf("what could not be written is not written with the next; %s", log)
		}
		if err := os.WriteFile(path, bytes.Repeat([]byte(" "), 2<<20), 0o600); err != nil {
			t.Fatal(err)
		}
		if log.Reset(); open().Left("a") != 0 || !strings.Contains(log.String(), "not a regular file of at most") {
			t.Errorf("a huge file: %s", log)
		}
	})
}
