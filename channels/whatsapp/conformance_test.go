package whatsapp_test

import (
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"go.mau.fi/whatsmeow"

	"parley/channels"
	"parley/channels/channeltest"
	"parley/channels/whatsapp"
	"parley/channels/whatsapp/whatsapptest"
)

// world is WhatsApp with an account that is linked, two people, and a group of all three.
type world struct {
	srv        *whatsapptest.Server
	bot        *whatsapptest.Phone
	anna, bert *whatsapptest.Person
	group      *whatsapptest.Group
	dir        string
	said       map[string]string // ids by text
	guests     map[string]*whatsapptest.Person
}

func newWorld(t *testing.T) *world {
	t.Helper()
	srv := whatsapptest.New(t)
	w := &world{
		srv: srv, bot: srv.NewPhone("Parley"), anna: srv.NewPerson("Anna"), bert: srv.NewPerson("Bert"), dir: t.TempDir(),
		said: map[string]string{}, guests: map[string]*whatsapptest.Person{},
	}
	w.group = srv.NewGroup("crew", w.anna.Phone, w.bert.Phone, w.bot)
	if err := w.bot.Link(filepath.Join(w.dir, "keys.db")); err != nil {
		t.Fatal(err)
	}
	return w
}

// open makes a channel on the account's key file.
func (w *world) open(t *testing.T, log *slog.Logger) *whatsapp.Channel {
	t.Helper()
	ch, err := whatsapp.New(whatsapp.Config{ReadReceipts: true}, whatsapp.Deps{Logger: log, Dir: w.dir, Client: w.srv.Client()})
	if err != nil {
		t.Fatal(err)
	}
	whatsapp.SetPace(ch, 0, 20*time.Millisecond, 3*time.Second)
	whatsapp.AtOnce(ch)
	return ch
}

// platform is the stand-in as the conformance suite sees it.
type platform struct {
	*world
	log *slog.Logger
}

// who gives the person who writes at a place, and where.
func (p platform) who(at channeltest.Place) (*whatsapptest.Person, whatsapptest.Chat) {
	switch at {
	case channeltest.OneToOne:
		return p.anna, p.bot
	case channeltest.Another:
		return p.bert, p.bot
	case channeltest.InGroup:
		return p.anna, p.group
	case channeltest.InThread:
	}
	return nil, nil
}

func (p platform) Say(at channeltest.Place, text string) bool {
	who, chat := p.who(at)
	if who == nil {
		return false
	}
	p.said[text] = who.Say(chat, text)
	return true
}

func (p platform) Shown(to channels.Address) []string {
	var texts []string
	for _, m := range p.bot.Sent(p.srv.At(string(to.Chat))) {
		if !m.Deleted {
			texts = append(texts, m.Text)
		}
	}
	return texts
}

func (p platform) Fail(_ channels.Address, class channels.Class) bool {
	switch class {
	case channels.Transient:
		p.bot.Reject(500)
	case channels.Rejected:
		p.bot.Reject(403)
	case channels.Limited:
		p.bot.Reject(429)
	case channels.Ambiguous:
		p.bot.LoseAnswer(1)
	case channels.Unauthorized, channels.Unsupported:
		return false
	}
	return true
}

func (p platform) Disconnect() {
	p.bot.WaitOnline()
	p.bot.Disconnect()
}

func (p platform) Reopen(t *testing.T, _ string) channels.Channel { return p.open(t, p.log) }

func (p platform) Amend(at channeltest.Place, text, to string) bool {
	who, chat := p.who(at)
	p.said[to] = p.said[text]
	who.Edit(chat, p.said[text], to)
	return true
}

func (p platform) Withdraw(at channeltest.Place, text string) bool {
	who, chat := p.who(at)
	who.Revoke(chat, p.said[text])
	return true
}

func (p platform) React(at channeltest.Place, to channels.MessageID, emoji string) bool {
	who, chat := p.who(at)
	who.React(chat, p.bot, string(to), emoji)
	return true
}

func (p platform) Unreact(at channeltest.Place, to channels.MessageID, _ string) bool {
	return p.React(at, to, "")
}

func (p platform) Reactions(to channels.Address, id channels.MessageID) []string {
	for _, person := range []*whatsapptest.Person{p.anna, p.bert} {
		if person.JID().String() == string(to.Chat) {
			if emoji := person.Reactions(string(id), p.bot); emoji != "" {
				return []string{emoji}
			}
		}
	}
	return nil
}

func (p platform) Quote(at channeltest.Place, id channels.MessageID, text string) bool {
	who, chat := p.who(at)
	who.Say(chat, text, whatsapptest.Quoting(p.bot, string(id), "a statement"))
	return true
}

func (p platform) Typing(to channels.Address) int { return p.bot.Typing(p.srv.At(string(to.Chat))) }

var kinds = map[channels.MediaKind]whatsmeow.MediaType{
	channels.Image: whatsmeow.MediaImage, channels.Video: whatsmeow.MediaVideo, channels.Audio: whatsmeow.MediaAudio, channels.Document: whatsmeow.MediaDocument,
}

func (p platform) Share(at channeltest.Place, text string, f channeltest.SharedFile) bool {
	who, chat := p.who(at)
	who.Say(chat, text, whatsapptest.With(whatsapptest.File{Kind: kinds[f.Kind], Name: f.Name, MIME: f.MIME, Data: f.Data}))
	return true
}

func (p platform) Files(to channels.Address) []channeltest.SharedFile {
	var files []channeltest.SharedFile
	for _, m := range p.bot.Sent(p.srv.At(string(to.Chat))) {
		if m.File == nil || m.File.Err != nil {
			continue
		}
		for kind, name := range kinds {
			if name == m.File.Kind {
				files = append(files, channeltest.SharedFile{Kind: kind, Name: m.File.Name, MIME: m.File.MIME, Data: m.File.Data})
			}
		}
	}
	return files
}

func (p platform) Join(_ channeltest.Place, name string) bool {
	p.guests[name] = p.srv.NewPerson(name)
	p.group.Add(p.anna.Phone, p.guests[name].Phone)
	return true
}

func (p platform) Leave(_ channeltest.Place, name string) bool {
	p.group.Remove(p.guests[name].Phone, p.guests[name].Phone)
	return true
}

func (p platform) Lose(channels.Address) { p.bot.LoseAnswer(1) }

func (p platform) Stall(channels.Address) { p.bot.Swallow(1) }

// Not parallel: the leak check would see other tests' goroutines.
func TestConformance(t *testing.T) {
	channeltest.Run(t, channeltest.Harness{
		Without:    []string{"Menu"},
		Reconnects: channeltest.Times(20, 1000),
		New: func(t *testing.T, log *slog.Logger) (channels.Channel, channeltest.Platform) {
			w := newWorld(t)
			return w.open(t, log), platform{w, log}
		},
	})
}
