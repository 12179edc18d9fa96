package twoworlds

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"parley/channels"
	"parley/policy"
	"parley/sessions"
)

// script is what happens in both worlds: how the host is set, the rows that the caller sees, and its calls.
type script struct {
	rules     sessions.Rules
	sandboxed bool
	steps     []func(*world)
	calls     []call
}

type call struct {
	tool, args string
}

var (
	words = []string{"tango", "tangent", "tax", "safe", "code", "4711", "tea", "divorce", "wedding", "Müller", "茶", "release"}

	// Keys of sessions that no mode of a script shows to the caller, and of those that some modes do.
	strangers = []sessions.Key{"agent:priv:main", "agent:priv:fake:direct:5005", "agent:priv:fake:group:-9", "agent:priv:subagent:h1", "agent:priv:cron:hj", "agent:priv:hook:hh"}
	relatives = []sessions.Key{"agent:main:main", "agent:main:fake:direct:3003", "agent:main:fake:group:-5", "agent:main:fake:group:-5:topic:7", "agent:main:subagent:h2", "agent:main:cron:mj", "agent:main:subagent:g1"}
	children  = []sessions.Key{"agent:main:subagent:v1", "agent:main:subagent:v2", "agent:priv:subagent:v3"}

	parents = map[sessions.Key]sessions.Key{"agent:priv:subagent:h1": "agent:priv:fake:direct:5005", "agent:main:subagent:h2": "agent:main:fake:direct:3003",
		"agent:main:subagent:g1": "agent:main:subagent:h2", "agent:priv:subagent:v3": "agent:main:subagent:v1", "agent:main:subagent:v1": outside, "agent:main:subagent:v2": outside}
)

// hides returns the keys whose sessions the caller does not see.
func (s *script) hides() []sessions.Key {
	switch s.mode() {
	case sessions.SeeSelf, sessions.SeeTree:
		return append(relatives[:len(relatives):len(relatives)], strangers...)
	}
	return strangers
}

// shows returns the keys of other sessions that it sees.
func (s *script) shows() []sessions.Key {
	switch s.mode() {
	case sessions.SeeSelf:
		return nil
	case sessions.SeeTree:
		return children
	}
	return append(children[:len(children):len(children)], relatives...)
}

func (s *script) mode() string {
	return s.rules.Effective(sessions.Viewer{Key: outside, Agent: "main", Sandboxed: s.sandboxed})
}

func newScript(seed uint64) *script {
	d := drawer{rand.New(rand.NewPCG(seed, 1))} //nolint:gosec // a test that can be repeated
	s := &script{rules: sessions.Rules{Mode: pick(d, "", "tree", "tree", "self", "agent", "all", "all")}, sandboxed: d.IntN(6) == 0}
	if s.rules.Mode == sessions.SeeAll && d.IntN(2) == 0 {
		s.rules.A2AEnabled, s.rules.A2AAllow = true, []string{"main", "coder"}
	}
	own := sessions.Session{Key: outside, Agent: "main", Last: chat("2002", channels.Direct), Title: "guest"}
	s.steps = append(s.steps, func(w *world) { w.turn(own, "own", "hello "+words[0], "hi", sessions.TurnRun, true) })
	for i := range 2 + d.IntN(3) {
		s.steps = append(s.steps, d.row(outside, fmt.Sprint("own", i), "2002"))
	}
	for i, key := range s.shows() {
		for j := range d.IntN(3) {
			s.steps = append(s.steps, d.row(key, fmt.Sprint("seen", i, "-", j), pick(d, "2002", "-5", "3003")))
		}
	}
	for range 30 {
		s.calls = append(s.calls, s.call(d))
	}
	return s
}

type drawer struct{ *rand.Rand }

func pick[T any](d drawer, from ...T) T { return from[d.IntN(len(from))] }

func (d drawer) text() string {
	var out []string
	for range 1 + d.IntN(4) {
		out = append(out, pick(d, words...))
	}
	return strings.Join(out, " ")
}

// row makes one thing that belongs to a session: what is drawn is the same in each world.
func (d drawer) row(key sessions.Key, id, peer string) func(*world) {
	s := sessions.Session{Key: key, Agent: key.Agent(), SpawnedBy: parents[key]}
	if s.SpawnedBy == "" {
		s.Last, s.Title = chat(peer, pick(d, channels.Direct, channels.Group)), d.text()
	} else {
		s.Label = d.text()
	}
	one, two, kind := d.text(), d.text(), sessions.TurnRun
	if s.SpawnedBy != "" {
		kind = sessions.ChildRun
	}
	turn := func(w *world) { w.turn(s, id, one, two, kind, true) }
	switch d.IntN(10) {
	case 0, 1, 2:
		return turn
	case 3, 4:
		return func(w *world) {
			w.submit(sessions.Change{Session: &sessions.Target{Session: s}, Ops: []sessions.Op{sessions.AddNote{Agent: s.Agent, Key: key, Text: one}}})
		}
	case 5:
		at := time.Duration(24+d.IntN(99)) * time.Hour
		return func(w *world) {
			w.submit(sessions.Change{Session: &sessions.Target{Session: s}, Ops: []sessions.Op{sessions.PutJob{ID: "job-" + id, Name: two, Agent: s.Agent, From: key, Message: one, Every: at, Created: time.Now(), Next: time.Now().Add(at)}}})
		}
	case 6: // a turn that waits or is running
		return func(w *world) { w.turn(s, id, one, "", kind, false) }
	case 7:
		archive := d.IntN(3) == 0 && key != outside
		return func(w *world) {
			turn(w)
			var ops []sessions.SessionOp
			if archive {
				ops = append(ops, sessions.ArchiveSession{})
			}
			w.submit(sessions.Change{Session: &sessions.Target{Session: s, Ops: ops}})
		}
	case 8:
		return func(w *world) {
			turn(w)
			w.submit(sessions.Change{Session: &sessions.Target{Session: s}, Ops: []sessions.Op{sessions.EnqueueDelivery{ID: sessions.DeliveryID("delivery-" + id), Kind: sessions.Posted, Session: key, To: s.Last, Text: one, Message: "out-" + id, Expires: time.Now().Add(time.Hour)}}})
		}
	}
	return func(w *world) {
		turn(w)
		allow, think := policy.Allow, "high"
		_, err := w.store.Patch(w.ctx, key, sessions.Patch{SendPolicy: &allow, Thinking: &think})
		w.ok(err)
	}
}

// hidden makes something of others. A world is told how many such rows it has.
func (d drawer) hidden(s *script, id string) func(*world) {
	key := pick(d, s.hides()...)
	switch d.IntN(16) {
	case 0: // many at once: bounds are reached
		var all []func(*world)
		for i := range pick(d, 3, 3, 3, 3, 3, 3, 110) {
			text, job := d.text(), sessions.Job{ID: fmt.Sprint("job-", id, "-", i), Agent: key.Agent(), From: key, Message: "x", Every: 24 * time.Hour}
			all = append(all, func(w *world) {
				w.made += 2
				job.Created, job.Next = time.Now(), time.Now().Add(24*time.Hour)
				w.submit(sessions.Change{Ops: []sessions.Op{sessions.AddNote{Agent: key.Agent(), Key: key, Text: text}, sessions.PutJob(job)}})
			})
		}
		return func(w *world) {
			for _, f := range all {
				f(w)
			}
		}
	case 1:
		return func(w *world) { w.made++; _, err := w.store.Reset(w.ctx, key); w.ok(err) }
	case 2:
		return func(w *world) { w.made++; w.ok(w.store.Delete(w.ctx, key)) }
	case 3:
		text := d.text()
		return func(w *world) {
			w.made++
			w.submit(sessions.Change{Ops: []sessions.Op{sessions.AppendContext{Key: key, Sender: "9", Name: "Nina", Text: text, Time: time.Now(), Keep: 50}}})
		}
	case 4:
		name, text := pick(d, "diary.md", "owner/tax.txt", "a.md", "b/c.md", "chats/direct-5005-12345678/a.md"), d.text()
		return func(w *world) { w.made++; w.file(name, text) }
	}
	f := d.row(key, id, pick(d, "2002", "5005", "-9", "-5")) // some write from the chat that the caller's session has
	return func(w *world) { w.made++; f(w) }
}

// ref draws a reference to a session.
func (s *script) ref(d drawer) string {
	switch d.IntN(6) {
	case 0:
		return pick(d, "current", "main", "agent:main:fake:direct:404", "nonsense", "agent:priv:fake:direct:404")
	case 1:
		return "{id:" + string(pick(d, s.hides()...)) + "}"
	case 2:
		return string(pick(d, s.hides()...))
	case 3:
		return "{id:" + string(pick(d, append(s.shows(), outside)...)) + "}"
	}
	return string(pick(d, append(s.shows(), outside)...))
}

// query draws words to look for: whole ones, beginnings, several.
func (d drawer) query() string {
	w := []rune(pick(d, words...))
	return pick(d, string(w[:1+d.IntN(len(w))]), "zzqx "+string(w[:1+d.IntN(len(w))]), d.text(), "")
}

// call draws one call of a tool.
func (s *script) call(d drawer) call {
	object := func(tool string, pairs ...any) call {
		m := map[string]any{}
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i+1] != nil {
				m[pairs[i].(string)] = pairs[i+1]
			}
		}
		b, _ := json.Marshal(m) //nolint:errchkjson // strings and numbers
		return call{tool, string(b)}
	}
	maybe := func(v ...any) any {
		if d.IntN(2) == 0 {
			return nil
		}
		return pick(d, v...)
	}
	ref := s.ref(d)
	child := pick(d, "1", "2", "last", "run-", "run-seen", words[0], string(pick(d, s.hides()...)), string(pick(d, children...)), "9")
	hiddenJob := pick(d, "job-own0", "job-h0", "job-h1-3", "nothing")
	switch d.IntN(16) {
	case 0, 1:
		return object("sessions_list", "limit", maybe(1, 2, 200), "offset", maybe(0, 1), "search", maybe("priv", "agent:priv:fake:direct:5", "tan", "direct"), "label", maybe("tango", "divorce"),
			"kinds", maybe([]string{"other"}, []string{"main", "group"}), "messageLimit", maybe(1, 5), "agentId", maybe("priv", "main"), "archived", maybe(true), "activeMinutes", maybe(1, 60))
	case 2:
		return object("sessions_history", "sessionKey", ref, "limit", maybe(1, 3), "offset", maybe(1, 2), "includeTools", maybe(true, false))
	case 3:
		return object("sessions_search", "query", d.query(), "limit", maybe(1, 25), "offset", maybe(1, 3))
	case 4:
		return object("sessions_search", "query", pick(d, words...), "sessionKey", ref)
	case 5:
		return object("session_status", "sessionKey", ref)
	case 6:
		return object("sessions_send", "sessionKey", ref, "message", d.text(), "timeoutSeconds", pick(d, 0, 1))
	case 7:
		return object("sessions_spawn", "task", d.text(), "label", maybe(words[0], words[7]), "agentId", maybe("priv", "main", "nobody"), "cleanup", maybe("delete"))
	case 8:
		return object("subagents", "action", pick(d, "list", "list", "log", "cancel", "steer"), "id", child, "message", "go on", "limit", maybe(1, 2))
	case 9:
		if to := pick(d, "", "current", "fake/default/direct/2002", "fake/default/group/-9", "fake/default/direct/5005"); to != "" {
			ref = to
		}
		return object("message", "to", ref, "text", d.text(), "files", maybe([]string{"a.md"}))
	case 10:
		return object("remember", "text", d.text())
	case 11, 12:
		return object("recall", "query", d.query(), "limit", maybe(1, 2))
	case 13:
		return pick(d, object("cron", "action", "list"), object("cron", "action", "remove", "id", hiddenJob), object("cron", "action", "add", "message", d.text(), "every", "24h"))
	case 14:
		name := pick(d, "a.md", "b/c.md", "diary.md", "owner/tax.txt")
		return pick(d, object("files", "action", "list"), object("files", "action", "read", "path", name), object("files", "action", "write", "path", name, "content", d.text()),
			object("files", "action", "append", "path", name, "content", "x"), object("files", "action", "delete", "path", name), object("files", "action", "edit", "path", name, "old", "x", "new", "y"))
	}
	return pick(d, object("agents_list"), object("sessions_yield"), object("attachments", "action", "list"), object("attachments", "action", "read", "id", "abcdefgh"))
}
