package telegram_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"parley/channels"
	"parley/channels/telegram"
	"parley/channels/telegram/telegramtest"
)

const (
	anna    int64 = 1001
	bert    int64 = 1002
	team    int64 = -1001234567890
	forum   int64 = -1009876543210
	news    int64 = -1005555555555
	topic   int64 = 7
	minutes       = 20 * time.Minute // of virtual time: more than any test needs
)

// rig is one bot at a stand-in, in a bubble of virtual time.
type rig struct {
	t   *testing.T
	srv *telegramtest.Server
	ch  *telegram.Channel
	log *syncBuffer
	// config is what open takes.
	config     telegram.Config
	dir        string // outlives the channels
	cursor     func(context.Context) (string, error)
	identified func(context.Context, channels.UserID)

	mu     sync.Mutex
	got    []channels.Inbound
	refuse func(channels.Inbound) error
	more   chan struct{}
	stop   func() error
}

type syncBuffer struct {
	mu sync.Mutex
	b  strings.Builder
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// bubble runs a test in virtual time with a started bot.
func bubble(t *testing.T, test func(t *testing.T, r *rig)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.start()
		test(t, r)
		if err := r.stop(); err != nil {
			t.Errorf("Run: %v", err)
		}
		if telegramtest.IsSecret(r.log.String()) {
			t.Errorf("the log has the token in it:\n%s", r.log)
		}
	})
}

func newRig(t *testing.T) *rig {
	r := &rig{t: t, srv: newServer(t), log: &syncBuffer{}, more: make(chan struct{}, 1000), dir: t.TempDir()}
	r.config.Token = channels.NewSecret(r.srv.Token())
	r.ch = r.open()
	return r
}

// newServer is a stand-in with some people and chats.
func newServer(t telegramtest.T) *telegramtest.Server {
	srv := telegramtest.New(t)
	srv.AddUser(telegramtest.User{ID: anna, Name: "Anna", Username: "anna_a"})
	srv.AddUser(telegramtest.User{ID: bert, Name: "Bert"})
	srv.AddGroup(team, "Team")
	srv.AddForum(forum, "Forum", map[int64]string{topic: "Plans"})
	srv.AddChannel(news, "News")
	return srv
}

func (r *rig) open() *telegram.Channel {
	r.t.Helper()
	ch, err := telegram.New(r.config, telegram.Deps{
		Client: r.srv.Client(), Logger: logger(r.log), Holds: channels.NewHolds(r.dir, logger(r.log)), Cursor: r.cursor, Identified: r.identified,
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return ch
}

func (r *rig) start() {
	ctx, cancel := context.WithCancel(r.t.Context())
	done := make(chan error, 1)
	go func() { done <- r.ch.Run(ctx, r.inbox) }()
	r.stop = func() error {
		cancel()
		return <-done
	}
}

func (r *rig) inbox(ctx context.Context, in channels.Inbound) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.refuse != nil {
		if err := r.refuse(in); err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil { // a store would not commit
		return err
	}
	r.got = append(r.got, in)
	select {
	case r.more <- struct{}{}:
	default: // full: whoever waits looks anyway
	}
	return nil
}

// refusing sets what the inbox refuses.
func (r *rig) refusing(f func(channels.Inbound) error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refuse = f
}

// wait gives all events once n of them have come.
func (r *rig) wait(n int) []channels.Inbound {
	r.t.Helper()
	timeout := time.After(minutes)
	for {
		r.mu.Lock()
		got := append([]channels.Inbound(nil), r.got...)
		r.mu.Unlock()
		if len(got) >= n {
			return got
		}
		select {
		case <-r.more:
		case <-timeout:
			r.t.Fatalf("%d of %d events came; log:\n%s", len(got), n, r.log)
		}
	}
}

func direct(chat string) channels.Address {
	return channels.Address{Channel: "telegram", Account: "default", Chat: channels.ChatID(chat), Type: channels.Direct}
}

func class(err error) channels.Class {
	if err == nil {
		return ""
	}
	return channels.Classify(err).Class
}

func TestEcho(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		p := r.srv.Say(anna, anna, "hello")
		in := r.wait(1)[0]
		if in.Text != "hello" || in.Address != direct("1001") || in.Sender != (channels.Sender{ID: "1001", Username: "anna_a", Name: "Anna"}) {
			t.Errorf("event: %+v", in)
		}
		receipt, err := r.ch.Send(t.Context(), channels.Outbound{To: in.Address, Text: "<b>hi</b> Anna", Plain: "hi Anna", ReplyTo: in.ID})
		if err != nil || receipt.ID == "" || receipt.At.IsZero() {
			t.Fatalf("receipt %+v, %v", receipt, err)
		}
		sent := r.srv.Sent()
		if len(sent) != 1 || sent[0].Text != "hi Anna" || sent[0].ReplyTo != p.MessageID {
			t.Errorf("sent: %+v", sent)
		}
		if err := r.srv.WaitConfirmed(t.Context(), p.UpdateID); err != nil {
			t.Error(err)
		}
		if h := r.ch.Health(); !h.Live(time.Now()) || h.Name != telegramtest.BotUsername {
			t.Errorf("health: %+v", h)
		}
	})
}

func TestRefusedEventComesAgain(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		tries := 0
		r.refusing(func(in channels.Inbound) error {
			if in.Text == "one" {
				if tries++; tries < 4 {
					return errors.New("disk full")
				}
			}
			return nil
		})
		r.srv.Raw(`[]`) // an update that is none does not hold up the others
		first := r.srv.Say(anna, anna, "one")
		r.srv.Say(bert, bert, "other chat")
		last := r.srv.Say(anna, anna, "two")
		if r.wait(2); r.srv.Confirmed() >= first.UpdateID {
			t.Errorf("confirmed %d although %d was refused", r.srv.Confirmed(), first.UpdateID)
		}
		got := r.wait(4)
		var annas []string
		for _, in := range got {
			if in.Address.Chat == "1001" {
				annas = append(annas, in.Text)
			}
		}
		if strings.Join(annas, " ") != "one two" || tries != 4 {
			t.Errorf("Anna's events: %v after %d tries", annas, tries)
		}
		if err := r.srv.WaitConfirmed(t.Context(), last.UpdateID); err != nil {
			t.Error(err)
		}
	})
}
