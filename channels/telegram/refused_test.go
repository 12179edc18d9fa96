package telegram_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/channels"
	"parley/channels/channeltest"
	"parley/channels/telegram/telegramtest"
)

// What Telegram refuses of a message, and is not the message itself, is left out of a second call, and the receipt says so. Nothing goes
// elsewhere, and what the chat does not take at all stays refused.
// source: nminaya/grammar-nazi-bot#244, tdlib/telegram-bot-api#782, teloxide/teloxide#538, tdlib/telegram-bot-api#820, tdlib/telegram-bot-api#165; the Bot API's sendMessage, sendPhoto
func TestOneRefusedOption(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		method, says string
		times        int // of the refusal
		left, unsent string
		files        []string // as what they arrive
		class        channels.Class
	}{
		"reply gone":          {method: "sendMessage", says: "message to be replied not found", left: "the reply reference"},
		"reply id":            {method: "sendMessage", says: "REPLY_MESSAGE_ID_INVALID", left: "the reply reference"},
		"quote":               {method: "sendMessage", says: "QUOTE_TEXT_INVALID", left: "the reply reference"},
		"markup":              {method: "sendMessage", says: "can't parse entities: Unclosed start tag", left: "the formatting"},
		"entities":            {method: "sendMessage", says: "ENTITIES_TOO_LONG", left: "the formatting"},
		"unknown mention":     {method: "sendMessage", says: "ENTITY_MENTION_USER_INVALID", left: "the formatting"},
		"no photos":           {method: "sendPhoto", says: "not enough rights to send photos to the chat", left: "showing a.png as a photo", files: []string{"document"}},
		"no photos, new":      {method: "sendPhoto", says: "CHAT_SEND_PHOTOS_FORBIDDEN", left: "showing a.png as a photo", files: []string{"document"}},
		"no files at all":     {method: "sendPhoto,sendDocument", says: "not enough rights to send documents to the chat", left: "the file a.png", unsent: "a.png"},
		"album, no media":     {method: "sendMediaGroup", says: "CHAT_SEND_MEDIA_FORBIDDEN", times: 2, left: "the files a.png, a.png", unsent: "a.png; a.png"},
		"file is broken":      {method: "sendPhoto,sendDocument", says: "wrong file identifier/HTTP URL specified", left: "the file a.png", unsent: "a.png"},
		"photo, new words":    {method: "sendPhoto", says: "SOMETHING_NEW", left: "showing a.png as a photo", files: []string{"document"}},
		"by its address":      {method: "sendPhoto", says: "wrong type of the web page content", left: "showing a.png as a photo", files: []string{"document"}},
		"file, new words":     {method: "sendPhoto,sendDocument", says: "SOMETHING_NEW", left: "the file a.png", unsent: "a.png"},
		"no content":          {method: "sendPhoto,sendDocument", says: "failed to get HTTP URL content", left: "the file a.png", unsent: "a.png"},
		"captions":            {method: "sendPhoto,sendDocument", says: "can't parse caption entities", times: 2, left: "the file a.png", unsent: "a.png"},
		"administrators":      {method: "sendPhoto,sendDocument", says: "need administrator rights in the channel chat", left: "the file a.png", unsent: "a.png"},
		"album, new words":    {method: "sendMediaGroup", says: "SOMETHING_NEW", times: 2, left: "the files a.png, a.png", unsent: "a.png; a.png"},
		"link preview":        {method: "sendMessage", says: "WEBPAGE_URL_INVALID", left: "the link preview option"},
		"a group's topic":     {method: "sendMessage", says: "message thread not found", class: channels.Rejected},
		"chat is gone":        {method: "sendPhoto", says: "chat not found", class: channels.Rejected},
		"no text":             {method: "sendMessage", says: "not enough rights to send text messages to the chat", class: channels.Rejected},
		"no text in captions": {method: "sendPhoto", says: "CHAT_SEND_PLAIN_FORBIDDEN", class: channels.Rejected},
		"topic closed":        {method: "sendPhoto", says: "TOPIC_CLOSED", class: channels.Rejected},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, r *rig) {
				for method := range strings.SplitSeq(c.method, ",") {
					r.srv.Inject(telegramtest.Fault{Method: method, Times: c.times, Code: 400, Description: "Bad Request: " + c.says})
				}
				out := channels.Outbound{To: inTopic, Text: "<b>x</b>", Plain: "x", ReplyTo: "7"}
				var a attachments
				switch img := a.file(channels.Image, "a.png", "image/png", drawing(t, 3, 3)); c.method {
				case "sendMessage":
				case "sendMediaGroup":
					out.Files = []channels.File{img, img}
				default:
					out.Files = []channels.File{img}
				}
				receipt, err := r.ch.Send(t.Context(), out)
				if c.class != "" {
					if class(err) != c.class || len(r.srv.Sent()) != 0 {
						t.Errorf("%v, %+v", err, r.srv.Sent())
					}
					return
				}
				sent := r.srv.Sent()
				text := "x"
				for i, name := range strings.Split(c.unsent, "; ") {
					if name != "" {
						text += "\n" + strings.Repeat("\n", max(0, 1-i)) + "(The file " + name + " cannot be sent in this chat.)"
					}
				}
				if err != nil || receipt.LeftOut != c.left || receipt.Unsent != c.unsent || receipt.ID == "" || len(sent) != 1 || sent[0].Text != text || sent[0].Thread != topic || sent[0].Chat != forum {
					t.Fatalf("%v, %+v, %+v", err, receipt, sent)
				}
				var files []string
				for _, f := range sent[0].Files {
					files = append(files, f.As)
				}
				if strings.Join(files, ",") != strings.Join(c.files, ",") {
					t.Errorf("files as %v, want %v", files, c.files)
				}
			})
		})
	}
}

// A text that Telegram refuses in words that are not known here is tried once more as words alone.
// source: the Bot API's "Making requests" ("error_code … its contents are subject to change in the future")
func TestTextRefusedInNewWords(t *testing.T) {
	for times, want := range map[int]int{1: 1, 2: 0} {
		t.Run(fmt.Sprint(times), func(t *testing.T) {
			bubble(t, func(t *testing.T, r *rig) {
				r.srv.Inject(telegramtest.Fault{Method: "sendMessage", Times: times, Code: 400, Description: "Bad Request: SOMETHING_ODD"})
				receipt, err := r.ch.Send(t.Context(), channels.Outbound{To: inTopic, Text: "<b>x</b>", Plain: "x", ReplyTo: "7"})
				sent := r.srv.Sent()
				if len(sent) != want || want == 0 && class(err) != channels.Rejected {
					t.Fatalf("%v, %+v", err, sent)
				}
				if want == 1 && (err != nil || receipt.LeftOut != "the formatting, the reply reference, the link preview option" || sent[0].Text != "x" || sent[0].Thread != topic || sent[0].ReplyTo != 0) {
					t.Errorf("%v, %+v, %+v", err, receipt, sent)
				}
			})
		})
	}
}

// A text that Telegram finds too long leaves as shorter ones, in order, and the message counts as sent.
// source: tdlib/td MessageEntity.cpp ("Message is too long"); the Bot API's sendMessage ("1-4096 characters after entities parsing")
func TestTooLongForTelegram(t *testing.T) {
	for _, says := range []string{"message is too long", "MESSAGE_TOO_LONG"} {
		t.Run(says, func(t *testing.T) {
			bubble(t, func(t *testing.T, r *rig) {
				r.srv.Pace(true)
				r.srv.Inject(telegramtest.Fault{Method: "sendMessage", Code: 400, Description: "Bad Request: " + says})
				const half = "Some words & more. Some words & more. Some words & more."
				marked := strings.ReplaceAll(half, "&", "&amp;")
				receipt, err := r.ch.Send(t.Context(), channels.Outbound{Key: "k", To: inTeam, Text: "<b>" + marked + "</b>\n" + marked, Plain: half + "\n" + half, ReplyTo: "7"})
				sent := r.srv.Sent()
				if err != nil || receipt.LeftOut != "the formatting" || len(sent) != 2 || string(receipt.ID) != fmt.Sprint(sent[0].ID) {
					t.Fatalf("%v, %+v, %+v", err, receipt, sent)
				}
				for i, m := range sent {
					if m.Text != half {
						t.Errorf("%d: %+v", i, m)
					}
				}
			})
		})
	}
}

// In a person's own chat a topic that is closed or deleted does not keep the answer away: nobody else reads there.
// source: https://github.com/tdlib/telegram-bot-api/issues/847; the Bot API's sendMessage ("message_thread_id: … for forum supergroups and private chats of bots with
// forum topic mode enabled only")
func TestTopicOfPersonIsGone(t *testing.T) {
	for method, says := range map[string]string{"sendMessage": "message thread not found", "sendDocument": "TOPIC_CLOSED"} {
		t.Run(method, func(t *testing.T) {
			bubble(t, func(t *testing.T, r *rig) {
				r.srv.Inject(telegramtest.Fault{Method: method, Code: 400, Description: "Bad Request: " + says})
				var a attachments
				out := channels.Outbound{To: direct("1001"), Text: "x", Plain: "x"}
				if out.To.Thread = "7"; method == "sendDocument" {
					out.Files = []channels.File{a.file(channels.Document, "d.pdf", "application/pdf", []byte("x"))}
				}
				receipt, err := r.ch.Send(t.Context(), out)
				if sent := r.srv.Sent(); err != nil || receipt.LeftOut != "the topic" || len(sent) != 1 || sent[0].Thread != 0 || sent[0].Text != "x" || len(sent[0].Files) != len(out.Files) {
					t.Errorf("%v, %+v, %+v", err, receipt, sent)
				}
			})
		})
	}
}

// Behind something that does not let files through, the text arrives all the same.
// source: tdlib/telegram-bot-api#518; nginx, client_max_body_size
func TestFileThatAProxyRefuses(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.srv.Inject(telegramtest.Fault{Method: "sendDocument", Code: 413, Body: "<html>413 Request Entity Too Large</html>"})
		var a attachments
		receipt, err := r.ch.Send(t.Context(), channels.Outbound{To: inTeam, Text: "x", Plain: "x", Files: []channels.File{a.file(channels.Document, "d.pdf", "application/pdf", []byte("x"))}})
		if sent := r.srv.Sent(); err != nil || receipt.LeftOut != "the file d.pdf" || len(sent) != 1 || sent[0].Text != "x\n\n(The file d.pdf cannot be sent in this chat.)" {
			t.Errorf("%v, %+v, %+v", err, receipt, sent)
		}
	})
}

// Files leave as what they are, with what Telegram does not find out by itself.
// source: the Bot API's sendVoice ("an .OGG file encoded with OPUS"), sendVideo, sendSticker; openclaw/openclaw#7
func TestFilesAsWhatTheyAre(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		var a attachments
		note := a.file(channels.Audio, "v.ogg", "audio/ogg; codecs=opus", channeltest.Opus(14))
		vorbis := a.file(channels.Audio, "v.ogg", "audio/ogg", []byte("OggS\x00 vorbis"))
		film := a.file(channels.Video, "f.mp4", "video/mp4", channeltest.MP4(1280, 720, 9, 5000))
		still := a.file(channels.Sticker, "s.webp", "image/webp", channeltest.WebP(512, 300, false))
		moving := a.file(channels.Sticker, "m.webp", "image/webp", channeltest.WebP(512, 300, true))
		for _, c := range []struct {
			text   string
			files  []channels.File
			method string
			params map[string]string
		}{
			{"", []channels.File{note}, "sendVoice", map[string]string{"duration": "14", "message_thread_id": "7"}},
			{"", []channels.File{vorbis}, "sendDocument", map[string]string{"duration": ""}},
			{"", []channels.File{film}, "sendVideo", map[string]string{"width": "1280", "height": "720", "duration": "9", "supports_streaming": "true", "message_thread_id": "7"}},
			{"", []channels.File{film, film}, "sendMediaGroup", map[string]string{"message_thread_id": "7",
				"media": `[{"type":"video","media":"attach://file0","width":1280,"height":720,"duration":9,"supports_streaming":true},{"type":"video","media":"attach://file1","width":1280,"height":720,"duration":9,"supports_streaming":true}]`}},
			{"", []channels.File{still}, "sendSticker", nil},
			{"words", []channels.File{still}, "sendDocument", map[string]string{"caption": "words"}},
			{"", []channels.File{moving}, "sendDocument", nil},
			{"", []channels.File{still, still}, "sendMediaGroup", nil},
		} {
			r.srv.Forget()
			if _, err := r.ch.Send(t.Context(), channels.Outbound{To: inTopic, Text: c.text, Plain: c.text, Files: c.files}); err != nil {
				t.Errorf("%s: %v", c.method, err)
				continue
			}
			calls := slices.DeleteFunc(r.srv.Calls(), func(c telegramtest.Call) bool { return c.Chat == 0 })
			call := calls[len(calls)-1]
			if call.Method != c.method {
				t.Errorf("%s instead of %s", call.Method, c.method)
			}
			for name, want := range c.params {
				if got := call.Params.Get(name); got != want {
					t.Errorf("%s: %s is %q, want %q", c.method, name, got, want)
				}
			}
		}
	})
}

// Of a message Telegram shows the first hundred entities: a long list of links is several messages, and every link is there.
// source: rubenlagus/TelegramBots#854; tdlib/telegram-bot-api#820, tdlib/telegram-bot-api#165
func TestEveryLinkIsShown(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		var list strings.Builder
		for i := range 150 {
			fmt.Fprintf(&list, "- [n%d](https://e.example/%d)\n", i, i)
		}
		links := 0
		for _, part := range channels.Split(list.String(), r.ch.Limits(inTeam)) {
			if _, err := r.ch.Send(t.Context(), channels.Outbound{To: inTeam, Text: part.Text, Plain: part.Plain}); err != nil {
				t.Fatal(err)
			}
		}
		for _, m := range r.srv.Sent() {
			links += len(m.Links)
		}
		if links != 150 {
			t.Errorf("%d of 150 links are shown", links)
		}
	})
}

// A wait that makes no sense, such as milliseconds in place of seconds, does not shut a chat for days.
// source: the Bot API's ResponseParameters.retry_after (seconds)
func TestWaitsAreBounded(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.srv.Inject(telegramtest.TooManyRequests("sendMessage", 1<<30))
		_, err := r.ch.Send(t.Context(), channels.Outbound{To: inTeam, Text: "x", Plain: "x"})
		if e := channels.Classify(err); e.Class != channels.Limited || e.RetryAfter < 10*time.Minute || e.RetryAfter > 15*time.Minute {
			t.Errorf("%+v", e)
		}
		r.srv.Inject(telegramtest.TooManyRequests("sendMessage", 10_072)) // source: https://github.com/tdlib/td/issues/1331
		_, err = r.ch.Send(t.Context(), channels.Outbound{To: inTopic, Text: "x", Plain: "x"})
		if e := channels.Classify(err); e.Class != channels.Limited || e.RetryAfter != 10_072*time.Second {
			t.Errorf("%+v", e)
		}
		r.srv.Inject(telegramtest.TooManyRequests("getUpdates", 1_000_000_000_000))
		r.srv.Disconnect()
		r.srv.Say(anna, anna, "hello")
		time.Sleep(15 * time.Minute) // virtual time
		synctest.Wait()
		r.wait(1)
	})
}
