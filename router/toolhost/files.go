package toolhost

import (
	"context"
	"errors"
	"strings"

	"parley/channels"
	"parley/router/turn"
	"parley/sessions"
	"parley/tools"
)

// Attachment implements tools.Host.
func (h *Host) Attachment(ctx context.Context, with sessions.Message, m channels.Media, most int64) ([]byte, error) {
	from, ok := turn.Origin(&with)
	if !ok {
		return nil, errors.New("its origin is unknown")
	}
	return h.media.Get(ctx, from, m, most, h.gate.Fetcher)
}

// postedFiles copies the files of a post. When the policy lets nothing out as it stands, nothing is read: they are only named.
func (h *Host) postedFiles(ctx context.Context, files []tools.PostFile, allowed bool) (out []sessions.File, err error) {
	for _, f := range files {
		kept := sessions.File{Kind: channels.Document, Name: sessions.FileName(f.Name)}
		if allowed {
			if kept, err = h.outbox.Put(ctx, f.Name, f.Open); err != nil {
				return nil, err
			}
		}
		out = append(out, kept)
	}
	return out, nil
}

// postedText is what a transcript says of a post: its text, and the files that went with it.
func postedText(text string, files []sessions.File) string {
	for _, f := range files {
		text += "\n[posted file: " + f.String() + "]"
	}
	return strings.TrimSpace(text)
}
