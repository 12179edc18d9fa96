package sqlstore

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"parley/channels"
	"parley/policy"
	"parley/sessions"
	"parley/sessions/sqlstore/sendlog"
)

// How long a line is, where its step is, and how many there are.
const (
	callSize  = 128
	callStep  = 28
	callLines = 4096
)

const aBoot = "3f0c1a52-6a5e-4ff0-9d6e-0d6d1f6b9a11"

// caller is a store with a delivery that it sends.
type caller struct {
	*Store
	t *testing.T
	d sessions.Delivery

	file *badFile // of calls
}

func newCaller(t *testing.T, conf Config) *caller {
	t.Helper()
	if conf.Dir == "" {
		conf.Dir = t.TempDir()
	}
	conf.boot = aBoot
	c := &caller{t: t, file: &badFile{}}
	conf.callsFile = func(f sendlog.File) sendlog.File { c.file.File = f; return c.file }
	c.Store = open(t, conf)
	c.post()
	return c
}

func (c *caller) ok(err error) {
	c.t.Helper()
	if err != nil {
		c.t.Fatal(err)
	}
}

// post makes a delivery and begins to send it.
func (c *caller) post() {
	c.t.Helper()
	to := channels.Address{Channel: "telegram", Account: "default", Chat: "1001", Type: channels.Direct}
	c.d = sessions.Delivery{ID: sessions.DeliveryID(uuid.NewString()), Kind: sessions.Posted, To: to, Text: "x"}
	_, err := c.Submit(c.t.Context(), sessions.Change{Ops: []sessions.Op{sessions.EnqueueDelivery(c.d)}})
	c.ok(err)
	c.begin()
}

func (c *caller) begin() {
	c.t.Helper()
	var err error
	c.d, err = c.BeginSend(c.t.Context(), c.d.ID, time.Now(), func(sessions.Session) policy.Verdict { return policy.Verdict{Action: policy.Allow} }, sessions.FirstContactQuota{})
	c.ok(err)
	if c.d.State != sessions.Sending {
		c.t.Fatalf("not being sent: %+v", c.d)
	}
}

// killed has the next host open what a kill leaves at this moment, and gives what it finds of the delivery.
func (c *caller) killed(conf Config) string {
	c.t.Helper()
	if conf.Dir == "" {
		conf.Dir = copied(c.t, c.conf.Dir)
	}
	if conf.boot == "" {
		conf.boot = aBoot
	}
	next := open(c.t, conf)
	defer func() { c.ok(next.Close()) }()
	_, found, err := next.Recover(c.t.Context())
	c.ok(err)
	d, err := next.GetDelivery(c.t.Context(), c.d.ID)
	c.ok(err)
	if i := slices.IndexFunc(found, func(x sessions.Delivery) bool { return x.ID == d.ID }); i >= 0 {
		if d.State == sessions.Sending && d.Attempt > 0 {
			return "unknown"
		}
		if found[i].State != d.State || found[i].Part != d.Part || found[i].Error != d.Error {
			c.t.Errorf("told of it as %+v, and it is %+v", found[i], d)
		}
	}
	out := fmt.Sprintf("%s, part %d, attempt %d", d.State, d.Part, d.Attempt)
	if d.Error != "" {
		out += ", " + d.Error
	}
	if d.Repeat || d.Ambiguous {
		out += ", marked"
	}
	for _, r := range d.Receipts {
		out += ", " + string(r.ID) + " " + r.At.UTC().Format(time.RFC3339)
	}
	return out
}

func (c *caller) want(is, want string) {
	c.t.Helper()
	if is != want {
		c.t.Errorf("the next host has it as %q, want %q", is, want)
	}
}

var receipt = channels.Receipt{ID: "77", At: time.Date(2026, 11, 25, 2, 30, 0, 0, time.UTC)}

// What a killed host was sending is known to the next one, but between the call and its answer.
//
// proves: D4
func TestFaultCalls(t *testing.T) {
	t.Parallel()
	const put, there = "pending, part 0, attempt 1, the host stopped before the send", "sent, part 1, attempt 1, 77 2026-11-25T02:30:00Z"
	c := newCaller(t, Config{})
	c.want(c.killed(Config{}), put)
	c.ok(c.Calling(c.d))
	c.want(c.killed(Config{}), "unknown")
	c.Answered(c.d, receipt, true)
	c.want(c.killed(Config{}), there)
	c.ok(c.PartSent(t.Context(), c.d.ID, receipt, true))
	c.want(c.killed(Config{}), there)

	c.post() // of two parts
	c.ok(c.Calling(c.d))
	c.Answered(c.d, receipt, false)
	c.want(c.killed(Config{}), "sending, part 1, attempt 0, 77 2026-11-25T02:30:00Z")
	c.ok(c.PartSent(t.Context(), c.d.ID, receipt, false))
	c.begin()
	c.want(c.killed(Config{}), "pending, part 1, attempt 1, the host stopped before the send, 77 2026-11-25T02:30:00Z")
	c.ok(c.Calling(c.d))
	c.want(c.killed(Config{}), "unknown")
}

// Each try stands for itself: what is known of one says nothing of the next.
//
// proves: D4
func TestFaultCallsOfEachTry(t *testing.T) {
	t.Parallel()
	c := newCaller(t, Config{})
	c.ok(c.Calling(c.d))
	c.ok(c.Retry(t.Context(), c.d.ID, time.Now(), "429", sessions.NotArrived))
	c.begin()
	c.want(c.killed(Config{}), "pending, part 0, attempt 2, the host stopped before the send")
	c.ok(c.Calling(c.d))
	c.ok(c.Retry(t.Context(), c.d.ID, time.Now(), "broken off", sessions.UnknownMayRepeat))
	c.begin()
	c.want(c.killed(Config{}), "pending, part 0, attempt 3, the host stopped before the send, marked") // the second may have arrived still
	c.ok(c.EndDelivery(t.Context(), c.d.ID, sessions.Held, "why"))
	_, err := c.Requeue(t.Context(), c.d.ID, time.Now().Add(time.Hour))
	c.ok(err)
	c.begin() // the first attempt once more
	c.ok(c.Calling(c.d))
	c.want(c.killed(Config{}), "unknown")

	c.post()
	c.want(c.killed(Config{}), "pending, part 0, attempt 1, the host stopped before the send")
	c.file.none = true // an older program notes nothing
	c.ok(c.Retry(t.Context(), c.d.ID, time.Now(), "429", sessions.NotArrived))
	c.begin()
	c.want(c.killed(Config{}), "unknown")
}

// A chat that gets a new id while a message to it is on its way leaves that as unknown as it is.
//
// proves: D4
func TestFaultCallsInAChatThatMoves(t *testing.T) {
	t.Parallel()
	c := newCaller(t, Config{})
	to := c.d.To
	to.Chat = "-1002"
	c.ok(c.Calling(c.d))
	c.ok(c.Readdress(t.Context(), c.d.To, to))
	c.want(c.killed(Config{}), "unknown")
}

// The line is about a try as the commit made it, whichever commit that was.
//
// proves: D4
func TestFaultCallsOfATurn(t *testing.T) {
	t.Parallel()
	c := newCaller(t, Config{})
	key, addr := chat(2)
	run := sessions.RunID(uuid.NewString())
	_, err := c.Submit(t.Context(), sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: key, Agent: "main", Last: addr}}, Run: &sessions.Enqueue{Run: sessions.Run{ID: run, Kind: sessions.TurnRun, Key: key, Agent: "main", Reply: addr,
		Input: sessions.Message{ID: uuid.NewString(), Role: sessions.User, Content: sessions.TextContent("q"), Time: time.Now(), Run: run}}}})
	c.ok(err)
	_, _, err = c.Claim(t.Context(), key)
	c.ok(err)
	d := sessions.Delivery{ID: sessions.DeliveryID(uuid.NewString()), Kind: sessions.Reply, Session: key, Run: run, To: addr, Text: "a"}
	acc, err := c.Finish(t.Context(), run, sessions.Outcome{Status: sessions.Done, Deliveries: []sessions.Delivery{d},
		Begin: &sessions.BeginSend{Delivery: d.ID, Check: func(sessions.Session) policy.Verdict { return policy.Verdict{Action: policy.Allow} }}})
	c.ok(err)
	c.d = acc.Deliveries[0]
	c.want(c.killed(Config{}), "pending, part 0, attempt 1, the host stopped before the send")
	c.ok(c.Calling(c.d))
	c.want(c.killed(Config{}), "unknown")
}

// What the lines do not say is unknown: the computer went down, they are damaged, gone, of another database, or there are too many.
//
// proves: D4
func TestFaultCallsThatSayNothing(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		name string
		do   func(*caller, string) Config
	}{
		{"another boot", func(_ *caller, dir string) Config { return Config{Dir: dir, boot: "of later"} }},
		{"removed", func(c *caller, dir string) Config {
			c.ok(os.Remove(filepath.Join(dir, CallsFile)))
			return Config{Dir: dir}
		}},
		{"cut off", func(c *caller, dir string) Config {
			c.ok(os.Truncate(filepath.Join(dir, CallsFile), 700))
			return Config{Dir: dir}
		}},
		{"a bit of each line flipped", func(c *caller, dir string) Config {
			change(c.t, filepath.Join(dir, CallsFile), func(b []byte) []byte {
				for at := 0; at < len(b); at += callSize {
					b[at+callStep] ^= 1
				}
				return b
			})
			return Config{Dir: dir}
		}},
		{"of a folder, and cannot be read", func(c *caller, dir string) Config {
			c.ok(os.Remove(filepath.Join(dir, CallsFile)))
			c.ok(os.Mkdir(filepath.Join(dir, CallsFile), 0o700))
			return Config{Dir: dir}
		}},
		{"written over by newer ones", func(c *caller, dir string) Config {
			for range callLines {
				c.ok(c.calls.Started(&sessions.Delivery{ID: "another"}))
			}
			return Config{Dir: copied(c.t, c.conf.Dir)}
		}},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			c := newCaller(t, Config{})
			c.want(c.killed(Config{}), "pending, part 0, attempt 1, the host stopped before the send")
			c.want(c.killed(x.do(c, copied(t, c.conf.Dir))), "unknown")
		})
	}
}

// A host that is killed before it has found out what became of a try leaves it as it was.
//
// proves: D4
func TestFaultCallsOverTwoKills(t *testing.T) {
	t.Parallel()
	c := newCaller(t, Config{})
	c.ok(c.Calling(c.d))
	dir := copied(t, c.conf.Dir)
	for range 3 {
		c.want(c.killed(Config{Dir: dir}), "unknown")
	}
	c.want(c.killed(Config{Dir: dir, boot: "of later"}), "unknown")
	c.want(c.killed(Config{Dir: dir}), "unknown")
}

// badFile is a file that cannot be written, cut off or read any more, as it is told.
type badFile struct {
	sendlog.File
	write, cut, read, none bool
}

var errBad = errors.New("input/output error")

func (f *badFile) WriteAt(b []byte, at int64) (int, error) {
	switch {
	case f.write:
		return 0, errBad
	case f.none:
		return len(b), nil
	}
	return f.File.WriteAt(b, at)
}

func (f *badFile) Truncate(size int64) error {
	if f.cut {
		return errBad
	}
	return f.File.Truncate(size)
}

func (f *badFile) ReadAt(b []byte, at int64) (int, error) {
	if f.read && at > 0 {
		return 0, errBad
	}
	return f.File.ReadAt(b, at)
}

// When a line cannot be written, none that is there counts, of whichever try it is: they say that a platform was not called which is called now. Where they cannot
// be removed either, nobody is called.
//
// proves: D4
func TestFaultCallsThatCannotBeNoted(t *testing.T) {
	t.Parallel()
	c := newCaller(t, Config{})
	first := c.d
	c.post()
	f := c.file
	f.write, f.cut = true, true
	for _, d := range []sessions.Delivery{first, c.d} {
		if err := c.Calling(d); !errors.Is(err, errBad) || !strings.Contains(err.Error(), CallsFile) {
			t.Fatalf("it is called all the same: %v", err)
		}
	}
	c.want(c.killed(Config{}), "pending, part 0, attempt 1, the host stopped before the send") // which is true
	f.cut = false
	c.ok(c.Calling(c.d))
	c.want(c.killed(Config{}), "unknown")
	c.Answered(c.d, receipt, true)
	c.want(c.killed(Config{}), "unknown")
	c.d = first
	c.want(c.killed(Config{}), "unknown")
	c.post()
	c.want(c.killed(Config{}), "unknown")
}

// A file that cannot be read to its end says nothing at all.
//
// proves: D4
func TestFaultCallsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	c := newCaller(t, Config{})
	c.want(c.killed(Config{}), "pending, part 0, attempt 1, the host stopped before the send")
	c.file.read = true
	if said, err := c.calls.Newest(); said.Len() > 0 || !errors.Is(err, errBad) {
		t.Errorf("%d tries, %v", said.Len(), err)
	}
}

// A try that is begun behind one that may have arrived, as after a deny that was taken back, is as unknown as that.
//
// proves: D4
func TestFaultCallsBehindAnUnknownOne(t *testing.T) {
	t.Parallel()
	c := newCaller(t, Config{})
	c.ok(c.Calling(c.d))
	c.begin()
	c.want(c.killed(Config{}), "unknown")
}

// A receipt that has no room in a line leaves the try unknown.
func TestFaultCallsLongReceipt(t *testing.T) {
	t.Parallel()
	c := newCaller(t, Config{})
	c.ok(c.Calling(c.d))
	c.Answered(c.d, channels.Receipt{ID: channels.MessageID(strings.Repeat("x", callSize)), At: time.Now()}, true)
	c.want(c.killed(Config{}), "unknown")
}

// The same on PostgreSQL.
func TestFaultCallsPostgres(t *testing.T) {
	t.Parallel()
	if os.Getenv(postgresEnv) == "" {
		t.Skip(postgresEnv + " is not set: no PostgreSQL server to test on")
	}
	conf := Config{Dir: t.TempDir(), DSN: postgresDSN(t)}
	for _, x := range []struct {
		do   func(*caller)
		want string
	}{
		{func(*caller) {}, "pending, part 0, attempt 1, the host stopped before the send"},
		{func(c *caller) { c.ok(c.Calling(c.d)) }, "unknown"},
		{func(c *caller) { c.ok(c.Calling(c.d)); c.Answered(c.d, receipt, true) }, "sent, part 1, attempt 1, 77 2026-11-25T02:30:00Z"},
	} {
		c := newCaller(t, conf)
		x.do(c)
		c.ok(c.Close()) // the lock goes with the connection
		c.want(c.killed(conf), x.want)
	}
}
