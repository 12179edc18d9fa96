package agent

import (
	"context"
	"time"

	"parley/agent/control"
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
	Covered  int // how many of Steps a summary in History stands for: they count, and are not shown
	Tools    []tools.Tool
	Caller   tools.Caller
	Thinking string
	Place    control.Place  // where the answer goes: it decides about a control word beside text
	Zone     *time.Location // in which the model is told when messages were written; nil = as they are
	MaxSteps int            // model calls in one turn; 0 = DefaultMaxSteps
	Step     bool           // a step that only words something: it has no tools and asks for at most two answers, empty ones included
	Failing  bool           // the turn before failed, or a search for refused content is under way: a failure may be one for content

	Facts     ModelFacts  // of Model
	Fallbacks []Candidate // tried in order when Model fails; a call makes at most MaxTries requests in all

	// Afford is asked before each model call, with the tokens that its prompt is estimated at. It may block for a short while. The
	// func that it gives is called once with what the call cost. Its error, a *BudgetError or ctx's, ends the run. May be nil.
	Afford func(ctx context.Context, tokens int) (settle func(sessions.Usage), err error)
	// Spent is told of what was paid for and is in no message: tries that broke off. May be nil.
	Spent func(model string, u sessions.Usage)
	// Compact is called before a model call whose prompt is estimated at more than CompactAt tokens or shows more than CompactOver
	// messages (0 = any number), and after one that the provider refused as too long. It gives what the model is to be shown
	// instead: shorter, with the same end, and of at most over messages (0 = any number) where older ones can be summed up. What is
	// one message, or a call with its results, is cut instead, and may still be more messages than over. May be nil.
	Compact     func(ctx context.Context, msgs []sessions.Message, over int) ([]sessions.Message, error)
	CompactAt   int
	CompactOver int
	// Progress is told what a tool at work says about itself; may be nil. It must not block.
	Progress func(tool, text string)

	// Record is called with each finished step, in order, before the next one starts: an assistant message, then its tool
	// results. An error ends the run with that error. The last assistant message is not recorded: it is in Outcome.Final, so that
	// it can be committed together with what follows from it.
	Record func(msgs ...sessions.Message) error
	// Waiting says whether something came in for this session that the turn at work is to answer as well, and Take takes it over:
	// user messages, recorded already. They are asked between two model calls and before the turn ends. There Waiting has a
	// func that keeps the answer in the transcript, and may, after calling it, block for what is still to come. Both may be nil.
	Waiting func(ctx context.Context, keep func() error) (bool, error)
	Take    func(ctx context.Context) ([]sessions.Message, error)
	// OnText is called with the text of the answer so far whenever it grows, without what may still become a control word; may be nil.
	// It must not block.
	OnText func(soFar string)
}

// Candidate is a model that a turn may use.
type Candidate struct {
	Model Model
	Name  string // the provider's own model name
	Label string // provider/model
	Facts ModelFacts
}

// BudgetError says that a call was not made because it may cost nothing more today.
type BudgetError struct {
	Scope string    // session:<key>, agent:<id>, host
	Until time.Time // when it counts anew
}

func (e *BudgetError) Error() string {
	return "the budget of " + e.Scope + " is used up until " + e.Until.Format(time.RFC3339)
}

// stepAnswers bounds the answers that a step is asked for (contract S19).
const stepAnswers = 2

// DefaultMaxSteps bounds the model calls of one turn.
const DefaultMaxSteps = 32

// Control is what an agent asks of the host instead of talking. Package control tells what a text is.
type Control = control.Word

// The controls.
const (
	Speak        = control.Speak
	NoReply      = control.NoReply
	ReplySkip    = control.ReplySkip
	AnnounceSkip = control.AnnounceSkip
)

// Outcome is how a turn ended well.
type Outcome struct {
	Final   sessions.Message // the last assistant message, not recorded yet
	Control Control
	Text    string         // what to say; empty for an empty answer, and for a control unless it stands beside the last reply of an exchange
	Usage   sessions.Usage // of all calls in this attempt
	Context int            // tokens of the last call
	From    string         // id of the earlier message that has Text, as the last one says nothing; "" = Final has it
	Newest  string         // text of the newest tool result of the turn: stands in for an empty answer (contract N12)
}
