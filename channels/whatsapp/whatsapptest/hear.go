package whatsapptest

import (
	"context"
	"slices"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"
)

// Message is one message as the people in its chat see it now.
type Message struct {
	ID       string
	From     types.JID // by number
	Text     string    // or the caption of the file
	Quote    string    // the id of the message that it replies to
	Mentions []string
	File     *File
	Edited   bool
	Deleted  bool
	Raw      *waE2E.Message // as it was decrypted; of one that was changed the new one
}

// File is something that came along.
type File struct {
	Kind whatsmeow.MediaType
	Name string
	MIME string
	Data []byte
	Err  error // it could not be fetched or decrypted
}

// hear shows a message to the person, as the apps do: one id of one author is one message, a repetition is dropped.
func (p *Person) hear(cli *whatsmeow.Client, e *events.Message) {
	m := e.Message
	var file *File
	if d, name, mime, kind := attachment(m); d != nil {
		file = &File{Kind: kind, Name: name, MIME: mime}
		file.Data, file.Err = cli.Download(context.Background(), d)
	}
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	defer p.s.notify()
	author := p.s.byUser[e.Info.Sender.User]
	if author == nil {
		return
	}
	if r := m.GetReactionMessage(); r != nil {
		id := r.GetKey().GetID()
		if p.reactions[id] == nil {
			p.reactions[id] = map[string]string{}
		}
		p.reactions[id][author.pn.User] = r.GetText()
		return
	}
	if pm := m.GetProtocolMessage(); pm != nil {
		p.change(author, pm)
		return
	}
	text, about := content(m)
	if text == "" && file == nil {
		return
	}
	if p.find(author, e.Info.ID) != nil {
		p.repeats++
		return
	}
	p.seen = append(p.seen, &Message{ID: e.Info.ID, From: author.pn, Text: text, Quote: about.GetStanzaID(), Mentions: about.GetMentionedJID(), File: file, Raw: m})
}

// change applies an edit or a deletion. It is called under the lock.
func (p *Person) change(author *Phone, pm *waE2E.ProtocolMessage) {
	m := p.find(author, pm.GetKey().GetID())
	if m == nil {
		return
	}
	switch pm.GetType() {
	case waE2E.ProtocolMessage_MESSAGE_EDIT:
		m.Text, _ = content(pm.GetEditedMessage())
		m.Edited, m.Raw = true, pm.GetEditedMessage()
	case waE2E.ProtocolMessage_REVOKE:
		m.Deleted, m.Text, m.File = true, "", nil
	}
}

func (p *Person) find(author *Phone, id string) *Message {
	i := slices.IndexFunc(p.seen, func(m *Message) bool { return m.ID == id && m.From == author.pn })
	if i < 0 {
		return nil
	}
	return p.seen[i]
}

// content is what a message says, and what it refers to.
func content(m *waE2E.Message) (string, *waE2E.ContextInfo) {
	switch {
	case m.GetExtendedTextMessage() != nil:
		return m.GetExtendedTextMessage().GetText(), m.GetExtendedTextMessage().GetContextInfo()
	case m.GetImageMessage() != nil:
		return m.GetImageMessage().GetCaption(), m.GetImageMessage().GetContextInfo()
	case m.GetVideoMessage() != nil:
		return m.GetVideoMessage().GetCaption(), m.GetVideoMessage().GetContextInfo()
	case m.GetDocumentMessage() != nil:
		return m.GetDocumentMessage().GetCaption(), m.GetDocumentMessage().GetContextInfo()
	case m.GetAudioMessage() != nil:
		return "", m.GetAudioMessage().GetContextInfo()
	case m.GetStickerMessage() != nil:
		return "", m.GetStickerMessage().GetContextInfo()
	}
	return m.GetConversation(), nil
}

// attachment finds the file of a message.
func attachment(m *waE2E.Message) (d whatsmeow.DownloadableMessage, name, mime string, kind whatsmeow.MediaType) {
	switch {
	case m.GetImageMessage() != nil:
		return m.GetImageMessage(), "", m.GetImageMessage().GetMimetype(), whatsmeow.MediaImage
	case m.GetVideoMessage() != nil:
		return m.GetVideoMessage(), "", m.GetVideoMessage().GetMimetype(), whatsmeow.MediaVideo
	case m.GetAudioMessage() != nil:
		return m.GetAudioMessage(), "", m.GetAudioMessage().GetMimetype(), whatsmeow.MediaAudio
	case m.GetDocumentMessage() != nil:
		return m.GetDocumentMessage(), m.GetDocumentMessage().GetFileName(), m.GetDocumentMessage().GetMimetype(), whatsmeow.MediaDocument
	case m.GetStickerMessage() != nil:
		return m.GetStickerMessage(), "", m.GetStickerMessage().GetMimetype(), whatsmeow.MediaImage
	}
	return nil, "", "", ""
}

// Sent gives what people in a chat see of the account, oldest first, once everything that was sent has reached them.
func (p *Phone) Sent(chat Chat) []Message {
	p.s.t.Helper()
	people := p.with(chat.JID())
	for _, m := range people {
		m.client()
	}
	p.s.wait("messages to reach people", func() bool {
		return !slices.ContainsFunc(people, func(m *Person) bool { return m.devices[0] != nil && len(m.devices[0].queue) > 0 })
	})
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	key, done := p.s.chatKey(chat.JID()), map[string]bool{}
	var all []Message
	for _, st := range p.log.stanzas {
		if st.chat != key || done[st.id] {
			continue
		}
		done[st.id] = true
		for _, person := range people {
			if m := person.find(p, st.id); m != nil {
				all = append(all, *m)
				break
			}
		}
	}
	return all
}

// Heard gives what the person sees of another account, in all chats, oldest first.
func (p *Person) Heard(of *Phone) []Message {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	var all []Message
	for _, m := range p.seen {
		if m.From == of.pn {
			all = append(all, *m)
		}
	}
	return all
}

// WaitHeard waits until the person sees a text of another account.
func (p *Person) WaitHeard(of *Phone, text string) bool {
	p.s.t.Helper()
	p.client()
	return p.s.wait(text, func() bool {
		return slices.ContainsFunc(p.seen, func(m *Message) bool { return m.From == of.pn && m.Text == text })
	})
}

// Reactions gives what an account put below a message, as the person sees it; empty = nothing, or taken away.
func (p *Person) Reactions(id string, of *Phone) string {
	p.s.t.Helper()
	p.client()
	p.s.wait("messages to reach people", func() bool { return len(p.devices[0].queue) == 0 })
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	return p.reactions[id][of.pn.User]
}

// Repeats is how many messages came to the person a second time, and were dropped.
func (p *Person) Repeats() int {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	return p.repeats
}
