package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/channels/discord/discordtest"
	"parley/channels/telegram/telegramtest"
	"parley/channels/whatsapp/whatsapptest"
	"parley/cmd/internal/failpoint"
)

// three is a world with an account on each of the three platforms, all of the same host. Its model is a puppet.
type three struct {
	*world
	*puppet
	dc  *discordtest.Server
	wa  *whatsapptest.Server
	bot *whatsapptest.Phone // the account on WhatsApp

	olga, gustav *whatsapptest.Person // the owner and the guest there
}

// The ids of the same people and of a group on Discord, and of the bot on Telegram.
const (
	olgaOnDiscord   = "2200000000000001001"
	gustavOnDiscord = "2200000000000002002"
	guild           = "3300000000000000001"
	room            = "3300000000000000011"
)

// patience is how long something that another process does is waited for.
const patience = 20 * time.Second

func newThree(t *testing.T) *three {
	t.Helper()
	x := &three{world: newWorld(t), puppet: &puppet{}, dc: discordtest.New(t), wa: whatsapptest.New(t)}
	x.model.Script(x.answer)
	t.Cleanup(x.end)
	x.tg.AddGroup(group, "Garden")
	x.dc.AddUser(discordtest.User{ID: olgaOnDiscord, Name: "olga", Display: "Olga"})
	x.dc.AddUser(discordtest.User{ID: gustavOnDiscord, Name: "gustav", Display: "Gustav"})
	x.dc.AddGuild(guild, "Village", olgaOnDiscord, gustavOnDiscord)
	x.dc.AddChannel(guild, room, "garden")
	x.bot, x.olga, x.gustav = x.wa.NewPhone("parley"), x.wa.NewPerson("Olga"), x.wa.NewPerson("Gustav")
	keys := filepath.Join(x.dir, "state", "channels", "whatsapp", "default")
	if err := os.MkdirAll(keys, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := x.bot.Link(filepath.Join(keys, "keys.db")); err != nil {
		t.Fatal(err)
	}
	x.lead(x.wa)
	x.configure()
	return x
}

// lead makes the program take the stand-in for WhatsApp.
func (w *world) lead(wa *whatsapptest.Server) {
	w.t.Helper()
	at, err := failpoint.ToWhatsApp(w.t.Context(), wa.Client())
	if err != nil {
		w.t.Fatal(err)
	}
	w.env = append(w.env, at)
}

func (x *three) configure() {
	x.t.Helper()
	text := fmt.Sprintf(`
state: state
gateway: {listen: "127.0.0.1:0"}
models:
  providers:
    mock: {api: openai, baseUrl: %s/v1, apiKey: x, contextWindow: 10000000}
agents:
  defaults: {model: mock/mock-1}
commands: {ownerAllowFrom: ["telegram:%d", "discord:%s", "whatsapp:%s"]}
channels:
  telegram:
    token: %q
    apiUrl: %s
    groupPolicy: open
    pacing: {perSecond: 0, perChatPerSecond: 0, perGroupPerMinute: 0}
  discord:
    token: %q
    apiUrl: %s
    groupPolicy: open
    pacing: {perSecond: 0, perChatPerSecond: 0, perGroupPerMinute: 0}
  whatsapp:
    groupPolicy: open
    pacing: {perSecond: 0, perChatPerSecond: 0, perGroupPerMinute: 0}
`, x.model.URL(), owner, olgaOnDiscord, x.olga.Number(), x.tg.Token(), x.tg.URL(), discordtest.BotToken, x.dc.APIURL())
	if err := os.WriteFile(filepath.Join(x.dir, "config.yaml"), []byte(text), 0o600); err != nil {
		x.t.Fatal(err)
	}
}

// corner is a chat on one of the platforms.
type corner struct {
	name   string
	tell   func(text string) // the owner writes there
	ask    func(text string) // the guest writes there, and means the bot
	talk   func(text string) // the guest writes there, to nobody in particular; nil in direct chats
	texts  func() []string   // of the bot, as people see them
	key    string            // of the session
	listen func(ctx context.Context, done func() bool) error
}

// shows waits until the bot has said n things in a corner.
func (x *three) shows(c corner, n int) []string {
	x.t.Helper()
	if err := c.listen(x.ctx(), func() bool { return len(c.texts()) >= n }); err != nil {
		x.t.Fatalf("%s shows %d messages, not %d: %q", c.name, len(c.texts()), n, c.texts())
	}
	return c.texts()
}

// poll waits for what a stand-in does not tell of.
func (x *three) poll(_ context.Context, done func() bool) error {
	x.until(patience, "something that people see", done)
	return nil
}

func (x *three) telegram(chat int64, key string) corner {
	return corner{
		name: "telegram", key: key, listen: x.tg.Wait,
		tell: func(text string) { x.tg.Say(chat, owner, text) },
		ask:  func(text string) { x.tg.Say(chat, guest, "@"+telegramtest.BotUsername+" "+text) },
		talk: func(text string) { x.tg.Say(chat, guest, text) },
		texts: func() (out []string) {
			for _, m := range x.tg.SentTo(chat) {
				out = append(out, m.Text)
			}
			return out
		},
	}
}

func (x *three) discord(channel, key string) corner {
	return corner{
		name: "discord", key: key, listen: x.dc.Wait,
		tell: func(text string) { x.dc.Say(channel, olgaOnDiscord, text) },
		ask:  func(text string) { x.dc.Say(channel, gustavOnDiscord, "<@"+discordtest.BotID+"> "+text) },
		talk: func(text string) { x.dc.Say(channel, gustavOnDiscord, text) },
		texts: func() (out []string) {
			for _, m := range x.dc.Sent(channel) {
				out = append(out, m.Text)
			}
			return out
		},
	}
}

func (x *three) whatsapp(chat whatsapptest.Chat, key string) corner {
	return corner{
		name: "whatsapp", key: key, listen: x.poll,
		tell: func(text string) { x.olga.Say(chat, text) },
		ask: func(text string) {
			x.gustav.Say(chat, "@"+strings.TrimPrefix(x.bot.Number(), "+")+" "+text, whatsapptest.Mentioning(x.bot))
		},
		talk: func(text string) { x.gustav.Say(chat, text) },
		texts: func() (out []string) {
			for _, m := range x.bot.Sent(chat) {
				out = append(out, m.Text)
			}
			return out
		},
	}
}

// groups are a group on each platform, with the owner and the guest in it.
func (x *three) groups() []corner {
	garden := x.wa.NewGroup("Garden", x.olga.Phone, x.gustav.Phone, x.bot)
	return []corner{
		x.telegram(group, fmt.Sprintf("agent:main:telegram:group:%d", group)),
		x.discord(room, "agent:main:discord:channel:"+room),
		x.whatsapp(garden, "agent:main:whatsapp:group:"+garden.JID().String()),
	}
}

// last is the newest of a list of texts.
func last(texts []string) string { return texts[len(texts)-1] }

// none fails when one of the texts has a part.
func none(t *testing.T, texts []string, part string) {
	t.Helper()
	if slices.ContainsFunc(texts, func(s string) bool { return strings.Contains(s, part) }) {
		t.Errorf("%q is in %q", part, texts)
	}
}
