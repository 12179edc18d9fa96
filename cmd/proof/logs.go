package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"parley/channels/discord/discordtest"
	"parley/channels/telegram/telegramtest"
	"parley/channels/whatsapp/whatsapptest"
	"parley/gateway/prooftest"
	"parley/sessions"
)

// shown is everything that happened to the chats, by the logs of the stand-ins, in the order of time.
func (w *world) shown() []prooftest.Shown {
	out := slices.Concat(onTelegram(w.one, "one"), onTelegram(w.two, "two"), w.onDiscordShown(), w.onWhatsAppShown())
	slices.SortStableFunc(out, func(a, b prooftest.Shown) int { return a.At.Compare(b.At) })
	return out
}

// onTelegram is what one bot has done. Drafts are shown while they are written only, like typing. A call that was refused has done
// nothing.
func onTelegram(bot *telegramtest.Server, account string) (out []prooftest.Shown) {
	at := func(chat, thread string) prooftest.Place {
		if thread == "0" {
			thread = ""
		}
		return prooftest.Place{Platform: "telegram", Account: account, Chat: chat, Thread: thread}
	}
	type message struct{ chat, id string }
	edits := map[message]int{}
	for _, c := range bot.Calls("editMessageText") {
		if c.Status < http.StatusBadRequest {
			edits[message{c.Params.Get("chat_id"), c.Params.Get("message_id")}]++
		}
	}
	for _, m := range bot.Sent() {
		text := m.First
		if m.Edits > edits[message{id(m.Chat), id(m.ID)}] { // not all of its edits are in the log
			text = m.Text
		}
		about := ""
		if m.ReplyTo != 0 {
			about = id(m.ReplyTo)
		}
		out = append(out, prooftest.Shown{At: m.At, Place: at(id(m.Chat), id(m.Thread)), ID: id(m.ID), Verb: prooftest.Post, Text: text, About: about})
	}
	for _, c := range bot.Calls("editMessageText", "deleteMessage", "sendChatAction", "sendMessageDraft", "setMessageReaction") {
		if c.Status >= http.StatusBadRequest {
			continue
		}
		s := prooftest.Shown{At: c.At, Place: at(c.Params.Get("chat_id"), c.Params.Get("message_thread_id")), ID: c.Params.Get("message_id"), Verb: prooftest.Typing}
		switch c.Method {
		case "editMessageText":
			s.Verb, s.Text = prooftest.Edit, c.Params.Get("text")
		case "sendMessageDraft":
			s.Text = c.Params.Get("text")
		case "deleteMessage":
			s.Verb = prooftest.Remove
		case "setMessageReaction":
			s.Verb = prooftest.React
		}
		out = append(out, s)
	}
	return out
}

func (w *world) onDiscordShown() (out []prooftest.Shown) {
	at := func(channel string) prooftest.Place {
		return prooftest.Place{Platform: "discord", Account: "default", Chat: channel}
	}
	for _, m := range w.discord.Sent() {
		out = append(out, prooftest.Shown{At: m.At, Place: at(m.Channel), ID: m.ID, Verb: prooftest.Post, Text: m.Text, Key: m.Nonce, About: m.ReplyTo})
	}
	for _, c := range w.discord.Calls() {
		if c.Channel == "" || c.Method == http.MethodGet || c.Status >= http.StatusBadRequest {
			continue
		}
		s := prooftest.Shown{At: c.At, Place: at(c.Channel), ID: c.Path[strings.LastIndexByte(c.Path, '/')+1:]}
		switch c.Route {
		case discordtest.RouteMessages: // above
			continue
		case discordtest.RouteTyping:
			s.Verb, s.ID = prooftest.Typing, ""
		case discordtest.RouteMessage:
			s.Verb = prooftest.Remove
			var body struct{ Content string }
			if c.Method == http.MethodPatch && json.Unmarshal(c.Body, &body) == nil {
				s.Verb, s.Text = prooftest.Edit, body.Content
			}
		default:
			s.Verb, s.ID = prooftest.React, ""
		}
		out = append(out, s)
	}
	return out
}

// onWhatsAppShown has each message of the account as often as it was sent: people are shown one with the same id once. The texts are
// what people's phones have decrypted.
func (w *world) onWhatsAppShown() (out []prooftest.Shown) {
	servers, heard := map[string]string{}, map[string]*whatsapptest.Message{}
	w.mu.Lock()
	people := append([]*whatsapptest.Person{w.olga}, w.strangers...)
	w.mu.Unlock()
	for _, p := range people {
		servers[p.JID().User], servers[p.LID().User] = p.JID().Server, p.LID().Server
		for _, m := range p.Heard(w.bot) {
			heard[m.ID] = &m
		}
	}
	at := func(user string) prooftest.Place {
		return prooftest.Place{Platform: whatsappServer, Account: "default", Chat: user + "@" + cmp.Or(servers[user], "g.us")}
	}
	for _, s := range w.bot.Sends() {
		x := prooftest.Shown{At: s.At, Place: at(s.Chat), ID: s.ID, Verb: prooftest.React}
		if m := heard[s.ID]; m != nil {
			x.Verb, x.Text, x.Key, x.About = prooftest.Post, m.Text, s.ID, m.Quote
		}
		out = append(out, x)
	}
	for _, s := range w.bot.Typed() {
		out = append(out, prooftest.Shown{At: s.At, Place: at(s.Chat), Verb: prooftest.Typing})
	}
	return out
}

// listed is the host's own ledger, oldest first.
func (w *world) listed(ctx context.Context) (out []prooftest.Listed, err error) {
	err = w.eachDelivery(ctx, func(d sessions.Delivery) { out = append(out, listedOf(d)) })
	slices.Reverse(out)
	return out, err
}

// eachDelivery goes through the host's deliveries, newest first.
func (w *world) eachDelivery(ctx context.Context, f func(sessions.Delivery)) error {
	const page = 1000
	for before := int64(0); ; {
		q := url.Values{"limit": {fmt.Sprint(page)}}
		if before > 0 {
			q.Set("before", fmt.Sprint(before))
		}
		var all []sessions.Delivery
		if err := w.ask(ctx, http.MethodGet, "/api/deliveries", q, nil, &all); err != nil {
			return err
		}
		for _, d := range all {
			f(d)
			before = d.Seq
		}
		if len(all) < page {
			return nil
		}
	}
}

// listedOf is a delivery in the checker's words. The host's own are shown without the marks of code.
func listedOf(d sessions.Delivery) prooftest.Listed {
	l := prooftest.Listed{ID: string(d.ID), Place: placeOf(d), Kind: string(d.Kind), State: string(d.State), Text: strings.ReplaceAll(d.Text, "`", ""), Ended: d.Updated, Reason: d.Error, Repeat: d.Repeat, Unclear: d.Ambiguous}
	if d.Verdict != nil {
		l.Rule = d.Verdict.Rule
	}
	for _, r := range d.Receipts {
		l.Receipts = append(l.Receipts, string(r.ID))
	}
	return l
}

// skipped is what the host says that it could not read.
func (w *world) skipped(ctx context.Context) (out []prooftest.Skipped, err error) {
	var all []sessions.SkippedEvent
	if err := w.ask(ctx, http.MethodGet, "/api/skipped", url.Values{"limit": {"1000"}}, nil, &all); err != nil {
		return nil, err
	}
	for _, s := range all {
		out = append(out, prooftest.Skipped{
			Place: prooftest.Place{Platform: string(s.Address.Channel), Account: string(s.Address.Account), Chat: string(s.Address.Chat), Thread: string(s.Address.Thread)},
			Text:  s.Raw, Reason: s.Reason,
		})
	}
	return out, nil
}

// unfinished is how many runs the host still has to do.
func (w *world) unfinished(ctx context.Context) (n int, err error) {
	for _, status := range []sessions.RunStatus{sessions.Queued, sessions.Running} {
		var all []json.RawMessage
		if err := w.ask(ctx, http.MethodGet, "/api/runs", url.Values{"status": {string(status)}, "limit": {"1000"}}, nil, &all); err != nil {
			return 0, err
		}
		n += len(all)
	}
	return n, nil
}

// keepHistory writes a history and what was found in it into a folder.
func keepHistory(dir string, h *prooftest.History, v *prooftest.Verdict) error {
	b, err := json.MarshalIndent(struct {
		Verdict *prooftest.Verdict
		History *prooftest.History
	}{v, h}, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, historyFile), b, 0o600)
}
