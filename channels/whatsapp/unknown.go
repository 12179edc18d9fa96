package whatsapp

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"go.mau.fi/whatsmeow/types"

	"parley/channels"
)

// A person whose number nobody knows is a chat by LID. When the number becomes known the chat has moved: the session goes on under
// the number. Which chats that may happen to is kept beside the keys.

const (
	unknownFile = "unknown-numbers.txt"
	mostUnknown = 4096
)

// strangers are the LIDs that were offered as chats, because nobody knew their numbers, oldest first. The file has a line for each one
// that came, and one with a minus sign for each one that is known now; it is written anew when most of its lines are of no use.
type strangers struct {
	path  string
	known map[string]time.Time // when it came
	lines int
}

// loadStrangers reads the file. What cannot be read is left out.
func loadStrangers(dir string) (*strangers, error) {
	s := &strangers{path: filepath.Join(dir, unknownFile), known: map[string]time.Time{}}
	raw, err := os.ReadFile(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	now := time.Now()
	for line := range strings.Lines(string(raw)) {
		lid, whole := strings.CutSuffix(line, "\n")
		if !whole { // the process died while it wrote it
			s.lines = 2 * mostUnknown
			break
		}
		s.lines++
		if gone, ok := strings.CutPrefix(lid, "-"); ok {
			delete(s.known, gone)
		} else {
			s.keep(lid, now.Add(time.Duration(s.lines)-time.Hour))
		}
	}
	return s, err
}

func (s *strangers) has(lid string) bool {
	_, ok := s.known[lid]
	return ok
}

// keep forgets the oldest ones when there are too many.
func (s *strangers) keep(lid string, at time.Time) {
	s.known[lid] = at
	if len(s.known) > mostUnknown {
		for _, old := range s.sorted()[:mostUnknown/4] {
			delete(s.known, old)
		}
	}
}

func (s *strangers) sorted() []string {
	list := make([]string, 0, len(s.known))
	for lid := range s.known {
		list = append(list, lid)
	}
	slices.SortFunc(list, func(a, b string) int { return s.known[a].Compare(s.known[b]) })
	return list
}

func (s *strangers) add(lid string) error {
	s.keep(lid, time.Now())
	return s.write(lid)
}

func (s *strangers) remove(lid string) error {
	delete(s.known, lid)
	return s.write("-" + lid)
}

// write adds a line.
func (s *strangers) write(line string) error {
	if s.lines >= 2*mostUnknown {
		return s.compact()
	}
	file, err := os.OpenFile(s.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	s.lines++
	_, err = file.WriteString(line + "\n")
	return errors.Join(err, file.Close())
}

func (s *strangers) compact() error {
	list := s.sorted()
	next := s.path + ".new"
	if err := os.WriteFile(next, []byte(strings.Join(append(list, ""), "\n")), 0o600); err != nil {
		return err
	}
	s.lines = len(list)
	return os.Rename(next, s.path)
}

// removeStrangers forgets all of them.
func removeStrangers(dir string) error {
	err := os.Remove(filepath.Join(dir, unknownFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// numberKnown gives the move of a chat that was offered by LID before. It also notes the chats to which that may happen.
func (l *link) numberKnown(d *decoder, info *types.MessageInfo, in channels.Inbound) (channels.Inbound, bool) {
	if in.Address.Type != channels.Direct || in.SentByThisLogin {
		return channels.Inbound{}, false
	}
	lid := types.EmptyJID
	for _, jid := range []types.JID{info.Chat, info.SenderAlt} {
		if jid = plain(jid); jid.Server == types.HiddenUserServer {
			lid = jid
		}
	}
	chat := channels.ChatID(lid.String())
	switch {
	case lid.IsEmpty():
	case in.Address.Chat == chat && !l.unknown.has(string(chat)):
		l.noted(l.unknown.add(string(chat)))
	case in.Address.Chat != chat && l.unknown.has(string(chat)):
		moved := channels.Inbound{Event: channels.Moved, Address: d.direct(lid), Sender: in.Sender, Time: in.Time, MovedTo: in.Address.Chat, Late: in.Late}
		moved.ID = channels.MessageID("moved-" + lid.User + "-" + info.ID) // it may move again after another login
		return moved, true
	}
	return channels.Inbound{}, false
}

func (l *link) noted(err error) {
	if err != nil {
		l.c.log.WarnContext(l.offering, "cannot store WhatsApp chats without a number", "err", err)
	}
}
