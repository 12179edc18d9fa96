package simtest

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"parley/channels"
	"parley/policy"
	"parley/router/routertest"
	"parley/router/settings"
	"parley/sessions"
)

// world is what a seed makes: people, platforms, a model, and the processes that serve them one after the other.
type world struct {
	t         *testing.T
	seed      uint64
	s         *scheduler
	plan      *plan
	keys      map[channels.Address]sessions.Key
	platforms []*site
	calm      atomic.Bool // no more faults
	crashes   int         // left
	left      remains     // of the newest crash
	now       atomic.Pointer[host]
	lives     int
	people    sync.WaitGroup
	shocks    sync.WaitGroup
	pens      map[channels.Address]chan struct{} // of each chat: one update is offered at a time

	mu          sync.Mutex
	events      int
	called      []*contact
	policies    []ruled
	changes     []*wish
	asked       map[channels.MessageID]*stretch // from its first offer to its first confirmation
	receipts    map[channels.MessageID]int      // what a process knew to be on disk, in events
	troubles    []stretch                       // of the store
	awake       [][2]time.Time                  // of each process, from its start to its end
	wrote       []wrote
	acked       map[channels.MessageID]int // when the host confirmed it, in events
	moved       time.Time                  // when the host confirmed that a chat has a new id
	tokens      map[string]int
	thoughts    []thought
	tries       []*attempted
	stops       []*[2]time.Time // from when to when a commit was waited for that ends what sessions are at; no end: it did not answer
	gone        map[sessions.Key]deleted
	lost        []channels.Address // where messages were on their way at a crash
	counts      map[string]int
	deniedFirst bool                        // a chat, before it moved
	freshDenied int                         // when the session of its new id was denied
	newest      map[channels.Address]letter // the newest command about the policy that was offered
}

// contact is a call of a platform.
type contact struct {
	what       string
	to         channels.Address // in the world
	raw        channels.Address // as the host said
	text       string
	host       *host
	begin, end int // in events
	on, off    time.Time
	how        string // it ended, as the process saw it: taken, there, absent, the class of an error, or cut where there was none left to see it
}

// ruled is a change of what may reach a chat, as people know of it.
type ruled struct {
	at  int
	key sessions.Key
	to  string              // deny: acknowledged; allow: asked for; unknown
	by  channels.MessageID  // of a person: the command
	old bool                // asked for by another id, before the chat moved
	as  sessions.DeliveryID // and what looked like its answer when it was shown
}

// deleted is what there was of a session before it was deleted.
type deleted struct {
	at    time.Time      // of the look
	runs  []sessions.Run // newest first
	texts []sessions.Message
}

// attempted is an end of a run that a process wanted to write down.
type attempted struct {
	run sessions.RunID
	sessions.Outcome
	done   bool // it was told that it is on disk
	undone bool // it was told that it is not; with neither, its answer was lost
}

func newWorld(t *testing.T, seed uint64) *world {
	w := &world{t: t, seed: seed, s: newScheduler(seed), keys: map[channels.Address]sessions.Key{}, pens: map[channels.Address]chan struct{}{}, acked: map[channels.MessageID]int{}, tokens: map[string]int{},
		counts: map[string]int{}, newest: map[channels.Address]letter{}, gone: map[sessions.Key]deleted{}, asked: map[channels.MessageID]*stretch{}, receipts: map[channels.MessageID]int{}}
	w.route()
	w.plan = w.draw()
	w.crashes = w.plan.crashes
	for _, ref := range []settings.AccountRef{routertest.Account, second} {
		p := &site{w: w, ref: ref, like: pick(w.s, routertest.Repeats, routertest.Idempotent, routertest.Reconciles)}
		if w.s.chance(250) {
			from := time.Now().Add(w.s.within(3 * time.Minute))
			p.down = append(p.down, [2]time.Time{from, from.Add(w.s.within(6 * time.Minute))})
		}
		w.platforms = append(w.platforms, p)
	}
	return w
}

// tally counts how often something came up.
func (w *world) tally(what string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.counts[what]++
}

// clock is the place of the next event among all.
func (w *world) clock() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.events++
	return w.events
}

// token makes a word that is nowhere else.
func (w *world) token(kind string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tokens[kind]++
	return fmt.Sprintf("%s%d", kind, w.tokens[kind])
}

// calls writes down that a call of a platform began.
func (w *world) calls(h *host, what string, to channels.Address, text string) *contact {
	x := &contact{what: what, to: w.home(to), raw: to, text: text, host: h, begin: w.clock(), on: time.Now()}
	w.s.note("call %s %s", what, to)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.called = append(w.called, x)
	return x
}

// ends writes down that a call has ended; with its process it ends as well.
func (w *world) ends(x *contact) {
	at := w.clock()
	w.mu.Lock()
	defer w.mu.Unlock()
	if x.end == 0 {
		x.end, x.off = at, time.Now()
	}
}

// shows looks at what a chat shows: the answer to a change of its policy is its acknowledgement.
func (w *world) shows(x shown) {
	w.mu.Lock()
	defer w.mu.Unlock()
	l := w.newest[x.out.To]
	if strings.HasPrefix(x.out.Text, "⚙️ Send policy set to off") && l.text == "/send off" {
		w.policies = append(w.policies, ruled{at: x.at, key: w.keys[x.out.To], to: "deny", by: l.id, as: deliveryOf(x.out.Key)})
	}
}

// rules writes down a change of what may reach a chat, and gives the number of those that there are.
func (w *world) rules(key sessions.Key, to string) int {
	at := w.clock()
	w.s.note("policy of %s: %s", key, to)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.policies = append(w.policies, ruled{at: at, key: key, to: to})
	return len(w.policies)
}

// denied writes down that a deny was acknowledged, the asking for which has a number. Where somebody asked for another change meanwhile, nobody
// knows which of them holds.
func (w *world) denied(key sessions.Key, asked int) {
	w.mu.Lock()
	other := slices.ContainsFunc(w.policies[asked:], func(x ruled) bool { return x.key == key })
	w.mu.Unlock()
	if !other {
		w.rules(key, "deny")
	}
}

// writes has a chat's people write, one after the other: updates come up to three times and may change places, and each is offered
// until it is confirmed.
func (w *world) writes(letters []letter) {
	s := w.s
	order := slices.Clone(letters)
	for i := 1; i < len(order); i++ {
		if s.chance(80) && !order[i].isCommand() && !order[i-1].isCommand() {
			w.tally("reordered updates")
			order[i-1], order[i] = order[i], order[i-1]
		}
	}
	for i := 0; i < len(order); i++ {
		for range 2 {
			if s.chance(150) {
				w.tally("repeated updates")
				order = slices.Insert(order, i+1+s.upTo(len(order)-i), order[i])
			}
		}
	}
	w.people.Go(func() {
		for _, l := range order {
			channels.Sleep(w.t.Context(), time.Until(s.began.Add(l.at)))
			w.offer(l)
		}
	})
}

// mostOffered is when people give up on a host that takes nothing.
const mostOffered = 26 * time.Hour

// offer offers an update until a process confirms it.
func (w *world) offer(l letter) {
	s := w.s
	if l.event == denied {
		w.denies(w.plan.moved.deny)
		return
	}
	pen := w.pens[l.to]
	pen <- struct{}{}
	defer func() { <-pen }()
	in := w.plan.via(l)
	for time.Since(s.began) < mostOffered {
		s.wait(nil, fmt.Sprintf("offer %s", l.id))
		if h := w.now.Load(); h != nil && !h.isDead() {
			w.tally("offers")
			s.note("offer %s to %s: %s", l.id, in.Address, l.text)
			w.offers(l)
			err := h.r.Receiver.Accept(h.ctx, in)
			s.wait(nil, fmt.Sprintf("confirm %s", l.id))
			if err == nil && !h.isDead() {
				s.note("confirmed %s", l.id)
				w.confirms(l)
				return
			}
			w.tally("refused offers")
		}
		<-time.After(time.Second + s.within(time.Second))
	}
}

// offers notes what an update means when it is offered first.
func (w *world) offers(l letter) {
	set := strings.HasPrefix(l.text, "/send ")
	w.mu.Lock()
	_, seen := w.acked[l.id]
	first := w.asked[l.id] == nil
	w.mu.Unlock()
	if first {
		x := w.asks(w.keys[l.to], l.text == "/send off")
		x.void = !set
		w.mu.Lock()
		w.asked[l.id] = &x.stretch
		w.mu.Unlock()
	}
	w.mu.Lock()
	if set && !seen {
		w.newest[l.to] = l
	}
	w.mu.Unlock()
	if set && !seen {
		w.tally("flips by people")
	}
	if set && !seen && l.text != "/send off" {
		w.rules(w.keys[l.to], "allow")
	}
}

func (w *world) confirms(l letter) {
	w.mu.Lock()
	x := w.asked[l.id]
	w.mu.Unlock()
	w.closes(x)
	at := w.clock()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.acked[l.id] == 0 {
		w.acked[l.id] = at
		if l.id == movedID {
			w.moved = time.Now()
		}
	}
	if l.id == movedID && w.deniedFirst {
		w.policies = append(w.policies, ruled{at: at, key: w.keys[l.to], to: "deny", old: true})
		w.deniedFirst = false
	}
}

// flip changes a session's policy by the API until that is acknowledged.
func (w *world) flip(f flipped) {
	s := w.s
	channels.Sleep(w.t.Context(), time.Until(s.began.Add(f.at)))
	var x *wish
	for time.Since(s.began) < mostOffered {
		s.wait(nil, "flip "+string(f.key))
		key, known := w.apiKey(f.key)
		if h := w.now.Load(); h != nil && !h.isDead() && known {
			kind := "allow"
			if f.to == policy.Deny {
				kind = "unknown"
			}
			asked := w.rules(f.key, kind)
			if x == nil {
				x = w.asks(f.key, f.to == policy.Deny)
			}
			_, err := h.r.Patch(h.ctx, key, sessions.Patch{SendPolicy: &f.to})
			s.wait(nil, "flipped "+string(f.key))
			if err == nil && !h.isDead() {
				w.tally("flips by the API")
				w.closes(&x.stretch)
				if f.to == policy.Deny {
					w.denied(f.key, asked)
				}
				return
			}
			if err != nil && strings.Contains(err.Error(), sessions.ErrNotFound.Error()) {
				x.void = true
				return // nobody has written there yet
			}
		}
		<-time.After(time.Second + s.within(time.Second))
	}
}
