package telegram_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/channels"
	"parley/channels/channeltest"
	"parley/channels/telegram"
	"parley/channels/telegram/telegramtest"
)

// T6: another poller for 40 s: nothing is lost, and updates flow at most 5 s after it is gone.
func TestFaultConflictForFortySeconds(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		synctest.Wait()
		remove := r.srv.Inject(telegramtest.Conflict(-1))
		began := time.Now()
		r.srv.Disconnect()
		for i := range 40 {
			r.srv.Say(anna, anna, fmt.Sprint("during ", i))
			time.Sleep(time.Second) // virtual time
		}
		if h := r.ch.Health(); h.State != channels.Conflict || h.Live(time.Now()) || h.Detail == "" {
			t.Errorf("health during the conflict: %+v", h)
		}
		remove()
		for i, in := range r.wait(40) {
			if in.Text != fmt.Sprint("during ", i) {
				t.Errorf("%d is %q", i, in.Text)
			}
		}
		if took := time.Since(began); took > 45*time.Second {
			t.Errorf("resumed %s after the conflict began, 40 s of which it lasted", took)
		}
		if n := strings.Count(r.log.String(), "level=ERROR"); n != 1 {
			t.Errorf("%d loud lines, want 1:\n%s", n, r.log)
		}
	})
}

// T6: another poller for ever: health is red within 60 s, and at most one call in 30 s is made.
func TestFaultConflictForEver(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		synctest.Wait()
		r.srv.Inject(telegramtest.Conflict(-1))
		r.srv.Disconnect()
		time.Sleep(time.Minute) // virtual time
		if h := r.ch.Health(); h.State != channels.Conflict || h.Live(time.Now()) {
			t.Errorf("health after a minute: %+v", h)
		}
		r.srv.Forget()
		time.Sleep(time.Duration(channeltest.Times(1, 24)) * time.Hour) // virtual time
		calls := r.srv.Calls("getUpdates")
		for i := 1; i < len(calls); i++ {
			if gap := calls[i].At.Sub(calls[i-1].At); gap < 30*time.Second {
				t.Errorf("two polls within %s", gap)
			}
		}
		if len(calls) < channeltest.Times(1, 24)*50 {
			t.Errorf("%d polls: it gave up", len(calls))
		}
	})
}

// T7: a poll hangs, no bytes and no end: it is found within 90 s, and nothing is lost.
func TestFaultHangingPoll(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		for i := range channeltest.Times(5, 100) {
			synctest.Wait()
			r.srv.Inject(telegramtest.Fault{Method: "getUpdates", Hang: true})
			r.srv.Say(bert, bert, "ends the poll under way") // the next one hangs
			r.wait(2*i + 1)
			synctest.Wait()
			began := time.Now()
			r.srv.Say(anna, anna, fmt.Sprint("while deaf ", i))
			got := r.wait(2*i + 2)
			if took := time.Since(began); took > 90*time.Second || got[2*i+1].Text != fmt.Sprint("while deaf ", i) {
				t.Errorf("%+v after %s", got[2*i+1], took)
			}
		}
	})
}

// T8: whatever Telegram limits, it is not called before the deadline, by the next process neither, and other chats go on at once.
func TestFaultRetryAfter(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	to, other := direct("1001"), direct("1002")
	text := channels.Outbound{To: to, Text: "x", Plain: "x"}
	calls := map[string]func(ch *telegram.Channel) error{
		"sendMessage":     func(ch *telegram.Channel) error { _, err := ch.Send(ctx, text); return err },
		"editMessageText": func(ch *telegram.Channel) error { return ch.Edit(ctx, "1", text) },
		"sendChatAction":  func(ch *telegram.Channel) error { return ch.Typing(ctx, to) },
		"setMyCommands": func(ch *telegram.Channel) error {
			return ch.Publish(ctx, []channels.Command{{Name: "new", Description: "d"}})
		},
		"getMe": func(ch *telegram.Channel) error { _, err := ch.Identify(ctx); return err },
		"getFile": func(ch *telegram.Channel) error {
			_, err := ch.Fetch(ctx, channels.Media{Kind: channels.Document, Ref: "x", Size: 1}, 10)
			return err
		},
		"deleteMessage":      func(ch *telegram.Channel) error { return ch.Remove(ctx, to, "1") },
		"setMessageReaction": func(ch *telegram.Channel) error { return ch.React(ctx, to, "1", "👀") },
	}
	for method, call := range calls {
		for _, seconds := range []int{3, 491, 3600} {
			for _, again := range []bool{false, true} {
				synctest.Test(t, func(t *testing.T) {
					r := newRig(t)
					r.srv.Inject(telegramtest.TooManyRequests(method, seconds))
					deadline := time.Now().Add(time.Duration(seconds) * time.Second)
					about := fmt.Sprintf("%s, %d s, started again %v", method, seconds, again)
					asks := func() {
						t.Helper()
						if e := channels.Classify(call(r.ch)); e.Class != channels.Limited || e.RetryAfter != time.Until(deadline) {
							t.Errorf("%s: %+v", about, e)
						}
					}
					asks()
					n := len(r.srv.Calls(method))
					for time.Until(deadline) > 0 {
						if again {
							r.ch = r.open()
						}
						asks()
						began := time.Now()
						if _, err := r.ch.Send(ctx, channels.Outbound{To: other, Text: "x"}); err != nil || time.Since(began) > time.Second {
							t.Errorf("%s: another chat: %v after %s", about, err, time.Since(began))
						}
						time.Sleep(min(time.Duration(seconds)*time.Second/10, time.Until(deadline))) // virtual time
					}
					if got := len(r.srv.Calls(method)); method != "sendMessage" && got != n || method == "sendMessage" && len(r.srv.SentTo(anna)) != 0 {
						t.Errorf("%s: called before the deadline", about)
					}
					if err := call(r.ch); class(err) == channels.Limited {
						t.Errorf("%s: after the deadline: %v", about, err)
					}
				})
			}
		}
	}
}

// A bot that Telegram asked to fetch no updates for a while fetches none before, however often its account is started again, confirms none
// either, and then has what was written meanwhile.
func TestFaultRetryAfterOfUpdates(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.start()
		r.srv.Say(anna, anna, "before")
		r.wait(1)
		r.srv.Inject(telegramtest.TooManyRequests("getUpdates", 491))
		limited := func() (calls []telegramtest.Call, at time.Time) {
			for _, c := range r.srv.Calls("getUpdates") {
				if c.Status == http.StatusTooManyRequests {
					at = c.At
				}
				if calls = append(calls, c); !at.IsZero() && c.At.After(at) && c.At.Before(at.Add(491*time.Second)) {
					t.Errorf("called %s after it", c.At.Sub(at))
				}
			}
			return calls, at
		}
		for _, at := limited(); at.IsZero(); _, at = limited() {
			time.Sleep(time.Second)
		}
		r.srv.Say(anna, anna, "meanwhile")
		for range 3 {
			time.Sleep(100 * time.Second)
			if err := r.stop(); err != nil {
				t.Error(err)
			}
			r.ch = r.open()
			r.start()
		}
		if got := r.wait(2)[1]; got.Text != "meanwhile" {
			t.Errorf("%+v", got)
		}
		limited()
		if err := r.stop(); err != nil {
			t.Error(err)
		}
	})
}

// T23: hostile updates crash nothing, are each listed once, and hold up nobody.
func TestFaultHostileUpdates(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		const from = `"from":{"id":3,"is_bot":false,"first_name":"A"},"date":1,`
		const chat = `"chat":{"id":-100,"type":"group","title":"G"},`
		bad := []string{
			`null`, `[]`, `5`, `"x"`, `{}`, `{"update_id":-5,"message":{}}`, `{"update_id":1e30}`, `{"update_id":"$id"}`, `{"update_id":$id}`, `{"update_id":$id,"telepathy":{}}`,
			`{"update_id":$id,"message":{"message_id":1,` + from + `"text":"x"}}`, `{"update_id":$id,"message":{"message_id":1,` + from + `"chat":null,"text":"x"}}`,
			`{"update_id":$id,"message":{"message_id":-1,` + from + chat + `"text":"x"}}`, `{"update_id":$id,"message":{"message_id":1,` + from + `"chat":{"id":0,"type":"group"},"text":"x"}}`,
			`{"update_id":$id,"message":{"message_id":9223372036854775808,` + from + chat + `"text":"x"}}`, `{"update_id":$id,"message":{"message_id":1,` + from + chat + `"hologram":{}}}`,
			`{"update_id":$id,"message":{"message_id":1,` + from + chat + `"text":{"a":1}}}`, `{"update_id":$id,"message":{"message_id":1,"date":1,` + chat + `"text":"nobody"}}`,
			`{"update_id":$id,"edited_message":{"message_id":1,` + from + chat + `"reply_to_message":5}}`, `{"update_id":$id,"message_reaction":null}`, `{"update_id":$id,"message_reaction":{"chat":{"id":1,"type":"private"},"message_id":-1}}`,
			`{"update_id":$id,"my_chat_member":{"chat":{"id":1,"type":"private"}}}`,
		}
		odd := []string{ // readable all the same
			`{"update_id":$id,"message":{"message_id":11,` + from + chat + `"text":"` + strings.Repeat("x", 1<<20) + `"}}`,
			`{"update_id":$id,"message":{"message_id":12,` + from + chat + `"document":{"file_id":"bomb","file_name":"42.zip","mime_type":"application/zip","file_size":4503599627370496}}}`,
			`{"update_id":$id,"message":{"message_id":13,` + from + chat + `"photo":[{"file_id":"p","width":9223372036854775807,"height":9223372036854775807,"file_size":-9223372036854775808}]}}`,
			`{"update_id":$id,"message":{"message_id":14,` + from + chat + `"voice":{"file_id":"v","duration":9223372036854775807}}}`,
			`{"update_id":$id,"message":{"message_id":15,` + from + chat + `"media_group_id":"g","photo":[{"file_id":"p","width":1,"height":1}]}}`,
			`{"update_id":$id,"message":{"message_id":16,` + from + chat + `"new_chat_members":[{"id":0},{"id":-7,"first_name":"\u0000"}]}}`,
			`{"update_id":$id,"message":{"message_id":17,` + from + chat + `"migrate_to_chat_id":-100}}`,
			`{"update_id":$id,"message":{"message_id":18,` + from + chat + `"text":"x","entities":[{"type":"mention","offset":-9,"length":9223372036854775807}]}}`,
		}
		numbered, others := map[channels.MessageID]bool{}, map[string]bool{}
		for _, u := range append(bad, odd...) {
			for range 2 { // and again, under another id
				id := fmt.Sprint(r.srv.Raw(u))
				if strings.HasPrefix(u, `{"update_id":$id`) {
					numbered[channels.MessageID(id)] = slices.Contains(bad, u)
				} else {
					others[strings.ReplaceAll(u, "$id", id)] = true
				}
			}
		}
		began := time.Now()
		last := r.srv.Say(anna, anna, "after all that")
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		if err := r.srv.WaitConfirmed(ctx, last.UpdateID); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took > 2*time.Minute {
			t.Errorf("held up for %s", took)
		}
		unreadable, readable, good := map[channels.MessageID]int{}, 0, 0
		for _, in := range r.wait(1) {
			switch {
			case in.Event == channels.Unreadable:
				unreadable[in.ID]++
				if in.Reason == "" || len(in.Raw) == 0 || len(in.Raw) > 4<<10 {
					t.Errorf("%+v", in)
				}
			case in.Text == "after all that":
				good++
			default:
				readable++
				for _, m := range in.Media {
					if m.Size < 0 {
						t.Errorf("a size of %d", m.Size)
					}
				}
			}
		}
		for id, isBad := range numbered {
			if n := unreadable[id]; isBad != (n == 1) || n > 1 {
				t.Errorf("%s is listed %d times", id, n)
			}
			delete(unreadable, id)
		}
		// Those without an id of their own come again until one with an id is behind them; a store takes those that are alike for one. The
		// two parts of the album are one.
		if len(unreadable) != len(others) || readable != 2*len(odd)-1 || good != 1 {
			t.Errorf("%d of %d without an id are listed, %d of %d readable, %d good", len(unreadable), len(others), readable, 2*len(odd)-1, good)
		}
	})
}

// T23: an update that is no JSON at all, so that the whole answer cannot be read: it is tried three times, listed, and passed over;
// what is before and after it is not lost.
func TestFaultPoison(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		synctest.Wait()
		deep := strings.Repeat(`{"reply_to_message":`, 20_000) + `1` + strings.Repeat(`}`, 20_000)
		for i, poison := range []string{`{"update_id":$id,"message":` + deep + `}`, `{"update_id":$id,"message":{"text":"cut off`} {
			n := 4 * i
			r.srv.Say(anna, anna, "before")
			r.srv.Say(bert, bert, "before")
			id := r.srv.Raw(poison)
			last := r.srv.Say(anna, anna, "after")
			began := time.Now()
			got := r.wait(n + 4)[n:]
			if err := r.srv.WaitConfirmed(t.Context(), last.UpdateID); err != nil {
				t.Fatal(err)
			}
			if in := got[2]; in.Event != channels.Unreadable || in.ID != channels.MessageID(fmt.Sprint(id)) || in.Reason == "" || len(in.Raw) == 0 || got[3].Text != "after" {
				t.Errorf("%+v", got)
			}
			if took := time.Since(began); took > 30*time.Second {
				t.Errorf("it held up the others for %s", took)
			}
			tries := 0
			for _, c := range r.srv.Calls("getUpdates") {
				if c.Params.Get("limit") == "1" && c.Params.Get("offset") == fmt.Sprint(id) {
					tries++
				}
			}
			if tries != 3 {
				t.Errorf("tried %d times by itself", tries)
			}
		}
	})
}

// T23: a file that claims little and is a lot is cut off.
func TestFaultZipBomb(t *testing.T) {
	t.Parallel()
	srv := newServer(t)
	srv.AddFile("bomb", bytes.Repeat([]byte{0}, 5<<20))
	ch, err := telegram.New(telegram.Config{Token: channels.NewSecret(srv.Token())}, telegram.Deps{Client: srv.Client()})
	if err != nil {
		t.Fatal(err)
	}
	srv.Inject(telegramtest.Fault{Method: "getFile", Body: `{"ok":true,"result":{"file_id":"bomb","file_unique_id":"b","file_size":10,"file_path":"files/bomb"}}`})
	if _, err := ch.Fetch(t.Context(), channels.Media{Ref: "bomb", Size: 10}, 1<<20); class(err) != channels.Rejected {
		t.Errorf("%v", err)
	}
}

// The errors that Telegram is known to give, word by word, and what becomes of a message that meets them. None of them changes
// where the message goes.
func TestErrorClasses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]channels.Class{
		"400 Bad Request: chat not found": channels.Rejected, "400 Bad Request: message text is empty": channels.Rejected,
		"400 Bad Request: message is too long": channels.Rejected, "400 Bad Request: MESSAGE_TOO_LONG": channels.Rejected, "400 Bad Request: message caption is too long": channels.Rejected,
		"400 Bad Request: message to edit not found": channels.Rejected, "400 Bad Request: message can't be edited": channels.Rejected,
		"400 Bad Request: message can't be deleted for everyone": channels.Rejected, "400 Bad Request: MESSAGE_ID_INVALID": channels.Rejected,
		"400 Bad Request: message thread not found": channels.Rejected, "400 Bad Request: TOPIC_CLOSED": channels.Rejected, "400 Bad Request: TOPIC_DELETED": channels.Rejected,
		"400 Bad Request: not enough rights to send text messages to the chat": channels.Rejected, "400 Bad Request: need administrator rights in the channel chat": channels.Rejected,
		"400 Bad Request: CHAT_WRITE_FORBIDDEN": channels.Rejected, "400 Bad Request: CHAT_RESTRICTED": channels.Rejected, "400 Bad Request: USER_BANNED_IN_CHANNEL": channels.Rejected,
		"400 Bad Request: group chat was deactivated": channels.Rejected, "400 Bad Request: PEER_ID_INVALID": channels.Rejected, "400 Bad Request: wrong file identifier/HTTP URL specified": channels.Rejected,
		"401 Unauthorized": channels.Unauthorized, "404 Not Found": channels.Unauthorized, "404 Not Found: method not found": channels.Unsupported,
		"403 Forbidden: bot was blocked by the user": channels.Rejected, "403 Forbidden: user is deactivated": channels.Rejected, "403 Forbidden: bot was kicked from the supergroup chat": channels.Rejected,
		"403 Forbidden: bot is not a member of the channel chat": channels.Rejected, "403 Forbidden: bot can't initiate conversation with a user": channels.Rejected,
		"403 Forbidden: bot can't send messages to bots": channels.Rejected, "403 Forbidden: not enough rights to send text messages": channels.Rejected,
		"409 Conflict: terminated by other getUpdates request": channels.Transient, "413 Request Entity Too Large": channels.Rejected,
		"429 Too Many Requests: retry after 5": channels.Limited, "500 Internal Server Error": channels.Ambiguous, "502 Bad Gateway": channels.Ambiguous, "504 Gateway Timeout": channels.Ambiguous,
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t)
				f := telegramtest.Fault{Times: -1, Description: text[4:]}
				_, _ = fmt.Sscan(text, &f.Code)
				if f.Code == http.StatusTooManyRequests {
					f.RetryAfter = 5
				}
				r.srv.Inject(f)
				out := channels.Outbound{To: inTopic, Text: "<b>x</b>", Plain: "x", ReplyTo: "7"}
				_, err := r.ch.Send(t.Context(), out)
				if class(err) != want || telegramtest.IsSecret(err.Error()) {
					t.Errorf("%v, want %s", err, want)
				}
				for _, c := range r.srv.Calls() {
					if c.Chat != forum || c.Params.Get("message_thread_id") != "7" || c.Params.Get("text") != "<b>x</b>" {
						t.Errorf("sent elsewhere or otherwise: %+v", c)
					}
				}
				if n := len(r.srv.Calls()); n != 1 {
					t.Errorf("%d calls", n)
				}
			})
		})
	}
}

// A message that was to be replied to is gone: the answer comes without it.
func TestReplyToWhatIsGone(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.srv.Inject(telegramtest.Fault{Method: "sendMessage", Code: 400, Description: "Bad Request: message to be replied not found"})
		_, err := r.ch.Send(t.Context(), channels.Outbound{To: inTopic, Text: "x", Plain: "x", ReplyTo: "424242"})
		if sent := r.srv.Sent(); err != nil || len(sent) != 1 || sent[0].Thread != topic || sent[0].ReplyTo != 0 {
			t.Errorf("%v, %+v", err, sent)
		}
	})
}
