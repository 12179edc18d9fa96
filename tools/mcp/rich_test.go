package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"
)

// parts are n empty lists.
func parts(n int) string { return "[" + strings.Repeat("[],", n) + "[]]" }

// An answer of millions of small parts is refused before it is read, and the server goes on: reading it would take a hundred times its
// size in memory. A list of tools whose pages are as rich as may be takes no more than one of them does.
func TestRichMessages(t *testing.T) {
	t.Parallel()
	var pages, lists atomic.Int64
	most := atomic.Uint64{}
	rich := "[" + strings.Repeat(`{"":0},`, mostMarks/2-100) + "0]"
	in(t, func(p *peer, id json.RawMessage, m string, params json.RawMessage) (string, bool) {
		switch m {
		case "tools/list":
			lists.Add(1)
			var mem runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&mem)
			most.Store(max(most.Load(), mem.HeapAlloc))
			return fmt.Sprintf(`{"tools":[{"name":"t%d","inputSchema":{"type":"object"},"x":%s,"_meta":{"x":%s}}],"nextCursor":"%d"}`,
				pages.Add(1), "0", rich, pages.Load()), true
		case "tools/call":
			if strings.Contains(string(params), "words") {
				return `{"content":[{"type":"text","text":"` + strings.Repeat(`[,{\"`, mostMarks) + `"}]}`, true
			}
			p.write(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"x":` + parts(mostMarks) + `}}`)
			return `{"content":[],"structuredContent":{"x":` + parts(mostMarks) + `}}`, true
		}
		return listing("[]")(p, id, m, params)
	}, func(t *testing.T, r *rig) {
		if got := len(r.names(false)); got != mostPages || lists.Load() != mostPages {
			t.Errorf("%d tools of %d lists", got, lists.Load())
		}
		if most.Load() > 150<<20 {
			t.Errorf("listing keeps %d MiB", most.Load()>>20)
		}
		if got := r.call("x_t1", "{}"); !got.IsError || !strings.Contains(got.Text, tooRich) {
			t.Errorf("a rich answer: %.200s", got.Text)
		}
		if got := r.call("x_t1", `{"words":1}`); got.IsError || !strings.Contains(got.Text, "[,{") {
			t.Errorf("a text with the same characters: %.200s", got.Text)
		}
		if s := r.Status()[0]; s.State != Running || s.Restarts != 0 {
			t.Errorf("%+v", s)
		}
	})
}

// Over HTTP it is the same, for an answer and for an event; quotation marks beside the data of a stream hide nothing, and an event more
// is a new one.
func TestRichBodies(t *testing.T) {
	t.Parallel()
	half := "data: " + parts(mostMarks/4) + "\n"
	for name, c := range map[string]struct {
		body          string
		stream, fails bool
	}{
		"answer":           {body: parts(mostMarks), fails: true},
		"small answer":     {body: parts(mostMarks/2 - 1)},
		"text":             {body: `["` + strings.Repeat(`,\"`, mostMarks) + `"]`},
		"after a text":     {body: `["\\",` + parts(mostMarks) + `]`, fails: true},
		"event":            {body: half + half + half, stream: true, fails: true},
		"events":           {body: half + "\r\n" + half + "\n" + half + "\n", stream: true},
		"behind a comment": {body: ": \"\n" + half + "event: \"\n" + half + half, stream: true, fails: true},
		"no data":          {body: ":" + parts(mostMarks) + "\n\ndat:\n", stream: true},
	} {
		for _, pieces := range []func(io.Reader) io.Reader{iotest.HalfReader, iotest.OneByteReader} {
			_, err := io.ReadAll(&lean{ReadCloser: io.NopCloser(pieces(strings.NewReader(c.body))), stream: c.stream})
			if (err != nil) != c.fails {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	for _, kind := range []string{"application/json", "text/event-stream; charset=utf-8", "Text/Event-Stream"} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var m struct{ ID json.RawMessage }
			_ = json.NewDecoder(r.Body).Decode(&m)
			w.Header().Set("Content-Type", kind)
			before, after := "", ""
			if kind != "application/json" {
				before, after = "data: ", "\n\n"
			}
			_, _ = fmt.Fprintf(w, `%s{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"x","version":"1"},"x":%s}}%s`,
				before, m.ID, parts(mostMarks), after)
		}))
		r := newRig(t, one(remote(s.URL)))
		if got := r.until("settled", func(s Status) bool { return s.State != Starting }); got.State != Down {
			t.Errorf("%s: %s", kind, got)
		}
		r.stop()
		s.Close()
	}
}

// No more than so many calls of a server are at work; one that waits for its turn in vain says that nothing was done.
func TestManyCalls(t *testing.T) {
	t.Parallel()
	var atWork atomic.Int64
	good := listing(plainTool)
	in(t, func(p *peer, id json.RawMessage, m string, params json.RawMessage) (string, bool) {
		if m == "tools/call" {
			atWork.Add(1)
			return "", false
		}
		return good(p, id, m, params)
	}, func(t *testing.T, r *rig) {
		r.running()
		var others sync.WaitGroup
		for range mostCalls {
			others.Go(func() { r.call("x_t", "{}") })
		}
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if got := r.callIn(ctx, false, "x_t", "{}").Text; !strings.Contains(got, "did not get to the call. Nothing was done") {
			t.Errorf("one too many: %s", got)
		}
		if n := atWork.Load(); n != mostCalls {
			t.Errorf("%d calls are at work", n)
		}
		others.Wait()
		if got := r.call("x_t", "{}").Text; !strings.Contains(got, "did not answer") || atWork.Load() != mostCalls+1 {
			t.Errorf("after the others: %s", got)
		}
	})
}
