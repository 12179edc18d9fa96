package lessons

import "testing"

// TestThoughtPlaces: an error with the place of reasoning that was sent costs that reasoning; one with the place of another part does not.
func TestThoughtPlaces(t *testing.T) {
	t.Parallel()
	block := func() Sent {
		s := messagesSent()
		s.ThoughtAt = []Place{{Message: 1, Block: 0}}
		return s
	}
	item := func() Sent {
		s := responsesSent()
		s.ThoughtAt = []Place{{Message: 1, Block: -1}}
		return s
	}
	field := func() Sent {
		s := chatSent("reasoning_content")
		s.ThoughtAt = []Place{{Message: 2, Field: "reasoning_content"}}
		return s
	}
	const omit = "reasoning omit"
	for _, c := range []struct {
		sent Sent
		text string
		is   bool
	}{
		{block(), "messages.1.content.0.thinking: each thinking block must contain thinking", true}, // source: BerriAI/litellm#38809
		{block(), "messages.1.content.0.thinking: Field required", true},
		{block(), "messages.1.content.0.signature: Field required", true}, // source: earendil-works/pi#2063
		{block(), "messages.1.content.0: thinking block is missing `signature`", true},
		{block(), `{"detail":[{"type":"string_too_short","loc":["body","messages",1,"content",0,"thinking"],"msg":"String should have at least 1 character"}]}`, true},
		{block(), "messages.1.content.1.text: Field required", false},
		{block(), "messages.2.content.0.content: Field required", false},
		{block(), "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`.", false},
		{block(), "messages.1.content.0.thinking.cache_control: Extra inputs are not permitted", false},
		{item(), "input[1].content: Field required", true},
		{field(), "messages[2].reasoning_content must contain at least 1 character", true},
		{field(), `{"detail":[{"type":"missing","loc":["body","messages",2,"reasoning_content","text"],"msg":"Field required"}]}`, true},
		{field(), "messages[2].content: Field required", false},
		{field(), "messages[4].reasoning_content: Field required", false},
	} {
		if got := learnedFrom(t, said(c.text), c.sent); (got == omit) != c.is {
			t.Errorf("%s: learned %q", c.text, got)
		}
	}
}

// TestThoughtNames: where an error wants reasoning back in a field that it did not come in, all of it goes there.
func TestThoughtNames(t *testing.T) {
	t.Parallel()
	const content, field = "rename messages.reasoning reasoning_content", "rename messages.reasoning reasoning"
	tags := chatSent("")
	tags.Thoughts = []string{}
	for _, c := range []struct {
		sent       Sent
		text, want string
	}{
		{chatSent("reasoning"), "thinking is enabled but reasoning_content is missing in assistant tool call message at index 2", content}, // source: earendil-works/pi#987
		{chatSent("reasoning"), "The `reasoning_content` in the thinking mode must be passed back to the API.", content},
		{tags, "The `reasoning_content` in the thinking mode must be passed back to the API.", content},
		{chatSent("reasoning_content"), "messages[2]: `reasoning` must be passed back", field},
		{chatSent("reasoning_content"), "Missing required field: messages[2].reasoning", field},
		{chatSent("reasoning_content"), "The `reasoning_content` in the thinking mode must be passed back to the API.", "reasoning send"},
	} {
		if got := learnedFrom(t, said(c.text), c.sent); got != c.want {
			t.Errorf("%s: learned %q, not %q", c.text, got, c.want)
		}
	}
	plain := Sent{Stream: true, Thoughts: []string{}, Roles: []string{"system", "user", "assistant", "user"}}
	if got := learnedFrom(t, said("The `reasoning_content` in the thinking mode must be passed back to the API."), plain); got != "reasoning say" { // source: leookun/cursor-byok#276
		t.Errorf("a history of texts: learned %q", got)
	}
}
