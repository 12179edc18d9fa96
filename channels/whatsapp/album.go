package whatsapp

import (
	"cmp"
	"slices"
	"strings"
	"time"

	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"parley/channels"
)

// What a person sends as one gesture comes as several messages: the pictures of an album, a picture and its larger twin. They are gathered
// and offered as one. Until that was taken none of them is acknowledged: after a kill the server sends them all again.

// gather is the wait for further parts of an album; the other waits are in proportion.
const (
	gatherQuiet = 5 * time.Second // no part for so long: one that was announced does not come
	maxParts    = 100             // the apps stop at 30 or 100
)

// gatherer has what a person sends as one gesture offered as one message. The turn of its link guards it.
type gatherer struct {
	*link

	gestures []*gathered
}

// gathered is what has come of one gesture.
type gathered struct {
	key   gesture
	quote *channels.Quote // of the album's head
	want  int             // parts that the head announces; 0 = not known
	album bool
	heads []unacknowledged // the stanzas of the album's head
	parts []gesturePart
	first time.Time
	grew  time.Time
	timer *time.Timer
}

// gesture names one: its sender, and the message that its parts belong to.
type gesture struct {
	chat   channels.ChatID
	sender channels.UserID
	parent types.MessageID
}

// gesturePart is a message of a gesture.
type gesturePart struct {
	in    channels.Inbound
	evt   *events.Message
	twin  bool // its larger twin is still to come
	stays []unacknowledged
}

// unacknowledged is a stanza that the server has to hear of.
type unacknowledged struct {
	info types.MessageInfo
	hash [32]byte
}

// gather takes a message that belongs to others. done: the message was dealt with, and taken says whether the library may acknowledge it.
// It is called under the turn.
func (r *gatherer) gather(d *decoder, evt *events.Message, in *channels.Inbound, read bool) (done, taken bool) {
	msg := unwrap(evt.Message)
	if head := msg.GetAlbumMessage(); head != nil && d.wanted(&evt.Info) {
		return true, r.announced(d, evt, head)
	}
	if !read || in.Event != channels.Message || len(in.Media) == 0 || evt.UnavailableRequestID != "" || isHosted(evt.Info.Sender) {
		return false, false
	}
	parent := association(evt.Message).GetParentMessageKey().GetID()
	twin := awaitsTwin(msg)
	switch kind := association(evt.Message).GetAssociationType(); {
	case kind == waE2E.MessageAssociation_MOTION_PHOTO && parent != "", kind == waE2E.MessageAssociation_HEVC_VIDEO_DUAL_UPLOAD && parent != "":
		return true, true // the picture, or the same film in another code, is there already
	case (kind == waE2E.MessageAssociation_HD_IMAGE_DUAL_UPLOAD || kind == waE2E.MessageAssociation_HD_VIDEO_DUAL_UPLOAD) && parent != "":
		if g, p := r.pendingPart(in.Address.Chat, in.Sender.ID, parent); p != nil {
			p.replace(in, r.stanza(evt))
			return true, r.proceed(g, evt)
		}
		if _, taken := r.c.recent.get(parent); taken {
			return true, true
		}
		in.ID = channels.MessageID(parent) // after a restart: a duplicate of the message that was taken, unless that one never came
		return false, false
	case kind == waE2E.MessageAssociation_MEDIA_ALBUM && parent != "":
		g := r.gesture(gesture{in.Address.Chat, in.Sender.ID, parent})
		g.album = true
		g.add(in, evt, twin, r.stanza(evt))
		return true, r.proceed(g, evt)
	case twin:
		g := r.gesture(gesture{in.Address.Chat, in.Sender.ID, evt.Info.ID})
		g.add(in, evt, true, r.stanza(evt))
		return true, r.proceed(g, evt)
	}
	return false, false
}

// isHosted: the library has changed the address of such a device, so that its messages cannot be acknowledged later.
func isHosted(j types.JID) bool {
	const device = 99
	return j.Device == device
}

// awaitsTwin reports whether a picture or a film says that a better one follows.
func awaitsTwin(msg *waE2E.Message) bool {
	for _, c := range []*waE2E.ContextInfo{msg.GetImageMessage().GetContextInfo(), msg.GetVideoMessage().GetContextInfo()} {
		if k := c.GetPairedMediaType(); k == waE2E.ContextInfo_SD_IMAGE_PARENT || k == waE2E.ContextInfo_SD_VIDEO_PARENT {
			return true
		}
	}
	return false
}

// announced takes the head of an album, which says how many parts there will be and what the album answers. It stays with the server until
// they were taken, as they do.
func (r *gatherer) announced(d *decoder, evt *events.Message, head *waE2E.AlbumMessage) (taken bool) {
	in := d.head(&evt.Info)
	if c := head.GetContextInfo(); c != nil {
		d.quote(&in, c)
	}
	g := r.gesture(gesture{in.Address.Chat, in.Sender.ID, evt.Info.ID})
	g.album, g.quote = true, in.Quote
	g.want = min(int(head.GetExpectedImageCount())+int(head.GetExpectedVideoCount()), maxParts)
	if evt.UnavailableRequestID != "" || isHosted(evt.Info.Sender) {
		r.await(g)
		return true // it cannot be acknowledged later
	}
	g.heads = append(g.heads, r.stanza(evt))
	return r.proceed(g, evt)
}

// gesture gives the one that a part belongs to, and begins it.
func (r *gatherer) gesture(key gesture) *gathered {
	for _, g := range r.gestures {
		if g.key == key {
			return g
		}
	}
	g := &gathered{key: key, first: time.Now(), grew: time.Now()}
	r.gestures = append(r.gestures, g)
	return g
}

// pendingPart finds a message that waits for others.
func (r *gatherer) pendingPart(chat channels.ChatID, sender channels.UserID, id types.MessageID) (*gathered, *gesturePart) {
	for _, g := range r.gestures {
		for i := range g.parts {
			if p := &g.parts[i]; g.key.chat == chat && g.key.sender == sender && p.evt.Info.ID == id {
				return g, p
			}
		}
	}
	return nil, nil
}

// stanza notes what it takes to acknowledge a message later.
func (r *gatherer) stanza(evt *events.Message) unacknowledged {
	return unacknowledged{info: evt.Info, hash: r.keys.trouble.newest()}
}

func (g *gathered) add(in *channels.Inbound, evt *events.Message, twin bool, s unacknowledged) {
	g.grew = time.Now()
	if i := slices.IndexFunc(g.parts, func(p gesturePart) bool { return p.in.ID == in.ID }); i >= 0 { // it came twice
		g.parts[i].stays = append(g.parts[i].stays, s)
		return
	}
	g.parts = append(g.parts, gesturePart{in: *in, evt: evt, twin: twin, stays: []unacknowledged{s}})
}

// replace takes the file of a larger twin.
func (p *gesturePart) replace(in *channels.Inbound, s unacknowledged) {
	p.in.Media, p.twin, p.stays = in.Media, false, append(p.stays, s)
	p.in.Text, p.in.Addressed = cmp.Or(p.in.Text, in.Text), cmp.Or(p.in.Addressed, in.Addressed)
}

// due says how long to wait for more; 0 = it is whole.
func (g *gathered) due(quiet time.Duration) time.Duration {
	twins := slices.ContainsFunc(g.parts, func(p gesturePart) bool { return p.twin })
	missing := g.album && (len(g.parts) == 0 || len(g.parts) < g.want || g.want == 0)
	wait := quiet
	switch {
	case !missing && !twins, len(g.parts) >= maxParts:
		return 0
	case g.want == 0 && !twins:
		wait = quiet * 3 / 10
	case !missing:
		wait = quiet * 6 / 10
	}
	const longest = 4 // times the wait for one part
	return max(min(time.Until(g.grew.Add(wait)), time.Until(g.first.Add(longest*quiet))), 0)
}

// proceed offers what is whole, and waits for the rest otherwise. It gives what the library is to do with the stanza that came.
func (r *gatherer) proceed(g *gathered, evt *events.Message) bool {
	if g.due(r.c.pace.gather) == 0 {
		return r.deliver(g, evt.Info.ID)
	}
	r.await(g)
	return false
}

// await has a gesture offered as it is when nothing more comes.
func (r *gatherer) await(g *gathered) {
	if g.timer != nil {
		g.timer.Stop()
	}
	g.timer = time.AfterFunc(g.due(r.c.pace.gather), func() {
		if !r.take() {
			return
		}
		defer r.give()
		switch {
		case !slices.Contains(r.gestures, g):
		case g.due(r.c.pace.gather) > 0:
			r.await(g)
		default:
			r.deliver(g, "")
		}
	})
}

// deliver offers a gesture as one message and acknowledges its stanzas, but for the one that the library is at.
func (r *gatherer) deliver(g *gathered, current types.MessageID) bool {
	r.gestures = slices.DeleteFunc(r.gestures, func(other *gathered) bool { return other == g })
	if g.timer != nil {
		g.timer.Stop()
	}
	if len(g.parts) == 0 { // none has come: there is nothing to lose
		r.acknowledgeAll(g.heads, current)
		return true
	}
	in, whole := g.join()
	for i := range g.parts {
		r.remember(g.parts[i].evt, g.parts[i].in)
	}
	if g.album {
		r.c.recent.album(g.key.parent, whole, in)
	}
	last := g.parts[len(g.parts)-1].evt
	if !r.offerMessage(r.decoder(last.Info.Timestamp), last, "gesture "+g.key.parent, in) {
		return false
	}
	r.acknowledgeAll(g.heads, current)
	for _, p := range g.parts {
		r.acknowledgeAll(p.stays, current)
	}
	return true
}

// acknowledgeAll acknowledges stanzas, but for the one that the library is at.
func (r *gatherer) acknowledgeAll(list []unacknowledged, current types.MessageID) {
	for _, s := range list {
		if s.info.ID != current {
			r.acknowledge(s)
		}
	}
}

// earlier offers what a sender's gestures have so far, before something else that they say. false: it was not taken.
func (r *gatherer) earlier(in channels.Inbound) bool {
	for _, g := range slices.Clone(r.gestures) {
		if g.key.chat == in.Address.Chat && g.key.sender == in.Sender.ID && len(g.parts) > 0 && !r.deliver(g, "") {
			return false
		}
	}
	return true
}

// forgetGestures is for a new connection, on which everything comes again.
func (r *gatherer) forgetGestures() {
	for _, g := range r.gestures {
		if g.timer != nil {
			g.timer.Stop()
		}
	}
	r.gestures = nil
}

// acknowledge tells the server of a stanza that was held back, as the library does of others.
func (r *gatherer) acknowledge(s unacknowledged) {
	if err := r.keys.device.EventBuffer.ClearBufferedEventPlaintext(r.offering, s.hash); err != nil {
		r.c.log.WarnContext(r.offering, "WhatsApp message text not cleared", "id", s.info.ID, "err", err)
	}
	a := waBinary.Attrs{"from": s.info.Sender}
	switch {
	case s.info.IsGroup:
		a = waBinary.Attrs{"from": s.info.Chat, "participant": s.info.Sender}
	case s.info.IsFromMe:
		a["recipient"] = s.info.Chat
	}
	r.cli.DangerousInternals().SendMessageReceipt(r.offering, &s.info, &waBinary.Node{Tag: "message", Attrs: a}) //nolint:staticcheck // the library has no other way to do it late
}

// join makes one message of the parts. Its id is that of the last one: were it that of the first, an album that was taken in part before a
// crash, and comes again with more parts, would be a duplicate.
func (g *gathered) join() (channels.Inbound, *wholeAlbum) {
	in := g.parts[0].in
	whole := &wholeAlbum{id: g.parts[len(g.parts)-1].in.ID}
	in.ID, in.Quote = whole.id, cmp.Or(in.Quote, g.quote)
	for i := range g.parts {
		p := &g.parts[i].in
		whole.parts, whole.texts, whole.files = append(whole.parts, p.ID), append(whole.texts, p.Text), append(whole.files, p.Media)
		if i == 0 {
			continue
		}
		in.Media = append(slices.Clip(in.Media), p.Media...)
		in.Quote, in.Addressed = cmp.Or(in.Quote, p.Quote), cmp.Or(in.Addressed, p.Addressed)
		in.Mentioned, in.MentionsOthers = in.Mentioned || p.Mentioned, in.MentionsOthers || p.MentionsOthers
		in.Forwarded = in.Forwarded && p.Forwarded
	}
	if captions := whole.captions(); len(captions) > 1 {
		in.Addressed = "" // it would hide the other captions
	}
	in.Text = strings.Join(whole.captions(), "\n")
	return in, whole
}

// wholeAlbum is an album as it was offered.
type wholeAlbum struct {
	id    channels.MessageID   // of the event
	parts []channels.MessageID // and what each says
	texts []string
	files [][]channels.Media
	gone  map[int]bool // parts that were deleted
}

func (a *wholeAlbum) captions() []string {
	return slices.DeleteFunc(slices.Clone(a.texts), func(s string) bool { return s == "" })
}

// change has an event about a part be about the whole album, which is what its reader can find. It is called under the turn.
func (a *wholeAlbum) change(in *channels.Inbound) {
	i := slices.Index(a.parts, in.Target)
	if i < 0 || len(a.parts) < 2 {
		return
	}
	switch in.Event {
	case channels.Edited:
		a.texts[i] = in.Text
	case channels.Deleted:
		if a.gone == nil {
			a.gone = make(map[int]bool)
		}
		if a.gone[i] = true; len(a.gone) < len(a.parts) {
			in.Event, a.texts[i], a.files[i] = channels.Edited, channels.HostLine("one file of this album was deleted"), nil
		}
	default:
		return
	}
	in.Target = a.id
	if in.Event == channels.Edited {
		in.Media, in.SameFiles = slices.Concat(a.files...), false
		if text := strings.Join(a.captions(), "\n"); text != in.Text {
			in.Text, in.Addressed = text, ""
		}
	}
}
