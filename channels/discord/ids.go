package discord

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"parley/channels"
)

// epoch is where Discord's ids begin to count milliseconds: the start of 2015.
// https://discord.com/developers/docs/reference#snowflakes
const epoch = 1420070400000

// lastID is the id of the end of the year 2099. A larger one would be newer than all that follow.
const lastID = (4_102_444_800_000 - epoch) << 22

// isID reports whether a text is an id of the platform.
func isID(s string) bool {
	n, err := strconv.ParseUint(s, 10, 64)
	return err == nil && n != 0 && n < lastID
}

// compareIDs orders ids by age.
func compareIDs(a, b string) int {
	if len(a) != len(b) {
		return len(a) - len(b)
	}
	return strings.Compare(a, b)
}

// newer reports whether id a was made after id b; every id is newer than none.
func newer(a, b string) bool { return compareIDs(a, b) > 0 }

// before is the id just before another one.
func before(id string) string {
	n, err := strconv.ParseUint(id, 10, 64)
	if err != nil || n == 0 {
		return "0"
	}
	return strconv.FormatUint(n-1, 10)
}

// idAt is the smallest id of a moment, idTime the moment of an id.
func idAt(t time.Time) string {
	return strconv.FormatInt(max(t.UnixMilli()-epoch, 0)<<22, 10)
}

func idTime(id string) time.Time {
	n, err := strconv.ParseUint(id, 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.UnixMilli(int64(n>>22) + epoch) //nolint:gosec // 42 bits
}

// mark names one event of a session of the gateway.
func mark(session string, seq int64) string {
	return fmt.Sprintf("%s.%d", session[:min(len(session), 12)], seq)
}

// channelPath is a path below a chat; what follows is escaped already.
func channelPath(chat channels.ChatID, rest string) string {
	return "/channels/" + url.PathEscape(string(chat)) + rest
}

func messagesRoute(verb string, chat channels.ChatID) route {
	return route{path: "channels/messages", verb: verb, major: string(chat)}
}

func messageRoute(verb string, chat channels.ChatID) route {
	return route{path: "channels/messages/id", verb: verb, major: string(chat)}
}
