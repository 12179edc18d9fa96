package whatsapptest_test

import (
	"bytes"
	"context"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/store/sqlstore"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"
	waLog "go.mau.fi/whatsmeow/util/log"
	"google.golang.org/protobuf/proto"
	_ "modernc.org/sqlite"

	"go.mau.fi/whatsmeow/proto/waE2E"

	"parley/channels/whatsapp/whatsapptest"
)

const limit = 30 * time.Second

// client is a linked device as an adapter has it: an unmodified client with its keys in a file.
type client struct {
	*whatsmeow.Client
	t      *testing.T
	keys   *sqlstore.Container
	events chan any
}

func open(t *testing.T, s *whatsapptest.Server, path string) *client {
	t.Helper()
	keys, err := sqlstore.New(t.Context(), "sqlite", "file:"+path+"?_pragma=foreign_keys(1)&_pragma=journal_mode(WAL)&_pragma=busy_timeout(10000)&_pragma=synchronous(OFF)", nil)
	if err != nil {
		t.Fatal(err)
	}
	dev, err := keys.GetFirstDevice(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c := &client{whatsmeow.NewClient(dev, waLog.Noop), t, keys, make(chan any, 1000)}
	c.SetWebsocketHTTPClient(s.Client())
	c.SetPreLoginHTTPClient(s.Client())
	c.SetMediaHTTPClient(s.Client())
	c.AddEventHandler(func(e any) { c.events <- e })
	t.Cleanup(c.close)
	return c
}

func (c *client) close() {
	c.Disconnect()
	_ = c.keys.Close()
}

// linked gives a client on an account that is linked.
func linked(t *testing.T, s *whatsapptest.Server, p *whatsapptest.Phone) (c *client, path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "keys.db")
	if err := p.Link(path); err != nil {
		t.Fatal(err)
	}
	c = open(t, s, path)
	c.connect()
	return c, path
}

func (c *client) connect() {
	c.t.Helper()
	if err := c.ConnectContext(context.Background()); err != nil {
		c.t.Fatal(err)
	}
	await[*events.Connected](c)
}

// await waits for an event of a type.
func await[E any](c *client) E {
	c.t.Helper()
	bound := time.After(limit)
	for {
		select {
		case e := <-c.events:
			if found, ok := e.(E); ok {
				return found
			}
		case <-bound:
			var none E
			c.t.Fatalf("waited in vain for %T", none)
			return none
		}
	}
}

// text waits for a message that says this.
func (c *client) text(want string) *events.Message {
	c.t.Helper()
	for {
		m := await[*events.Message](c)
		if got := m.Message.GetConversation() + m.Message.GetExtendedTextMessage().GetText(); got == want {
			return m
		}
	}
}

func (c *client) send(to types.JID, m *waE2E.Message, extra ...whatsmeow.SendRequestExtra) string {
	c.t.Helper()
	r, err := c.SendMessage(context.Background(), to, m, extra...)
	if err != nil {
		c.t.Fatal(err)
	}
	return r.ID
}

func said(text string) *waE2E.Message { return &waE2E.Message{Conversation: proto.String(text)} }

func TestTwoPeopleTalk(t *testing.T) {
	t.Parallel()
	s := whatsapptest.New(t)
	bot, anna, stranger := s.NewPhone("Bot"), s.NewPerson("Anna"), s.NewPerson("Bert")
	c, _ := linked(t, s, bot)

	first := anna.Say(bot, "hello")
	in := c.text("hello")
	if in.Info.Chat != anna.LID() || in.Info.SenderAlt.ToNonAD() != anna.JID() || in.Info.ID != first || in.Info.PushName != "Anna" {
		t.Errorf("came as %+v", in.Info)
	}
	quote := &waE2E.ContextInfo{StanzaID: &first, Participant: proto.String(anna.LID().String()), QuotedMessage: in.Message}
	id := c.send(in.Info.Chat, &waE2E.Message{ExtendedTextMessage: &waE2E.ExtendedTextMessage{Text: proto.String("hello Anna"), ContextInfo: quote}})
	gone := c.send(anna.JID(), said("never mind"))
	c.send(anna.JID(), c.BuildEdit(anna.JID(), id, said("hi Anna")))
	c.send(anna.JID(), c.BuildRevoke(anna.JID(), types.EmptyJID, gone))
	c.send(anna.JID(), c.BuildReaction(anna.JID(), anna.LID(), first, "👍"))
	got := bot.Sent(anna)
	if len(got) != 2 || got[0].Text != "hi Anna" || !got[0].Edited || got[0].Quote != first || !got[1].Deleted {
		t.Errorf("Anna sees %+v", got)
	}
	if r := anna.Reactions(first, bot); r != "👍" {
		t.Errorf("reaction %q", r)
	}

	anna.React(bot, bot, id, "❤")
	if r := await[*events.Message](c).Message.GetReactionMessage(); r.GetText() != "❤" || r.GetKey().GetID() != id {
		t.Errorf("reaction %v", r)
	}
	anna.Edit(bot, first, "hello!")
	if m := await[*events.Message](c); !m.IsEdit || m.Message.GetProtocolMessage().GetKey().GetID() != first {
		t.Errorf("edit %+v", m.Message)
	}
	anna.Revoke(bot, first)
	if m := await[*events.Message](c).Message.GetProtocolMessage(); m.GetType() != waE2E.ProtocolMessage_REVOKE || m.GetKey().GetID() != first {
		t.Errorf("deletion %+v", m)
	}

	if err := c.SendChatPresence(t.Context(), anna.LID(), types.ChatPresenceComposing, ""); err != nil {
		t.Fatal(err)
	}
	if err := c.MarkRead(t.Context(), []string{first}, time.Now(), in.Info.Chat, in.Info.Sender); err != nil {
		t.Fatal(err)
	}
	c.send(anna.JID(), said("read"))
	if bot.Typing(anna) != 1 || !slices.Equal(bot.Read(), []string{first}) {
		t.Errorf("typing %d, read %v", bot.Typing(anna), bot.Read())
	}
	if asked := bot.Lookups(); len(asked) != 0 {
		t.Errorf("looked up %v", asked)
	}
	c.send(stranger.JID(), said("you do not know me"))
	if asked := bot.Lookups(); !slices.Equal(asked, []string{stranger.JID().User}) {
		t.Errorf("looked up %v", asked)
	}
	if unknown := s.Unknown(); len(unknown) != 0 {
		t.Errorf("no answer for %v", unknown)
	}
}

func TestGroup(t *testing.T) {
	t.Parallel()
	s := whatsapptest.New(t)
	bot, anna, bert, carl := s.NewPhone("Bot"), s.NewPerson("Anna"), s.NewPerson("Bert"), s.NewPerson("Carl")
	bert.Name(whatsapptest.Hidden)
	c, _ := linked(t, s, bot)
	g := s.NewGroup("crew", anna.Phone, bert.Phone, bot)

	anna.Say(g, "hi @bot", whatsapptest.Mentioning(bot))
	in := c.text("hi @bot")
	if in.Info.Chat != g.JID() || !in.Info.IsGroup || in.Info.SenderAlt.ToNonAD() != anna.JID() || in.Message.GetExtendedTextMessage().GetContextInfo().GetMentionedJID()[0] != bot.LID().String() {
		t.Errorf("came as %+v %v", in.Info, in.Message)
	}
	bert.Say(g, "hidden")
	if in = c.text("hidden"); in.Info.Sender.ToNonAD() != bert.LID() || !in.Info.SenderAlt.IsEmpty() {
		t.Errorf("came as %+v", in.Info)
	}
	c.send(g.JID(), said("hi all"))
	if got := bot.Sent(g); len(got) != 1 || got[0].Text != "hi all" {
		t.Errorf("people see %+v", got)
	}
	bert.WaitHeard(anna.Phone, "hi @bot")

	g.Rename(anna.Phone, "the crew")
	if e := await[*events.GroupInfo](c); e.Name == nil || e.Name.Name != "the crew" || *e.Sender != anna.LID() {
		t.Errorf("renamed: %+v", e)
	}
	g.Add(anna.Phone, carl.Phone)
	if e := await[*events.GroupInfo](c); len(e.Join) != 1 || e.Join[0] != carl.LID() {
		t.Errorf("joined: %+v", e)
	}
	c.send(g.JID(), said("welcome"))
	carl.WaitHeard(bot, "welcome")
	g.Remove(carl.Phone, carl.Phone)
	if e := await[*events.GroupInfo](c); len(e.Leave) != 1 || e.Leave[0] != carl.LID() {
		t.Errorf("left: %+v", e)
	}
	second := s.NewGroup("second", anna.Phone)
	second.Add(anna.Phone, bot)
	if e := await[*events.JoinedGroup](c); e.JID != second.JID() || e.Name != "second" {
		t.Errorf("joined: %+v", e)
	}
}

func TestFiles(t *testing.T) {
	t.Parallel()
	s := whatsapptest.New(t)
	bot, anna := s.NewPhone("Bot"), s.NewPerson("Anna")
	c, _ := linked(t, s, bot)
	data := bytes.Repeat([]byte("a report"), 1000)
	anna.Say(bot, "look", whatsapptest.With(whatsapptest.File{Kind: whatsmeow.MediaDocument, Name: "report.pdf", MIME: "application/pdf", Data: data}))
	d := await[*events.Message](c).Message.GetDocumentMessage()
	if got, err := c.Download(t.Context(), d); err != nil || !bytes.Equal(got, data) || d.GetFileName() != "report.pdf" || d.GetCaption() != "look" {
		t.Errorf("%d bytes, %v, %v", len(got), d, err)
	}
	u, err := c.Upload(t.Context(), data, whatsmeow.MediaImage)
	if err != nil {
		t.Fatal(err)
	}
	c.send(anna.JID(), &waE2E.Message{ImageMessage: &waE2E.ImageMessage{Caption: proto.String("pic"), Mimetype: proto.String("image/jpeg"),
		URL: &u.URL, DirectPath: &u.DirectPath, MediaKey: u.MediaKey, FileEncSHA256: u.FileEncSHA256, FileSHA256: u.FileSHA256, FileLength: &u.FileLength}})
	got := bot.Sent(anna)
	if len(got) != 1 || got[0].Text != "pic" || got[0].File == nil || got[0].File.Err != nil || !bytes.Equal(got[0].File.Data, data) {
		t.Fatalf("Anna sees %+v", got)
	}
	s.ForgetMedia()
	if _, err := c.Download(t.Context(), d); err == nil {
		t.Error("a file that is gone was fetched")
	}
}

func TestPairing(t *testing.T) {
	t.Parallel()
	s := whatsapptest.New(t)
	bot, anna := s.NewPhone("Bot"), s.NewPerson("Anna")
	c := open(t, s, filepath.Join(t.TempDir(), "keys.db"))
	if err := c.Connect(); err != nil {
		t.Fatal(err)
	}
	qr := await[*events.QR](c)
	if err := bot.Scan(qr.Codes[0]); err != nil {
		t.Fatal(err)
	}
	await[*events.PairSuccess](c)
	await[*events.Connected](c)
	anna.Say(bot, "new here?")
	c.text("new here?")
	bot.Unlink()
	await[*events.LoggedOut](c)
	if err := bot.Scan("not a code"); err == nil {
		t.Error("a QR code that is none was taken")
	}

	d := open(t, s, filepath.Join(t.TempDir(), "keys.db"))
	if err := d.Connect(); err != nil {
		t.Fatal(err)
	}
	await[*events.QR](d)
	code, err := d.PairPhone(t.Context(), bot.Number(), true, whatsmeow.PairClientChrome, "Chrome (Linux)")
	if err != nil {
		t.Fatal(err)
	}
	if err := bot.EnterCode(code); err != nil {
		t.Fatal(err)
	}
	await[*events.PairSuccess](d)
	d.close()
	bot.Unlink()

	e, _ := linked(t, s, bot)
	anna.Say(bot, "again") // Anna's client knew the devices that are gone
	e.text("again")
}
