package telegram_test

import (
	"strconv"

	"parley/channels"
	"parley/channels/channeltest"
	"parley/channels/telegram/telegramtest"
)

// The optional powers of the stand-in, as the conformance suite sees them.

// where is the chat of a place, and who writes there.
func where(at channeltest.Place) (chat, from int64, opts []telegramtest.Option) {
	switch at {
	case channeltest.Another:
		return bert, bert, nil
	case channeltest.InGroup:
		return team, anna, nil
	case channeltest.InThread:
		return forum, anna, []telegramtest.Option{telegramtest.InTopic(topic)}
	}
	return anna, anna, nil
}

func number[T ~string](id T) int64 {
	n, _ := strconv.ParseInt(string(id), 10, 64)
	return n
}

func (p platform) Amend(at channeltest.Place, text, to string) bool {
	chat, _, _ := where(at)
	said, found := p.srv.Find(chat, text)
	if found {
		p.srv.Edit(said, to)
	}
	return found
}

// Withdraw: bots are not told of deleted messages.
func (p platform) Withdraw(channeltest.Place, string) bool { return false }

func (p platform) React(at channeltest.Place, to channels.MessageID, emoji string) bool {
	chat, from, _ := where(at)
	p.srv.Reacts(chat, from, number(to), emoji)
	return true
}

func (p platform) Unreact(at channeltest.Place, to channels.MessageID, _ string) bool {
	chat, from, _ := where(at)
	p.srv.Reacts(chat, from, number(to))
	return true
}

func (p platform) Reactions(to channels.Address, id channels.MessageID) (list []string) {
	for _, r := range p.srv.Reactions() {
		if r.Chat != number(to.Chat) || r.MessageID != number(id) {
			continue
		}
		if list = nil; r.Emoji != "" {
			list = []string{r.Emoji}
		}
	}
	return list
}

func (p platform) Quote(at channeltest.Place, id channels.MessageID, text string) bool {
	chat, from, opts := where(at)
	p.srv.Say(chat, from, text, append(opts, telegramtest.ReplyTo(number(id)))...)
	return true
}

func (p platform) Typing(to channels.Address) (n int) {
	for _, c := range p.srv.Calls("sendChatAction") {
		thread := c.Params.Get("message_thread_id")
		if c.Chat == number(to.Chat) && (thread == string(to.Thread) || thread == "1" && to.Thread == "") {
			n++
		}
	}
	return n
}

func (p platform) Share(at channeltest.Place, text string, f channeltest.SharedFile) bool {
	chat, from, opts := where(at)
	id := "shared-" + f.Name
	p.srv.AddFile(id, f.Data)
	switch f.Kind {
	case channels.Image:
		opts = append(opts, telegramtest.With("photo", []any{map[string]any{"file_id": id, "file_unique_id": "u", "width": 1, "height": 1, "file_size": len(f.Data)}}))
	case channels.Audio:
		opts = append(opts, telegramtest.Voice(id, 3))
	default:
		opts = append(opts, telegramtest.Document(id, f.Name, f.MIME, int64(len(f.Data))))
	}
	p.srv.Say(chat, from, text, opts...)
	return true
}

var mediaKinds = map[string]channels.MediaKind{
	"photo": channels.Image, "video": channels.Video, "audio": channels.Audio, "voice": channels.Audio, "document": channels.Document,
}

func (p platform) Files(to channels.Address) (list []channeltest.SharedFile) {
	for _, m := range p.srv.SentTo(number(to.Chat)) {
		if m.Thread != number(to.Thread) {
			continue
		}
		for _, f := range m.Files {
			list = append(list, channeltest.SharedFile{Kind: mediaKinds[f.As], Name: f.Name, Data: f.Data})
		}
	}
	return list
}

func (p platform) Join(at channeltest.Place, name string) bool {
	chat, from, _ := where(at)
	p.srv.Joins(chat, from, telegramtest.User{ID: 5005, Name: name})
	return chat < 0
}

func (p platform) Leave(at channeltest.Place, name string) bool {
	chat, _, _ := where(at)
	p.srv.Leaves(chat, 5005, telegramtest.User{ID: 5005, Name: name})
	return chat < 0
}

func (p platform) Lose(to channels.Address) {
	p.srv.Inject(telegramtest.Fault{Method: "sendMessage", Chat: number(to.Chat), Arrives: true, Cut: true})
}

func (p platform) Stall(to channels.Address) {
	p.srv.Inject(telegramtest.Fault{Method: "sendMessage", Chat: number(to.Chat), Hang: true})
}

func (p platform) Published() int { return len(p.srv.Calls("setMyCommands")) }
