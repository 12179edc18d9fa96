package discord

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"parley/channels"
	"parley/channels/channeltest"
	"parley/channels/discord/discordtest"
)

// What the platform refuses of a message is left out of it, and the rest arrives; who looks at the receipt reads what is missing.
// source: member-gentei/member-gentei PR#42, Brainicism/KMQ_Discord PR#629 (160002); Discord documentation, JSON error codes
func TestRefusedOptionsAreLeftOut(t *testing.T) {
	post := func(f discordtest.Fault) func(*host) {
		f.Method, f.Route, f.Status = http.MethodPost, discordtest.RouteMessages, max(f.Status, 400)
		return func(h *host) { h.srv.Inject(f) }
	}
	lack := func(what string) func(*host) { return func(h *host) { h.srv.Lack(general, what) } }
	invalid := func(field string) func(*host) {
		return post(discordtest.Fault{Body: `{"code":50035,"message":"Invalid Form Body","errors":{"` + field + `":{"_errors":[{"code":"X","message":"no"}]}}}`})
	}
	for name, c := range map[string]struct {
		spoil func(*host)
		left  string
		files int
		reply bool
		text  bool // the message has one
	}{
		"nothing refused":         {func(*host) {}, "", 2, true, true},
		"no history":              {lack(discordtest.ReadHistory), "the reply reference", 2, false, true},
		"no files allowed":        {lack(discordtest.AttachFiles), "the file a.txt, the file b.txt", 0, true, true},
		"one file too large":      {func(h *host) { h.srv.FileLimit(5) }, "the file b.txt", 1, true, true},
		"one too large, no words": {func(h *host) { h.srv.FileLimit(5) }, "the file b.txt", 1, true, false},
		"both files too large":    {func(h *host) { h.srv.FileLimit(0) }, "the file b.txt, the file a.txt", 0, true, true},
		"unknown message":         {post(discordtest.Fault{Code: 10008, Status: 404}), "the reply reference", 2, false, true},
		"system message":          {post(discordtest.Fault{Code: 50021, Status: 403}), "the reply reference", 2, false, true},
		"wrong reference":         {invalid("message_reference"), "the reply reference", 2, false, true},
		"wrong attachments":       {invalid("attachments"), "the file a.txt, the file b.txt", 0, true, true},
		"invalid, not said how":   {post(discordtest.Fault{Code: 50035}), "the reply reference", 2, false, true},
		"explicit":                {post(discordtest.Fault{Code: 20009, Status: 403}), "the file a.txt, the file b.txt", 0, true, true},
		"the files, no words":     {post(discordtest.Fault{Code: 50046}), "the file a.txt, the file b.txt", 0, true, false},
		"invalid file":            {post(discordtest.Fault{Code: 50046}), "the file a.txt, the file b.txt", 0, true, true},
		"a code of tomorrow":      {post(discordtest.Fault{Code: 59999}), "the file a.txt, the file b.txt", 0, true, true},
		"no code":                 {post(discordtest.Fault{Body: `{"code":0,"message":"400: Bad Request"}`}), "the file a.txt, the file b.txt", 0, true, true},
		"empty with files":        {post(discordtest.Fault{Code: 50006}), "the file a.txt, the file b.txt", 0, true, true},
	} {
		inBubbleNamed(t, name, func(h *host) {
			id := h.srv.Say(general, anna, "send it")
			in := h.one()
			c.spoil(h)
			out := channels.Outbound{Key: "k", ReplyTo: in.ID, Files: []channels.File{file("a.txt", "A"), file("b.txt", "BBBBBBBBBB")}}
			if c.text {
				out.Text = "here"
			}
			r, err := h.send(out)
			sent := h.srv.Sent(general)
			if err != nil || len(sent) != 1 || r.LeftOut != c.left || len(sent[0].Files) != c.files || (sent[0].ReplyTo == id) != c.reply || sent[0].Text != naming(out.Text, c.left) || string(r.ID) != sent[0].ID {
				h.t.Fatalf("%v, left out %q, sent %+v", err, r.LeftOut, sent)
			}
			if n := len(h.srv.Calls("POST " + discordtest.RouteMessages)); n > 3 {
				h.t.Errorf("%d calls", n)
			}
		})
	}
}

// Behind something that does not let files through, the text arrives at once without them, and so does the next message.
// source: tdlib/telegram-bot-api#518; nginx, client_max_body_size
func TestFileThatAProxyRefuses(t *testing.T) {
	for _, body := range []string{"<html>413 Request Entity Too Large</html>", `{"error":"too large"}`, ""} {
		inBubbleNamed(t, body, func(h *host) {
			h.srv.Inject(discordtest.Fault{Method: http.MethodPost, Route: discordtest.RouteMessages, Status: 413, Body: body, Empty: body == ""})
			began := time.Now()
			r, err := h.send(channels.Outbound{Key: "k", Text: "here", Files: []channels.File{file("a.txt", "A")}})
			_, next := h.send(channels.Outbound{Key: "l", Text: "next"})
			sent := h.srv.Sent(general)
			if err != nil || next != nil || r.LeftOut != "the file a.txt" || len(sent) != 2 || sent[0].Text != naming("here", r.LeftOut) || time.Since(began) > time.Second {
				h.t.Errorf("%v, %v, left out %q, sent %+v after %s", err, next, r.LeftOut, sent, time.Since(began))
			}
			h.srv.Inject(discordtest.Fault{Method: http.MethodPost, Route: discordtest.RouteMessages, Status: 413, Body: body, Empty: body == ""})
			if _, err := h.send(channels.Outbound{Key: "m", Text: "words alone"}); err == nil || err.Class != channels.Transient {
				h.t.Errorf("words alone: %v", err)
			}
		})
	}
}

// naming adds the sentences about files that were left out.
func naming(text, left string) string {
	for i, what := range strings.Split(left, ", ") {
		if name, ok := strings.CutPrefix(what, "the file "); ok {
			text += "\n" + strings.Repeat("\n", max(0, 1-i)) + "(The file `" + name + "` cannot be sent in this chat.)"
		}
	}
	return strings.TrimLeft(text, "\n")
}

// What nothing can be left out of stays refused, in one call.
func TestRefusedMessagesStayRefused(t *testing.T) {
	for name, c := range map[string]struct {
		code int
		out  channels.Outbound
	}{
		"missing permissions":    {50013, channels.Outbound{Text: "words"}},
		"cannot write to":        {50007, channels.Outbound{Text: "words", ReplyTo: "7"}},
		"archived thread":        {50083, channels.Outbound{Text: "words", Files: []channels.File{file("a.txt", "A")}}},
		"unknown channel":        {10003, channels.Outbound{Text: "words", ReplyTo: "7", Files: []channels.File{file("a.txt", "A")}}},
		"blocked by the filter":  {240000, channels.Outbound{Text: "words", ReplyTo: "7"}},
		"cannot send explicitly": {20009, channels.Outbound{Text: "words"}},
	} {
		inBubbleNamed(t, name, func(h *host) {
			h.srv.Inject(discordtest.Fault{Method: http.MethodPost, Route: discordtest.RouteMessages, Status: 403, Code: c.code})
			c.out.Key = "k"
			if _, err := h.send(c.out); err == nil || err.Class != channels.Rejected {
				h.t.Errorf("%v", err)
			}
			if n := len(h.srv.Calls("POST " + discordtest.RouteMessages)); n != 1 {
				h.t.Errorf("%d calls", n)
			}
		})
	}
}

// What the platform refuses of a message of words, in a code or for a field that is not known here, is tried once more as words alone: nobody is
// notified then, and links may show previews. Where that is refused too the message is.
// source: Discord documentation, JSON error codes ("codes are subject to change") and Error Messages
func TestRefusalsOfTomorrow(t *testing.T) {
	for name, body := range map[string]string{
		"an unknown code": `{"code":340013,"message":"odd new code"}`,
		"a field":         `{"code":50035,"message":"Invalid Form Body","errors":{"allowed_mentions":{"users":{"_errors":[{"code":"X","message":"no"}]}}}}`,
		"no code":         `{"code":0,"message":"400: Bad Request"}`,
	} {
		for times, want := range map[int]int{1: 1, 2: 0} {
			inBubbleNamed(t, fmt.Sprint(name, times), func(h *host) {
				h.srv.Say(general, anna, "hello")
				in := h.one()
				h.srv.Inject(discordtest.Fault{Method: http.MethodPost, Route: discordtest.RouteMessages, Status: 400, Body: body, Times: times})
				r, err := h.send(channels.Outbound{Key: "k", Text: "@anna hi", ReplyTo: in.ID})
				sent := h.srv.Sent(general)
				if len(sent) != want || len(h.srv.Calls("POST "+discordtest.RouteMessages)) != 2 {
					h.t.Fatalf("%v, %+v", err, sent)
				}
				if want == 0 && (err == nil || err.Class != channels.Rejected) || want == 1 && (err != nil || r.LeftOut != "the reply reference, the mentions, the link preview option" ||
					len(sent[0].Pinged) != 0 || sent[0].ReplyTo != "" || sent[0].Flags != 0) {
					h.t.Errorf("%v, %+v, %+v", err, r, sent)
				}
			})
		}
	}
}

// What refuses a message without one of Discord's codes, or with the code of what stands before Discord, has not refused the message.
// source: discord/discord-api-docs#6473 (Cloudflare blocks with code 40333, which reads as Discord's own)
func TestRefusalsWithoutReason(t *testing.T) {
	for name, f := range map[string]discordtest.Fault{
		"blocked":     {Status: 403, Code: 40333, Message: "internal network error"},
		"403":         {Status: 403, Message: "403: Forbidden"},
		"404":         {Status: 404, Message: "404: Not Found"},
		"405":         {Status: 405, Message: "405: Method Not Allowed"},
		"blocked 400": {Status: 400, Code: 40333, Message: "internal network error"},
	} {
		inBubbleNamed(t, name, func(h *host) {
			f.Method, f.Route = http.MethodPost, discordtest.RouteMessages
			h.srv.Inject(f)
			out := channels.Outbound{Key: "k", Text: "words", ReplyTo: "7", Files: []channels.File{file("a.txt", "A")}}
			_, err := h.send(out)
			if err == nil || err.Class != channels.Transient {
				h.t.Fatalf("%v", err)
			}
			h.after(max(err.RetryAfter, time.Second))
			if r, err := h.send(out); err != nil || r.LeftOut != "" {
				h.t.Errorf("%v, %+v", err, r)
			}
		})
	}
}

// A text that Discord finds too long leaves as shorter ones, in order, and the message counts as sent.
// source: Discord documentation, Create Message ("content: Message contents (up to 2000 characters)") and Error Messages (BASE_TYPE_MAX_LENGTH)
func TestTooLongForDiscord(t *testing.T) {
	inBubble(t, func(h *host) {
		h.srv.Say(general, anna, "hello")
		in := h.one()
		long := channels.Outbound{Key: "k", ReplyTo: in.ID, Text: strings.Repeat("word **bold** ", 100) + "end"}
		h.srv.Inject(discordtest.Fault{Method: http.MethodPost, Route: discordtest.RouteMessages, Status: 400,
			Body: `{"code":50035,"message":"Invalid Form Body","errors":{"content":{"_errors":[{"code":"BASE_TYPE_MAX_LENGTH","message":"Must be 1000 or fewer in length."}]}}}`})
		r, err := h.send(long)
		var all string
		sent := h.srv.Sent(general)
		for i, m := range sent {
			if all += m.Text + " "; len(m.Text) > 2000 || (m.ReplyTo != "") != (i == 0) {
				t.Errorf("%d characters, %+v", len(m.Text), m.ReplyTo)
			}
		}
		if err != nil || r.LeftOut != "" || len(sent) < 2 || string(r.ID) != sent[0].ID || strings.TrimSpace(all) != long.Text {
			t.Errorf("%v, %+v, %d messages: %s", err, r, len(sent), all)
		}
	})
}

// A chat that refused a reference is not asked with one for each answer; after an hour it is again.
func TestChatWithoutHistory(t *testing.T) {
	inBubble(t, func(h *host) {
		h.srv.Lack(general, discordtest.ReadHistory)
		id := h.srv.Say(general, anna, "hello")
		in := h.one()
		for i := range 3 {
			if r, err := h.send(channels.Outbound{Key: fmt.Sprint(i), Text: "hi", ReplyTo: in.ID}); err != nil || r.LeftOut != "the reply reference" {
				t.Errorf("%+v %v", r, err)
			}
		}
		if n := len(h.srv.Calls("POST " + discordtest.RouteMessages)); n != 4 {
			t.Errorf("%d calls for three messages", n)
		}
		h.srv.Lack(general)
		h.after(historyAgain)
		if r, err := h.send(channels.Outbound{Key: "later", Text: "hi", ReplyTo: in.ID}); err != nil || r.LeftOut != "" {
			t.Errorf("%+v %v", r, err)
		}
		if sent := h.srv.Sent(general); sent[3].ReplyTo != id {
			t.Errorf("%+v", sent)
		}
	})
}

// A recording that the platform takes neither as a voice message nor as a file leaves its words.
func TestVoiceMessageThatIsRefused(t *testing.T) {
	inBubble(t, func(h *host) {
		h.srv.Inject(discordtest.Fault{Method: http.MethodPost, Route: discordtest.RouteMessages, Status: 400, Code: 59999, Times: 2})
		r, err := h.send(channels.Outbound{Key: "k", Files: []channels.File{recording("a.ogg", channeltest.Opus(3))}})
		if sent := h.srv.Sent(general); err != nil || r.LeftOut != "the voice message form, the file a.ogg" || len(sent) != 1 || sent[0].Text != naming("", "the file a.ogg") {
			t.Errorf("%v %+v %+v", err, r, sent)
		}
	})
}

// The answer to a command that is refused its file arrives without.
func TestCommandAnswerWithoutItsFile(t *testing.T) {
	inBubble(t, func(h *host) {
		h.srv.Invoke(general, anna, "status")
		in := h.one()
		h.srv.Inject(discordtest.Fault{Method: http.MethodPatch, Route: discordtest.RouteOriginal, Status: 403, Code: 50013})
		r, err := h.send(channels.Outbound{Key: "k", Text: "fine", ReplyTo: in.ID, Files: []channels.File{file("a.txt", "A")}})
		if sent := h.srv.Sent(general); err != nil || r.LeftOut != "the file a.txt" || len(sent) != 1 || sent[0].Text != naming("fine", r.LeftOut) || sent[0].Command == "" {
			t.Errorf("%v %+v %+v", err, r, sent)
		}
	})
}

func recording(name string, data []byte) channels.File {
	return channels.File{Kind: channels.Audio, Name: name, MIME: "audio/ogg", Size: int64(len(data)), Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }}
}

// A recording of Ogg Opus leaves as a voice message, and as a file where that is refused or something else goes with it.
// source: discord/discord-api-docs#6082, Discord documentation, Voice messages
func TestVoiceMessages(t *testing.T) {
	inBubble(t, func(h *host) {
		voice := recording("voice.ogg", channeltest.Opus(3))
		spoken := func(out channels.Outbound) (discordtest.Sent, string) {
			t.Helper()
			r, err := h.send(out)
			if err != nil {
				t.Fatal(err)
			}
			all := h.srv.Sent(general)
			return all[len(all)-1], string(h.srv.Calls("POST " + discordtest.RouteMessages)[len(h.srv.Calls("POST "+discordtest.RouteMessages))-1].Body) + r.LeftOut
		}
		m, body := spoken(channels.Outbound{Key: "a", Files: []channels.File{voice}})
		if m.Flags != flagVoice || len(m.Files) != 1 || m.Files[0].Type != "audio/ogg" || !strings.Contains(body, `"duration_secs":3`) || !strings.Contains(body, `"waveform":"`) {
			t.Errorf("%+v %s", m.Flags, body)
		}
		for name, out := range map[string]channels.Outbound{
			"with words": {Text: "listen", Files: []channels.File{voice}},
			"two":        {Files: []channels.File{voice, voice}},
			"no Opus":    {Files: []channels.File{recording("music.ogg", []byte("OggS but no more"))}},
			"a document": {Files: []channels.File{file("voice.ogg", string(channeltest.Opus(1)))}},
		} {
			out.Key = name
			if m, body := spoken(out); m.Flags&flagVoice != 0 || len(m.Files) == 0 || strings.Contains(body, "duration_secs") {
				t.Errorf("%s: %+v %s", name, m.Flags, body)
			}
		}
		h.after(time.Minute)
		h.srv.Lack(general, discordtest.SendVoice)
		if m, body := spoken(channels.Outbound{Key: "z", Files: []channels.File{voice}}); m.Flags&flagVoice != 0 || len(m.Files) != 1 || !strings.HasSuffix(body, "the voice message form") {
			t.Errorf("%+v %s", m, body)
		}
	})
}
