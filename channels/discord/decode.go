package discord

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"parley/channels"
)

// errIgnored says that an event is none of a chat host's business.
var errIgnored = errors.New("event kind is ignored")

// decoder turns events into what the host understands. It asks nobody: what it needs to know about names was learned before.
type decoder struct {
	account channels.AccountID
	me      identity
	names   *names
	recent  *recent
	members bool // joining is told by GUILD_MEMBER_ADD
}

func (c *Channel) decode(e event) []channels.Inbound {
	return c.decoder().decode(e)
}

func (c *Channel) decoder() decoder {
	return decoder{account: c.account, me: c.self(), names: c.names, recent: c.recent, members: c.cfg.Members}
}

// chatOf gives the chat whose order an event belongs to; empty when nothing is offered because of it.
func (n *names) chatOf(e event) channels.ChatID {
	p := e.peek()
	switch e.kind {
	case "MESSAGE_CREATE", "MESSAGE_UPDATE", "MESSAGE_DELETE", "MESSAGE_DELETE_BULK", "MESSAGE_REACTION_ADD", "MESSAGE_REACTION_REMOVE", "INTERACTION_CREATE":
		if p.ChannelID == "" {
			return "unknown"
		}
		return channels.ChatID(p.ChannelID)
	case "CHANNEL_UPDATE", "THREAD_UPDATE":
		return channels.ChatID(p.ID)
	case "GUILD_MEMBER_ADD", "GUILD_MEMBER_REMOVE":
		return channels.ChatID(n.system(p.GuildID))
	}
	return ""
}

// needsPlace reports whether decoding has to know what kind of chat an event is from.
func (e event) needsPlace() bool {
	switch e.kind {
	case "MESSAGE_CREATE", "MESSAGE_UPDATE", "MESSAGE_REACTION_ADD", "MESSAGE_REACTION_REMOVE", "MESSAGE_DELETE", "MESSAGE_DELETE_BULK":
		kind := e.peek().ChannelType
		return kind == nil || *kind != typeDM
	case "INTERACTION_CREATE":
		var i wireInteraction
		return json.Unmarshal(e.data, &i) != nil || i.Channel == nil || i.Channel.Type == nil || isThread(*i.Channel.Type) && i.Channel.ParentID == ""
	}
	return false
}

// decode gives the events that an event of the gateway means for the host: none, one, or several. A panic over one
// event costs that event only.
func (d decoder) decode(e event) (list []channels.Inbound) {
	defer func() {
		if r := recover(); r != nil {
			list = []channels.Inbound{d.unreadable(e, fmt.Sprintf("decoding panicked: %v", r))}
		}
	}()
	list, err := d.events(e)
	switch {
	case errors.Is(err, errIgnored):
		return nil
	case err != nil:
		return []channels.Inbound{d.unreadable(e, err.Error())}
	}
	for i := range list {
		list[i].Late = list[i].Late || e.late
	}
	return list
}

func (d decoder) events(e event) ([]channels.Inbound, error) {
	switch e.kind {
	case "MESSAGE_CREATE":
		return oneInbound(d.created(e))
	case "MESSAGE_UPDATE":
		return oneInbound(d.updated(e))
	case "MESSAGE_DELETE", "MESSAGE_DELETE_BULK":
		return d.deleted(e)
	case "MESSAGE_REACTION_ADD", "MESSAGE_REACTION_REMOVE":
		return oneInbound(d.reacted(e))
	case "INTERACTION_CREATE":
		return oneInbound(d.command(e))
	case "CHANNEL_UPDATE", "THREAD_UPDATE":
		return oneInbound(d.renamed(e))
	case "GUILD_MEMBER_ADD", "GUILD_MEMBER_REMOVE":
		return oneInbound(d.membership(e))
	}
	return nil, errIgnored
}

func oneInbound(in channels.Inbound, err error) ([]channels.Inbound, error) {
	return []channels.Inbound{in}, err
}

// at begins the event of a chat: where it is and what it is called.
func (d decoder) at(chat, guild string, kind *int) (channels.Inbound, error) {
	in := channels.Inbound{Address: channels.Address{Channel: Kind, Account: d.account, Chat: channels.ChatID(chat), Type: channels.Direct}}
	if !isID(chat) {
		return in, errors.New("event without a channel")
	}
	p, _ := d.names.find(chat)
	if kind != nil {
		p.kind = *kind
	}
	if guild == "" {
		guild = p.guild
	}
	in.Guild = guild
	switch {
	case guild != "":
		in.Address.Type = channels.Room
		if p.thread() {
			in.Parent = channels.ChatID(p.parent)
		}
	case p.kind == typeGroupDM:
		in.Address.Type = channels.Group
	}
	in.Title = d.names.title(chat)
	return in, nil
}

// person is a sender, with what a server calls them; roles are theirs in it.
func (d decoder) person(in *channels.Inbound, u wireUser, m *wireMember) {
	in.Sender = channels.Sender{ID: channels.UserID(u.ID), Username: u.handle(), Name: u.shown(m), Bot: u.Bot}
	if m != nil {
		in.Roles = m.Roles
	}
	in.SentByThisLogin = u.ID == d.me.User
	d.recent.people.put(in.Guild+"/"+u.ID, seenUser{in.Sender, in.Roles})
	d.recent.met(in.Address.Chat, in.Sender)
}

// remembered fills in the sender of an event that gives only an id.
func (d decoder) remembered(in *channels.Inbound, user string) {
	k, _ := d.recent.people.get(in.Guild + "/" + user)
	in.Sender, in.Roles = k.sender, k.roles
	in.Sender.ID = channels.UserID(user)
	in.SentByThisLogin = user != "" && user == d.me.User
}

// deleted: Discord does not say who deleted a message; its author is taken to have done so.
func (d decoder) deleted(e event) ([]channels.Inbound, error) {
	var w struct {
		ID        string   `json:"id"`
		IDs       []string `json:"ids"`
		ChannelID string   `json:"channel_id"`
		GuildID   string   `json:"guild_id"`
	}
	if err := json.Unmarshal(e.data, &w); err != nil {
		return nil, err
	}
	if w.ID != "" {
		w.IDs = append(w.IDs, w.ID)
	}
	var list []channels.Inbound
	for _, id := range w.IDs {
		if !isID(id) {
			return nil, errors.New("a message without an id")
		}
		in, err := d.at(w.ChannelID, w.GuildID, nil)
		if err != nil {
			return nil, err
		}
		in.Event, in.Target, in.Time = channels.Deleted, channels.MessageID(id), e.at
		in.ID = channels.MessageID("deleted:" + id)
		was, _ := d.recent.messages.get(id)
		d.remembered(&in, was.author)
		list = append(list, in)
	}
	if len(list) == 0 {
		return nil, errors.New("no message is named")
	}
	return list, nil
}

// reacted: adding and taking away the same emoji is any number of events, so the mark is part of the id.
func (d decoder) reacted(e event) (channels.Inbound, error) {
	var w wireReaction
	if err := json.Unmarshal(e.data, &w); err != nil {
		return channels.Inbound{}, err
	}
	in, err := d.at(w.ChannelID, w.GuildID, nil)
	if err != nil {
		return in, err
	}
	if !isID(w.MessageID) || !isID(w.UserID) {
		return in, errors.New("a reaction without a message or a user")
	}
	in.Event, in.Target, in.Time = channels.Reacted, channels.MessageID(w.MessageID), e.at
	in.ID = channels.MessageID("reaction:" + w.MessageID + ":" + w.UserID + ":" + e.mark)
	if w.Member != nil && w.Member.User != nil {
		d.person(&in, *w.Member.User, w.Member)
	} else {
		d.remembered(&in, w.UserID)
	}
	in.Sender.ID, in.SentByThisLogin = channels.UserID(w.UserID), w.UserID == d.me.User
	if e.kind == "MESSAGE_REACTION_ADD" {
		in.Emoji = w.Emoji.text()
	}
	return in, nil
}

// renamed: everything else that may change about a channel is ignored.
func (d decoder) renamed(e event) (channels.Inbound, error) {
	var w wireChannel
	if err := json.Unmarshal(e.data, &w); err != nil {
		return channels.Inbound{}, err
	}
	if e.was == "" || channels.CleanName(w.Name) == e.was {
		return channels.Inbound{}, errIgnored
	}
	in, err := d.at(w.ID, w.GuildID, w.Type)
	in.Event, in.ID, in.Time = channels.Renamed, channels.MessageID("renamed:"+e.mark), e.at
	return in, err
}

// membership is somebody who joined or left a server, told in its channel for such news.
func (d decoder) membership(e event) (channels.Inbound, error) {
	var w struct {
		GuildID string    `json:"guild_id"`
		User    *wireUser `json:"user"`
		Nick    string    `json:"nick"`
		Roles   []string  `json:"roles"`
	}
	if err := json.Unmarshal(e.data, &w); err != nil {
		return channels.Inbound{}, err
	}
	if w.User == nil || !isID(w.User.ID) {
		return channels.Inbound{}, errors.New("a member without a user")
	}
	in, err := d.at(d.names.system(w.GuildID), w.GuildID, nil)
	if err != nil {
		return in, errIgnored // a server without such a channel
	}
	d.person(&in, *w.User, &wireMember{Nick: w.Nick, Roles: w.Roles})
	in.Event, in.Time, in.People, in.Self = channels.Joined, e.at, []channels.Sender{in.Sender}, in.SentByThisLogin
	if e.kind == "GUILD_MEMBER_REMOVE" {
		in.Event = channels.Left
	}
	in.ID = channels.MessageID(string(in.Event) + ":" + w.User.ID + ":" + e.mark)
	return in, nil
}

// unreadable is the event for what made no sense, with as much of its address as could be read.
func (d decoder) unreadable(e event, why string) channels.Inbound {
	p := e.peek()
	in, err := d.at(p.ChannelID, p.GuildID, nil)
	if err != nil {
		in = channels.Inbound{Address: channels.Address{Channel: Kind, Account: d.account, Chat: "unknown", Type: channels.Direct}}
	}
	sum := sha256.Sum256(append([]byte(e.kind+" "), e.data...))
	in.ID = channels.MessageID("sha256-" + hex.EncodeToString(sum[:16]))
	in.Event, in.Reason, in.Raw, in.Time, in.Late = channels.Unreadable, channels.CleanText(e.kind+": "+why), channels.CutRaw(e.data), e.at, e.late
	if e.kind == "INTERACTION_CREATE" {
		in.Raw = nil // it has a token in it
	}
	if in.Time.IsZero() {
		in.Time = time.Now()
	}
	return in
}

// gapEvent says that messages of a chat are missing.
func (c *Channel) gapEvent(chat channels.ChatID, after, why string) channels.Inbound {
	d := decoder{account: c.account, names: c.names, recent: c.recent}
	in, _ := d.at(string(chat), "", nil)
	in.Event, in.ID, in.Reason, in.Time, in.Late = channels.Unreadable, channels.MessageID("gap:"+after), why, time.Now(), true
	return in
}
