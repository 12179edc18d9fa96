// Package channeltest holds a scriptable fake channel for tests of what stands behind the channels, and the conformance suite
// that every adapter passes.
package channeltest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"parley/channels"
)

// Op names what was called on a fake.
type Op string

// The operations.
const (
	OpSend    Op = "send"
	OpEdit    Op = "edit"
	OpRemove  Op = "remove"
	OpTyping  Op = "typing"
	OpDraft   Op = "draft"
	OpReact   Op = "react"
	OpAck     Op = "acknowledge"
	OpFade    Op = "fade"
	OpPublish Op = "publish"
)

// Call is one call that reached a fake, recorded when it ended.
type Call struct {
	Op       Op
	To       channels.Address
	Out      channels.Outbound  // OpSend, OpEdit
	Files    []SharedFile       // OpSend
	ID       channels.MessageID // OpEdit, OpRemove, OpReact
	Text     string             // OpDraft, OpReact
	Commands []channels.Command // OpPublish
	At       time.Time          // when it was called
	Receipt  channels.Receipt   // OpSend that worked
	Err      error
}

// Step scripts the outcome of calls. The first step that matches a call is used up by it.
type Step struct {
	Op      Op              // empty = OpSend
	Chat    channels.ChatID // only calls for this chat; empty = any
	Times   int             // how many calls it covers; 0 = one, negative = all
	Delay   time.Duration   // answer after this long
	Wait    <-chan struct{} // answer once this is closed
	Err     error           // what the call returns
	Arrives bool            // the message is shown although Err is returned (an ambiguous send that arrived)
	LeftOut string          // what the receipt says that the message was sent without
}

// Options shape a fake. The zero value sends plain text without a limit.
type Options struct {
	Limits channels.Limits
	Retry  time.Duration // wait before an event that the inbox refused is offered again; 0 = 10 ms
}

// Fake is a channel without a platform. It has only what every channel has; Full has the abilities as well, and single ones
// are given by embedding:
//
//	struct { *channeltest.Fake; channels.Typer }{f, f.Typer()}
//
// All methods may be called from any goroutine and inside a testing/synctest bubble.
type Fake struct {
	opts Options

	mu       sync.Mutex
	changed  chan struct{} // closed and replaced at every change
	queues   map[channels.ChatID][]channels.Inbound
	active   map[channels.ChatID]bool
	running  bool
	broken   chan error
	offered  int
	accepted []channels.Inbound
	steps    []Step
	calls    []Call
	shown    []Call
	sending  map[channels.ChatID]int
	overlaps []string
	nextID   int64
	state    channels.Health
}

// NewFake makes a fake.
func NewFake(o Options) *Fake {
	if o.Retry == 0 {
		o.Retry = 10 * time.Millisecond
	}
	if o.Limits.Unit == "" {
		o.Limits.Unit = channels.Runes
	}
	if o.Limits.Dialect == "" {
		o.Limits.Dialect = channels.PlainText
	}
	return &Fake{
		opts: o, changed: make(chan struct{}), broken: make(chan error, 1),
		queues: map[channels.ChatID][]channels.Inbound{}, active: map[channels.ChatID]bool{}, sending: map[channels.ChatID]int{},
		state: channels.Health{State: channels.Stopped, Stale: time.Minute, Name: "fake"},
	}
}

// Say queues an event for Run. Event, ID and Time are filled in when they are empty; the event is returned as it will be offered.
// It is offered until the inbox takes it, in order within its chat, and survives the end of a Run.
func (f *Fake) Say(in channels.Inbound) channels.Inbound {
	f.mu.Lock()
	defer f.mu.Unlock()
	if in.Event == "" {
		in.Event = channels.Message
	}
	if in.ID == "" {
		f.nextID++
		in.ID = channels.MessageID("in-" + strconv.FormatInt(f.nextID, 10))
	}
	if in.Time.IsZero() {
		in.Time = time.Now()
	}
	f.queues[in.Address.Chat] = append(f.queues[in.Address.Chat], in)
	f.notify()
	return in
}

// Script appends steps.
func (f *Fake) Script(steps ...Step) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.steps = append(f.steps, steps...)
}

// Break makes the Run under way, or the next one, return err.
func (f *Fake) Break(err error) { f.broken <- err }

// SetHealth replaces what Health reports until Run starts or ends.
func (f *Fake) SetHealth(h channels.Health) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.state = h
}

// Calls gives every call so far, in the order in which they ended; with ops only those.
func (f *Fake) Calls(ops ...Op) []Call {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(f.calls), func(c Call) bool { return len(ops) > 0 && !slices.Contains(ops, c.Op) })
}

// Shown gives the messages that people see at an address, oldest first; the zero address means everywhere. Edits are applied.
func (f *Fake) Shown(to channels.Address) []Call {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(f.shown), func(c Call) bool { return !to.IsZero() && c.To != to })
}

// Texts gives the texts of Shown.
func (f *Fake) Texts(to channels.Address) []string {
	var texts []string
	for _, c := range f.Shown(to) {
		texts = append(texts, c.Out.Text)
	}
	return texts
}

// Accepted gives the events that the inbox took, in that order, and how often events were offered in all.
func (f *Fake) Accepted() (events []channels.Inbound, offers int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.accepted), f.offered
}

// Overlaps names the chats for which two Sends ran at the same time, which the contract forbids to the caller.
func (f *Fake) Overlaps() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.overlaps)
}

// WaitShown waits until n messages are shown everywhere and gives all of them.
func (f *Fake) WaitShown(ctx context.Context, n int) ([]Call, error) {
	err := f.Wait(ctx, func() bool { return len(f.Shown(channels.Address{})) >= n })
	shown := f.Shown(channels.Address{})
	if err != nil {
		return shown, fmt.Errorf("%d of %d messages shown: %w", len(shown), n, err)
	}
	return shown, nil
}

// WaitAccepted waits until the inbox has taken n events.
func (f *Fake) WaitAccepted(ctx context.Context, n int) error {
	return f.Wait(ctx, func() bool { got, _ := f.Accepted(); return len(got) >= n })
}

// Wait waits until done reports true; it is asked again at every change of the fake.
func (f *Fake) Wait(ctx context.Context, done func() bool) error {
	for {
		f.mu.Lock()
		changed := f.changed
		f.mu.Unlock()
		if done() {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (f *Fake) notify() {
	close(f.changed)
	f.changed = make(chan struct{})
}

// Run implements channels.Channel.
func (f *Fake) Run(ctx context.Context, inbox channels.Inbox) error {
	f.mu.Lock()
	if f.running {
		f.mu.Unlock()
		return &channels.Error{Class: channels.Rejected, Err: errors.New("fake: a Run is under way")}
	}
	f.running = true
	f.setState(channels.Connected)
	f.mu.Unlock()

	ctx, stop := context.WithCancel(ctx)
	var chats sync.WaitGroup
	defer func() {
		stop()
		chats.Wait()
		f.mu.Lock()
		f.running = false
		f.setState(channels.Stopped)
		f.mu.Unlock()
	}()
	for {
		f.mu.Lock()
		for chat, queue := range f.queues {
			if len(queue) > 0 && !f.active[chat] {
				f.active[chat] = true
				chats.Go(func() { f.feed(ctx, chat, inbox) })
			}
		}
		changed := f.changed
		f.mu.Unlock()
		select {
		case <-ctx.Done():
			return nil
		case err := <-f.broken:
			return err
		case <-changed:
		}
	}
}

func (f *Fake) setState(s channels.State) {
	f.state.State, f.state.LastSeen = s, time.Now()
	f.notify()
}

// feed offers what one chat has until it has no more.
func (f *Fake) feed(ctx context.Context, chat channels.ChatID, inbox channels.Inbox) {
	for {
		f.mu.Lock()
		if len(f.queues[chat]) == 0 || ctx.Err() != nil {
			f.active[chat] = false
			f.mu.Unlock()
			return
		}
		in := f.queues[chat][0]
		f.offered++
		f.mu.Unlock()

		err := inbox(ctx, in)

		f.mu.Lock()
		if err == nil {
			f.queues[chat] = f.queues[chat][1:]
			f.accepted = append(f.accepted, in)
		}
		f.notify()
		f.mu.Unlock()
		if err != nil {
			pause(ctx, f.opts.Retry)
		}
	}
}

func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// Send implements channels.Channel.
func (f *Fake) Send(ctx context.Context, out channels.Outbound) (channels.Receipt, error) {
	f.mu.Lock()
	f.sending[out.To.Chat]++
	if f.sending[out.To.Chat] > 1 {
		f.overlaps = append(f.overlaps, out.To.String())
	}
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.sending[out.To.Chat]--
	}()

	c := Call{Op: OpSend, To: out.To, Out: out, At: time.Now()}
	sent, refused := f.read(out)
	if c.Files = sent; refused != nil {
		f.mu.Lock()
		defer f.mu.Unlock()
		c.Err = refused
		f.calls = append(f.calls, c)
		f.notify()
		return channels.Receipt{}, refused
	}
	arrives, leftOut, err := f.play(ctx, OpSend, out.To.Chat)
	f.mu.Lock()
	defer f.mu.Unlock()
	if c.Err = err; arrives {
		c.Receipt = f.show(c)
		if c.Receipt.LeftOut = leftOut; leftOut != "" {
			c.Receipt.Unsent = channels.FileWords(out.Files)
		}
	}
	receipt := c.Receipt
	if err != nil {
		c.Receipt, receipt = channels.Receipt{}, channels.Receipt{}
	}
	f.calls = append(f.calls, c)
	f.notify()
	return receipt, err
}

// show makes a message visible, once per key where the fake is idempotent.
func (f *Fake) show(c Call) channels.Receipt {
	if f.opts.Limits.Idempotent {
		if i := slices.IndexFunc(f.shown, func(s Call) bool { return s.Out.Key == c.Out.Key && s.To == c.To }); i >= 0 {
			return f.shown[i].Receipt
		}
	}
	f.nextID++
	c.Receipt = channels.Receipt{ID: channels.MessageID("out-" + strconv.FormatInt(f.nextID, 10)), At: time.Now()}
	f.shown = append(f.shown, c)
	return c.Receipt
}

// play takes the next step for a call and lives through it. It reports whether the message arrives, what it leaves out, and what the
// call returns.
func (f *Fake) play(ctx context.Context, op Op, chat channels.ChatID) (arrives bool, leftOut string, err error) {
	step, ok := f.take(op, chat)
	if !ok {
		if err := ctx.Err(); err != nil {
			return false, "", &channels.Error{Class: channels.Transient, Err: err}
		}
		return true, "", nil
	}
	if step.Delay > 0 {
		pause(ctx, step.Delay)
	}
	if step.Wait != nil {
		select {
		case <-step.Wait:
		case <-ctx.Done():
		}
	}
	if err := ctx.Err(); err != nil {
		return step.Arrives, step.LeftOut, &channels.Error{Class: channels.Ambiguous, Err: err}
	}
	return step.Err == nil || step.Arrives, step.LeftOut, step.Err
}

func (f *Fake) take(op Op, chat channels.ChatID) (Step, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range f.steps {
		s := &f.steps[i]
		if s.Op != op && (s.Op != "" || op != OpSend) || s.Chat != "" && s.Chat != chat {
			continue
		}
		step := *s
		if s.Times > 1 {
			s.Times--
		} else if s.Times >= 0 {
			f.steps = slices.Delete(f.steps, i, i+1)
		}
		return step, true
	}
	return Step{}, false
}

// Limits implements channels.Channel.
func (f *Fake) Limits(channels.Address) channels.Limits { return f.opts.Limits }
