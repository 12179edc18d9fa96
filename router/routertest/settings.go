package routertest

import (
	"strings"

	"parley/channels"
	"parley/policy"
	"parley/router/settings"
	"parley/sessions"
)

// FewTools leaves two tools, so that a prompt is short.
func FewTools(s *settings.Snapshot) { s.Tools.Allow = []string{"remember", "recall"} }

// Fill is a long text.
var Fill = strings.Repeat("many words ", 60) // about 220 tokens

// WithPacing sets the pacing of the account.
func WithPacing(p channels.Pacing) func(*settings.Snapshot) {
	return func(s *settings.Snapshot) { a := s.Accounts[Account]; a.Pacing = p; s.Accounts[Account] = a }
}

// OpenGroup lets the senders of a list into one group and all others.
func OpenGroup(chat string, senders ...string) policy.Access {
	return policy.Access{DMPolicy: policy.DMOpen, AllowFrom: []string{"*"}, GroupPolicy: policy.GroupOpen,
		Groups: map[string]policy.GroupAccess{chat: {AllowFrom: senders}, "*": {}}}
}

// WithDMScope sets which direct chats share a session.
func WithDMScope(scope sessions.DMScope) func(*settings.Snapshot) {
	return func(s *settings.Snapshot) { s.Session.DMScope = scope }
}

// WithPairing asks strangers for a code.
func WithPairing(s *settings.Snapshot) {
	s.Accounts[Account] = settings.Account{Access: policy.Access{DMPolicy: policy.DMPairing, GroupPolicy: policy.GroupOpen}}
	s.Session.DMScope = sessions.PerChannelPeer
}

// WithStreaming has an account show answers as s says.
func WithStreaming(s channels.Streaming) func(*settings.Snapshot) {
	return func(set *settings.Snapshot) { a := set.Accounts[Account]; a.Streaming = s; set.Accounts[Account] = a }
}

// Edits has answers shown while they are written, by edits of one message.
var Edits = WithStreaming(channels.Streaming{Direct: channels.StreamEdit, Group: channels.StreamEdit})

// WithQueue makes a setting of messages.queue.
func WithQueue(q sessions.Queue) func(*settings.Snapshot) {
	return func(s *settings.Snapshot) { s.Messages.Queue.Queue = q }
}

// WithMode is a rule that names only the mode.
func WithMode(m sessions.QueueMode) func(*settings.Snapshot) {
	return WithQueue(sessions.Queue{Mode: m})
}
