package telegram

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"parley/channels"
)

const (
	albumQuiet = time.Second            // no further part for so long: the album is whole
	albumBound = 5 * time.Second        // an album is not waited for longer
	albumLook  = 100 * time.Millisecond // between looks for more, and so what other chats wait
	albumMost  = 10                     // parts that an album has at most
)

// albumKey names an album: Telegram sends its parts as messages of their own that share a sender and a group id.
type albumKey struct {
	chat   channels.ChatID
	sender channels.UserID
	group  string
}

// albumSeen is when parts of an album came that is not offered yet.
type albumSeen struct {
	first, grew time.Time
	parts       int
}

// collect makes one event of the parts of each album in a batch. The last album of a chat may not be whole: then it is held, and
// with it the offset, so that the server gives it again with what has come since. It says how long to wait for that; 0 = nothing is
// held. Nothing is lost when an album comes apart, also over a restart: see join.
func (p *poller) collect(items []item, now time.Time) (wait time.Duration) {
	heads := map[albumKey]*item{}
	last := map[channels.ChatID]*item{} // the head of the album that a chat's events end with
	for i := range items {
		it := &items[i]
		chat := it.in.Address.Chat
		if it.album == "" || it.in.Event != channels.Message || p.done[it.id] {
			delete(last, chat)
			continue
		}
		key := albumKey{chat, it.in.Sender.ID, it.album}
		if head := heads[key]; head != nil {
			head.rest, it.part = append(head.rest, it), true
			last[chat] = head
			continue
		}
		heads[key], last[chat] = it, it
	}
	seen := map[albumKey]albumSeen{}
	var whole []*item
	for key, head := range heads {
		if last[key.chat] == head && 1+len(head.rest) < albumMost {
			s, left := p.albums[key].look(1+len(head.rest), now)
			if left > 0 {
				seen[key], head.held = s, true
				for _, part := range head.rest {
					part.held = true
				}
				holdGesture(items, head)
				if wait == 0 || left < wait {
					wait = left
				}
				continue
			}
		}
		whole = append(whole, head)
	}
	cursor := position(items)
	for _, head := range whole {
		more := head.split(p.newest)
		p.c.whole.add(head.join())
		head.in.Cursor = cursor
		if more != nil {
			p.c.whole.add(more.join())
			more.continues(head)
			more.in.Cursor = cursor
		}
	}
	for i := range items {
		p.c.whole.edit(&items[i])
	}
	p.albums = seen
	return wait
}

// look notes how many parts there are, and gives how long to wait for more.
func (s albumSeen) look(parts int, now time.Time) (albumSeen, time.Duration) {
	if s.parts == 0 {
		s.first = now
	}
	if parts > s.parts {
		s.parts, s.grew = parts, now
	}
	return s, min(s.grew.Add(albumQuiet).Sub(now), s.first.Add(albumBound).Sub(now))
}

// position is where the updates end that are offered now. Every album of a batch has it, whichever event is committed last: an update behind
// it was in no album that the process before has offered.
func position(items []item) string {
	last := int64(0)
	for i := range items {
		if !items[i].held {
			last = max(last, items[i].id)
		}
	}
	if last == 0 {
		return ""
	}
	return strconv.FormatInt(last, 10)
}

// split takes the parts off an album that came behind what the process before had committed, and gives them; nil = all came before it, or none.
func (it *item) split(committed int64) (more *item) {
	i := slices.IndexFunc(it.rest, func(part *item) bool { return part.id > committed })
	if it.id > committed || i < 0 {
		return nil
	}
	more = it.rest[i]
	more.rest, more.part = it.rest[i+1:], false
	it.rest = it.rest[:i]
	return more
}

// continues has an event say that it belongs to the album whose first parts were taken before a restart, without showing those again.
func (it *item) continues(first *item) {
	q := &channels.Quote{ID: first.in.ID, Sender: first.in.Sender.Name, Text: first.in.Text, Media: slices.Clone(first.in.Media)}
	for i := range q.Media {
		q.Media[i].Ref = "" // it is named only
	}
	it.in.Quote = q
	it.in.Mentioned = it.in.Mentioned || first.in.Mentioned
	it.in.MentionsOthers = it.in.MentionsOthers || first.in.MentionsOthers
}

// join makes the event of a whole album. Its id is that of the last message: were it that of the first, an album that was taken in
// part before a crash and comes again with more parts would be a duplicate, and the new parts would be lost. The parts that came before
// have the id again that they had, and are no news to the store; the new ones are an event of their own (see split).
func (it *item) join() *wholeAlbum {
	whole := &wholeAlbum{chat: it.in.Address.Chat, parts: []albumPart{{it.in.ID, it.in.Text, it.in.Media}}}
	for _, part := range it.rest {
		in := &part.in
		whole.parts = append(whole.parts, albumPart{in.ID, in.Text, in.Media})
		it.in.ID = in.ID
		if it.in.Quote == nil {
			it.in.Quote = in.Quote
		}
		if it.in.Addressed == "" {
			it.in.Addressed = in.Addressed
		}
		it.in.Mentioned = it.in.Mentioned || in.Mentioned
		it.in.MentionsOthers = it.in.MentionsOthers || in.MentionsOthers
	}
	whole.id = it.in.ID
	whole.words(&it.in)
	return whole
}

// albumsKept is how many albums are remembered, so that edits of their parts find them.
const albumsKept = 256

// wholeAlbum is an album as it was offered, with what was changed since.
type wholeAlbum struct {
	chat  channels.ChatID
	id    channels.MessageID // of the event
	parts []albumPart
}

// albumPart is a message of an album, and what it says.
type albumPart struct {
	id    channels.MessageID
	text  string
	files []channels.Media
}

// words gives an event of a part what the whole album says.
func (a *wholeAlbum) words(in *channels.Inbound) {
	var captions []string
	in.Media = nil
	for _, p := range a.parts {
		if in.Media = append(in.Media, p.files...); p.text != "" {
			captions = append(captions, p.text)
		}
	}
	if whole := strings.Join(captions, "\n"); whole != in.Text {
		if in.Text = whole; len(captions) > 1 || in.Event == channels.Edited {
			in.Addressed = "" // it would hide the other captions
		}
	}
}

// wholeAlbums are the newest ones.
type wholeAlbums []*wholeAlbum

func (w *wholeAlbums) add(a *wholeAlbum) {
	*w = append(*w, a)
	if n := len(*w) - albumsKept; n > 0 {
		*w = slices.Delete(*w, 0, n)
	}
}

// edit has an event about a changed part be about the whole album: that is what was offered, and what its reader can find. The other parts
// say and bring what they did. Of an album that was offered before a restart, or long ago, the other parts are not known: their files stay,
// and a part without a caption says nothing about the album's.
func (w wholeAlbums) edit(it *item) {
	in := &it.in
	if in.Event != channels.Edited {
		return
	}
	for _, a := range slices.Backward(w) {
		i := slices.IndexFunc(a.parts, func(p albumPart) bool { return p.id == in.Target })
		if a.chat != in.Address.Chat || i < 0 {
			continue
		}
		a.parts[i].text, a.parts[i].files, in.Target = in.Text, in.Media, a.id
		a.words(in)
		return
	}
	if it.album == "" || it.skip != "" {
		return
	}
	if in.SameFiles = true; in.Text == "" {
		it.skip = "change of an unknown album"
	}
}
