package whatsapp

import (
	"errors"
	"regexp"
	"strings"

	"go.mau.fi/whatsmeow/types"

	"parley/channels"
)

var (
	errPerson = errors.New("use a phone number with its country code such as +4915123456789, or an id that ends in @lid; send /whoami to the bot to see yours")
	errName   = errors.New("WhatsApp has no @names; use a phone number with its country code such as +4915123456789")
	errGroup  = errors.New("use a group id that ends in @g.us; send /whoami in the group to see it")
)

// wholeNumber is a phone number with its country code. https://www.itu.int/rec/T-REC-E.164
var wholeNumber = regexp.MustCompile(`^[1-9][0-9]{6,14}$`)

var (
	lidUser   = regexp.MustCompile(`^[1-9][0-9]*$`)
	groupUser = regexp.MustCompile(`^[1-9][0-9]*(-[0-9]+)?$`)
)

// Person reads how people write who a person is, a number with or without + and spaces or one of the two addresses, and gives what
// messages say.
func Person(text string) (channels.UserID, error) {
	user, server, has := strings.Cut(strings.TrimSpace(text), "@")
	if has && user == "" {
		return "", errName
	}
	if has {
		jid, err := types.ParseJID(user + "@" + server)
		if err != nil {
			return "", errPerson
		}
		jid = plain(jid)
		if jid.Server == types.HiddenUserServer && lidUser.MatchString(jid.User) ||
			jid.Server == types.DefaultUserServer && wholeNumber.MatchString(jid.User) {
			return userID(jid), nil
		}
		return "", errPerson
	}
	digits := strings.NewReplacer(" ", "", "-", "", ".", "", "/", "", "(", "", ")", "", "\u00a0", "").Replace(user)
	if rest, ok := strings.CutPrefix(digits, "+"); ok {
		digits = rest
	} else {
		digits = strings.TrimPrefix(digits, "00")
	}
	if !wholeNumber.MatchString(digits) {
		return "", errPerson
	}
	return channels.UserID("+" + digits), nil
}

// Chat reads the id of a group.
func Chat(text string) (channels.ChatID, error) {
	user, server, _ := strings.Cut(strings.TrimSpace(text), "@")
	if server != types.GroupServer || !groupUser.MatchString(user) {
		return "", errGroup
	}
	return channels.ChatID(user + "@" + server), nil
}
