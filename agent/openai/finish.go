package openai

import (
	"strings"

	"parley/agent"
	"parley/agent/wire"
)

// ending says how an answer ended by the provider's word for it. class is set where the answer is of no use.
func ending(finish string) (stop string, class agent.ErrorClass) {
	word := wire.EndingWord(finish)
	switch {
	case broken(word):
		return "", agent.Overloaded
	case wire.IsFiltered(word):
		return agent.StopFilter, ""
	case failing(word):
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

// broken reports whether an answer failed in a way that the same request mostly does not meet again.
func broken(finish string) bool {
	finish = wire.EndingWord(finish)
	if finish == "" {
		return false
	}
	for _, part := range []string{"malformed", "unexpected_tool_call", "too_many_tool_calls", "insufficient_system_resource", "network_error", "overloaded", "engine_overloaded", "server_error", "repetition_truncation", "timeout"} {
		if strings.Contains(finish, part) {
			return true
		}
	}
	return false
}

// failing reports whether a word says that an answer failed.
func failing(finish string) bool {
	word := wire.EndingWord(finish)
	for _, part := range []string{"error", "fail", "abort", "cancel", "crash", "exception", "interrupted"} {
		if strings.Contains(word, part) {
			return true
		}
	}
	return broken(word)
}
