package telegram

import (
	"errors"
	"strconv"
	"strings"

	"parley/channels"
)

var (
	errPerson = errors.New("use a numeric id such as 1001, or @name, not a phone number; send /whoami to the bot to see yours")
	errGroup  = errors.New("use a negative numeric id such as -1001234567890; send /whoami in the group to see it")
)

// Bot returns the id of the bot, with which its token begins. "" = the token is none.
// source: core.telegram.org/bots/features#generating-an-authentication-token
func (c *Config) Bot() channels.UserID {
	id, _, _ := strings.Cut(c.Token.Reveal(), ":")
	if n, ok := whole(id); ok {
		return userID(n)
	}
	return ""
}

// Person reads how people write who a user is: an id or @name.
func Person(text string) (channels.UserID, error) {
	text = strings.TrimSpace(text)
	if name, ok := strings.CutPrefix(text, "@"); ok && name != "" && !strings.ContainsAny(name, " \t@:") {
		return channels.UserID(text), nil
	}
	id, ok := whole(text)
	if !ok {
		return "", errPerson
	}
	return userID(id), nil
}

// Chat reads the id of a group.
func Chat(text string) (channels.ChatID, error) {
	id, ok := whole(strings.TrimSpace(text))
	if !ok || id > 0 {
		return "", errGroup
	}
	return channels.ChatID(strconv.FormatInt(id, 10)), nil
}

// whole reads a number without a plus, which phone numbers have.
func whole(text string) (int64, bool) {
	id, err := strconv.ParseInt(text, 10, 64)
	return id, err == nil && id != 0 && text[0] != '+'
}
