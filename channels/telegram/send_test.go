package telegram_test

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/channels"
	"parley/channels/telegram"
	"parley/channels/telegram/telegramtest"
)

func logger(w *syncBuffer) *slog.Logger {
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

func TestSendClasses(t *testing.T) {
	t.Parallel()
	const chat = int64(1001)
	html := "<html>Bad Gateway</html>"
	for name, c := range map[string]struct {
		fault telegramtest.Fault
		want  channels.Class
		after time.Duration
		shown int
	}{
		"limited":              {fault: telegramtest.TooManyRequests("", 491), want: channels.Limited, after: 491 * time.Second},
		"limited, header only": {fault: telegramtest.Fault{Code: 429, RetryAfter: 7, HeaderOnly: true}, want: channels.Limited, after: 7 * time.Second},
		"limited by a proxy":   {fault: telegramtest.Fault{Code: 429, Body: html}, want: channels.Limited},
		"blocked":              {fault: telegramtest.Fault{Code: 403, Description: "Forbidden: bot was blocked by the user"}, want: channels.Rejected},
		"revoked":              {fault: telegramtest.Fault{Code: 401}, want: channels.Unauthorized},
		"not found":            {fault: telegramtest.Fault{Code: 404}, want: channels.Unauthorized},
		"bad request":          {fault: telegramtest.Fault{Code: 400, Description: "Bad Request: message text is empty"}, want: channels.Rejected},
		"a person moves":       {fault: telegramtest.Fault{Code: 400, MigrateTo: -1009007199254740993}, want: channels.Rejected}, // only groups do
		"server error":         {fault: telegramtest.Fault{Code: 500}, want: channels.Ambiguous},
		"server error after":   {fault: telegramtest.Fault{Code: 500, Arrives: true}, want: channels.Ambiguous, shown: 1},
		"bad gateway":          {fault: telegramtest.Fault{Code: 502, Body: html}, want: channels.Ambiguous},
		"cut before":           {fault: telegramtest.Fault{Cut: true}, want: channels.Ambiguous},
		"cut after":            {fault: telegramtest.Fault{Cut: true, Arrives: true}, want: channels.Ambiguous, shown: 1},
		"hang":                 {fault: telegramtest.Fault{Hang: true}, want: channels.Ambiguous},
		"garbage":              {fault: telegramtest.Fault{Body: "{{{"}, want: channels.Ambiguous},
		"redirect":             {fault: telegramtest.Fault{Code: 302, Body: "moved"}, want: channels.Transient},
		"403 page":             {fault: telegramtest.Fault{Code: 403, Body: html}, want: channels.Transient},
		"404 page":             {fault: telegramtest.Fault{Code: 404, Body: "404 page not found"}, want: channels.Transient},
		"401 empty":            {fault: telegramtest.Fault{Code: 401, Empty: true}, want: channels.Transient},
		"413 page":             {fault: telegramtest.Fault{Code: 413, Body: html}, want: channels.Transient},
		"JSON of a proxy":      {fault: telegramtest.Fault{Code: 404, Body: `{"error":"no route"}`}, want: channels.Transient},
		"OK page":              {fault: telegramtest.Fault{Code: 200, Body: html}, want: channels.Ambiguous},
		"answer without parts": {fault: telegramtest.Fault{Body: `{"ok":true,"result":[]}`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t)
				c.fault.Method, c.fault.Chat = "sendMessage", chat
				r.srv.Inject(c.fault)
				began := time.Now()
				_, err := r.ch.Send(t.Context(), channels.Outbound{To: direct("1001"), Text: "x", Plain: "x"})
				if class(err) != c.want {
					t.Fatalf("%v, want class %q", err, c.want)
				}
				if err != nil {
					if e := channels.Classify(err); e.RetryAfter != c.after || e.Moved != "" {
						t.Errorf("%+v", e)
					}
				}
				if took := time.Since(began); took > 21*time.Second {
					t.Errorf("took %s", took)
				}
				if n := len(r.srv.Sent()); n != c.shown || len(r.srv.Calls("sendMessage")) != 1 {
					t.Errorf("%d shown after %d calls", n, len(r.srv.Calls("sendMessage")))
				}
			})
		})
	}
}

func TestPlatformRefusals(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.srv.AddUser(telegramtest.User{ID: 5, Name: "Eve"})
		r.srv.Block(5, true)
		r.srv.AddGroup(-6, "old")
		r.srv.Migrate(-6, -1006)
		send := func(chat, thread, text string) error {
			_, err := r.ch.Send(t.Context(), channels.Outbound{To: channels.Address{Chat: channels.ChatID(chat), Thread: channels.ThreadID(thread)}, Text: text})
			return err
		}
		for name, err := range map[string]error{
			"unknown chat": send("424242", "", "x"), "no number": send("somebody", "", "x"), "blocked": send("5", "", "x"),
			"empty": send("1001", "", " \n"), "too long": send("1001", "", strings.Repeat("x", 4097)), "no such topic": send("-1009876543210", "99", "x"),
		} {
			if class(err) != channels.Rejected {
				t.Errorf("%s: %v", name, err)
			}
		}
		if e := channels.Classify(send("-6", "", "x")); e.Moved != "-1006" || e.Class != channels.Transient {
			t.Errorf("migrated: %+v", e)
		}
		if len(r.srv.Sent()) != 0 {
			t.Errorf("shown: %+v", r.srv.Sent())
		}
	})
}

func TestUnparsableMarkupIsSentPlain(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		out := channels.Outbound{To: direct("1001"), Text: "1 < 2 <b>bold", Plain: "1 < 2 bold"}
		receipt, err := r.ch.Send(t.Context(), out)
		if sent := r.srv.Sent(); err != nil || len(sent) != 1 || sent[0].Text != "1 < 2 bold" || sent[0].ParseMode != "" {
			t.Fatalf("%v, sent %+v", err, sent)
		}
		if err := r.ch.Edit(t.Context(), receipt.ID, out); err != nil { // plain again, and that is what is there
			t.Errorf("edit: %v", err)
		}
		if out.Plain = ""; class(func() error { _, err := r.ch.Send(t.Context(), out); return err }()) != channels.Rejected {
			t.Error("nothing to fall back to: rejected is wanted")
		}
	})
}

func TestEdit(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		out := channels.Outbound{To: direct("1001"), Text: "thinking", Plain: "thinking"}
		receipt, err := r.ch.Send(t.Context(), out)
		if err != nil {
			t.Fatal(err)
		}
		out.Text = "<i>done</i>"
		for range 2 { // the second one changes nothing
			if err := r.ch.Edit(t.Context(), receipt.ID, out); err != nil {
				t.Error(err)
			}
		}
		if sent := r.srv.Sent(); len(sent) != 1 || sent[0].Text != "done" || sent[0].Edits != 1 {
			t.Errorf("sent: %+v", sent)
		}
		if err := r.ch.Edit(t.Context(), "424242", out); class(err) != channels.Rejected {
			t.Errorf("a message that is not there: %v", err)
		}
	})
}

func TestTopics(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.srv.Say(forum, anna, "in plans", telegramtest.InTopic(topic))
		r.srv.Say(forum, anna, "in general")
		for _, in := range r.wait(2) {
			if err := r.ch.Typing(t.Context(), in.Address); err != nil {
				t.Error(err)
			}
			if _, err := r.ch.Send(t.Context(), channels.Outbound{To: in.Address, Text: "re: " + in.Text}); err != nil {
				t.Error(err)
			}
		}
		sent := r.srv.Sent()
		if len(sent) != 2 || sent[0].Thread != topic || sent[1].Thread != 0 {
			t.Errorf("sent: %+v", sent)
		}
		var threads []string
		for _, c := range r.srv.Calls("sendChatAction", "sendMessage") {
			threads = append(threads, c.Method+c.Params.Get("message_thread_id"))
		}
		if got := strings.Join(threads, " "); got != "sendChatAction7 sendMessage7 sendChatAction1 sendMessage" {
			t.Errorf("threads: %s", got)
		}
		explicit := channels.Address{Chat: "-1009876543210", Thread: "1", Type: channels.Group}
		if _, err := r.ch.Send(t.Context(), channels.Outbound{To: explicit, Text: "x"}); err != nil {
			t.Errorf("General by number: %v", err)
		}
		if err := r.ch.Typing(t.Context(), channels.Address{Chat: "-1001234567890", Type: channels.Group}); err != nil {
			t.Errorf("a group without topics: %v", err)
		}
	})
}

// No call about a chat leaves before the platform's deadline, typing and edits included; other chats go on.
func TestRetryAfterHoldsTheChat(t *testing.T) {
	for _, seconds := range []int{3, 491, 3600} {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t)
				ctx, to := t.Context(), direct("1001")
				r.srv.Inject(telegramtest.TooManyRequests("sendChatAction", seconds))
				if e := channels.Classify(r.ch.Typing(ctx, to)); e.RetryAfter != time.Duration(seconds)*time.Second {
					t.Fatalf("%+v", e)
				}
				r.srv.Forget()
				time.Sleep(time.Duration(seconds)*time.Second - time.Millisecond) // virtual time
				_, sendErr := r.ch.Send(ctx, channels.Outbound{To: to, Text: "x"})
				for name, err := range map[string]error{"typing": r.ch.Typing(ctx, to), "send": sendErr, "edit": r.ch.Edit(ctx, "1", channels.Outbound{To: to, Text: "x"})} {
					if e := channels.Classify(err); e.Class != channels.Limited || e.RetryAfter != time.Millisecond {
						t.Errorf("%s: %v", name, err)
					}
				}
				if calls := r.srv.Calls(); len(calls) != 0 {
					t.Errorf("calls before the deadline: %+v", calls)
				}
				if _, err := r.ch.Send(ctx, channels.Outbound{To: direct("1002"), Text: "x"}); err != nil {
					t.Errorf("another chat: %v", err)
				}
				time.Sleep(time.Millisecond) // virtual time
				if _, err := r.ch.Send(ctx, channels.Outbound{To: to, Text: "x"}); err != nil {
					t.Errorf("after the deadline: %v", err)
				}
			})
		})
	}
}

func TestPublish(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		cmds := []channels.Command{{Name: "new", Description: "start afresh"}, {Name: "Not-Allowed", Description: "x"}, {Name: "send", Description: "on, off"}}
		for range 3 {
			if err := r.ch.Publish(t.Context(), cmds); err != nil {
				t.Fatal(err)
			}
		}
		if n := len(r.srv.Calls("setMyCommands")); n != 1 {
			t.Errorf("%d setMyCommands for an unchanged list", n)
		}
		r.srv.Inject(telegramtest.TooManyRequests("setMyCommands", 460))
		if e := channels.Classify(r.ch.Publish(t.Context(), cmds[:1])); e.Class != channels.Limited || e.RetryAfter != 460*time.Second {
			t.Errorf("%+v", e)
		}
		if e := channels.Classify(r.ch.Publish(t.Context(), cmds[:1])); e.Class != channels.Limited || len(r.srv.Calls("setMyCommands")) != 2 {
			t.Errorf("it asked to wait, and was called: %v", e)
		}
		time.Sleep(460 * time.Second) // virtual time
		r.srv.Inject(telegramtest.Fault{Method: "getMyCommands", Code: 404})
		if err := r.open().Publish(t.Context(), cmds); class(err) != channels.Unsupported {
			t.Errorf("a server without menus: %v", err)
		}
	})
}

// Over real connections: what surely did not leave is transient, what may have is ambiguous, and the token shows nowhere.
func TestSendOverRealConnections(t *testing.T) {
	t.Parallel()
	srv := newServer(t)
	open := func(url string) *telegram.Channel {
		ch, err := telegram.New(telegram.Config{Token: channels.NewSecret(srv.Token()), APIURL: url}, telegram.Deps{})
		if err != nil {
			t.Fatal(err)
		}
		return ch
	}
	send := func(ctx context.Context, ch *telegram.Channel) error {
		_, err := ch.Send(ctx, channels.Outbound{To: direct("1001"), Text: "x"})
		return err
	}
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = closed.Close()
	if err := send(t.Context(), open("http://"+closed.Addr().String())); class(err) != channels.Transient || telegramtest.IsSecret(err.Error()) {
		t.Errorf("refused: %v", err)
	}
	if err := send(t.Context(), open("http://no-such-host.invalid")); class(err) != channels.Transient || telegramtest.IsSecret(err.Error()) {
		t.Errorf("unknown host: %v", err)
	}
	ch := open(srv.URL())
	srv.Inject(telegramtest.Fault{Method: "sendMessage", Hang: true})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		_ = srv.Wait(t.Context(), func() bool { return len(srv.Calls("sendMessage")) > 0 })
		cancel()
	}()
	if err := send(ctx, ch); class(err) != channels.Ambiguous {
		t.Errorf("no answer: %v", err)
	}
	srv.Inject(telegramtest.Fault{Method: "sendMessage", Cut: true})
	if err := send(t.Context(), ch); class(err) != channels.Ambiguous {
		t.Errorf("cut: %v", err)
	}
	if err := send(t.Context(), ch); err != nil {
		t.Errorf("after that: %v", err)
	}
}

func TestRedirectIsNotFollowed(t *testing.T) {
	t.Parallel()
	client := &http.Client{Transport: roundTrip(func(req *http.Request) (*http.Response, error) {
		if !strings.Contains(req.URL.Path, "/bot") {
			t.Errorf("followed a redirect to %s", req.URL)
		}
		return &http.Response{StatusCode: 307, Header: http.Header{"Location": {"https://elsewhere.example/x"}}, Body: http.NoBody, Request: req}, nil
	})}
	ch, err := telegram.New(telegram.Config{Token: channels.NewSecret("1:abc")}, telegram.Deps{Client: client})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ch.Send(t.Context(), channels.Outbound{To: direct("1001"), Text: "x"}); err == nil {
		t.Error("a redirect is no success")
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// A message that a failing server may have taken is not sent again before that server answers anything: each such send may be shown. What
// an outage of minutes costs is time.
func TestFailingServerIsAskedFirst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		send := func() error {
			_, err := r.ch.Send(t.Context(), channels.Outbound{To: direct("1001"), Text: "x", Plain: "x"})
			return err
		}
		end := r.srv.Inject(telegramtest.Fault{Times: -1, Code: 502, Body: "<html>502 Bad Gateway</html>"})
		if err := send(); class(err) != channels.Ambiguous {
			t.Fatal(err)
		}
		for range 5 {
			if err := send(); class(err) != channels.Transient {
				t.Fatalf("sent to a server that is away: %v", err)
			}
		}
		end()
		if err := send(); err != nil || len(r.srv.Calls("sendMessage")) != 2 {
			t.Errorf("%v after %d calls", err, len(r.srv.Calls("sendMessage")))
		}
		asked := len(r.srv.Calls("getMe"))
		if err := send(); err != nil || len(r.srv.Calls("getMe")) != asked {
			t.Errorf("a server that works is not asked: %v", err)
		}
	})
}
