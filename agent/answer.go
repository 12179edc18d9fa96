package agent

import (
	"slices"

	"parley/agent/control"
	"parley/sessions"
)

// The values of Answer.Stop and of a message's stop reason.
const (
	StopEnd     = "stop"              // the model was done
	StopLength  = "length"            // the answer was cut off at its length limit
	StopToolUse = "toolUse"           // it asks for tools
	StopUnclear = "unclear"           // its provider did not say whether it is complete
	StopFilter  = sessions.StopFilter // the model or a filter of its provider refused
)

// empty reports whether a model that was done said nothing and asks for nothing.
func (a *Answer) empty() bool {
	return a.Stop != StopFilter && a.Stop != StopLength && a.IsWordless()
}

// saysNothing reports whether an answer that nothing refused has neither words nor calls, be it done or at its length limit.
func (a *Answer) saysNothing() bool { return a.Stop != StopFilter && a.IsWordless() }

// isThinkingOnly reports whether an answer has reasoning and nothing else. source: xorbitsai/inference#3673
func (a *Answer) isThinkingOnly() bool {
	return a.IsWordless() && slices.ContainsFunc(a.Content, func(b sessions.Block) bool { return b.Type == sessions.ThinkingBlock && b.Text != "" })
}

// IsWordless reports whether an answer has neither words nor calls.
func (a *Answer) IsWordless() bool {
	return !slices.ContainsFunc(a.Content, func(b sessions.Block) bool {
		return b.Type == sessions.ToolCallBlock || b.Type == sessions.TextBlock && control.Read(b.Text) != control.Reading{}
	})
}
