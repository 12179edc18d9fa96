package main

import (
	"fmt"
	"strconv"
	"sync"

	"parley/channels/discord/discordtest"
	"parley/channels/telegram/telegramtest"
	"parley/channels/whatsapp/whatsapptest"
	"parley/gateway/prooftest"
)

// Who is who. Olga is the owner on every platform; two bots never share a token.
const (
	telegramOwner  int64 = 1001
	telegramGroup  int64 = -100500
	telegramForum  int64 = -100600
	telegramTopic  int64 = 7
	secondToken          = "7000000002:AAtest-token_of-the-second-bot"
	discordOwner         = "2200000000000001001"
	discordGuild         = "3300000000000000001"
	discordRoom          = "3300000000000000011"
	discordHall          = "3300000000000000012"
	discordThread        = "3300000000000000021"
	whatsappServer       = "whatsapp"
)

// place is a chat with the host in it, as one of its accounts knows it.
type place struct {
	prooftest.Place
	Session string                   // key of its session
	Say     func(text string) string // Olga writes there; gives the id of the message
	policy  sync.Mutex               // of whoever changes its send policy, until all is allowed again
}

// account names the host's account that it is a chat of.
func (p *place) account() string { return p.Platform + "/" + p.Account }

// connected reports whether the host is connected with an account's platform.
func (w *world) connected(account string) bool {
	switch account {
	case "telegram/one":
		return w.one.Polling()
	case "telegram/two":
		return w.two.Polling()
	case "discord/default":
		return w.discord.Stats().Open > 0
	}
	return w.bot.Online()
}

// people makes those who write, and their chats.
func (w *world) people() {
	for _, bot := range []*telegramtest.Server{w.one, w.two} {
		bot.AddUser(telegramtest.User{ID: telegramOwner, Name: "Olga"})
		bot.AddGroup(telegramGroup, "Garden")
		bot.AddForum(telegramForum, "Forum", map[int64]string{telegramTopic: "Seven"})
	}
	for _, b := range []struct {
		account, agent string
		bot            *telegramtest.Server
	}{{"one", "a", w.one}, {"two", "b", w.two}} {
		w.onTelegram(b.bot, b.account, b.agent, telegramOwner, 0, "direct:"+id(telegramOwner))
		w.onTelegram(b.bot, b.account, b.agent, telegramGroup, 0, "group:"+id(telegramGroup))
		w.onTelegram(b.bot, b.account, b.agent, telegramForum, telegramTopic, "group:"+id(telegramForum)+":topic:"+id(telegramTopic))
	}
	w.discord.AddUser(discordtest.User{ID: discordOwner, Name: "olga", Display: "Olga"})
	w.discord.AddGuild(discordGuild, "Village", discordOwner)
	w.discord.AddChannel(discordGuild, discordRoom, "garden")
	w.discord.AddChannel(discordGuild, discordHall, "hall")
	w.discord.AddThread(discordHall, discordThread, "seven", discordOwner)
	w.onDiscord(w.discord.AddDM(discordOwner), "default:direct:"+discordOwner)
	w.onDiscord(discordRoom, "channel:"+discordRoom)
	w.onDiscord(discordThread, "channel:"+discordHall+":thread:"+discordThread)
	w.bot, w.olga = w.whatsapp.NewPhone("parley"), w.whatsapp.NewPerson("Olga")
	group := w.whatsapp.NewGroup("Garden", w.olga.Phone, w.bot)
	w.onWhatsApp(w.bot, w.olga.Phone, "default:direct:"+w.olga.Number())
	w.onWhatsApp(group, group, "group:"+group.JID().String())
}

// hidden is somebody new on WhatsApp whose number is hidden.
func (w *world) hidden() *whatsapptest.Person {
	w.mu.Lock()
	defer w.mu.Unlock()
	who := w.whatsapp.NewPerson(fmt.Sprint("Hidden ", len(w.strangers)+1))
	who.Name(whatsapptest.Hidden)
	w.strangers = append(w.strangers, who)
	return who
}

func id(n int64) string { return strconv.FormatInt(n, 10) }

func (w *world) onTelegram(bot *telegramtest.Server, account, agent string, chat, thread int64, key string) {
	p := prooftest.Place{Platform: "telegram", Account: account, Chat: id(chat)}
	if thread != 0 {
		p.Thread = id(thread)
	}
	w.places = append(w.places, &place{Place: p, Session: "agent:" + agent + ":telegram:" + account + ":" + key, Say: func(text string) string {
		return id(bot.Say(chat, telegramOwner, text, telegramtest.InTopic(thread)).MessageID)
	}})
}

// onDiscord adds a channel. A thread is one too: it is named by its own id alone.
func (w *world) onDiscord(channel, key string) {
	w.places = append(w.places, &place{
		Place:   prooftest.Place{Platform: "discord", Account: "default", Chat: channel},
		Session: "agent:a:discord:" + key,
		Say:     func(text string) string { return w.discord.Say(channel, discordOwner, text) },
	})
}

// onWhatsApp adds a chat: to is where Olga writes, and chat is what the host calls it.
func (w *world) onWhatsApp(to, chat whatsapptest.Chat, key string) {
	w.places = append(w.places, &place{
		Place:   prooftest.Place{Platform: whatsappServer, Account: "default", Chat: chat.JID().String()},
		Session: "agent:b:whatsapp:" + key,
		Say:     func(text string) string { return w.olga.Say(to, text) },
	})
}
