package webchat

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"parley/channels"
)

// Kind is this channel's kind.
const Kind channels.Kind = "webchat"

// DefaultChat is the chat of the person who owns the host: the page and the terminal chat share it.
const DefaultChat channels.ChatID = "main"

// MaxText is the longest message that Post takes, in bytes.
const MaxText = 1 << 20

const (
	maxID    = 200             // bytes of a message id or chat id made by a client
	maxIdle  = 1024            // chats kept for a draft alone
	keepSent = 4096            // keys remembered so that a repeated Send is shown once
	grace    = 5 * time.Second // for posts under way when Run ends
)

// The errors of Post that callers tell apart. They come inside an *channels.Error: Rejected for a message that can never be
// taken, Transient for one to post again with the same id.
var (
	ErrTooLong    = fmt.Errorf("the message is longer than %d bytes: send a shorter one", MaxText)
	ErrNotRunning = errors.New("the host is starting or stopping: post it again in a moment")
)

// Deps is what a Channel needs.
type Deps struct {
	Account channels.AccountID // empty = channels.DefaultAccount
	Logger  *slog.Logger       // nil = no log
}

// Channel is the hub. It implements channels.Channel, Drafter, Typer and Reporter; everything else that it does is for the page
// (Handler) and in-process readers (Post, Subscribe). Methods may be called from any goroutine.
type Channel struct {
	account channels.AccountID
	log     *slog.Logger

	mu    sync.Mutex // held for map work only; nothing under it blocks
	run   *run
	chats map[channels.ChatID]*chat
	sent  recent
}

// run is one call of Run.
type run struct {
	in    channels.Inbox
	ended <-chan struct{} // Run's context is over: no new posts
	hard  context.Context // ends when posts under way must give up too
	posts sync.WaitGroup  // Add only under Channel.mu and before ended
}

// New makes a hub.
func New(d Deps) *Channel {
	c := &Channel{account: d.Account, log: d.Logger, chats: map[channels.ChatID]*chat{}}
	if c.account == "" {
		c.account = channels.DefaultAccount
	}
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	return c
}

// Address gives the address of a chat; empty means DefaultChat.
func (c *Channel) Address(id channels.ChatID) channels.Address {
	if id == "" {
		id = DefaultChat
	}
	return channels.Address{Channel: Kind, Account: c.account, Chat: id, Type: channels.Direct}
}

// Run takes posts until ctx ends. Then it lets every reader go, so that an HTTP server can close, and waits for the posts under
// way. A second Run at the same time is Rejected.
func (c *Channel) Run(ctx context.Context, in channels.Inbox) error {
	hard, giveUp := context.WithCancel(context.WithoutCancel(ctx))
	defer giveUp()
	r := &run{in: in, ended: ctx.Done(), hard: hard}

	c.mu.Lock()
	if c.run != nil {
		c.mu.Unlock()
		return &channels.Error{Class: channels.Rejected, Err: errors.New("webchat: Run is already running")}
	}
	c.run = r
	c.mu.Unlock()

	<-ctx.Done()
	c.cutAll()
	idle := make(chan struct{})
	go func() {
		r.posts.Wait()
		close(idle)
	}()
	patience := time.NewTimer(grace)
	defer patience.Stop()
	select {
	case <-idle:
	case <-patience.C:
		giveUp()
		<-idle
	}
	c.mu.Lock()
	c.run = nil
	c.mu.Unlock()
	return nil
}

// Posted is a message that a reader wrote.
type Posted struct {
	Chat   channels.ChatID // empty = DefaultChat
	ID     string          // made by the client once for each message and repeated when it retries: the same id is one message
	Text   string
	UserID channels.UserID // empty = the chat id
	Name   string
}

// Post offers a message to the inbox. nil means that it is durable: only then may the client forget it. Every error is an
// *channels.Error; after a Transient one the client posts again with the same ID, which can never make a second message. Posts
// of one chat are offered one after the other.
func (c *Channel) Post(ctx context.Context, msg Posted) error {
	msg, err := check(msg)
	if err != nil {
		return &channels.Error{Class: channels.Rejected, Err: err}
	}
	r, ch, err := c.beginPost(msg.Chat)
	if err != nil {
		return &channels.Error{Class: channels.Transient, Err: err}
	}
	defer c.endPost(r, msg.Chat)
	select {
	case ch.turn <- struct{}{}:
		defer func() { <-ch.turn }()
	case <-ctx.Done():
		return &channels.Error{Class: channels.Transient, Err: ctx.Err()}
	case <-r.ended:
		return &channels.Error{Class: channels.Transient, Err: ErrNotRunning}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(r.hard, cancel)() //nolint:contextcheck // two ends for one post: the caller's and Run's

	now := time.Now()
	in := channels.Inbound{
		Event:   channels.Message,
		Address: c.Address(msg.Chat),
		ID:      channels.MessageID(msg.ID),
		Sender:  channels.Sender{ID: msg.UserID, Name: msg.Name},
		Text:    channels.Typed(msg.Text),
		Time:    now,
	}
	if err := r.in(ctx, in); err != nil {
		return &channels.Error{Class: channels.Transient, Err: fmt.Errorf("webchat: message %s was not stored: %w", msg.ID, err)}
	}
	c.show(msg.Chat, Event{Kind: PostedEvent, ID: msg.ID, Text: msg.Text, Name: msg.Name, Time: now})
	return nil
}

// check repairs what can be repaired and refuses the rest.
func check(m Posted) (Posted, error) {
	if m.Chat == "" {
		m.Chat = DefaultChat
	}
	if err := CheckChat(m.Chat); err != nil {
		return m, err
	}
	if m.ID == "" || len(m.ID) > maxID || !plain(m.ID) {
		return m, fmt.Errorf("message id %.40q: want 1 to %d bytes of printable text, made once for each message", m.ID, maxID)
	}
	if len(m.Text) > MaxText {
		return m, ErrTooLong
	}
	m.Text, m.Name = clean(m.Text), clean(m.Name)
	if strings.TrimSpace(m.Text) == "" {
		return m, errors.New("the message is empty: write something")
	}
	if m.UserID == "" {
		m.UserID = channels.UserID(m.Chat)
	}
	return m, nil
}

// CheckChat reports what is wrong with a chat id that a client made: empty, longer than 200 bytes, or not printable.
func CheckChat(id channels.ChatID) error {
	if id == "" || len(id) > maxID || !plain(string(id)) {
		return fmt.Errorf("chat id %.40q: want 1 to %d bytes of printable text", id, maxID)
	}
	return nil
}

// clean gives valid UTF-8 without NUL, which is what an Inbound promises.
func clean(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "")
}

// plain reports whether s is valid UTF-8 without control characters.
func plain(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f })
}

// Send shows a message to whoever looks at the chat. A chat that nobody looks at is fine: the page reads the history when it is
// opened. A repeated Key is shown once and gives the first receipt.
func (c *Channel) Send(ctx context.Context, out channels.Outbound) (channels.Receipt, error) {
	if err := ctx.Err(); err != nil {
		return channels.Receipt{}, &channels.Error{Class: channels.Transient, Err: err}
	}
	if err := CheckChat(out.To.Chat); err != nil {
		return channels.Receipt{}, &channels.Error{Class: channels.Rejected, Err: err}
	}
	if out.Key == "" {
		return channels.Receipt{}, &channels.Error{Class: channels.Rejected, Err: errors.New("webchat: message without an idempotency key")}
	}
	return c.deliver(out, time.Now()), nil
}

// Draft shows the answer as far as it is written. Empty text takes the draft away.
func (c *Channel) Draft(_ context.Context, to channels.Address, id, text string) error {
	if err := CheckChat(to.Chat); err != nil {
		return &channels.Error{Class: channels.Rejected, Err: err}
	}
	if len(text) <= MaxText {
		c.draft(to.Chat, Event{Kind: DraftEvent, ID: id, Text: clean(text), Time: time.Now()})
	}
	return nil
}

// Typing shows that an answer is coming, for some seconds.
func (c *Channel) Typing(_ context.Context, to channels.Address) error {
	c.show(to.Chat, Event{Kind: TypingEvent, Time: time.Now()})
	return nil
}

// Limits says that Markdown is passed on as written and rendered by the reader; a repeated Send is shown once, to who looks.
func (c *Channel) Limits(channels.Address) channels.Limits {
	return channels.Limits{Unit: channels.Bytes, Dialect: channels.Markdown, Idempotent: true, Inside: true}
}

// Health says connected whenever the hub takes posts, because the platform is the host itself.
func (c *Channel) Health() channels.Health {
	c.mu.Lock()
	defer c.mu.Unlock()
	h := channels.Health{State: channels.Stopped, Stale: time.Minute, Name: "web chat"}
	if c.takes() {
		h.State, h.LastSeen = channels.Connected, time.Now()
	}
	return h
}
