package discordtest_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/bwmarrin/discordgo"

	"parley/channels/discord/discordtest"
)

// post sends a message as discordgo cannot: with a nonce.
func (s *scene) post(channel, text, nonce string) (*discordgo.Message, error) {
	body, err := s.dg.RequestWithBucketID(http.MethodPost, discordgo.EndpointChannelMessages(channel),
		map[string]any{"content": text, "nonce": nonce, "enforce_nonce": true}, channel)
	if err != nil {
		return nil, err
	}
	var m discordgo.Message
	return &m, discordgo.Unmarshal(body, &m)
}

func TestNonce(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	first, err := s.post(general, "once", "n1")
	if err != nil {
		t.Fatal(err)
	}
	again, err := s.post(general, "once", "n1")
	if err != nil || again.ID != first.ID || len(s.srv.Sent()) != 1 {
		t.Errorf("%v, %v: %d shown", again, err, len(s.srv.Sent()))
	}
	if other, err := s.post(general, "once", "n2"); err != nil || other.ID == first.ID {
		t.Error("another nonce gave the same message", err)
	}
	s.srv.ForgetNonces()
	if late, err := s.post(general, "once", "n1"); err != nil || late.ID == first.ID {
		t.Error("after minutes the nonce still counts", err)
	}
	if _, err := s.post(general, "x", strings.Repeat("n", 25)); err != nil {
		t.Error(err)
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	dm := s.srv.AddDM(bert)
	s.srv.Refuse(dm, 50007)
	theirs := s.srv.Miss(general, anna, "mine")
	send := func(channel, text string) error {
		_, err := s.dg.ChannelMessageSend(channel, text)
		return err
	}
	for what, c := range map[string]struct {
		err          error
		status, code int
	}{
		"unknown channel": {send("499999999999999999", "x"), 404, 10003},
		"blocked":         {send(dm, "x"), 403, 50007},
		"empty":           {send(general, ""), 400, 50006},
		"too long":        {send(general, strings.Repeat("é", 2001)), 400, 50035},
		"not mine":        {s.dg.ChannelMessageDelete(general, theirs), 403, 50013},
		"unknown emoji":   {s.dg.MessageReactionAdd(general, theirs, "smile"), 400, 10014},
		"unknown message": {s.dg.ChannelMessageDelete(general, "499999999999999999"), 404, 10008},
	} {
		if status, code := code(c.err); status != c.status || code != c.code {
			t.Errorf("%s: %d %d, %v", what, status, code, c.err)
		}
	}
	if err := send(general, strings.Repeat("é", 2000)); err != nil {
		t.Error(err)
	}
	if err := s.dg.MessageReactionAdd(general, theirs, "party:412345678901234567"); err != nil {
		t.Error("a custom emoji:", err)
	}
	s.srv.Revoke(true)
	if status, _ := code(send(general, "x")); status != http.StatusUnauthorized {
		t.Errorf("revoked: %d", status)
	}
}

func TestHistory(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	old := s.srv.Miss(general, anna, "days ago", discordtest.At(time.Now().Add(-72*time.Hour)))
	first := s.srv.Miss(general, anna, "1")
	var more []string
	for range 5 {
		more = append(more, s.srv.Miss(general, bert, "more"))
	}
	list, err := s.dg.ChannelMessages(general, 3, "", first, "")
	if err != nil || len(list) != 3 || list[2].ID != more[0] || list[1].ID != more[1] || list[0].ID != more[2] {
		t.Errorf("after: %v, %v: want the three oldest, newest first", list, err)
	}
	if list, err = s.dg.ChannelMessages(general, 3, first, "", ""); err != nil || len(list) != 1 || list[0].ID != old {
		t.Errorf("before: %v, %v", list, err)
	}
	if at, _ := discordgo.SnowflakeTimestamp(old); time.Since(at) < 71*time.Hour {
		t.Errorf("the id of an old message says %s", at)
	}
	if list, err = s.dg.ChannelMessages(general, 100, "", "", ""); err != nil || len(list) != 7 {
		t.Errorf("%d messages, %v", len(list), err)
	}
}

func TestFaults(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.srv.Inject(discordtest.TooManyRequests(general, 40*time.Millisecond))
	_, err := s.dg.ChannelMessageSend(general, "x")
	var limit *discordgo.RateLimitError
	if !errors.As(err, &limit) || limit.RetryAfter != 40*time.Millisecond {
		t.Errorf("429: %v", err)
	}
	s.srv.Inject(discordtest.Fault{Method: http.MethodPost, Route: discordtest.RouteMessages, Cut: true, Arrives: true})
	if _, err := s.post(general, "taken", "n"); err == nil || len(s.srv.Sent()) != 1 {
		t.Errorf("cut after it took effect: %v, %d shown", err, len(s.srv.Sent()))
	}
	s.srv.Inject(discordtest.Fault{Channel: thread, Cut: true})
	if _, err := s.post(thread, "lost", "n"); err == nil || len(s.srv.Sent(thread)) != 0 {
		t.Errorf("cut before: %v", err)
	}
	remove := s.srv.Inject(discordtest.Fault{Route: discordtest.RouteMessages, Hang: true, Times: -1})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := s.dg.ChannelMessageSend(general, "x", discordgo.WithContext(ctx)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("hang: %v", err)
	}
	remove()
	s.srv.Inject(discordtest.Fault{Status: 403, Code: 40001, Message: "Unauthorized"})
	if _, err := s.dg.ChannelMessageSend(general, "x"); !is(err, 403, 40001) {
		t.Error(err)
	}
	s.srv.Pace(2, time.Hour)
	for range 2 {
		if _, err := s.post(garden, "x", ""); err != nil {
			t.Error(err)
		}
	}
	// With plain HTTP: discordgo itself would wait until the bucket is full again.
	req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://discord.com/api/v10/channels/"+garden+"/messages", strings.NewReader(`{"content":"x"}`))
	req.Header = http.Header{"Authorization": {"Bot " + s.srv.Token()}, "Content-Type": {"application/json"}, "User-Agent": {"DiscordBot (https://example.org, 1)"}}
	resp, err := s.srv.Client().Do(req)
	if err != nil || resp.StatusCode != http.StatusTooManyRequests || resp.Header.Get("Retry-After") == "" || resp.Header.Get("X-RateLimit-Remaining") != "0" {
		t.Errorf("the third in a bucket of two: %v, %v", resp, err)
	}
	_ = resp.Body.Close()
}

func TestFiles(t *testing.T) {
	t.Parallel()
	s := newScene(t).open()
	id := s.srv.Say(general, anna, "look", discordtest.Attach(discordtest.File{Name: "a b.png", Type: "image/png", Data: []byte("picture")}))
	m := as[discordgo.MessageCreate](s, "MESSAGE_CREATE")
	get := func(url string) (int, string) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := s.srv.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }()
		data, _ := io.ReadAll(resp.Body)
		return resp.StatusCode, string(data)
	}
	link := m.Attachments[0].URL
	if status, text := get(link); status != 200 || text != "picture" {
		t.Errorf("%d %s", status, text)
	}
	s.srv.ExpireLinks()
	if status, _ := get(link); status != 404 {
		t.Errorf("an expired link gives %d", status)
	}
	again, err := s.dg.ChannelMessage(general, id)
	if err != nil {
		t.Fatal(err)
	}
	if status, text := get(again.Attachments[0].URL); status != 200 || text != "picture" {
		t.Errorf("read again: %d %s", status, text)
	}
	req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://example.org/", nil)
	if resp, err := s.srv.Client().Do(req); err == nil {
		_ = resp.Body.Close()
		t.Error("another host was reached")
	}
	s.srv.FileLimit(3)
	_, err = s.dg.ChannelFileSend(general, "big.txt", strings.NewReader("1234"))
	if !is(err, 413, 40005) {
		t.Error(err)
	}
}

func TestCommands(t *testing.T) {
	t.Parallel()
	s := newScene(t).open()
	list, err := s.dg.ApplicationCommandBulkOverwrite(discordtest.BotID, "", []*discordgo.ApplicationCommand{{Name: "new", Description: "start again"}})
	if err != nil || len(list) != 1 || s.srv.Commands("")[0].Name != "new" {
		t.Fatal(list, err)
	}
	if list, err = s.dg.ApplicationCommands(discordtest.BotID, ""); err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	give := func() *discordgo.Interaction {
		t.Helper()
		id := s.srv.Invoke(general, anna, "new", discordtest.Choice{Name: "text", Value: "hi"})
		in := as[discordgo.InteractionCreate](s, "INTERACTION_CREATE")
		data := in.ApplicationCommandData()
		if in.ID != id || in.Member.User.ID != anna || data.Name != "new" || data.Options[0].StringValue() != "hi" {
			t.Fatalf("%+v", in.Interaction)
		}
		return in.Interaction
	}
	in := give()
	deferred := &discordgo.InteractionResponse{
		Type: discordgo.InteractionResponseDeferredChannelMessageWithSource,
		Data: &discordgo.InteractionResponseData{Flags: discordgo.MessageFlagsEphemeral},
	}
	if err := s.dg.InteractionRespond(in, deferred); err != nil {
		t.Fatal(err)
	}
	if sent := s.srv.Sent(); !sent[0].Loading || !sent[0].Ephemeral || sent[0].Command != in.ID {
		t.Errorf("%+v", sent)
	}
	if err := s.dg.InteractionRespond(in, deferred); !is(err, 400, 40060) {
		t.Error("answered twice:", err)
	}
	text := "done"
	if _, err := s.dg.InteractionResponseEdit(in, &discordgo.WebhookEdit{Content: &text}); err != nil {
		t.Fatal(err)
	}
	if sent := s.srv.Sent(); sent[0].Loading || sent[0].Text != text || s.srv.Answered(in.ID) != discordtest.AnswerDeferred {
		t.Errorf("%+v", sent)
	}
	if err := s.dg.InteractionResponseDelete(in); err != nil || !s.srv.Sent()[0].Deleted {
		t.Error(err)
	}
	if list, err := s.dg.ChannelMessages(general, 10, "", "", ""); err != nil || len(list) != 0 {
		t.Error("an ephemeral answer is in the history", err)
	}
	in = give()
	s.srv.Deadline(0)
	if err := s.dg.InteractionRespond(in, deferred); !is(err, 404, 10062) {
		t.Error("after the deadline:", err)
	}
}
