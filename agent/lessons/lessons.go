package lessons

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"parley/sessions"
)

// The kinds of lessons.
const (
	Parameter  = "parameter"   // Name with Value is refused: Use is sent instead, or nothing; without Value: whatever it is, and fields of it
	Rename     = "rename"      // the parameter Name is called Use
	Images     = "images"      // no pictures; with Name: not the one with this hash
	MaxImages  = "max-images"  // Use pictures at most, the newest ones
	ToolImages = "tool-images" // no pictures in the results of tools: they go into a message of the user
	Tools      = "tools"       // no tools
	MaxTools   = "max-tools"   // Use tools at most, the first ones
	Tool       = "tool"        // not the tool Name
	Schema     = "schema"      // tools' schemas have the plainest keywords only; with Name: in the form of that name besides
	System     = "system"      // no system role: its text goes in front of the first message
	Stream     = "stream"      // answers come in one piece
	Reasoning  = "reasoning"   // reasoning of earlier steps: Use is SendReasoning, SayReasoning, SendSignatures or OmitReasoning; with Name: of that item; OldReasoning: older than Use
	CallIDs    = "call-ids"    // ids of tool calls have nine letters and digits; with Use: the form of that regular expression
	Roles      = "roles"       // order of roles: Use is AfterTool, Alternate or UserOnly
	History    = "history"     // calls of earlier steps are told as text: Use is ToldHistory, or a time of RFC 3339 up to which they are
	ToolTexts  = "tool-texts"  // descriptions of tools have Use bytes at most; with Name: those of their arguments
	ToolNames  = "tool-names"  // names of tools have letters and digits only
	OneCall    = "one-call"    // a message has one tool call: calls that were made together are told one after the other
	Window     = "window"      // prompt and answer have Use tokens at most
	// MaxMessages bounds the messages of a transcript in a request: Use at most, the older ones are summed up.
	MaxMessages = "max-messages"
	// MaxText bounds the text of one message: it has Use characters at most, the rest is cut off.
	MaxText = "max-text"
	Content = "content" // the text of a message with tool calls: Use is EmptyContent, FilledContent or CallsOnly
)

// OldReasoning is the Name of a lesson about all reasoning that is older than Use, a time of RFC 3339: the endpoint cannot read that any
// more, because the organisation or a key of it changed. What it makes later goes back.
const OldReasoning = "older"

// The values of Lesson.Use.
const (
	SendReasoning = "send" // with the documented placeholder where there is none
	SayReasoning  = "say"  // like SendReasoning, with words for a placeholder, and in each message of the model: a space is taken for nothing
	OmitReasoning = "omit" // never
	// SendSignatures is like the default, with the documented placeholder for the signature of calls that another model made.
	SendSignatures = "signatures"
	// PlaceholderSignatures sends the documented placeholder for every signature: the endpoint does not take its own ones back.
	PlaceholderSignatures = "placeholders"
	AfterTool             = "after-tool" // an assistant message stands between a tool's result and a user message
	Alternate             = "alternate"  // only user and assistant, in turns: calls and results are told as text
	UserOnly              = "user-only"  // only user: what the model said, its calls and their results are told as text
	EmptyContent          = "empty"      // an empty text instead of null
	FilledContent         = "filled"     // a text that is not empty
	CallsOnly             = "calls-only" // null, and no text in a message with tool calls
	ToldHistory           = "told"       // all calls and results, whatever their age
)

// Unset is the Value of a parameter that was not sent.
const Unset = "(unset)"

// MaxAge is how long a lesson holds before it is tried again.
const MaxAge = 7 * 24 * time.Hour

// Endpoint is where a model is: what lessons and opaque data are tied to.
type Endpoint struct {
	Provider string // as the configuration names it
	Address  string // as Address gives it
	Model    string // the provider's own name
}

// String is the form that sessions.Opaque.From has.
func (e Endpoint) String() string { return namesOf(e).whole }

// Label is the name that messages are stored with: provider/model.
func (e Endpoint) Label() string { return namesOf(e).label }

// endpointNames keeps the names of endpoints: each request needs them several times.
var endpointNames struct {
	sync.Mutex
	of map[Endpoint]endpointName
}

type endpointName struct{ whole, label string }

// maxEndpointNames bounds what is kept.
const maxEndpointNames = 1000

func namesOf(e Endpoint) endpointName {
	c := &endpointNames
	c.Lock()
	defer c.Unlock()
	n, ok := c.of[e]
	if !ok {
		n = endpointName{e.Provider + " " + e.Address + " " + e.Model, e.Provider + "/" + e.Model}
		if c.of == nil || len(c.of) >= maxEndpointNames {
			c.of = make(map[Endpoint]endpointName)
		}
		c.of[e] = n
	}
	return n
}

// Address gives a base URL without user, password, query and fragment.
func Address(base string) string {
	u, err := url.Parse(base)
	if err != nil {
		return ""
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return strings.TrimRight(u.String(), "/")
}

// Config is what a Book needs.
type Config struct {
	// Save keeps lessons over a restart. It is called by the goroutine of a model call, whose ctx may end at any time, and must not block
	// for long. nil = they are not kept.
	Save func(context.Context, ...sessions.Lesson)
	// Drop ends lessons that were found wrong. It is called like Save.
	Drop   func(context.Context, ...sessions.Lesson)
	Same   func(a, b string) bool // reports whether two fingerprints are of one configuration; nil = when they are equal
	Now    func() time.Time       // nil = time.Now
	Logger *slog.Logger           // nil = silent
}

// Book is what is known of all endpoints. Its methods may be called by any goroutine.
type Book struct {
	conf Config

	mu    sync.Mutex
	known map[Endpoint]map[key]sessions.Lesson // the inner maps are replaced, never changed
	taken map[Endpoint]parts
	vain  map[Endpoint]vain
	count int

	suspects map[Endpoint]suspects
	credits  map[Endpoint]credit
	counts   map[Endpoint]counts
}

// suspects are changes that a call was taken with although no refusal gave them as the reason. They are no lessons: the next call is made
// without them. If the endpoint refuses that in the same words, and takes it with the same changes, they are remembered.
type suspects struct {
	words   string // of the refusal
	config  string
	changes []sessions.Lesson
}

// vain counts the calls in a row that an endpoint refused without a reason, whatever was changed.
type vain struct {
	calls  int
	last   time.Time
	config string
	left   []string // settings of the user that the last of them was made without
}

// quietCalls is after how many such calls an endpoint is sent unchanged requests only, for quietTime: one that refuses everything costs one
// request a call then. Without the conversation, which may be the reason, the same request is mostly taken, and that ends it.
const (
	quietCalls = 1
	quietTime  = 10 * time.Minute
)

// key tells the lessons of an endpoint apart.
type key struct{ kind, name, value string }

func keyOf(l sessions.Lesson) key { return key{l.Kind, l.Name, l.Value} }

func endpointOf(l sessions.Lesson) Endpoint { return Endpoint{l.Provider, l.Address, l.Model} }

// Fingerprint gives f, or one that is always empty.
func Fingerprint(f func() string) func() string {
	if f == nil {
		return func() string { return "" }
	}
	return f
}

// NewBook makes an empty book.
func NewBook(c Config) *Book {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Same == nil {
		c.Same = func(a, b string) bool { return a == b }
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return &Book{conf: c, known: make(map[Endpoint]map[key]sessions.Lesson), taken: make(map[Endpoint]parts), vain: make(map[Endpoint]vain),
		suspects: make(map[Endpoint]suspects), credits: make(map[Endpoint]credit), counts: make(map[Endpoint]counts)}
}

// Load adds lessons that were kept. They are not saved again. Those that older versions kept with a secret in them are left out, and given:
// they are to be removed from the store.
func (b *Book) Load(all []sessions.Lesson) (secret []sessions.Lesson) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, l := range all {
		if toldSecret(l) {
			secret = append(secret, l)
			continue
		}
		b.put(l)
	}
	return secret
}

// put keeps a lesson; when there is no room, the oldest one goes. b.mu is held.
func (b *Book) put(l sessions.Lesson) {
	at := endpointOf(l)
	if _, known := b.known[at][keyOf(l)]; !known {
		b.count++
	}
	b.known[at] = withLesson(maps.Clone(b.known[at]), keyOf(l), l)
	if b.count > sessions.MaxLessons {
		b.dropOldest()
	}
}

// dropOldest forgets the oldest lesson, as the store does. b.mu is held.
func (b *Book) dropOldest() {
	var oldest sessions.Lesson
	for _, known := range b.known {
		for _, l := range known {
			if oldest.Kind == "" || olderThan(l, oldest) {
				oldest = l
			}
		}
	}
	b.drop(oldest)
}

// olderThan reports whether a lesson comes before another one by age; of one age the key decides.
func olderThan(l, other sessions.Lesson) bool {
	if d := l.At.UnixMilli() - other.At.UnixMilli(); d != 0 {
		return d < 0
	}
	return slices.Compare([]string{l.Provider, l.Address, l.Model, l.Kind, l.Name, l.Value}, []string{other.Provider, other.Address, other.Model, other.Kind, other.Name, other.Value}) < 0
}

// drop forgets one lesson. b.mu is held.
func (b *Book) drop(l sessions.Lesson) {
	at := endpointOf(l)
	next := maps.Clone(b.known[at])
	delete(next, keyOf(l))
	b.count--
	if b.known[at] = next; len(next) == 0 {
		delete(b.known, at)
	}
}

// Known lists what is known, in a stable order.
func (b *Book) Known() []sessions.Lesson {
	b.mu.Lock()
	var out []sessions.Lesson
	for _, at := range b.known {
		for _, l := range at {
			out = append(out, l)
		}
	}
	b.mu.Unlock()
	slices.SortFunc(out, func(a, c sessions.Lesson) int {
		return strings.Compare(strings.Join([]string{a.Provider, a.Model, a.Address, a.Kind, a.Name, a.Value}, "\x00"),
			strings.Join([]string{c.Provider, c.Model, c.Address, c.Kind, c.Name, c.Value}, "\x00"))
	})
	return out
}

// Forget removes the lessons of a provider and a model, "" = any, and says how many there were. What the store keeps is the caller's.
func (b *Book) Forget(provider, model string) (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	named := func(at Endpoint) bool {
		return (provider == "" || at.Provider == provider) && (model == "" || at.Model == model)
	}
	for at, known := range b.known {
		if named(at) {
			n += len(known)
			delete(b.known, at)
		}
	}
	maps.DeleteFunc(b.taken, func(at Endpoint, _ parts) bool { return named(at) })
	maps.DeleteFunc(b.vain, func(at Endpoint, _ vain) bool { return named(at) })
	maps.DeleteFunc(b.suspects, func(at Endpoint, _ suspects) bool { return named(at) })
	maps.DeleteFunc(b.counts, func(at Endpoint, _ counts) bool { return named(at) })
	maps.DeleteFunc(b.credits, func(at Endpoint, _ credit) bool { return named(at) })
	b.count -= n
	return n
}

// Limit gives the number that was learned of a provider's model: of Window, MaxTools or MaxMessages; 0 = none was, or under other settings, or
// it is in doubt: the call that is made without it must not be made with it all the same.
func (b *Book) Limit(kind, provider, model, config string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	for at, known := range b.known {
		if l, ok := known[key{kind, "", ""}]; ok && at.Provider == provider && at.Model == model && b.holds(l, config) && !inDoubt(l) {
			n, _ := strconv.Atoi(l.Use) // what else is kept there is none
			return n
		}
	}
	return 0
}

// RefusesOff reports whether it was learned that a provider's model cannot be told not to think: the word for it was refused.
func (b *Book) RefusesOff(provider, model, config string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for at, known := range b.known {
		if at.Provider != provider || at.Model != model {
			continue
		}
		for _, off := range []key{{Parameter, "reasoning_effort", "none"}, {Parameter, "reasoning.effort", "none"}, {Parameter, "thinking", "disabled"}} {
			if l, ok := known[off]; ok && b.holds(l, config) {
				return true
			}
		}
	}
	return false
}

// holds reports whether a lesson is in force; otherwise it is tried again.
func (b *Book) holds(l sessions.Lesson, config string) bool {
	return b.conf.Same(l.Config, config) && b.conf.Now().Sub(l.At) <= MaxAge
}

// Call begins a model call at an endpoint. config is the fingerprint of its settings: lessons learned under another one are tried again.
func (b *Book) Call(at Endpoint, config string) *Call {
	b.mu.Lock()
	known, taken, vain, suspects := b.known[at], b.taken[at], b.vain[at], b.suspects[at]
	afforded := b.affords(at, config)
	b.mu.Unlock()
	c := &Call{book: b, at: at, config: config, taken: taken, credit: afforded}
	c.sends.params = c.values[:0]
	if b.conf.Same(suspects.config, config) {
		c.suspects = suspects
	}
	if b.conf.Same(vain.config, config) {
		c.vain = vain.left
	}
	c.quiet = vain.calls >= quietCalls && b.conf.Same(vain.config, config) && b.conf.Now().Sub(vain.last) < quietTime
	for k, l := range known {
		if b.holds(l, config) {
			if l.Config != config && strings.HasPrefix(config, l.Config) { // more is known of the server now: from now on that counts too
				l.Config = config
				c.fuller = append(c.fuller, l)
			}
			c.now = withLesson(c.now, k, l)
		} else {
			c.stale = withLesson(c.stale, k, l)
		}
	}
	return c
}

// refusedInVain notes that an endpoint refused a call without a reason, whatever was changed.
func (b *Book) refusedInVain(ctx context.Context, at Endpoint, config string, left []string) {
	b.mu.Lock()
	calls := b.vain[at].calls + 1
	b.vain[at] = vain{calls, b.conf.Now(), config, left}
	b.mu.Unlock()
	if calls == quietCalls {
		b.conf.Logger.LogAttrs(ctx, slog.LevelWarn, "a model's endpoint refuses everything without a reason", slog.String("model", at.Label()),
			slog.String("hint", "parley retries no refused request with changes for "+quietTime.String()))
	}
}

func withLesson(m map[key]sessions.Lesson, k key, l sessions.Lesson) map[key]sessions.Lesson {
	if m == nil {
		m = make(map[key]sessions.Lesson)
	}
	m[k] = l
	return m
}

// suspect notes what a call was taken with although no refusal named it; no changes = there is nothing to suspect any more.
func (b *Book) suspect(at Endpoint, s suspects) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(s.changes) == 0 {
		delete(b.suspects, at)
		return
	}
	b.suspects[at] = s
}

// take notes what an endpoint took.
func (b *Book) take(at Endpoint, p parts) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.taken[at] = b.taken[at].with(p)
	delete(b.vain, at)
}

// keep remembers what a call learned, and drops what it found to hold no more.
func (b *Book) keep(ctx context.Context, at Endpoint, config string, learned []sessions.Lesson, wrong []key) {
	b.mu.Lock()
	for _, l := range learned {
		b.put(l)
	}
	var dropped []sessions.Lesson
	for _, k := range wrong {
		if l, known := b.known[at][k]; known && (!b.holds(l, config) || inDoubt(l)) { // another call may have learned it again by now
			b.drop(l)
			dropped = append(dropped, l)
		}
	}
	b.mu.Unlock()
	for _, l := range learned {
		b.conf.Logger.LogAttrs(ctx, slog.LevelWarn, "learned what a model's endpoint refuses", slog.String("model", at.Label()),
			slog.String("kind", l.Kind), slog.String("name", l.Name), slog.String("value", l.Value), slog.String("use", l.Use),
			slog.String("said", l.Evidence), slog.String("hint", "parley models shows and forgets lessons"))
	}
	if len(learned) > 0 && b.conf.Save != nil {
		b.conf.Save(ctx, learned...)
	}
	if len(dropped) > 0 && b.conf.Drop != nil {
		b.conf.Drop(ctx, dropped...)
	}
}

// refresh keeps lessons whose fingerprint alone has changed.
func (b *Book) refresh(ctx context.Context, ls []sessions.Lesson) {
	b.mu.Lock()
	for _, l := range ls {
		b.put(l)
	}
	b.mu.Unlock()
	if b.conf.Save != nil {
		b.conf.Save(ctx, ls...)
	}
}

// Hash names a picture in a lesson.
func Hash(data string) string {
	sum := sha256.Sum256([]byte(data))
	return hex.EncodeToString(sum[:8])
}
