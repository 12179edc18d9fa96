package telegram_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"parley/channels"
	"parley/channels/telegram"
	"parley/channels/telegram/telegramtest"
)

// drawing is a picture of a size.
func drawing(t *testing.T, width, height int) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, width, height))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// attachments makes files and counts those that are open.
type attachments struct{ open atomic.Int64 }

type counted struct {
	io.Reader
	left *atomic.Int64
}

func (c *counted) Close() error {
	c.left.Add(-1)
	return nil
}

func (a *attachments) file(kind channels.MediaKind, name, mime string, data []byte) channels.File {
	return channels.File{Kind: kind, Name: name, MIME: mime, Size: int64(len(data)), Open: func() (io.ReadCloser, error) {
		a.open.Add(1)
		return &counted{bytes.NewReader(data), &a.open}, nil
	}}
}

// claiming is a file that says to be of another size than it is, which spares the bytes.
func claiming(f channels.File, size int64) channels.File {
	f.Size = size
	return f
}

func TestKindsOfFiles(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		var a attachments
		small, flat, data := drawing(t, 30, 20), drawing(t, 210, 10), []byte("some bytes")
		img := a.file(channels.Image, "a.png", "image/png", small)
		mp3, pdf := a.file(channels.Audio, "s.mp3", "audio/mpeg", data), a.file(channels.Document, "d.pdf", "application/pdf", data)
		mp4, ogg := a.file(channels.Video, "v.mp4", "video/mp4", data), a.file(channels.Audio, "v.ogg", "audio/ogg; codecs=opus", data)
		wide := a.file(channels.Image, "wide.png", "image/png", flat)
		large := claiming(a.file(channels.Image, "large.png", "image/png", small), 10_000_001)
		huge := a.file(channels.Image, "huge.png", "image/png", drawing(t, 9000, 1001))
		gif := a.file(channels.Image, "x.gif", "image/gif", []byte("GIF89a..."))
		sticker := a.file(channels.Sticker, "s.webp", "image/webp", data)
		flac, webm := a.file(channels.Audio, "s.flac", "audio/flac", data), a.file(channels.Video, "v.webm", "video/webm", data)
		for name, c := range map[string]struct {
			files []channels.File
			as    string
		}{
			"photo": {[]channels.File{img}, "photo"}, "video": {[]channels.File{mp4}, "video"}, "audio": {[]channels.File{mp3}, "audio"},
			"voice": {[]channels.File{ogg}, "voice"}, "document": {[]channels.File{pdf}, "document"},
			"too wide": {[]channels.File{wide}, "document"}, "too large": {[]channels.File{large}, "document"}, "too many pixels": {[]channels.File{huge}, "document"},
			"no photo format": {[]channels.File{gif}, "document"}, "sticker": {[]channels.File{sticker}, "document"}, "flac": {[]channels.File{flac}, "document"}, "webm": {[]channels.File{webm}, "document"},
			"album": {[]channels.File{img, mp4, img}, "photo video photo"}, "songs": {[]channels.File{mp3, mp3}, "audio audio"}, "papers": {[]channels.File{pdf, pdf}, "document document"},
			"with a wide one": {[]channels.File{img, wide}, "document document"}, "mixed": {[]channels.File{img, pdf}, "document document"}, "voices": {[]channels.File{ogg, ogg}, "document document"},
		} {
			r.srv.Forget()
			out := channels.Outbound{To: inTopic, Text: "<b>here</b>", Plain: "here", Files: c.files, ReplyTo: "7"}
			receipt, err := r.ch.Send(t.Context(), out)
			sent := r.srv.Sent()
			if err != nil || len(sent) != len(c.files) {
				t.Errorf("%s: %v, %d sent", name, err, len(sent))
				continue
			}
			var as []string
			for i, m := range sent {
				as = append(as, m.Files[0].As)
				if m.Thread != topic || m.ReplyTo != 7 || len(m.Files[0].Data) == 0 || c.files[i].Name != "large.png" && len(m.Files[0].Data) != int(c.files[i].Size) || m.Files[0].Name != c.files[i].Name {
					t.Errorf("%s: %+v", name, m)
				}
			}
			if calls := r.srv.Calls("sendPhoto", "sendMediaGroup", "sendDocument", "sendVideo", "sendAudio", "sendVoice"); len(calls) != 1 {
				t.Errorf("%s: %d calls: it is known beforehand what Telegram refuses", name, len(calls))
			}
			if strings.Join(as, " ") != c.as || number(receipt.ID) != sent[0].ID || sent[0].Text != "here" {
				t.Errorf("%s: sent as %v, receipt %+v, caption %q", name, as, receipt, sent[0].Text)
			}
		}
		if n := a.open.Load(); n != 0 {
			t.Errorf("%d files were left open", n)
		}
	})
}

func TestFilesThatAreRefused(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		var a attachments
		pdf := a.file(channels.Document, "d.pdf", "application/pdf", []byte("x"))
		big, gone := pdf, pdf
		big.Size = r.ch.Limits(direct("1001")).FileBytes + 1
		gone.Name = "gone.pdf"
		gone.Open = func() (io.ReadCloser, error) { return nil, errors.New("no such file") }
		many := make([]channels.File, 11)
		for i := range many {
			many[i] = pdf
		}
		for says, files := range map[string][]channels.File{"limit of 50000000": {big}, "gone.pdf": {pdf, gone}, "accepts 10": many} {
			_, err := r.ch.Send(t.Context(), channels.Outbound{To: direct("1001"), Files: files})
			if class(err) != channels.Rejected || !strings.Contains(err.Error(), says) || len(r.srv.Calls("sendDocument", "sendMediaGroup")) != 0 {
				t.Errorf("%s: %v", says, err)
			}
		}
		// Telegram changes its mind about a picture: it goes as a document.
		img := a.file(channels.Image, "a.png", "image/png", drawing(t, 3, 3))
		r.srv.Inject(telegramtest.Fault{Method: "sendPhoto", Code: 400, Description: "Bad Request: PHOTO_INVALID_DIMENSIONS"})
		_, err := r.ch.Send(t.Context(), channels.Outbound{To: direct("1001"), Text: "c", Plain: "c", Files: []channels.File{img}})
		if sent := r.srv.Sent(); err != nil || len(sent) != 1 || sent[0].Files[0].As != "document" || sent[0].Text != "c" {
			t.Errorf("%v %+v", err, sent)
		}
		// A caption with markup that Telegram cannot read goes plain; one that is too long is a message of its own, before the file.
		_, err = r.ch.Send(t.Context(), channels.Outbound{To: direct("1001"), Text: "1 < 2 <b>x", Plain: "1 < 2 x", Files: []channels.File{pdf, pdf}})
		if sent := r.srv.Sent(); err != nil || len(sent) != 3 || sent[1].Text != "1 < 2 x" || sent[2].Text != "" {
			t.Errorf("%v %+v", err, sent)
		}
		long := strings.Repeat("x", 1025)
		receipt, err := r.ch.Send(t.Context(), channels.Outbound{To: direct("1001"), Text: long, Plain: long, Files: []channels.File{pdf}})
		if sent := r.srv.Sent(); err != nil || receipt.LeftOut != "the caption of the file d.pdf (sent as a separate message)" || len(sent) != 5 || sent[3].Text != long || len(sent[4].Files) != 1 {
			t.Errorf("a long caption: %v %+v", err, sent)
		}
		r.srv.Inject(telegramtest.TooManyRequests("sendDocument", 60))
		for range 2 { // asked once
			if _, err := r.ch.Send(t.Context(), channels.Outbound{To: direct("1001"), Files: []channels.File{pdf}}); class(err) != channels.Limited {
				t.Errorf("asked to wait: %v", err)
			}
		}
		if n := a.open.Load(); n != 0 {
			t.Errorf("%d files were left open", n)
		}
	})
}

// One Send is one call: files that are too large together are refused before anything is sent, and what Telegram says of a call is what
// Send says, so that nothing is sent twice and a wait that it asks for is kept.
func TestLargeAlbum(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		var a attachments
		files := make([]channels.File, 3)
		for i := range files {
			files[i] = claiming(a.file(channels.Document, fmt.Sprint(i), "application/pdf", []byte("x")), 20_000_000)
		}
		limits := r.ch.Limits(direct("1001"))
		if limits.FilesBytes < 2*files[0].Size || limits.FilesBytes >= 3*files[0].Size || limits.FilesBytes < limits.FileBytes {
			t.Errorf("%+v", limits)
		}
		calls := func() int { return len(r.srv.Calls("sendMediaGroup", "sendDocument")) }
		if _, err := r.ch.Send(t.Context(), channels.Outbound{To: direct("1001"), Text: "c", Plain: "c", Files: files}); class(err) != channels.Rejected || calls() != 0 {
			t.Errorf("%v after %d calls", err, calls())
		}
		r.srv.Inject(telegramtest.TooManyRequests("sendMediaGroup", 60))
		_, err := r.ch.Send(t.Context(), channels.Outbound{To: direct("1001"), Files: files[:2]})
		if failed := channels.Classify(err); failed.Class != channels.Limited || failed.RetryAfter != time.Minute || len(r.srv.Sent()) != 0 {
			t.Errorf("%v", err)
		}
		<-time.After(time.Minute) // virtual time
		if _, err := r.ch.Send(t.Context(), channels.Outbound{To: direct("1001"), Files: files[:2]}); err != nil || len(r.srv.Sent()) != 2 || calls() != 2 {
			t.Errorf("%v, %d sent in %d calls", err, len(r.srv.Sent()), calls())
		}
	})
}

// A file that is sent is not held in memory, over real connections; one that ends early or fails leaves nothing open.
func TestFilesAreStreamed(t *testing.T) {
	srv := newServer(t)
	ch, err := telegram.New(telegram.Config{Token: channels.NewSecret(srv.Token()), APIURL: srv.URL()}, telegram.Deps{})
	if err != nil {
		t.Fatal(err)
	}
	var a attachments
	f := a.file(channels.Document, "zeros", "application/octet-stream", nil)
	f.Size = 500_000
	open := f.Open
	f.Open = func() (io.ReadCloser, error) {
		r, err := open()
		r.(*counted).Reader = io.LimitReader(zeros{}, f.Size)
		return r, err
	}
	srv.Inject(telegramtest.Fault{Method: "sendDocument", Code: 413, Description: "Request Entity Too Large"})
	if r, err := ch.Send(t.Context(), channels.Outbound{To: direct("1001"), Files: []channels.File{f}}); err != nil || r.Unsent != "zeros" {
		t.Errorf("too large: %+v, %v", r, err)
	}
	broken := f
	broken.Open = func() (io.ReadCloser, error) {
		r, err := open()
		r.(*counted).Reader = io.MultiReader(io.LimitReader(zeros{}, 100_000), failing{})
		return r, err
	}
	if _, err := ch.Send(t.Context(), channels.Outbound{To: direct("1001"), Files: []channels.File{broken}}); class(err) != channels.Transient {
		t.Errorf("the file broke: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	stuck := f
	stuck.Open = func() (io.ReadCloser, error) {
		r, err := open()
		r.(*counted).Reader = io.MultiReader(io.LimitReader(zeros{}, 100_000), waiting{ctx, cancel})
		return r, err
	}
	began := time.Now()
	if _, err := ch.Send(ctx, channels.Outbound{To: direct("1001"), Files: []channels.File{stuck}}); class(err) != channels.Transient || time.Since(began) > time.Second {
		t.Errorf("cancelled in between: %v after %s", err, time.Since(began))
	}
	if n := a.open.Load(); n != 0 {
		t.Errorf("%d files were left open", n)
	}
	f.Size = 40_000_000
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	sink := &sink{}
	to, err := telegram.New(telegram.Config{Token: channels.NewSecret(srv.Token())}, telegram.Deps{Client: sink.client()})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := to.Send(t.Context(), channels.Outbound{To: direct("1001"), Files: []channels.File{f}}); err != nil {
		t.Error(err)
	}
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; sink.n < f.Size || used > 4_000_000 {
		t.Errorf("%d bytes sent with %d bytes of memory", sink.n, used)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errors.New("the disk is gone") }

// waiting is a file that cancels the call that reads it, and gives nothing until that has ended.
type waiting struct {
	ctx    context.Context
	cancel func()
}

func (w waiting) Read([]byte) (int, error) {
	w.cancel()
	<-w.ctx.Done()
	return 0, w.ctx.Err()
}

// sink takes a request without keeping it.
type sink struct{ n int64 }

func (s *sink) client() *http.Client {
	return &http.Client{Transport: roundTrip(func(req *http.Request) (*http.Response, error) {
		n, err := io.Copy(io.Discard, req.Body)
		s.n = n
		_ = req.Body.Close()
		return &http.Response{StatusCode: 200, Body: io.NopCloser(strings.NewReader(`{"ok":true,"result":{"message_id":1,"date":1}}`)), Request: req}, err
	})}
}
