package agent

import (
	"context"

	"parley/sessions"
	"parley/tools"
)

// Turn is all that a run needs to know. History ends with the message to answer; Steps are what an earlier, interrupted attempt
// of the same run has recorded already: the loop goes on behind them, and calls again only tools whose result is missing.
type Turn struct {
	Model    Model
	Name     string // the provider's own model name, for Prompt.Model
	Label    string // provider/model, stored on messages
	System   string
	History  []sessions.Message
	Steps    []sessions.Message
	Tools    []tools.Tool
	Caller   tools.Caller
	Thinking string
	MaxSteps int // model calls in one turn; 0 = DefaultMaxSteps

	// Record is called with each finished step, in order, before the next one starts: an assistant message, then its tool
	// results. An error ends the run with that error. The last assistant message is not recorded: it is in Outcome.Final, so that
	// it can be committed together with what follows from it.
	Record func(msgs ...sessions.Message) error
	// Waiting says whether something came in for this session that the turn at work is to answer as well, and Take takes it over:
	// user messages, recorded already. They are asked between two model calls and before the turn ends. There Waiting has a
	// func that keeps the answer in the transcript, and may, after calling it, block for what is still to come. Both may be nil.
	Waiting func(ctx context.Context, keep func() error) (bool, error)
	Take    func(ctx context.Context) ([]sessions.Message, error)
	// OnText is called with the text of the answer so far whenever it grows; may be nil. It must not block.
	OnText func(soFar string)
}

// DefaultMaxSteps bounds the model calls of one turn.
const DefaultMaxSteps = 32

// Control is what an agent asks of the host instead of talking: a control word, turned into a type in one place.
type Control string

// The controls. A reply that is exactly the word, trimmed, is a control; anything else is text.
const (
	Speak        Control = ""              // ordinary text
	NoReply      Control = "NO_REPLY"      // nothing to say
	ReplySkip    Control = "REPLY_SKIP"    // ends a reply-back loop (contract S9)
	AnnounceSkip Control = "ANNOUNCE_SKIP" // nothing to announce (contract S10, N10)
)

// Outcome is how a turn ended well.
type Outcome struct {
	Final   sessions.Message // the last assistant message, not recorded yet
	Control Control
	Text    string         // what to say; empty for a control or an empty answer
	Usage   sessions.Usage // of all calls in this attempt
	Context int            // tokens of the last call
	Newest  string         // text of the newest tool result of the turn: stands in for an empty answer (contract N12)
}
