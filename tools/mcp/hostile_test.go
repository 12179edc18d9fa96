package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"parley/tools"
)

// in runs a test on virtual time with a server in memory.
func in(t *testing.T, answer func(*peer, json.RawMessage, string, json.RawMessage) (string, bool), f func(*testing.T, *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, one(tools.MCPServer{Command: "x", Enabled: true, TimeoutSeconds: 60}), inMemory(answer))
		f(t, r)
		r.stop()
	})
}

// silent is a server that answers a method no more.
func silent(method string) func(*peer, json.RawMessage, string, json.RawMessage) (string, bool) {
	good := listing(plainTool)
	return func(p *peer, id json.RawMessage, m string, params json.RawMessage) (string, bool) {
		if m == method {
			return "", false
		}
		return good(p, id, m, params)
	}
}

// A server that never answers is given up, after its time: in the handshake, when it lists its tools, at a ping, at a call. Host and
// turns never wait for longer.
func TestNeverAnswers(t *testing.T) {
	t.Parallel()
	for method, within := range map[string]time.Duration{"initialize": startDefault, "tools/list": startDefault, "ping": pingEvery + pingWithin} {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			in(t, silent(method), func(t *testing.T, r *rig) {
				began := time.Now()
				if r.Tools(t.Context(), false); time.Since(began) > settleWithin {
					t.Errorf("a turn waits for %s", time.Since(began))
				}
				s := r.until("down", func(s Status) bool { return s.State == Down })
				if took := time.Since(began); took < within || took > within+2*time.Second {
					t.Errorf("given up after %s, not %s: %s", took, within, s)
				}
			})
		})
	}
	in(t, silent("tools/call"), func(t *testing.T, r *rig) {
		began := time.Now()
		if got := r.call("x_t", "{}"); !got.IsError || !strings.Contains(got.Text, "did not answer within 1m0s. The call may have been done") {
			t.Errorf("the call: %+v", got)
		}
		if took := time.Since(began); took != time.Minute {
			t.Errorf("the call took %s", took)
		}
		synctest.Wait()
		if s := r.Status()[0]; s.State != Running || s.Restarts != 0 {
			t.Errorf("it answers pings, so it stays: %+v", s)
		}
	})
}

// A server that hangs altogether during a call is replaced as soon as the call has run out of its time; one that is at work is left
// alone until then.
func TestHangsDuringACall(t *testing.T) {
	t.Parallel()
	good := listing(plainTool)
	var hangs atomic.Bool
	in(t, func(p *peer, id json.RawMessage, m string, params json.RawMessage) (string, bool) {
		if m == "tools/call" {
			hangs.Store(true)
		}
		if m == "initialize" {
			hangs.Store(false)
		}
		if hangs.Load() {
			return "", false
		}
		return good(p, id, m, params)
	}, func(t *testing.T, r *rig) {
		began := time.Now()
		r.call("x_t", "{}")
		s := r.until("replaced", func(s Status) bool { return s.State == Down })
		if took := time.Since(began); took != time.Minute+pingWithin || s.Detail != "it no longer answers" {
			t.Errorf("replaced after %s: %s", took, s)
		}
		r.running()
	})
}

// A call that is canceled ends at once, whatever the server does; that it goes on, answers later, or answers what nobody asked, harms
// nothing.
func TestIgnoresCancel(t *testing.T) {
	t.Parallel()
	good := listing(plainTool)
	var canceled atomic.Int64
	in(t, func(p *peer, id json.RawMessage, m string, params json.RawMessage) (string, bool) {
		switch m {
		case "notifications/cancelled":
			canceled.Add(1)
		case "tools/call":
			if strings.Contains(string(params), "late") {
				go func() {
					time.Sleep(90 * time.Second) // virtual
					p.write(`{"jsonrpc":"2.0","id":` + string(id) + `,"result":{"content":[{"type":"text","text":"late"}]}}`)
				}()
				return "", false
			}
			for _, other := range []string{`99`, `"no"`, `null`, `-1`, `{}`} {
				p.write(`{"jsonrpc":"2.0","id":` + other + `,"result":{"content":[{"type":"text","text":"wrong"}]}}`)
			}
			return `{"content":[{"type":"text","text":"right"}]}`, true
		}
		return good(p, id, m, params)
	}, func(t *testing.T, r *rig) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		began := time.Now()
		if got := r.callIn(ctx, false, "x_t", `{"late":1}`); !got.IsError || time.Since(began) != time.Second {
			t.Errorf("after %s: %+v", time.Since(began), got)
		}
		cancel()
		gone, leave := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, leave)
		if _, err := r.Tools(gone, false)[0].Call(gone, tools.Call{Args: json.RawMessage(`{"late":1}`)}); err == nil {
			t.Error("a call that is canceled is no result")
		}
		time.Sleep(2 * time.Minute) // virtual: the late answers come
		if got := r.call("x_t", "{}"); got.Text != "right" {
			t.Errorf("the next call: %+v", got)
		}
		if n := canceled.Load(); n != 2 {
			t.Errorf("the server was told of %d cancels", n)
		}
		if s := r.Status()[0]; s.Restarts != 0 {
			t.Errorf("it was started again: %+v", s)
		}
	})
}

// Starts are spaced out: each pause is about twice the one before, with chance in it, up to a minute; a good run makes it short again.
func TestBackoff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var starts []time.Time
		var lives time.Duration
		good := listing(plainTool)
		r := newRig(t, one(tools.MCPServer{Command: "x", Enabled: true, TimeoutSeconds: 60}), inMemory(
			func(p *peer, id json.RawMessage, m string, params json.RawMessage) (string, bool) {
				if m == "initialize" {
					mu.Lock()
					starts = append(starts, time.Now())
					time.AfterFunc(lives, func() { _ = p.out.Close() })
					mu.Unlock()
				}
				return good(p, id, m, params)
			}))
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		mu.Lock()
		for i := 1; i < len(starts); i++ {
			pause, want := starts[i].Sub(starts[i-1]), min(firstPause<<min(i-1, 10), longestPause)
			if pause < want/2 || pause > want {
				t.Errorf("pause %d is %s, not %s to %s", i, pause, want/2, want)
			}
		}
		if len(starts) < 12 || len(starts) > 30 {
			t.Errorf("%d starts in ten minutes", len(starts))
		}
		lives = steady
		mu.Unlock()
		time.Sleep(3 * time.Minute)
		synctest.Wait()
		mu.Lock()
		if n := len(starts); starts[n-1].Sub(starts[n-2]) > steady+firstPause {
			t.Errorf("after a good run the pause is %s", starts[n-1].Sub(starts[n-2])-steady)
		}
		mu.Unlock()
		r.stop()
	})
}

// However often a server says that its tools have changed, they are listed once in five seconds, and the new list is in force then.
func TestChangesItsTools(t *testing.T) {
	t.Parallel()
	var lists atomic.Int64
	list := atomic.Pointer[string]{}
	first := plainTool
	list.Store(&first)
	var it atomic.Pointer[peer]
	in(t, func(p *peer, id json.RawMessage, m string, params json.RawMessage) (string, bool) {
		it.Store(p)
		switch m {
		case "tools/list":
			lists.Add(1)
			return listing(*list.Load())(p, id, m, params)
		case "tools/call":
			return `{"content":[{"type":"text","text":` + fmt.Sprintf("%q", params) + `}]}`, true
		}
		return listing("[]")(p, id, m, params)
	}, func(t *testing.T, r *rig) {
		old := r.Tools(t.Context(), false)
		second := `[{"name":"t","description":"now another","inputSchema":{"type":"object","required":["a"],"properties":{"a":{"type":"string"}}}},{"name":"u","inputSchema":{"type":"object"}}]`
		list.Store(&second)
		for range 20 {
			for range 40 {
				it.Load().write(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
			}
			time.Sleep(time.Second) // virtual
		}
		synctest.Wait()
		if n := lists.Load(); n < 4 || n > 6 {
			t.Errorf("%d lists in 20 s", n)
		}
		now := r.Tools(t.Context(), false)
		if len(now) != 2 || !strings.Contains(now[0].Spec().Description, "now another") || !strings.Contains(string(now[0].Spec().Schema), "required") {
			t.Errorf("the new list: %v", now)
		}
		if strings.Contains(old[0].Spec().Description, "now another") {
			t.Error("a turn's own tool has changed under its hands")
		}
		if got, err := old[0].Call(t.Context(), tools.Call{Args: json.RawMessage("{}")}); err != nil || !strings.Contains(got.Text, `"name":"t"`) {
			t.Errorf("the turn's own tool: %+v, %v", got, err)
		}
	})
}

// What a server asks of the host is refused, also in numbers; what it says without being asked is dropped.
func TestAsksTheHost(t *testing.T) {
	t.Parallel()
	refused := make(chan string, 100)
	good := listing(plainTool)
	asks := []string{"sampling/createMessage", "elicitation/create", "roots/list", "tools/call", "initialize", "no/such"}
	in(t, func(p *peer, id json.RawMessage, m string, params json.RawMessage) (string, bool) {
		switch m {
		case "answer":
			refused <- string(params)
		case "tools/call":
			go func() {
				for i, ask := range asks {
					p.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":"s%d","method":%q,"params":{}}`, i, ask))
					p.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":"n%d","method":%q}`, i, ask))
				}
				for _, say := range []string{"notifications/progress", "notifications/cancelled", "notifications/elicitation/complete", "notifications/message",
					"notifications/resources/updated", "notifications/no"} {
					p.write(`{"jsonrpc":"2.0","method":"` + say + `"}`)
					p.write(`{"jsonrpc":"2.0","method":"` + say + `","params":null}`)
					p.write(`{"jsonrpc":"2.0","method":"` + say + `","params":{"progressToken":{"a":[]},"requestId":{},"progress":"x"}}`)
				}
				p.write(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"call-1","progress":1,"total":4,"message":"half\u0007 way\nthere"}}`)
				for range 5000 {
					p.write(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}`)
				}
				p.write(`{"jsonrpc":"2.0","id":` + string(id) + `,"result":{"content":[{"type":"text","text":"done"}]}}`)
			}()
			return "", false
		}
		return good(p, id, m, params)
	}, func(t *testing.T, r *rig) {
		var said []string
		res, err := r.Tools(t.Context(), false)[0].Call(t.Context(), tools.Call{Args: json.RawMessage("{}"), Progress: func(text string) { said = append(said, text) }})
		if err != nil || res.Text != "done" {
			t.Errorf("the call: %+v, %v", res, err)
		}
		synctest.Wait()
		if !slices.Equal(said, []string{"half way there"}) {
			t.Errorf("progress: %q", said)
		}
		if len(refused) != 2*len(asks) {
			t.Errorf("%d answers to %d questions", len(refused), 2*len(asks))
		}
		for range len(refused) {
			if text := <-refused; !strings.Contains(text, `"error"`) {
				t.Errorf("not refused: %s", text)
			}
		}
	})
}

// A server that does not read is given up: neither host nor turn hangs in a write.
func TestDoesNotRead(t *testing.T) {
	t.Parallel()
	good := listing(plainTool)
	in(t, func(p *peer, id json.RawMessage, m string, params json.RawMessage) (string, bool) {
		if m == "tools/call" {
			time.Sleep(time.Hour) // virtual: it reads nothing meanwhile
		}
		return good(p, id, m, params)
	}, func(t *testing.T, r *rig) {
		r.running()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		r.callIn(ctx, false, "x_t", "{}")
		began := time.Now()
		r.callIn(ctx, false, "x_t", "{}")
		if time.Since(began) > time.Second {
			t.Errorf("the second call took %s", time.Since(began))
		}
		r.until("down", func(s Status) bool { return s.State == Down })
		if took := time.Since(began); took > writeTimeout+time.Second {
			t.Errorf("given up after %s", took)
		}
		time.Sleep(time.Hour) // virtual: for the server's own goroutine
	})
}
