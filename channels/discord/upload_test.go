package discord

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"parley/channels"
	"parley/channels/discord/discordtest"
)

// A file that is not what was said is left out of its message; one that breaks while it is sent is tried again with it. No file is left open.
func TestFilesThatBreak(t *testing.T) {
	broken := errors.New("the disk is gone")
	for name, c := range map[string]struct {
		size int64
		data io.Reader
		want channels.Class
	}{
		"as said":              {200_000, io.LimitReader(zeros{}, 200_000), ""},
		"of unknown size":      {0, io.LimitReader(zeros{}, 200_000), ""},
		"shorter":              {200_000, io.LimitReader(zeros{}, 199_999), channels.Rejected},
		"grown":                {200_000, io.LimitReader(zeros{}, 200_001), channels.Rejected},
		"too large":            {fileBytes + 1, zeros{}, channels.Rejected},
		"too large, not known": {0, zeros{}, channels.Rejected},
		"breaks":               {200_000, io.MultiReader(io.LimitReader(zeros{}, 100_000), failing{broken}), channels.Transient},
		"cannot be opened":     {200_000, nil, channels.Rejected},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(h *host) {
				var open atomic.Int64
				f := counted("a.bin", c.size, c.data, &open)
				r, err := h.send(channels.Outbound{Key: "k", Text: "text", Files: []channels.File{file("b.txt", "B"), f}})
				sent := h.srv.Sent(general)
				switch {
				case c.want == "" && (err != nil || len(sent) != 1 || len(sent[0].Files) != 2 || len(sent[0].Files[1].Data) != 200_000):
					h.t.Errorf("%v, %d messages", err, len(sent))
				case c.want == channels.Rejected:
					if err != nil || r.LeftOut != "the file a.bin" || len(sent) != 1 || len(sent[0].Files) != 1 || sent[0].Text != "text\n\n(The file `a.bin` cannot be sent in this chat.)" {
						h.t.Errorf("%v, %q, %+v", err, r.LeftOut, sent)
					}
				case c.want != "" && (err == nil || err.Class != c.want || len(sent) > 0):
					h.t.Errorf("%v, %d messages", err, len(sent))
				}
				if synctest.Wait(); open.Load() != 0 {
					h.t.Errorf("%d files are open", open.Load())
				}
				h.srv.Inject(discordtest.TooManyRequests(general, time.Minute))
				_, _ = h.send(channels.Outbound{Key: "l", Text: "text"})
				f = counted("a.bin", 5, strings.NewReader("12345"), &open)
				if _, err := h.send(channels.Outbound{Key: "m", Files: []channels.File{f}}); err == nil || err.Class != channels.Limited || open.Load() != 0 {
					h.t.Errorf("a call that was not made: %v, %d files are open", err, open.Load())
				}
			})
		})
	}
}

// What is sent is not held in memory.
func TestFilesAreStreamed(t *testing.T) {
	var n, length int64
	client := &http.Client{Transport: roundTrip(func(req *http.Request) (*http.Response, error) {
		var err error
		n, err = io.Copy(io.Discard, req.Body)
		length = req.ContentLength
		_ = req.Body.Close()
		return &http.Response{StatusCode: 200, Body: io.NopCloser(strings.NewReader(`{"id":"5"}`)), Request: req}, err
	})}
	ch, err := New(Config{Token: channels.NewSecret("x")}, Deps{Client: client})
	if err != nil {
		t.Fatal(err)
	}
	ch.names.channel(json.RawMessage(`{"id":"`+general+`","type":0}`), town)
	var open atomic.Int64
	out := channels.Outbound{Key: "k", To: room()}
	for range 4 {
		out.Files = append(out.Files, counted("a.bin", 10_000_000, io.LimitReader(zeros{}, 10_000_000), &open))
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := ch.Send(t.Context(), out); err != nil {
		t.Error(err)
	}
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; n < 40_000_000 || n != length || used > 4_000_000 || open.Load() != 0 {
		t.Errorf("%d bytes sent, %d announced, with %d bytes of memory, %d files are open", n, length, used, open.Load())
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// counted is a file that counts how often it is open; without data it cannot be opened.
func counted(name string, size int64, data io.Reader, open *atomic.Int64) channels.File {
	return channels.File{Name: name, Size: size, Open: func() (io.ReadCloser, error) {
		if data == nil {
			return nil, context.DeadlineExceeded
		}
		open.Add(1)
		return closing{data, open}, nil
	}}
}

type closing struct {
	io.Reader
	open *atomic.Int64
}

func (c closing) Close() error { c.open.Add(-1); return nil }
