package settings

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"parley/channels"
	"parley/sessions"
)

// ReadQueue parses the arguments of /queue; settings that they do not name stay as in q. why is the problem, for the person.
func ReadQueue(arg string, q sessions.Queue) (_ sessions.Queue, why string) {
	for word := range strings.FieldsSeq(strings.ToLower(arg)) {
		name, value, pair := strings.Cut(word, ":")
		switch {
		case !pair && (name == "default" || name == "inherit" || name == "reset"):
			q = sessions.Queue{}
		case !pair && slices.Contains([]sessions.QueueMode{sessions.Collect, sessions.Followup, sessions.Steer, sessions.Interrupt}, sessions.QueueMode(name)):
			q.Mode = sessions.QueueMode(name)
		case name == "debounce":
			d, err := time.ParseDuration(value)
			if n, numErr := strconv.Atoi(value); numErr == nil {
				d, err = time.Duration(n)*time.Millisecond, nil
			}
			if err != nil || d < 0 || d > time.Minute {
				return q, "debounce must be a time from 0s to 60s."
			}
			q.DebounceMs = new(int(d.Milliseconds()))
		case name == "cap":
			n, err := strconv.Atoi(value)
			if err != nil || n < 1 || n > 1000 {
				return q, "cap must be a number from 1 to 1000."
			}
			q.Cap = n
		case name == "drop" && slices.Contains([]sessions.DropRule{sessions.DropSummarize, sessions.DropOld, sessions.DropNew}, sessions.DropRule(value)):
			q.Drop = sessions.DropRule(value)
		default:
			return q, "I do not know " + channels.Code(word, maxQuotedWord) + " here."
		}
	}
	return q, ""
}

// ParseQueue reads a queue setting as /queue takes it; what it does not name stays as it was.
func ParseQueue(words string, was sessions.Queue) (sessions.Queue, error) {
	q, why := ReadQueue(words, was)
	if why != "" {
		return was, fmt.Errorf("%s; want collect, followup, steer or interrupt, and debounce:2s, cap:20, drop:summarize, drop:old or drop:new", strings.TrimSuffix(why, "."))
	}
	return q, nil
}

// QueueRule says what happens to messages that come while a turn is running: messages.queue with every gap filled.
type QueueRule struct {
	Mode  sessions.QueueMode
	Quiet time.Duration // before a collected turn begins
	Cap   int           // messages that wait
	Drop  sessions.DropRule
}

// What holds where nothing is configured.
const (
	defaultDebounce = time.Second
	defaultCap      = 20
)

// ShortLines bounds the messages above the cap that are cut to a line each: with more, the oldest are dropped.
const ShortLines = 200

// Queue resolves what holds for a session's messages on a channel: the session's own setting, then the channel's, then that of all.
func (s *Snapshot) Queue(x sessions.Session, kind channels.Kind) QueueRule {
	q := QueueRule{Mode: sessions.Collect, Quiet: defaultDebounce, Cap: defaultCap, Drop: sessions.DropSummarize}
	for _, o := range []sessions.Queue{s.Messages.Queue.Queue, s.Messages.Queue.ByChannel[kind], x.Settings.Queue} {
		if o.Mode != "" {
			q.Mode = o.Mode
		}
		if o.DebounceMs != nil {
			q.Quiet = time.Duration(*o.DebounceMs) * time.Millisecond
		}
		if o.Cap > 0 {
			q.Cap = o.Cap
		}
		if o.Drop != "" {
			q.Drop = o.Drop
		}
	}
	return q
}

// HoldsBack reports whether messages may be held back in a session that has no mode of its own.
func (s *Snapshot) HoldsBack() bool {
	if cmp.Or(s.Messages.Queue.Mode, sessions.Collect).HoldsBack() {
		return true
	}
	for _, q := range s.Messages.Queue.ByChannel {
		if q.Mode.HoldsBack() {
			return true
		}
	}
	return false
}

// String words it for people, as /queue takes it.
func (q QueueRule) String() string {
	return fmt.Sprintf("%s debounce:%s cap:%d drop:%s", q.Mode, q.Quiet, q.Cap, q.Drop)
}
