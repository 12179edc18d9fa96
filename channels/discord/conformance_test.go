package discord_test

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/channels"
	"parley/channels/channeltest"
	"parley/channels/discord"
	"parley/channels/discord/discordtest"
)

// The people and places of the tests.
const (
	anna    = "200000000000000001"
	bert    = "200000000000000002"
	house   = "300000000000000001"
	general = "400000000000000001"
	garden  = "400000000000000002"
	plans   = "500000000000000001"
	trio    = "600000000000000001"
)

// furnish gives a server its people and places.
func furnish(srv *discordtest.Server) {
	srv.AddUser(discordtest.User{ID: anna, Name: "anna", Display: "Anna"})
	srv.AddUser(discordtest.User{ID: bert, Name: "bert"})
	srv.AddGuild(house, "House", anna, bert)
	srv.AddChannel(house, general, "general")
	srv.AddChannel(house, garden, "garden")
	srv.AddThread(general, plans, "plans", anna)
	srv.AddGroupDM(trio, "trio", anna, bert)
}

// disk is what a host keeps: the newest message of each chat that its inbox has taken, and the receipts of what it sent.
type disk struct {
	dir      string // the adapter's own
	mu       sync.Mutex
	newest   map[channels.Address]channels.Position
	receipts map[channels.MessageID]bool
	cursor   string
}

func newDisk(t testing.TB) *disk {
	return &disk{dir: t.TempDir(), newest: map[channels.Address]channels.Position{}, receipts: map[channels.MessageID]bool{}}
}

func (d *disk) sent(_ context.Context, _ channels.Address, id channels.MessageID) (bool, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.receipts[id], nil
}

func (d *disk) keep(r channels.Receipt) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.receipts[r.ID] = true
}

func (d *disk) seen(context.Context) ([]channels.Position, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var list []channels.Position
	for _, p := range d.newest {
		list = append(list, p)
	}
	return list, nil
}

func (d *disk) note(in channels.Inbound) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if in.Cursor != "" {
		d.cursor = in.Cursor
	}
	if in.Event != channels.Message || strings.HasPrefix(in.Text, "/") {
		return
	}
	if old := d.newest[in.Address]; len(old.ID) < len(in.ID) || len(old.ID) == len(in.ID) && old.ID < in.ID {
		d.newest[in.Address] = channels.Position{Address: in.Address, ID: in.ID, Time: in.Time}
	}
}

// reached gives the newest cursor that came with an event.
func (d *disk) reached(context.Context) (string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.cursor, nil
}

// know makes a chat one that has a session already: somebody wrote there an hour ago.
func (d *disk) know(srv *discordtest.Server, chat, user string, kind channels.ChatType) {
	at := time.Now().Add(-time.Hour)
	id := srv.Miss(chat, user, "an hour ago", discordtest.At(at))
	address := channels.Address{Channel: discord.Kind, Account: channels.DefaultAccount, Chat: channels.ChatID(chat), Type: kind}
	d.newest[address] = channels.Position{Address: address, ID: channels.MessageID(id), Time: at}
}

// bot is a channel whose inbox writes to a disk.
type bot struct {
	*discord.Channel
	disk *disk
}

// Run drops what the account itself wrote, as the host does.
func (b bot) Run(ctx context.Context, inbox channels.Inbox) error {
	return b.Channel.Run(ctx, func(ctx context.Context, in channels.Inbound) error {
		if in.SentByThisLogin {
			return nil
		}
		err := inbox(ctx, in)
		if err == nil {
			b.disk.note(in)
		}
		return err
	})
}

// platform is the stand-in as the conformance suite sees it.
type platform struct {
	srv  *discordtest.Server
	disk *disk
	open func(t *testing.T) channels.Channel
	mu   sync.Mutex
	said map[string]string // newest message by channel and text
}

// place gives the channel of a place and who writes there.
func (p *platform) place(at channeltest.Place) (channel, user string) {
	switch at {
	case channeltest.OneToOne:
		return p.srv.AddDM(anna), anna
	case channeltest.Another:
		return p.srv.AddDM(bert), bert
	case channeltest.InThread:
		return plans, anna
	default:
		return general, anna
	}
}

func (p *platform) Say(at channeltest.Place, text string) bool { return p.write(at, text) }

func (p *platform) write(at channeltest.Place, text string, opts ...discordtest.Option) bool {
	channel, user := p.place(at)
	id := p.srv.Say(channel, user, text, opts...)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.said[channel+text] = id
	return true
}

// find gives a message that somebody wrote.
func (p *platform) find(at channeltest.Place, text string) (channel, id string) {
	channel, _ = p.place(at)
	p.mu.Lock()
	defer p.mu.Unlock()
	return channel, p.said[channel+text]
}

func (p *platform) Shown(to channels.Address) []string {
	var texts []string
	for _, m := range p.srv.Sent(string(to.Chat)) {
		if !m.Deleted {
			texts = append(texts, m.Text)
		}
	}
	return texts
}

func (p *platform) Fail(to channels.Address, class channels.Class) bool {
	f := discordtest.Fault{Method: http.MethodPost, Route: discordtest.RouteMessages, Channel: string(to.Chat)}
	switch class {
	case channels.Limited:
		f.Status, f.RetryAfter = http.StatusTooManyRequests, 30*time.Second
	case channels.Rejected:
		f.Status, f.Code, f.Message = http.StatusForbidden, 50007, "Cannot send messages to this user"
	case channels.Unauthorized:
		f.Status, f.Message = http.StatusUnauthorized, "401: Unauthorized"
	case channels.Ambiguous:
		f.Cut = true
	case channels.Transient, channels.Unsupported:
		return false
	}
	p.srv.Inject(f)
	return true
}

func (p *platform) Disconnect() {
	_ = p.srv.Wait(context.Background(), p.srv.Ready) // else there would be nothing to cut
	p.srv.Drop()
}

func (p *platform) Reopen(t *testing.T, _ string) channels.Channel { return p.open(t) }

func (p *platform) Amend(at channeltest.Place, text, to string) bool {
	channel, id := p.find(at, text)
	p.srv.Edit(channel, id, to)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.said[channel+to] = id
	return true
}

func (p *platform) Withdraw(at channeltest.Place, text string) bool {
	channel, id := p.find(at, text)
	p.srv.Delete(channel, id)
	return true
}

func (p *platform) React(at channeltest.Place, to channels.MessageID, emoji string) bool {
	channel, user := p.place(at)
	p.srv.React(channel, string(to), user, emoji)
	return true
}

func (p *platform) Unreact(at channeltest.Place, to channels.MessageID, emoji string) bool {
	channel, user := p.place(at)
	p.srv.Unreact(channel, string(to), user, emoji)
	return true
}

func (p *platform) Reactions(to channels.Address, id channels.MessageID) []string {
	return p.srv.Reactions(string(to.Chat), string(id))
}

func (p *platform) Quote(at channeltest.Place, id channels.MessageID, text string) bool {
	return p.write(at, text, discordtest.ReplyTo(string(id)))
}

func (p *platform) Typing(to channels.Address) int { return p.srv.Typing(string(to.Chat)) }

func (p *platform) Share(at channeltest.Place, text string, f channeltest.SharedFile) bool {
	return p.write(at, text, discordtest.Attach(discordtest.File{Name: f.Name, Type: f.MIME, Data: f.Data}))
}

func (p *platform) Files(to channels.Address) []channeltest.SharedFile {
	var list []channeltest.SharedFile
	for _, m := range p.srv.Sent(string(to.Chat)) {
		for _, f := range m.Files {
			kind := channels.Document
			if family, _, _ := strings.Cut(f.Type, "/"); slices.Contains([]string{"image", "video", "audio"}, family) {
				kind = channels.MediaKind(family)
			}
			list = append(list, channeltest.SharedFile{Kind: kind, Name: f.Name, MIME: f.Type, Data: f.Data})
		}
	}
	return list
}

func (p *platform) Join(channeltest.Place, string) bool {
	p.srv.AddUser(discordtest.User{ID: "200000000000000009", Name: "nora"})
	p.srv.Join(house, "200000000000000009")
	return true
}

func (p *platform) Leave(channeltest.Place, string) bool {
	p.srv.Leave(house, "200000000000000009")
	return true
}

func (p *platform) Lose(to channels.Address) {
	p.srv.Inject(discordtest.Fault{Method: http.MethodPost, Route: discordtest.RouteMessages, Channel: string(to.Chat), Arrives: true, Cut: true})
}

func (p *platform) Stall(to channels.Address) {
	p.srv.Inject(discordtest.Fault{Method: http.MethodPost, Route: discordtest.RouteMessages, Channel: string(to.Chat), Hang: true})
}

func (p *platform) Published() int { return len(p.srv.Calls("PUT " + discordtest.RouteCommands)) }

// harness gives the suite a bot whose chats have sessions already.
func harness() channeltest.Harness {
	h := channeltest.Harness{
		Virtual: true, PlatformText: 2000,
		Secrets: []string{discordtest.BotToken, discordtest.BotToken[strings.LastIndexByte(discordtest.BotToken, '.')+1:]},
	}
	h.New = func(t *testing.T, log *slog.Logger) (channels.Channel, channeltest.Platform) {
		srv := discordtest.NewPiped(t)
		furnish(srv)
		p := &platform{srv: srv, said: map[string]string{}, disk: newDisk(t)}
		p.disk.know(srv, srv.AddDM(anna), anna, channels.Direct)
		p.disk.know(srv, srv.AddDM(bert), bert, channels.Direct)
		p.disk.know(srv, general, anna, channels.Room)
		p.disk.know(srv, plans, anna, channels.Room)
		p.open = func(t *testing.T) channels.Channel { return open(t, srv, p.disk, log) }
		return p.open(t), p
	}
	return h
}

// open makes a bot on a server.
func open(t testing.TB, srv *discordtest.Server, d *disk, log *slog.Logger) bot {
	t.Helper()
	ch, err := discord.New(
		discord.Config{Token: channels.NewSecret(srv.Token()), APIURL: srv.APIURL(), Members: true},
		discord.Deps{Logger: log, Client: srv.Client(), Seen: d.seen, Holds: channels.NewHolds(d.dir, log), Cursor: d.reached, Sent: d.sent},
	)
	if err != nil {
		t.Fatal(err)
	}
	return bot{ch, d}
}

func TestConformance(t *testing.T) {
	t.Parallel()
	channeltest.Run(t, harness())
}
