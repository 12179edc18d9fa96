package agent

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"parley/sessions"
	"parley/tools"
)

// Model is one language model behind one provider.
type Model interface {
	// Stream asks for the next assistant message. It yields text and thinking as they arrive and, last, one Delta with Final set.
	// An error ends the stream; it is a *ModelError. The provider tries again what a repeat may cure: at most three tries, obeying
	// Retry-After, inside ctx and its own deadlines. What an answer that broke off had yielded is void with the Delta that has Restart
	// set. Breaking out of the iteration ends the request.
	Stream(ctx context.Context, p Prompt) iter.Seq2[Delta, error]
}

// Prompt is one model call.
type Prompt struct {
	Model     string // the provider's own name of the model, without provider prefix
	System    string // stable prefix first
	Messages  []sessions.Message
	Tools     []tools.Spec
	NoTools   bool     // the model is known to take none: earlier calls are told as text
	Thinking  string   // off, minimal, low, medium, high; empty = the provider's default
	Levels    []string // the efforts that the model is known to take, as the provider names them; nil = not known
	MaxTokens int      // 0 = the provider's default
	// Tries is how many requests may be made in all; 0 = MaxTries. One that the provider refused because it did not know a part of
	// it, which is left out from then on, is not counted.
	Tries   int
	Zone    *time.Location // in which the model is told when people and sessions wrote; nil = as their times are
	Session string         // names the conversation to the provider's prompt cache, never as it is; may be empty
	// Spent is told what the provider counted for a try that broke off; may be nil. What a whole answer cost is in Answer.Usage.
	Spent func(sessions.Usage)
}

// ToolsSetting gives what holds for the tools of a call: the setting, "on" or "off", or "off" where the model is known to take none.
func ToolsSetting(p Prompt, s ModelSettings) string {
	if s.Tools == "" && p.NoTools {
		return "off"
	}
	return s.Tools
}

// Delta is a piece of a streamed answer.
type Delta struct {
	Text     string
	Thinking string
	Restart  bool    // the answer broke off and begins again: what was yielded so far was a draft
	Final    *Answer // set on the last delta only
}

// Answer is a whole assistant message. Every toolCall block has an ID and Arguments that are a JSON object, or Arguments that
// are not valid JSON as the model wrote them: the loop then tells the model so.
type Answer struct {
	Content []sessions.Block
	Usage   sessions.Usage
	Stop    string // stop, length, toolUse, filter
	Model   string // what the provider says answered
}

// ErrorClass says why a model call failed.
type ErrorClass string

// The classes. docs/models.md has a row for each: what the chat reads, and what happens next.
const (
	Unreachable ErrorClass = "unreachable" // down: refused, reset, DNS, TLS
	Timeout     ErrorClass = "timeout"     // connect, first byte, idle or total deadline
	RateLimited ErrorClass = "rate_limited"
	Overloaded  ErrorClass = "overloaded"  // 5xx, 529, and failures that the same request does not meet again
	BadKey      ErrorClass = "bad_key"     // 401, 403
	NoCredit    ErrorClass = "no_credit"   // the provider wants to be paid first: 402, quota, billing
	BadRequest  ErrorClass = "bad_request" // the request was refused, and nothing that could be changed helped
	BadForm     ErrorClass = "bad_form"    // the form of requests was refused, whatever they say: no message is the reason
	Refused     ErrorClass = "refused"     // a filter refused what the request says
	NoSuchModel ErrorClass = "no_such_model"
	BadAddress  ErrorClass = "bad_address" // nothing serves the API at the address: a redirect, a path that is not found, a web page
	Broken      ErrorClass = "broken"      // the answer ended early or made no sense
	TooLong     ErrorClass = "too_long"    // the prompt does not fit into the model's window
	Unknown     ErrorClass = "unknown"     // not a provider's doing: something of the host's own failed
	Unpriced    ErrorClass = "unpriced"    // not asked: there is a budget in dollars, and no price for it; Provider names the model
	Tripped     ErrorClass = "tripped"     // not asked: the model or its provider failed again and again, and is left alone for a while
)

// ModelError is a failed model call. Its text goes to the log and never contains a key; Notice goes to the chat.
type ModelError struct {
	Class      ErrorClass
	Provider   string
	Status     int           // HTTP status, 0 = none
	RetryAfter time.Duration // what the provider asked for last, 0 = nothing
	Tries      int
	Requests   int     // made in all, also those that were changed after a refusal, which are no tries; 0 = one for each try
	Said       string  // the provider's own words, on one line, short, without secrets; empty = it said nothing
	Hint       string  // for owners, a sentence: which setting is the reason or the cure; empty = none is known
	Model      string  // of a refusal: the model that the turn had, provider/model; set by Loop
	Always     bool    // the reason is in what every request has: a harmless message was refused as well; TooLong: instructions and tools are most of it
	Window     int     // TooLong: the tokens that the model takes, as its provider says; 0 = it does not say
	Messages   int     // TooLong: the messages of a transcript that the model takes, where there were too many; 0 = that is not the reason
	Part       *Answer // the longest answer that broke off and may be complete, as its provider did not say; TooLong: one that had no room; nil = there was none
	PartSpent  bool    // what Part cost was told to Prompt.Spent, and is not in its Usage
	Err        error
}

func (e *ModelError) Error() string {
	also := ""
	if e.Always && e.Class != TooLong { // sessions.Message.IsRefusal does not take this for a refusal of the message
		also = ", as is a harmless message"
	}
	hint := ""
	if e.Hint != "" {
		hint = " (" + strings.TrimSuffix(e.Hint, ".") + ")"
	}
	return fmt.Sprintf("model provider %s: %s%s (tries %d, status %d): %v%s", e.Provider, e.Class, also, e.Made(), e.Status, e.Err, hint)
}

// Made is how many requests were made.
func (e *ModelError) Made() int { return max(e.Tries, e.Requests) }

func (e *ModelError) Unwrap() error { return e.Err }

// Notice is one plain sentence for the chat.
func (e *ModelError) Notice() string {
	if e.Always && e.Class == BadRequest {
		why := ""
		if len(strings.Fields(e.Said)) < 4 { // nothing, or Bad Request
			why = ", and gives no reason"
		}
		return "The provider of my language model refuses all my requests, even a harmless one" + why + ". Your message is not the reason, so I keep it. Please try again later, or tell an owner; `/model` lists other models."
	}
	if e.Always && e.Class == TooLong {
		return "My instructions and my tools alone are too long for this language model. Please tell an owner; `/model` lists other models."
	}
	if e.Always {
		return "The provider of my language model refuses all my requests, even one with a harmless message. The reason is not your message but my instructions, workspace files, tools or model settings. Please tell an owner; `/model` lists other models."
	}
	switch e.Class {
	case Unknown:
		return "Something went wrong while I was working on this. The details are in the log."
	case Unreachable:
		return "I could not reach the language model. Please try again in a moment."
	case Timeout:
		return "The language model took too long to answer. Please try again."
	case RateLimited:
		if e.RetryAfter > MaxRetryAfter {
			return "The language model is busy (rate limit). Please try again in " + roughly(e.RetryAfter) + "; `/model` lists other models."
		}
		return "The language model is busy (rate limit). Please try again in a minute."
	case Overloaded:
		return "The language model had a problem. Please try again in a moment."
	case Broken:
		return "The language model's answer broke off or made no sense. Please try again in a moment."
	case Tripped:
		return "The language model has failed several times in a row, so I pause it for a moment. Please try again in a minute."
	case Unpriced:
		return "I cannot use the model " + e.Provider + ": this model has no price configured, and a budget in dollars is set. `/model` lists others."
	case TooLong:
		return "This conversation is too long for the language model. Send /compact to summarize it, or /new to start over."
	case Refused:
		return "The language model refused to answer this, so I won't show it this message again. If it keeps refusing, send /new to start over."
	case BadRequest:
		return "The language model could not process this message, so I won't show it again. Please rephrase the message. If the new one fails too, send /new to start over."
	case BadForm:
		return "The provider of my language model rejects the form of my requests, whatever you write. Please tell an owner; `/model` lists other models."
	case NoCredit:
		return "I cannot use my language model: its provider wants to be paid first. Please tell an owner; the log has the details."
	case BadKey:
		return "I cannot use my language model: its provider does not accept my key. Please tell an owner; the log has the details."
	case BadAddress:
		return "I cannot use my language model: its configured address has no model server. Please tell an owner; the log has the details."
	case NoSuchModel:
		return "I cannot use my language model: its provider does not have this model. `/model` lists others."
	default:
		return "I cannot use my language model: it is not set up correctly. Please tell an owner; the log has the details."
	}
}

// roughly gives a wait for people: minutes, hours or days.
func roughly(d time.Duration) string {
	for _, unit := range []struct {
		name string
		of   time.Duration
	}{{"day", 24 * time.Hour}, {"hour", time.Hour}} {
		if n := (d + unit.of - 1) / unit.of; d > 2*unit.of {
			return fmt.Sprintf("%d %ss", n, unit.name)
		}
	}
	return fmt.Sprintf("%d minutes", (d+time.Minute-1)/time.Minute)
}

// Deadlines bound a model call.
type Deadlines struct {
	Connect   time.Duration // TCP and TLS
	FirstByte time.Duration // from the request to the first byte of the answer
	Idle      time.Duration // between two pieces of a stream
	Total     time.Duration // one try
}

// DefaultDeadlines are used where a provider's configuration names none.
var DefaultDeadlines = Deadlines{Connect: 10 * time.Second, FirstByte: 120 * time.Second, Idle: 60 * time.Second, Total: 10 * time.Minute}

// MaxTries is how often a model call is tried in all.
const MaxTries = 3

// ErrTooManySteps ends a turn that calls tools without end.
var ErrTooManySteps = errors.New("the agent made too many tool calls in one turn")
