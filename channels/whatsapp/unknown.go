package whatsapp

import (
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"go.mau.fi/whatsmeow/types"

	"parley/channels"
)

// A person whose number nobody knows is a chat by LID. When the number becomes known the chat has moved: the session goes on under
// the number. Which chats that may happen to is kept beside the keys.

const unknownFile = "unknown-numbers.json"

func (l *link) loadUnknown() error {
	l.unknown = map[string]bool{}
	raw, err := os.ReadFile(l.unknownPath())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var list []string
	if err == nil {
		err = json.Unmarshal(raw, &list)
	}
	for _, lid := range list {
		l.unknown[lid] = true
	}
	return err
}

func (l *link) unknownPath() string { return filepath.Join(filepath.Dir(l.c.keys), unknownFile) }

func (l *link) saveUnknown() {
	raw, err := json.Marshal(slices.Sorted(maps.Keys(l.unknown)))
	if err == nil {
		next := l.unknownPath() + ".new"
		if err = os.WriteFile(next, raw, 0o600); err == nil {
			err = os.Rename(next, l.unknownPath())
		}
	}
	if err != nil {
		l.c.log.WarnContext(l.offering, "which chats have no known number could not be noted", "err", err)
	}
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
	case in.Address.Chat == chat && !l.unknown[string(chat)]:
		l.unknown[string(chat)] = true
		l.saveUnknown()
	case in.Address.Chat != chat && l.unknown[string(chat)]:
		moved := channels.Inbound{Event: channels.Moved, Address: d.direct(lid), Sender: in.Sender, Time: in.Time, MovedTo: in.Address.Chat, Late: in.Late}
		moved.ID = channels.MessageID("moved-" + lid.User)
		return moved, true
	}
	return channels.Inbound{}, false
}

func (l *link) forgetUnknown(chat channels.ChatID) {
	delete(l.unknown, string(chat))
	l.saveUnknown()
}
