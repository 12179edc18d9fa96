package openai

import (
	"strings"

	"parley/agent"
)

// ending says how an answer ended by the provider's word for it. class is set where the answer is of no use.
func ending(finish string) (stop string, class agent.ErrorClass) {
	word := strings.NewReplacer("-", "_", " ", "_").Replace(strings.ToLower(strings.TrimSpace(finish)))
	switch {
	case broken(word):
		return "", agent.Overloaded
	case failing(word):
		return "", agent.Broken
	}
	switch word {
	case "length", "max_tokens", "max_output_tokens", "model_length", "max_completion_tokens", "token_limit", "max_length", "model_context_window_exceeded", "context_length_exceeded":
		return agent.StopLength, ""
	case "tool_calls", "tool_call", "tool_use", "function_call", "function_calls":
		return agent.StopEnd, "" // the calls themselves say so
	}
	for _, part := range []string{"filter", "safety", "recitation", "prohibited", "block", "spii", "refus", "sensitive", "guardrail", "blacklist", "risk_control", "policy", "moderat", "toxic", "unsafe", "censor", "inappropriate"} {
		if strings.Contains(word, part) {
			return agent.StopFilter, ""
		}
	}
	return agent.StopEnd, ""
}

// overlong are the words for an answer that ended because the window is full: without a word, the prompt filled it.
// source: docs.z.ai/api-reference/llm/chat-completion
var overlong = []string{"model_context_window_exceeded", "context_length_exceeded"}

// broken reports whether an answer failed in a way that the same request mostly does not meet again.
func broken(finish string) bool {
	finish = strings.ToLower(finish)
	for _, part := range []string{"malformed", "unexpected_tool_call", "too_many_tool_calls", "insufficient_system_resource", "network_error", "overloaded", "engine_overloaded", "server_error", "repetition_truncation", "timeout"} {
		if strings.Contains(finish, part) {
			return true
		}
	}
	return false
}

// failing reports whether a word says that an answer failed.
func failing(finish string) bool {
	switch strings.ToLower(finish) {
	case "error", "failed", "abort", "aborted", "cancelled", "canceled":
		return true
	}
	return broken(finish)
}
