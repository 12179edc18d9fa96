package sessions

import (
	"testing"

	"parley/channels"
)

// The name in front of what is said in a group is the host's, and is left out; what people type themselves stays.
func TestSaid(t *testing.T) {
	t.Parallel()
	group, direct := channels.Address{Channel: "x", Chat: "1", Type: channels.Group}, channels.Address{Channel: "x", Chat: "1", Type: channels.Direct}
	for _, c := range []struct {
		p          *Provenance
		text, want string
	}{
		{&Provenance{Kind: ExternalUser, Name: "Gustav", Address: group}, "Gustav: what time is it?", "what time is it?"},
		{&Provenance{Kind: ExternalUser, Name: "Gustav", Address: group}, "> tea?\n\nGustav: Gustav: yes", "> tea?\n\nGustav: yes"},
		{&Provenance{Kind: ExternalUser, Sender: "47", Address: group}, "47: hi", "hi"},
		{&Provenance{Kind: ExternalUser, Name: "Gustav", Address: direct}, "Gustav: hi", "Gustav: hi"},
		{&Provenance{Kind: ExternalUser, Name: "owner", Tool: "api"}, "owner: hi", "hi"},
		{&Provenance{Kind: ExternalUser, Address: group}, ": hi", ": hi"},
		{&Provenance{Kind: InterSession, Name: "Gustav", Address: group}, "Gustav: hi", "Gustav: hi"},
		{nil, "Gustav: hi", "Gustav: hi"},
	} {
		if got := (Message{Role: User, Content: TextContent(c.text), Provenance: c.p}).Said(); got != c.want {
			t.Errorf("%q of %+v: %q, want %q", c.text, c.p, got, c.want)
		}
	}
}
