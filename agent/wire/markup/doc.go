// Package markup reads what models write for themselves into the text of an answer: reasoning in tags, tool calls as text, marks of
// a chat template. People see none of it: reasoning becomes reasoning, a call of an offered tool becomes a call.
//
// Reasoning counts in front of the answer, and in it outside of code: where its tag begins a line, or where the tag is not spoken of in a
// sentence. A tool call counts only when it is whole and well formed, stands outside of code, and begins a line or ends the answer: an answer
// about the syntax shows it.
//
// A Reader holds the text of an answer, which its caller bounds, and back at most maxHeld bytes of it.
//
// It stands left of everything of ours but pattern: control, agent and the providers use it. A Reader belongs to one goroutine; there are no
// locks and no errors: text that is no markup is text.
package markup
