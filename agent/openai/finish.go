package openai

import (
	"parley/agent"
	"parley/agent/wire"
)

// ending says how an answer ended by the provider's word for it. class is set where the answer is of no use.
func ending(finish string) (stop string, class agent.ErrorClass) {
	word := wire.EndingWord(finish)
	switch {
	case wire.IsBroken(word):
		return "", agent.Overloaded
	case wire.IsFiltered(word):
		return agent.StopFilter, ""
	case wire.IsFailing(word):
		return "", agent.Broken
	case wire.IsWindowFull(word):
		return agent.StopLength, ""
	}
	switch word {
	case "length", "max_tokens", "max_output_tokens", "model_length", "max_completion_tokens", "token_limit", "max_length":
		return agent.StopLength, ""
	case "tool_calls", "tool_call", "tool_use", "function_call", "function_calls":
		return agent.StopEnd, "" // the calls themselves say so
	}
	return agent.StopEnd, ""
}
