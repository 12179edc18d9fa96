package whatsapp

import (
	"strconv"
	"strings"

	"go.mau.fi/whatsmeow/types"

	"parley/channels"
)

// WhatsApp has two addresses for a person: the phone number (…@s.whatsapp.net) and a number that hides it (…@lid). A stanza may use
// either, and says the other one or not. Here a person is the phone number as soon as anything knows it.

// names knows the people of an account; whatsmeow's stores are behind it.
type names interface {
	number(lid types.JID) types.JID // the phone-number JID behind a LID; empty = not known
	person(jid types.JID) string    // display name; empty = not known
	group(jid types.JID) string     // title; empty = not known
}

// identity is the account, both addresses without the device, and which of its devices this is.
type identity struct {
	pn, lid types.JID
	device  uint16
}

func (me identity) is(jid types.JID) bool {
	jid = plain(jid)
	return jid.User != "" && (jid == me.pn || jid == me.lid)
}

// plain leaves out which device a JID is about, and the names that servers have for the same kind of address.
func plain(jid types.JID) types.JID {
	jid = jid.ToNonAD()
	switch jid.Server {
	case types.HostedServer, types.LegacyUserServer:
		jid.Server = types.DefaultUserServer
	case types.HostedLIDServer:
		jid.Server = types.HiddenUserServer
	}
	return jid
}

// canonical is the one address of a person: the phone number, from the other address that the stanza names or from what is known,
// else the LID. Other JIDs stay.
func (d *decoder) canonical(jid, alt types.JID) types.JID {
	jid, alt = plain(jid), plain(alt)
	if jid.Server != types.HiddenUserServer {
		return jid
	}
	if jid == d.me.lid {
		return d.me.pn
	}
	if alt.Server == types.DefaultUserServer && alt.User != "" {
		return alt
	}
	if pn := plain(d.names.number(jid)); pn.Server == types.DefaultUserServer && pn.User != "" {
		return pn
	}
	return jid
}

// userID is how allow lists name a person: +4915… by number, else the LID.
func userID(jid types.JID) channels.UserID {
	if jid.Server == types.DefaultUserServer && isNumber(jid.User) {
		return channels.UserID("+" + jid.User)
	}
	return channels.UserID(jid.User + "@" + jid.Server)
}

func isNumber(s string) bool {
	_, err := strconv.ParseUint(s, 10, 64)
	return err == nil
}

// chatJID reads the chat of an address.
func chatJID(to channels.Address) (types.JID, bool) {
	jid, err := types.ParseJID(string(to.Chat))
	switch {
	case err != nil, jid.User == "", jid.Device != 0, !strings.Contains(string(to.Chat), "@"):
		return types.JID{}, false
	case to.Type == channels.Direct:
		return jid, jid.Server == types.DefaultUserServer || jid.Server == types.HiddenUserServer
	}
	return jid, jid.Server == types.GroupServer
}
