package discord

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"parley/channels"
)

// draft is a message as it is tried: whole at first, then without what the platform has refused of it. An answer that arrives without its
// file or without its reference is better than none.
type draft struct {
	out    channels.Outbound
	body   body
	text   string // of the body, before it names refused files
	files  []channels.File
	unsent []channels.File // that the platform refused
	voice  *voice          // the only file is sent as a voice message
	left   []string        // the options that were left out, in words
	deaf   func()          // the bot may not read the chat's history
}

// historyAgain is for how long a chat is answered without references after one was refused.
const historyAgain = time.Hour

// draft begins a message; sent is false for an answer that takes the place of "is thinking…", which answers by itself.
func (c *Channel) draft(out channels.Outbound, sent bool) *draft {
	d := &draft{out: out, body: body{Flags: suppressEmbeds}, files: out.Files, voice: voiceOf(out)}
	d.body.Content, d.body.Mentions = c.mentioning(out.To, out.Text)
	d.text = d.body.Content
	if !sent {
		return d
	}
	if out.Key != "" {
		d.body.Nonce, d.body.Enforce = nonce(out.Key), true
	}
	chat := string(out.To.Chat)
	d.deaf = func() { c.recent.unread.put(chat, time.Now()) }
	switch at, refused := c.recent.unread.get(chat); {
	case messageID(out.ReplyTo) == "":
	case refused && time.Since(at) < historyAgain:
		d.leave("the reply reference")
	default:
		d.body.Reference = &reference{MessageID: messageID(out.ReplyTo)}
	}
	return d
}

// try sends a draft, and again without what is refused of it. aim says where it goes.
func (c *Channel) try(ctx context.Context, d *draft, aim func(*request)) (channels.Receipt, error) {
	for {
		q, err := d.request()
		var said []byte
		if err == nil {
			aim(&q)
			said, err = c.rest.call(ctx, q)
		}
		if err == nil {
			r, err := q.made(said)
			r.Unsent = channels.FileWords(d.unsent)
			if r.LeftOut = strings.Join(d.left, ", "); err == nil && d.out.Key != "" {
				c.recent.note(nonce(d.out.Key), r)
			}
			return r, err
		}
		if err = unexplained(err); !d.without(err) {
			return channels.Receipt{}, err
		}
	}
}

// unexplained makes a refusal that names no reason one that may pass: Discord has a code for each message that it does not take, and what
// stands before it answers "404: Not Found" in the same form.
func unexplained(err error) error {
	said, ok := errors.AsType[*apiError](err)
	if !ok || said.Code != 0 || !slices.Contains([]int{http.StatusForbidden, http.StatusNotFound, http.StatusMethodNotAllowed}, said.Status) {
		return err
	}
	return &channels.Error{Class: channels.Transient, RetryAfter: channels.Classify(err).RetryAfter, Err: said}
}

// request makes the call of a draft. With files its caller has to make the call, which closes them.
func (d *draft) request() (request, error) {
	b := d.body
	for i, f := range d.files {
		b.Attachments = append(b.Attachments, attachment{ID: strconv.Itoa(i), Filename: f.Name})
	}
	if d.voice != nil {
		b.Flags = flagVoice
		b.Attachments[0].Seconds, b.Attachments[0].Waveform = d.voice.seconds, d.voice.waveform
	}
	return outgoing(b, d.files)
}

// The platform's codes for what it refuses of a message.
// https://discord.com/developers/docs/topics/opcodes-and-status-codes#json
const (
	codeTooLarge       = 40005
	codeSystemMessage  = 50021 // cannot be answered
	codeInvalid        = 50035
	codeFileTooLarge   = 50045
	codeVoiceContent   = 50159
	codeVoiceOneFile   = 50160
	codeVoiceMetadata  = 50161
	codeVoiceForbidden = 50173
	codeNoHistory      = 160002 // needed to answer a message
)

// chatCodes are the platform's codes for a message that it does not take whatever is in it: there is no such chat, or person, or command to
// answer, or the bot may not write there. Any other refusal of a message with files is followed by one without them.
var chatCodes = []int{
	10003, 10004, codeUnknownMessage, 10013, codeUnknownWebhook, codeUnknownInteraction, // unknown channel, server, message, member
	40002, 40004, 40007, codeAcknowledged, 40058, // unverified account, sending switched off, banned, a forum without a post
	50001, 50007, 50008, 50009, 50024, codeInvalidToken, 50083, 50278, 160005, // no access, no messages from us, archived, locked
}

// textCodes are the platform's codes for a message that it does not take for its words: it is empty, or a filter found something in it.
var textCodes = []int{50006, 200000, 200001, 240000}

// without leaves out what an error is about. It reports false when that is nothing that the message can do without.
func (d *draft) without(err error) bool {
	if bad, ok := errors.AsType[*fileError](err); ok && channels.Classify(err).Class == channels.Rejected {
		return d.withoutFiles(func(f channels.File) bool { return f.Name == bad.name })
	}
	said, ok := errors.AsType[*apiError](err)
	if class := channels.Classify(err).Class; !ok || class != channels.Rejected && (class != channels.Unsupported || said.Code == 0) {
		return false
	}
	about := func(field string) bool {
		return said.Code == codeInvalid && strings.Contains(said.Fields, `"`+field+`"`)
	}
	vague := said.Code == codeInvalid && said.Fields == ""
	switch code := said.Code; {
	case d.voice != nil && (slices.Contains([]int{codeVoiceContent, codeVoiceOneFile, codeVoiceMetadata, codeVoiceForbidden}, code) || about("attachments") || about("flags")):
		d.voice = nil
		d.leave("the voice message form")
	case d.body.Reference != nil && (slices.Contains([]int{codeNoHistory, codeUnknownMessage, codeSystemMessage}, code) || about("message_reference") || vague):
		d.body.Reference = nil
		d.leave("the reply reference")
		if code == codeNoHistory {
			d.deaf()
		}
	case said.Status == http.StatusRequestEntityTooLarge || code == codeTooLarge || code == codeFileTooLarge:
		return d.withoutFiles(func(f channels.File) bool {
			return !slices.ContainsFunc(d.files, func(o channels.File) bool { return o.Size > f.Size })
		})
	case slices.Contains(chatCodes, code), about("content") && !about("attachments") && !about("files"):
		return false
	case d.voice != nil: // in codes of tomorrow too
		d.voice = nil
		d.leave("the voice message form")
	default:
		return d.withoutFiles(func(channels.File) bool { return true }) || said.Status == http.StatusBadRequest && !slices.Contains(textCodes, code) && d.withoutOptions()
	}
	return true
}

// withoutOptions leaves out everything but the words, for a refusal that does not say what it is about.
func (d *draft) withoutOptions() bool {
	was := len(d.left)
	if d.body.Reference != nil {
		d.body.Reference = nil
		d.leave("the reply reference")
	}
	if len(d.body.Mentions.Users) > 0 {
		d.body.Mentions.Users = nil
		d.leave("the mentions")
	}
	if d.body.Flags != 0 {
		d.body.Flags = 0
		d.leave("the link preview option")
	}
	return len(d.left) > was
}

// withoutFiles leaves files out, and names them in the text.
func (d *draft) withoutFiles(out func(channels.File) bool) bool {
	var rest []channels.File
	var names []string
	for _, f := range d.files {
		if out(f) {
			names = append(names, "the file "+f.Name)
			d.unsent = append(d.unsent, f)
		} else {
			rest = append(rest, f)
		}
	}
	if len(names) == 0 {
		return false
	}
	d.body.Content = channels.Outbound{Text: d.text}.WithNote(d.unsent, limits).Text
	d.files, d.voice, d.left = rest, nil, append(d.left, names...)
	return true
}

func (d *draft) leave(what string) { d.left = append(d.left, what) }
