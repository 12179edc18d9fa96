package whatsapp

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"strconv"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"parley/channels"
)

// decoder turns what whatsmeow gives into events of the core.
type decoder struct {
	account channels.AccountID
	me      identity
	names   names
	ours    func(id types.MessageID) bool             // this login sent the message
	files   func(id types.MessageID) []channels.Media // of a message that is remembered; nil = none is
	timer   *timer                                    // of the chat, as the last message that was read tells it
	late    bool                                      // the events waited on the server
}

// message reads a stanza. false: nothing that a chat host handles.
func (d *decoder) message(evt *events.Message) (channels.Inbound, bool) {
	if !d.wanted(&evt.Info) || evt.Message == nil {
		return channels.Inbound{}, false
	}
	msg := unwrap(evt.Message)
	if isHidden(msg) {
		return channels.Inbound{}, false
	}
	in := d.head(&evt.Info)
	switch {
	case msg.GetReactionMessage() != nil:
		r := msg.GetReactionMessage()
		in.Event, in.Emoji, in.Target = channels.Reacted, channels.CleanText(r.GetText()), channels.MessageID(r.GetKey().GetID())
	case msg.GetProtocolMessage() != nil:
		return in, d.protocol(&in, msg.GetProtocolMessage())
	default:
		in.Event = channels.Message
		d.fill(&in, msg)
	}
	return in, true
}

// protocol reads a change of another message. false: something between devices.
func (d *decoder) protocol(in *channels.Inbound, p *waE2E.ProtocolMessage) bool {
	if p.GetType() == waE2E.ProtocolMessage_EPHEMERAL_SETTING && in.Address.Type == channels.Direct {
		d.timer = &timer{seconds: p.GetEphemeralExpiration(), since: cmp.Or(p.GetEphemeralSettingTimestamp(), in.Time.Unix())}
		return false
	}
	in.Target = channels.MessageID(p.GetKey().GetID())
	if p.Type == nil || in.Target == "" { // without a type the field reads as a deletion
		return false
	}
	switch p.GetType() {
	case waE2E.ProtocolMessage_REVOKE:
		in.Event = channels.Deleted
		return true
	case waE2E.ProtocolMessage_MESSAGE_EDIT:
		if p.GetEditedMessage() == nil {
			return false
		}
		d.fill(in, unwrap(p.GetEditedMessage()))
		if in.Event != channels.Unreadable {
			in.Event = channels.Edited
		}
		return true
	default:
		return false
	}
}

// wanted reports whether a message belongs to a chat: no status updates, channels, broadcast lists or notices of WhatsApp itself.
func (d *decoder) wanted(info *types.MessageInfo) bool {
	if info.ID == "" || info.Chat.User == "" || info.Sender.User == "" || info.Category == "peer" {
		return false
	}
	switch info.Chat.Server {
	case types.GroupServer:
		return true
	case types.DefaultUserServer, types.HiddenUserServer, types.HostedServer, types.HostedLIDServer, types.LegacyUserServer:
		return info.Chat.User != types.PSAJID.User
	case types.BotServer:
		return true
	}
	return false
}

// head fills in where a message is and who wrote it.
func (d *decoder) head(info *types.MessageInfo) channels.Inbound {
	in := channels.Inbound{ID: channels.MessageID(info.ID), Time: channels.UnixTime(info.Timestamp.Unix()), Late: d.late}
	in.Address, in.Title = d.place(info)
	sender := d.canonical(info.Sender, info.SenderAlt)
	self := false
	if info.IsFromMe || d.me.is(info.Sender) {
		sender = d.me.pn
		self = in.Address.Type == channels.Direct && in.Address.Chat == channels.ChatID(d.me.pn.String())
		// In the chat with oneself the other devices are the owner, who speaks to this one.
		here := info.Sender.Device == d.me.device || d.ours(info.ID)
		in.SentByThisLogin, in.ByHand = !self || here, !self && !here
		if in.ByHand && in.Address.Type == channels.Direct {
			in.People = []channels.Sender{d.person(d.canonical(info.Chat, info.RecipientAlt), "")}
		}
	}
	in.Sender = d.person(sender, info.PushName)
	return in
}

// place gives the chat of a message, and its title where it has one.
func (d *decoder) place(info *types.MessageInfo) (channels.Address, string) {
	if info.Chat.Server == types.GroupServer {
		return d.group(info.Chat), channels.CleanName(d.names.group(info.Chat))
	}
	alt := info.SenderAlt
	if info.IsFromMe {
		alt = info.RecipientAlt
	}
	return d.direct(d.canonical(info.Chat, alt)), ""
}

func (d *decoder) direct(jid types.JID) channels.Address {
	return channels.Address{Channel: Kind, Account: d.account, Chat: channels.ChatID(jid.String()), Type: channels.Direct}
}

func (d *decoder) group(jid types.JID) channels.Address {
	return channels.Address{Channel: Kind, Account: d.account, Chat: channels.ChatID(jid.String()), Type: channels.Group}
}

func (d *decoder) person(jid types.JID, name string) channels.Sender {
	if name == "" || name == "-" { // what the apps write for people without a name
		name = d.names.person(jid)
	}
	return channels.Sender{ID: userID(jid), Name: channels.CleanName(name), Bot: jid.IsBot()}
}

// fill reads what a message says. What this version does not know is not dropped: it becomes Unreadable.
func (d *decoder) fill(in *channels.Inbound, msg *waE2E.Message) {
	c := read(msg)
	if c.unknown != "" {
		in.Event, in.Reason = channels.Unreadable, c.unknown
		return
	}
	in.Text, in.Media = channels.CleanText(c.text), c.media
	if c.context == nil {
		return
	}
	d.timer = timerOf(c.context)
	in.Forwarded = c.context.GetIsForwarded()
	in.Origin = origin(c.context)
	d.quote(in, c.context)
	d.mentions(in, c.context)
}

// origin names who wrote what is passed on: WhatsApp tells it of channels only.
func origin(c *waE2E.ContextInfo) string {
	if !c.GetIsForwarded() {
		return ""
	}
	return short(channels.CleanName(c.GetForwardedNewsletterMessageInfo().GetNewsletterName()))
}

// quote reads what a message answers. A file alone has no text: the host names files itself.
func (d *decoder) quote(in *channels.Inbound, c *waE2E.ContextInfo) {
	if c.GetStanzaID() == "" {
		return
	}
	q := &channels.Quote{ID: channels.MessageID(c.GetStanzaID())}
	if msg := unwrap(c.GetQuotedMessage()); msg != nil {
		said := read(msg)
		q.Text, q.Media, q.Origin = d.named(channels.CleanText(said.text), said.context), said.media, origin(said.context)
		if album := msg.GetAlbumMessage(); album != nil {
			q.Text = quotedAlbum(album)
		}
		if said.unknown != "" {
			q.Text = "[a message of a kind that is not known here]"
		}
	}
	if part := c.GetPartiallySelectedContent().GetText(); part != "" {
		q.Text = channels.CleanText(channels.Typed(part))
	}
	q.Text = short(q.Text)
	if nameOnly(q.Media) && d.files != nil {
		if known := d.files(c.GetStanzaID()); len(known) > 0 {
			q.Media = known
		}
	}
	if q.Text == "" && len(q.Media) == 0 {
		q.Text = "[a message that cannot be read any more]"
	}
	if author, err := types.ParseJID(c.GetParticipant()); err == nil && author.User != "" {
		who := d.person(d.canonical(author, types.EmptyJID), "")
		q.Sender, q.By = who.Name, who.ID
		// In the chat with oneself every message is by the account; there only the ids tell.
		ownChat := in.Address.Chat == channels.ChatID(d.me.pn.String())
		q.FromBot = d.ours(c.GetStanzaID()) || d.me.is(author) && !ownChat
	}
	in.Quote = q
	in.Mentioned = in.Mentioned || q.FromBot
}

// nameOnly takes the reference of those files away that a quote names without what it takes to fetch them: some apps quote with the
// thumbnail alone. It reports whether none can be fetched.
func nameOnly(list []channels.Media) bool {
	all := true
	for i := range list {
		if _, _, err := parseRef(list[i].Ref); err != nil {
			list[i].Ref = ""
		} else {
			all = false
		}
	}
	return all
}

// undecryptable is a message that came without its content, or with one that this device has no key for.
func (d *decoder) undecryptable(evt *events.UndecryptableMessage) (channels.Inbound, bool) {
	if !d.wanted(&evt.Info) || evt.DecryptFailMode == events.DecryptFailHide {
		return channels.Inbound{}, false
	}
	in := d.head(&evt.Info)
	in.Event = channels.Unreadable
	switch {
	case evt.UnavailableType == events.UnavailableTypeViewOnce:
		in.Reason = "a message that can be viewed once: WhatsApp shows it on the phone only"
	case evt.IsUnavailable:
		in.Reason = "waiting for this message: WhatsApp sent no content, so parley asked the phone for it"
	default:
		in.Reason = "waiting for this message: parley cannot decrypt it and asked its sender to send it again"
	}
	return in, true
}

// broken stands for a message that made the decoder fail.
func (d *decoder) broken(info *types.MessageInfo, reason string) channels.Inbound {
	in := channels.Inbound{Event: channels.Unreadable, ID: channels.MessageID(info.ID), Time: channels.UnixTime(info.Timestamp.Unix()), Late: d.late, Reason: reason}
	if info.Chat.Server == types.GroupServer {
		in.Address = d.group(info.Chat)
	} else {
		in.Address = d.direct(plain(info.Chat))
	}
	in.Sender = channels.Sender{ID: userID(plain(info.Sender))}
	in.SentByThisLogin = info.IsFromMe
	return in
}

// membership reads a change of a group. One notification may say several things.
func (d *decoder) membership(evt *events.GroupInfo) []channels.Inbound {
	base := channels.Inbound{Address: d.group(evt.JID), Time: channels.UnixTime(evt.Timestamp.Unix()), Late: d.late, Title: channels.CleanName(d.names.group(evt.JID))}
	if evt.Sender != nil {
		base.Sender = d.actor(*evt.Sender, evt.SenderPN)
	}
	var list []channels.Inbound
	add := func(event channels.Event, people []types.JID) {
		if len(people) == 0 {
			return
		}
		in := base
		in.Event = event
		for _, jid := range people {
			p := d.person(d.canonical(jid, types.EmptyJID), "")
			if d.me.is(jid) {
				in.Self, p.ID = true, userID(d.me.pn)
			}
			in.People = append(in.People, p)
		}
		if in.Sender.ID == "" {
			in.Sender = in.People[0]
		}
		list = append(list, in)
	}
	add(channels.Joined, evt.Join)
	add(channels.Left, evt.Leave)
	if evt.Name != nil {
		in := base
		in.Event, in.Title = channels.Renamed, channels.CleanName(evt.Name.Name)
		if in.Sender.ID == "" && evt.Name.NameSetBy.User != "" {
			in.Sender = d.person(d.canonical(evt.Name.NameSetBy, evt.Name.NameSetByPN), "")
		}
		list = append(list, in)
	}
	for i := range list {
		list[i].ID = changeID(evt, &list[i])
	}
	return list
}

// joined is this account's coming into a group, as the notification came.
func (d *decoder) joined(evt *events.JoinedGroup, came arrival) channels.Inbound {
	in := channels.Inbound{
		Event: channels.Joined, Address: d.group(evt.JID), Title: channels.CleanName(evt.Name), Late: d.late, Self: true,
		Time: channels.UnixTime(came.at.Unix()), People: []channels.Sender{d.person(d.me.pn, "")}, Sender: d.person(d.me.pn, ""),
	}
	if evt.Sender != nil {
		in.Sender = d.actor(*evt.Sender, evt.SenderPN)
	}
	told := came.at
	if told.IsZero() {
		told = evt.GroupCreated
		in.Time = channels.UnixTime(told.Unix())
	}
	in.ID = eventID(string(in.Event), strconv.FormatInt(told.Unix(), 10), came.id)
	return in
}

func (d *decoder) actor(jid types.JID, pn *types.JID) channels.Sender {
	alt := types.EmptyJID
	if pn != nil {
		alt = *pn
	}
	if d.me.is(jid) {
		return d.person(d.me.pn, "")
	}
	return d.person(d.canonical(jid, alt), "")
}

// changeID names a part of a change of a group by what the notification says: what this account knows of the people or of the group
// may be something else when it comes again.
func changeID(evt *events.GroupInfo, in *channels.Inbound) channels.MessageID {
	parts := []string{string(in.Event), strconv.FormatInt(evt.Timestamp.Unix(), 10), evt.ParticipantVersionID}
	people := evt.Join
	switch in.Event {
	case channels.Renamed:
		parts, people = append(parts, in.Title), nil
	case channels.Left:
		people = evt.Leave
	default:
	}
	for _, jid := range people {
		parts = append(parts, plain(jid).String())
	}
	return eventID(parts...)
}

// eventID names an event that has no id of its own, the same each time that it comes.
func eventID(parts ...string) channels.MessageID {
	h := sha256.New()
	for _, s := range parts {
		h.Write([]byte(s + "\x00"))
	}
	return channels.MessageID("g-" + hex.EncodeToString(h.Sum(nil)[:9]))
}
