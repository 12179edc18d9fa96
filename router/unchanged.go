package router

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"parley/channels"
)

// unchanged is why an edit counts for nothing that leaves text, caption and files as they were: platforms send one for a reaction, a link
// preview or the press of a button.
const unchanged = "nothing that anybody reads has changed"

// digest is what a message says, as a hash; "" of an event that says nothing. A file counts by what people see of it: platforms name the
// same file in several ways.
func digest(in channels.Inbound) string {
	if in.Event != channels.Message && in.Event != channels.Edited {
		return ""
	}
	h := sha256.New()
	_, _ = fmt.Fprintf(h, "%q", in.Text) // a hash takes everything
	for _, m := range in.Media {
		ref := ""
		if m.Size == 0 {
			ref = m.Ref
		}
		_, _ = fmt.Fprintf(h, " %s %q %d %q", m.Kind, m.Name, m.Size, ref)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}
