package telegram_test

import (
	"strings"
	"testing"

	"parley/channels"
	"parley/channels/telegram/telegramtest"
)

// What Telegram refuses of a message, and is not the message itself, is left out of a second call, and the receipt says so. Nothing goes
// elsewhere, and what the chat does not take at all stays refused.
// source: nminaya/grammar-nazi-bot#244, tdlib/telegram-bot-api#820, tdlib/telegram-bot-api#165; the Bot API's sendMessage, sendPhoto
func TestOneRefusedOption(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		method, says string
		times        int // of the refusal
		left         string
		files        []string // as what they arrive
		class        channels.Class
	}{
		"reply gone":          {method: "sendMessage", says: "message to be replied not found", left: "the reply reference"},
		"reply id":            {method: "sendMessage", says: "REPLY_MESSAGE_ID_INVALID", left: "the reply reference"},
		"quote":               {method: "sendMessage", says: "QUOTE_TEXT_INVALID", left: "the reply reference"},
		"markup":              {method: "sendMessage", says: "can't parse entities: Unclosed start tag", left: "the formatting"},
		"entities":            {method: "sendMessage", says: "ENTITIES_TOO_LONG", left: "the formatting"},
		"unknown mention":     {method: "sendMessage", says: "ENTITY_MENTION_USER_INVALID", left: "the formatting"},
		"no photos":           {method: "sendPhoto", says: "not enough rights to send photos to the chat", files: []string{"document"}},
		"no photos, new":      {method: "sendPhoto", says: "CHAT_SEND_PHOTOS_FORBIDDEN", files: []string{"document"}},
		"no files at all":     {method: "sendPhoto,sendDocument", says: "not enough rights to send documents to the chat", left: "the file a.png"},
		"album, no media":     {method: "sendMediaGroup", says: "CHAT_SEND_MEDIA_FORBIDDEN", times: 2, left: "the files a.png, a.png"},
		"file is broken":      {method: "sendPhoto,sendDocument", says: "wrong file identifier/HTTP URL specified", left: "the file a.png"},
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
				if err != nil || receipt.LeftOut != c.left || receipt.ID == "" || len(sent) != 1 || sent[0].Text != "x" || sent[0].Thread != topic || sent[0].Chat != forum {
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

// Behind something that does not let files through, the text arrives all the same.
// source: tdlib/telegram-bot-api#518; nginx, client_max_body_size
func TestFileThatAProxyRefuses(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.srv.Inject(telegramtest.Fault{Method: "sendDocument", Code: 413, Body: "<html>413 Request Entity Too Large</html>"})
		var a attachments
		receipt, err := r.ch.Send(t.Context(), channels.Outbound{To: inTeam, Text: "x", Plain: "x", Files: []channels.File{a.file(channels.Document, "d.pdf", "application/pdf", []byte("x"))}})
		if sent := r.srv.Sent(); err != nil || receipt.LeftOut != "the file d.pdf" || len(sent) != 1 || sent[0].Text != "x" {
			t.Errorf("%v, %+v, %+v", err, receipt, sent)
		}
	})
}
