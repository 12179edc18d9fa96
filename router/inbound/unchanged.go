package inbound

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"parley/channels"
	"parley/router/turn"
	"parley/sessions"
)

// reasonUnchanged is why an edit counts for nothing that leaves text, caption and files as they were: platforms send one for a reaction, a link
// preview or the press of a button.
const reasonUnchanged = "the visible text has not changed"

// digest is what a message says, as a hash; "" of an event that says nothing. A file counts by what people see of it: platforms name the
// same file in several ways.
func digest(in channels.Inbound) string {
	if in.Event != channels.Message && in.Event != channels.Edited {
		return ""
	}
	h := sha256.New()
	_, _ = fmt.Fprintf(h, "%q", strings.TrimSuffix(cmp.Or(in.Lasting, in.Text), in.Preview)) // a hash takes everything
	for _, m := range in.Media {
		_, _ = fmt.Fprintf(h, " %s", fileMark(m))
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// fileMark tells files of messages apart: by the platform's name for the bytes, else by what people see of them.
func fileMark(m channels.Media) string {
	switch {
	case m.ID != "":
		return fmt.Sprintf("%s %q %q", m.Kind, m.Name, m.ID)
	case m.Size == 0:
		return fmt.Sprintf("%s %q 0 %q", m.Kind, m.Name, m.Ref)
	}
	return fmt.Sprintf("%s %q %d", m.Kind, m.Name, m.Size)
}

// sameFiles reports whether a message that came with files still has the same.
func sameFiles(was sessions.Message, now []channels.Media) bool {
	return slices.EqualFunc(ownFiles(was), turn.MediaBlocks(now), func(a channels.Media, b sessions.Block) bool { return fileMark(a) == fileMark(*b.Media) })
}

// ownFiles gives the files that came with a message itself, not with one that it quotes or was sent with.
func ownFiles(m sessions.Message) (own []channels.Media) {
	for _, b := range m.Content {
		if b.Media != nil && !b.Media.Other {
			own = append(own, *b.Media)
		}
	}
	return own
}
