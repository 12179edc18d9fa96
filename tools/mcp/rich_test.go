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
	rich := "[" + strings.Repeat(`{"":0},`, maxMarks/2-100) + "0]"
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
				return `{"content":[{"type":"text","text":"` + strings.Repeat(`[,{\"`, maxMarks) + `"}]}`, true
			}
			p.write(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"x":` + parts(maxMarks) + `}}`)
			return `{"content":[],"structuredContent":{"x":` + parts(maxMarks) + `}}`, true
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

// Over HTTP it is the same, for an answer and for an event: the call ends with an error in its place. Quotation marks beside the data of a
// stream hide nothing, an event more is a new one, and what is no message is left out.
func TestRichBodies(t *testing.T) {
	t.Parallel()
	half := "data: " + parts(maxMarks/4) + "\n"
	begin := `data: {"jsonrpc":"2.0","id":7,"result":[` + "\n"
	for name, c := range map[string]struct {
		body    string
		stream  bool
		dropped int // answers that are replaced
		whole   int // messages that stay
	}{
		"answer":           {body: parts(maxMarks), dropped: 1},
		"small answer":     {body: parts(maxMarks/2 - 1), whole: 1},
		"text":             {body: `["` + strings.Repeat(`,\"`, maxMarks) + `"]`, whole: 1},
		"after a text":     {body: `["\\",` + parts(maxMarks) + `]`, dropped: 1},
		"event":            {body: begin + half + "data:,\n" + half + "data:,\n" + half + "data:]}\n\n", stream: true, dropped: 1},
		"events":           {body: begin + half + "data:]}\r\n\r\n" + begin + half + "data:]}\n\n", stream: true, whole: 2},
		"behind a comment": {body: ": \"\n" + begin + half + "event: message\n: \"\ndata:,\n" + half + "data:,\n" + half + "data:]}\n\n", stream: true, dropped: 1},
		"no data":          {body: ":" + parts(maxMarks) + "\n\ndat:\nno colon\n\nevent: ping\ndata: {}\n\ndata: words\n\n" + begin + "data: 1]}\n\n", stream: true, whole: 1},
		"line ends":        {body: strings.ReplaceAll(begin+half+"data:]}\n\n"+begin+half+"data:]}\n\n", "\n", "\r"), stream: true, whole: 2},
		"no JSON":          {body: begin + "data: ]]]\n\n", stream: true, whole: 1}, // an error in its place
		"a batch":          {body: `data: [{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","id":2,"result":{}}]` + "\n\n", stream: true, whole: 2},
	} {
		for _, pieces := range []func(io.Reader) io.Reader{iotest.HalfReader, iotest.OneByteReader} {
			var body io.Reader = &answerBody{ReadCloser: io.NopCloser(pieces(strings.NewReader(c.body))), id: json.RawMessage("7")}
			if c.stream {
				body = newEventBody(io.NopCloser(pieces(strings.NewReader(c.body))), maxStream, false)
			}
			got, err := io.ReadAll(body)
			dropped := strings.Count(string(got), tooRich)
			whole := strings.Count(string(got), "data: ") - dropped
			if !c.stream {
				whole = 1 - dropped
			}
			if err != nil || dropped != c.dropped || whole != c.whole || dropped > 0 && !strings.Contains(string(got), `"id":7`) {
				t.Errorf("%s: %d dropped, %d whole, %v: %.300s", name, dropped, whole, err, got)
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
				before, m.ID, parts(maxMarks), after)
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
		if got := r.callIn(ctx, false, "x_t", "{}").Text; !strings.Contains(got, "is busy. Nothing was done") {
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
