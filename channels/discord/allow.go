package discord

import (
	"encoding/base64"
	"errors"
	"regexp"
	"strings"

	"parley/channels"
)

var (
	errPerson = errors.New("use an id of 17 to 20 digits such as 80351110224678912, or @name; send /whoami to the bot to see yours")
	errGroup  = errors.New("use a channel id of 17 to 20 digits such as 41771983423143937; send /whoami in the channel to see it")
)

var (
	snowflake   = regexp.MustCompile(`^[1-9][0-9]{16,19}$`)
	userMention = regexp.MustCompile(`^<@!?([0-9]+)>$`) // https://discord.com/developers/docs/reference#message-formatting
	chatMention = regexp.MustCompile(`^<#([0-9]+)>$`)
)

// Bot returns the id of the bot, with which its token begins as base64. "" = the token is none.
// source: docs.discord.com/developers/reference#authentication
func (c *Config) Bot() channels.UserID {
	first, _, _ := strings.Cut(c.Token.Reveal(), ".")
	id, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(first, "="))
	if err != nil || !snowflake.Match(id) {
		return ""
	}
	return channels.UserID(id)
}

// Person reads how people write who a user is: an id, a mention or @name.
func Person(text string) (channels.UserID, error) {
	text = strings.TrimSpace(text)
	if name, ok := strings.CutPrefix(text, "@"); ok && name != "" && !strings.ContainsAny(name, " \t@:#") {
		return channels.UserID(text), nil
	}
	if id, ok := numbered(text, userMention); ok {
		return channels.UserID(id), nil
	}
	return "", errPerson
}

// Chat reads how people write which channel is meant: an id or a mention.
func Chat(text string) (channels.ChatID, error) {
	id, ok := numbered(strings.TrimSpace(text), chatMention)
	if !ok {
		return "", errGroup
	}
	return channels.ChatID(id), nil
}

// numbered gives the id in a text that is one, or a mention with one.
func numbered(text string, mention *regexp.Regexp) (string, bool) {
	if m := mention.FindStringSubmatch(text); m != nil {
		text = m[1]
	}
	return text, snowflake.MatchString(text) && isID(text)
}
