package channels_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/url"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"parley/channels"
)

func TestCleanText(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"": "", "plain 😀": "plain 😀", "a\x00b": "ab", "a\xffb": "a\uFFFDb", "\x00\xc3": "\uFFFD", "\xc3\x00\xa4": "ä"} {
		if got := channels.CleanText(in); got != want || !utf8.ValidString(got) {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestCutRaw(t *testing.T) {
	t.Parallel()
	long := `{"a":"` + strings.Repeat("\u0001é", 5000) + `"}`
	for in, start := range map[string]string{`{"a":1}`: `{"a":1}`, `{"a":`: `"{\"a\":"`, "\x00": `""`, "": `""`, long: `"{\"a\":\"\u0001é`, strings.Repeat("<", 9000): `"\u003c`} {
		got := channels.CutRaw([]byte(in))
		if !json.Valid(got) || len(got) > channels.MaxRaw || len(in) > 9000 && len(got) < channels.MaxRaw/2 || !strings.HasPrefix(string(got), start) {
			t.Errorf("%.20q: %d bytes, %.40q", in, len(got), got)
		}
	}
	raw := []byte(`{}`)
	if got := channels.CutRaw(raw); &got[0] == &raw[0] {
		t.Error("it shares the buffer of the update")
	}
}

func TestSleep(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		began := time.Now()
		for _, c := range []struct {
			d, at time.Duration
			want  bool
		}{{0, 0, true}, {-1, 0, true}, {59 * time.Second, 59 * time.Second, true}, {time.Hour, time.Minute, false}, {0, time.Minute, false}} {
			if got := channels.Sleep(ctx, c.d); got != c.want || time.Since(began) != c.at {
				t.Errorf("%s: %v after %s", c.d, got, time.Since(began))
			}
		}
	})
}

func TestBackoff(t *testing.T) {
	t.Parallel()
	b := channels.NewBackoff(time.Second, 8*time.Second)
	for range 2 {
		for _, middle := range []time.Duration{1, 2, 4, 8, 8, 8} {
			middle *= time.Second
			if got := b.NextBackOff(); got < middle/2 || got > middle*3/2 {
				t.Errorf("%s is not within one half of %s", got, middle)
			}
		}
		b.Reset()
	}
}

// A change is in the log once, as loud as what a person has to do about it; signs of life are no changes.
func TestHealthHolder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		h := channels.NewHealthHolder(slog.New(slog.NewTextHandler(&log, nil)), time.Minute)
		if got := h.Get(); got != (channels.Health{State: channels.Stopped, Stale: time.Minute}) {
			t.Errorf("%+v", got)
		}
		for state, level := range map[channels.State]string{
			channels.Connecting: "INFO", channels.Connected: "INFO", channels.Disconnected: "WARN", channels.Conflict: "ERROR", channels.Banned: "ERROR",
			channels.Revoked: "ERROR", channels.LoggedOut: "ERROR", channels.Refused: "ERROR",
		} {
			log.Reset()
			before := h.Get().LastSeen
			time.Sleep(time.Second) // virtual time
			for range 2 {
				h.Set(t.Context(), state, "why "+string(state))
			}
			if text := log.String(); strings.Count(text, "\n") != 1 || !strings.Contains(text, "level="+level+` msg=connection state=`+string(state)) {
				t.Errorf("%s: %s", state, text)
			}
			if got := h.Get(); got.State != state || got.Detail != "why "+string(state) || got.LastSeen.After(before) != (state == channels.Connected) {
				t.Errorf("%+v", got)
			}
		}
		log.Reset()
		time.Sleep(time.Second) // virtual time
		h.Seen()
		h.Named("bot")
		h.Deaf(time.Hour)
		if got := h.Get(); got.Name != "bot" || got.Stale != time.Hour || !got.LastSeen.Equal(time.Now()) || log.Len() > 0 {
			t.Errorf("%+v, log %s", got, log.String())
		}
		h.Set(t.Context(), channels.Stopped, "one")
		if h.Set(t.Context(), channels.Stopped, "two"); strings.Count(log.String(), "\n") != 2 {
			t.Errorf("another reason: %s", log.String())
		}
	})
}

func TestReadAtMost(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for name, c := range map[string]struct {
		from  io.Reader
		class channels.Class
	}{
		"fits": {strings.NewReader("12345"), ""}, "too large": {strings.NewReader("123456"), channels.Rejected},
		"breaks off": {io.MultiReader(strings.NewReader("123"), iotest.ErrReader(broken)), channels.Transient},
		"endless":    {endless{}, channels.Rejected},
	} {
		data, err := channels.ReadAtMost(c.from, 5)
		if c.class == "" {
			if string(data) != "12345" || err != nil {
				t.Errorf("%s: %q, %v", name, data, err)
			}
		} else if data != nil || channels.Classify(err).Class != c.class || errors.Is(err, broken) != (name == "breaks off") {
			t.Errorf("%s: %q, %v", name, data, err)
		}
	}
	if err := channels.TooLarge(7, 5); channels.Classify(err).Class != channels.Rejected || !strings.Contains(err.Error(), "7 bytes, more than the limit of 5") {
		t.Error(err)
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

func TestRedact(t *testing.T) {
	t.Parallel()
	other := errors.New("other")
	failed := &url.Error{Op: "Get", URL: "https://example.org/token", Err: context.DeadlineExceeded}
	if text := channels.Redact(failed, strings.NewReplacer("deadline", "[secret]")); text != "context [secret] exceeded" {
		t.Error(text)
	}
	for _, c := range []struct{ err, want error }{
		{failed, context.DeadlineExceeded}, {&url.Error{Err: context.Canceled}, context.Canceled}, {&url.Error{Err: other}, other}, {errors.New("x"), nil},
	} {
		if got := channels.Cause(c.err, other); got != c.want { //nolint:errorlint // the very value: nothing around it may be kept
			t.Errorf("%v: %v", c.err, got)
		}
	}
}
