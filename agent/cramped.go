package agent

import (
	"errors"

	"parley/sessions"
)

// mostCramped is how much an answer has, in tokens, that had next to no room.
const mostCramped = 32

// windowUnit divides the usual sizes of windows.
const windowUnit = 1024

// CutAtOnce reports whether an answer ended at its length limit with next to nothing in it: no usual bound of a request explains that, so the
// prompt has filled the model's window. A model that spent the room of its answer on reasoning has more.
//
// source: can1357/oh-my-pi#2774 (Ollama: no content, prompt_tokens one below num_ctx), vllm-project/vllm#1289 (prompts that are ignored end with
// length), ggml-org/llama.cpp#3008
func CutAtOnce(stop string, content []sessions.Block, u sessions.Usage) bool {
	if stop != StopLength {
		return false
	}
	return spent(content, u) <= mostCramped
}

// spent is how many tokens an answer has, by its provider's count or by what it says.
func spent(content []sessions.Block, u sessions.Usage) int {
	answer := []sessions.Message{{Role: sessions.Assistant, Content: content}}
	return max(u.Output, Tokens(answer...)+unsentTokens(answer, 0))
}

// cramped gives the error in the place of an answer whose prompt has filled the window; nil = it has not. An answer that says something
// counts only where its provider's own count shows a full window. counted says that usage is the provider's; most is how long the answer
// was asked to be at most, 0 = not known: one of so many tokens has reached that, and one that nobody counted may have.
func (f *ModelFacts) cramped(who *Candidate, a *Answer, most int, counted bool) *ModelError {
	if !CutAtOnce(a.Stop, a.Content, a.Usage) || most > 0 && most <= mostCramped && (!counted || spent(a.Content, a.Usage) >= most) {
		return nil
	}
	total := a.Usage.Total()
	isFull := counted && (total%windowUnit == 0 || !f.Guessed && f.ContextWindow > 0 && total >= f.ContextWindow)
	if !a.IsWordless() && !isFull {
		return nil
	}
	e := &ModelError{Class: TooLong, Provider: who.Label, Tries: 1, Part: a, Err: errors.New("the answer reached its length limit before its first word: the prompt fills the model's context window")}
	if isFull {
		e.Window = total
	}
	return e
}
