package discord

import (
	"encoding/json"
	"errors"
	"strings"

	"parley/channels"
)

// The kinds of an interaction and of its command.
const (
	kindCommand = 2
	kindTyped   = 1 // not chosen from a menu of a message or user
)

// command is a command as a message: its text is what somebody would have typed.
func (d decoder) command(e event) (channels.Inbound, error) {
	var w wireInteraction
	if err := json.Unmarshal(e.data, &w); err != nil {
		return channels.Inbound{}, errors.New("unreadable interaction")
	}
	if w.Type != kindCommand || w.Data.Type != 0 && w.Data.Type != kindTyped {
		return channels.Inbound{}, errIgnored
	}
	var kind *int
	if w.Channel != nil {
		kind = w.Channel.Type
	}
	in, err := d.at(w.ChannelID, w.GuildID, kind)
	if err != nil {
		return in, err
	}
	if kind != nil && isThread(*kind) && in.Parent == "" {
		in.Parent = channels.ChatID(w.Channel.ParentID)
	}
	u := w.User
	if w.Member != nil && w.Member.User != nil {
		u = w.Member.User
	}
	if u == nil || !isID(u.ID) || !isID(w.ID) || w.Data.Name == "" {
		return in, errors.New("a command without a name or a user")
	}
	d.person(&in, *u, w.Member)
	in.Event, in.ID, in.Time, in.Mentioned = channels.Message, channels.MessageID(w.ID), idTime(w.ID), true
	in.Text = channels.CleanText(strings.TrimSpace("/" + w.Data.Name + " " + strings.Join(values(w.Data.Options), " ")))
	return in, nil
}

// values are what somebody filled in, in order; names of sub-commands count as words.
func values(options []wireOption) []string {
	var list []string
	for _, o := range options {
		var text string
		switch {
		case len(o.Value) == 0:
			list = append(append(list, o.Name), values(o.Options)...)
		case json.Unmarshal(o.Value, &text) == nil:
			list = append(list, strings.TrimSpace(text))
		default:
			list = append(list, string(o.Value))
		}
	}
	return list
}
