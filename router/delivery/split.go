package delivery

import (
	"cmp"
	"strconv"
	"strings"

	"parley/channels"
	"parley/sessions"
)

// splitter cuts a delivery into the parts that its channel can send, once, when the first part is due.
type splitter struct {
	made  bool
	parts []deliveryPart
}

// deliveryPart is one message of a delivery.
type deliveryPart struct {
	channels.Part
	files []sessions.File
	text  string // what Part is made of; only of one with files
}

// next is the next part of a delivery; ok is false when there is none.
func (s *splitter) next(d sessions.Delivery, l channels.Limits) (p deliveryPart, last, ok bool) {
	if !s.made { // once: limits that change between two parts must not change where the text is cut
		s.parts, s.made = splitDelivery(d, l), true
	}
	if d.Part >= len(s.parts) {
		return p, false, false
	}
	return s.parts[d.Part], d.Part+1 == len(s.parts), true
}

// outbound is a part of a delivery as it is sent.
func (s *sender) outbound(d sessions.Delivery, p deliveryPart) channels.Outbound {
	out := channels.Outbound{Key: string(d.ID) + "." + strconv.Itoa(d.Part), To: d.To, Text: p.Text, Plain: p.Plain, Since: d.Created}
	if d.Part == 0 {
		out.ReplyTo = d.ReplyTo
	}
	for _, f := range p.files {
		out.Files = append(out.Files, s.outbox.Outbound(f))
	}
	return out
}

// splitDelivery cuts a delivery into messages: its text, then its files. A text that is short enough goes with the first files; a file that
// cannot be sent there is named in the text.
func splitDelivery(d sessions.Delivery, l channels.Limits) (out []deliveryPart) {
	text := d.Text
	var files []sessions.File
	for _, f := range d.Files {
		if why := unsendable(f, l); why != "" {
			text += "\n\n" + channels.FileNote(cmp.Or(f.Name, f.String()), why)
			continue
		}
		files = append(files, f)
	}
	text = strings.TrimLeft(text, "\n")
	groups := albums(files, l)
	if len(groups) > 0 && l.Caption >= channels.MinText {
		if caption := channels.Split(text, captions(l)); len(caption) == 1 {
			groups[0].Part, groups[0].text, text = caption[0], text, ""
		}
	}
	for _, p := range channels.Split(text, l) {
		out = append(out, deliveryPart{Part: p})
	}
	return append(out, groups...)
}

// captions are the limits of a text that goes with files.
func captions(l channels.Limits) channels.Limits {
	if l.Text == 0 || l.Caption < l.Text {
		l.Text = l.Caption
	}
	return l
}

// dropMissingFiles gives a part without the files that are no longer in the outbox: its text names them.
func (s *sender) dropMissingFiles(d sessions.Delivery, p deliveryPart, l channels.Limits) deliveryPart {
	text := p.text
	var left []sessions.File
	for _, f := range p.files {
		why := s.outbox.Check(f)
		if why == "" {
			left = append(left, f)
			continue
		}
		s.log.Warn("file not sent", keyDelivery, d.ID, keyAddress, d.To.String(), keyReason, why)
		text += "\n\n" + channels.FileNote(cmp.Or(f.Name, f.String()), "is no longer available")
	}
	if len(left) == len(p.files) {
		return p
	}
	if p.files = left; len(left) > 0 {
		if l.Caption < channels.MinText {
			return p
		}
		l = captions(l)
	}
	if parts := channels.Split(strings.TrimLeft(text, "\n"), l); len(parts) == 1 { // else it says what it would have
		p.Part = parts[0]
	}
	return p
}

// unsendable returns why a file cannot be sent under these limits; "" = it can.
func unsendable(f sessions.File, l channels.Limits) string {
	switch {
	case l.Files <= 0:
		return channels.NotSendable
	case l.FileBytes > 0 && f.Size > l.FileBytes:
		return "is too large for this chat"
	}
	return ""
}

// albums groups files into messages: neighbours that platforms show together, as many and as large as these limits allow.
func albums(files []sessions.File, l channels.Limits) (out []deliveryPart) {
	var size int64 // of the last group
	for _, f := range files {
		n := len(out)
		if n > 0 && len(out[n-1].files) < l.Files && albumKind(out[n-1].files[0].Kind) == albumKind(f.Kind) &&
			(l.FilesBytes == 0 || size+f.Size <= l.FilesBytes) {
			out[n-1].files = append(out[n-1].files, f)
			size += f.Size
			continue
		}
		out = append(out, deliveryPart{files: []sessions.File{f}})
		size = f.Size
	}
	return out
}

// albumKind gives what goes together with a kind.
func albumKind(k channels.MediaKind) channels.MediaKind {
	switch k {
	case channels.Video:
		return channels.Image
	case channels.Image, channels.Audio, channels.Document:
		return k
	case channels.Sticker:
	}
	return channels.Document
}
