package whatsapptest

import (
	"context"
	"time"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"
	"google.golang.org/protobuf/proto"
)

// Option shapes a message that a person writes.
type Option func(*draft)

type draft struct {
	id      string
	context *waE2E.ContextInfo
	file    *File
}

// Quoting makes it a reply to a message of another account, which said text.
func Quoting(of *Phone, id, text string) Option {
	return func(d *draft) {
		d.context.StanzaID, d.context.Participant = &id, proto.String(of.lid.String())
		d.context.QuotedMessage = &waE2E.Message{Conversation: &text}
	}
}

// Mentioning names accounts in it.
func Mentioning(who ...*Phone) Option {
	return func(d *draft) {
		for _, p := range who {
			d.context.MentionedJID = append(d.context.MentionedJID, p.lid.String())
		}
	}
}

// Forwarded makes it something that somebody else wrote.
func Forwarded() Option {
	return func(d *draft) {
		d.context.IsForwarded, d.context.ForwardingScore = proto.Bool(true), proto.Uint32(1)
	}
}

// Disappearing has it carry the chat's timer, as the apps do in every message of such a chat.
func Disappearing(seconds uint32) Option {
	return func(d *draft) {
		d.context.Expiration, d.context.EphemeralSettingTimestamp = &seconds, proto.Int64(time.Now().Unix())
	}
}

// With puts a file to it; the text is its caption.
func With(f File) Option { return func(d *draft) { d.file = &f } }

// WithID gives it an id of the test's own.
func WithID(id string) Option { return func(d *draft) { d.id = id } }

// Say writes to a chat and gives the id of the message, once the server has it.
func (p *Person) Say(to Chat, text string, opts ...Option) string {
	p.s.t.Helper()
	d := &draft{context: &waE2E.ContextInfo{}}
	for _, o := range opts {
		o(d)
	}
	cli := p.client()
	if cli == nil {
		return ""
	}
	m := &waE2E.Message{Conversation: &text}
	if d.file != nil {
		var err error
		if m, err = upload(cli, text, d); err != nil {
			p.s.t.Errorf("whatsapptest: %s: %v", p.name, err)
			return ""
		}
	} else if len(opts) > 0 {
		m = &waE2E.Message{ExtendedTextMessage: &waE2E.ExtendedTextMessage{Text: &text, ContextInfo: d.context}}
	}
	return p.Post(to, d.id, m)
}

// SetTimer has messages of a direct chat disappear after so many seconds; 0 = not any more.
func (p *Person) SetTimer(to *Phone, seconds uint32) {
	p.s.t.Helper()
	p.Post(to, "", &waE2E.Message{ProtocolMessage: &waE2E.ProtocolMessage{
		Type: waE2E.ProtocolMessage_EPHEMERAL_SETTING.Enum(), EphemeralExpiration: &seconds, EphemeralSettingTimestamp: proto.Int64(time.Now().Unix()),
	}})
}

// Edit changes a message of the person.
func (p *Person) Edit(to Chat, id, text string) {
	p.s.t.Helper()
	p.Post(to, "", p.client().BuildEdit(to.JID(), id, &waE2E.Message{Conversation: &text}))
}

// Revoke deletes a message of the person for everybody.
func (p *Person) Revoke(to Chat, id string) {
	p.s.t.Helper()
	p.Post(to, "", p.client().BuildRevoke(to.JID(), types.EmptyJID, id))
}

// React puts an emoji below a message of another account; an empty one takes it away.
func (p *Person) React(to Chat, of *Phone, id, emoji string) {
	p.s.t.Helper()
	p.Post(to, "", p.client().BuildReaction(to.JID(), of.lid, id, emoji))
}

// Post sends any message, with an id of its own when id is empty. What has come to the person is read before: the library would use a
// key twice if it decrypted and encrypted at the same time.
func (p *Person) Post(to Chat, id string, m *waE2E.Message) string {
	p.s.t.Helper()
	cli := p.client()
	if cli == nil {
		return ""
	}
	p.s.wait("the person to read what came", func() bool { return p.devices[0] == nil || len(p.devices[0].queue) == 0 })
	ctx, cancel := context.WithTimeout(context.Background(), bound)
	defer cancel()
	r, err := cli.SendMessage(ctx, to.JID(), m, whatsmeow.SendRequestExtra{ID: id})
	if err != nil {
		p.s.t.Errorf("whatsapptest: %s: %v", p.name, err)
	}
	return r.ID
}

// upload encrypts a file, brings it to the server and gives the message that tells of it.
func upload(cli *whatsmeow.Client, text string, d *draft) (*waE2E.Message, error) {
	f := d.file
	u, err := cli.Upload(context.Background(), f.Data, f.Kind)
	if err != nil {
		return nil, err
	}
	m := &waE2E.Message{}
	switch f.Kind {
	case whatsmeow.MediaImage:
		m.ImageMessage = &waE2E.ImageMessage{Caption: &text, Mimetype: &f.MIME, ContextInfo: d.context, URL: &u.URL, DirectPath: &u.DirectPath,
			MediaKey: u.MediaKey, FileEncSHA256: u.FileEncSHA256, FileSHA256: u.FileSHA256, FileLength: &u.FileLength}
	case whatsmeow.MediaVideo:
		m.VideoMessage = &waE2E.VideoMessage{Caption: &text, Mimetype: &f.MIME, ContextInfo: d.context, URL: &u.URL, DirectPath: &u.DirectPath,
			MediaKey: u.MediaKey, FileEncSHA256: u.FileEncSHA256, FileSHA256: u.FileSHA256, FileLength: &u.FileLength}
	case whatsmeow.MediaAudio:
		m.AudioMessage = &waE2E.AudioMessage{Mimetype: &f.MIME, ContextInfo: d.context, URL: &u.URL, DirectPath: &u.DirectPath,
			MediaKey: u.MediaKey, FileEncSHA256: u.FileEncSHA256, FileSHA256: u.FileSHA256, FileLength: &u.FileLength}
	default:
		m.DocumentMessage = &waE2E.DocumentMessage{Caption: &text, Mimetype: &f.MIME, FileName: &f.Name, ContextInfo: d.context, URL: &u.URL, DirectPath: &u.DirectPath,
			MediaKey: u.MediaKey, FileEncSHA256: u.FileEncSHA256, FileSHA256: u.FileSHA256, FileLength: &u.FileLength}
	}
	return m, nil
}
