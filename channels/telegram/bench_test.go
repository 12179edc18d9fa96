//go:build unix

package telegram_test

import (
	"context"
	"fmt"
	"sync"
	"syscall"
	"testing"
	"time"

	"parley/channels"
	"parley/channels/telegram"
	"parley/channels/telegram/telegramtest"
)

// BenchmarkEcho answers messages of 100 chats over real connections; the figures include the stand-in.
func BenchmarkEcho(b *testing.B) {
	srv := telegramtest.New(b)
	srv.Validate(nil)
	const chats = 100
	for i := range int64(chats) {
		srv.AddUser(telegramtest.User{ID: 1 + i, Name: "U"})
	}
	ch, err := telegram.New(telegram.Config{Token: channels.NewSecret(srv.Token()), APIURL: srv.URL()}, telegram.Deps{})
	if err != nil {
		b.Fatal(err)
	}
	lanes := make([]chan channels.Inbound, chats)
	var working sync.WaitGroup
	for i := range lanes {
		lanes[i] = make(chan channels.Inbound, b.N)
		working.Go(func() {
			for in := range lanes[i] {
				if _, err := ch.Send(context.Background(), channels.Outbound{To: in.Address, Text: "re: " + in.Text}); err != nil {
					b.Error(err)
				}
			}
		})
	}
	ctx, cancel := context.WithCancel(b.Context())
	done := make(chan error, 1)
	go func() {
		done <- ch.Run(ctx, func(_ context.Context, in channels.Inbound) error {
			var chat int
			_, _ = fmt.Sscan(string(in.Address.Chat), &chat)
			lanes[chat-1] <- in
			return nil
		})
	}()
	b.ResetTimer()
	began := cpu()
	for i := range b.N {
		chat := int64(1 + i%chats)
		srv.Say(chat, chat, "hello there, how are you today?")
	}
	waiting, stop := context.WithTimeout(ctx, time.Minute)
	defer stop()
	if _, err := srv.WaitSent(waiting, b.N); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64((cpu()-began).Microseconds())/float64(b.N), "cpu-µs/op")
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "msg/s")
	b.StopTimer()
	cancel()
	if err := <-done; err != nil {
		b.Error(err)
	}
	for _, l := range lanes {
		close(l)
	}
	working.Wait()
}

// cpu is the processor time of this process.
func cpu() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
