package lessons

import (
	"slices"
	"strings"
	"testing"
)

// withoutParams gives a request without some parameters.
func withoutParams(sent Sent, names ...string) Sent {
	sent.Params = slices.DeleteFunc(slices.Clone(sent.Params), func(p Param) bool { return slices.Contains(names, p.Name) })
	return sent
}

// TestThoughtByItsName: an endpoint that names a field of reasoning that goes back by its name alone, in whatever words, costs that reasoning; calls
// stay calls.
// source: docs.anthropic.com/en/api/messages (thinking, signature, redacted_thinking, data), platform.openai.com/docs/api-reference/responses/create (summary, encrypted_content), openrouter.ai/docs/use-cases/reasoning-tokens (reasoning_details), ai.google.dev/gemini-api/docs/thought-signatures (extra_content)
func TestThoughtByItsName(t *testing.T) {
	t.Parallel()
	signed := withoutParams(messagesSent(), EmptySignature)
	silent := withoutParams(signed, "thinking", "thinking.display", "output_config.effort")
	for _, c := range []struct {
		sent  Sent
		field string
		want  string
	}{
		{signed, "signature", "reasoning omit"}, {silent, "signature", "reasoning omit"}, {messagesSent(), "signature", "parameter thinking.signature empty"}, {signed, "redacted_thinking", "reasoning omit"}, {signed, "data", "reasoning omit"}, {silent, "thinking", "reasoning omit"},
		{responsesSent(), "encrypted_content", "reasoning omit"}, {withoutParams(responsesSent(), "reasoning.effort", "reasoning.summary"), "summary", "reasoning omit"}, {withoutParams(responsesSent(), "reasoning.effort", "reasoning.summary"), "reasoning", "reasoning omit"},
		{chatSent("reasoning_details"), "reasoning_details", "reasoning omit"}, {chatSent("extra_content"), "extra_content", "reasoning omit"}, {chatSent("thinking_blocks"), "signature", "reasoning omit"}, {withoutParams(chatSent("thoughts"), "reasoning_effort"), "thoughts", "reasoning omit"},
		{chatSent("extra_content"), "thought_signature", "reasoning omit"},
	} {
		for _, words := range []string{"@ is an output-only field", "please strip @ before sending", "we do not like @", "@ found in request", "no @ please", "@: nope"} {
			if got := learnedFrom(t, said(strings.ReplaceAll(words, "@", c.field)), c.sent); got != c.want {
				t.Errorf("%s: learned %s, not %s", strings.ReplaceAll(words, "@", c.field), got, c.want)
			}
		}
	}
	for _, place := range []string{"messages[1].content[0].data: nope", "messages.1.content.0.redacted_thinking.data: nope", `{"detail":[{"type":"value_error","loc":["body","messages",1,"content",0,"data"],"msg":"Value error, nope"}]}`, "/messages/1/content/0/data nope"} {
		if got := learnedFrom(t, said(place), signed); got != "reasoning omit" {
			t.Errorf("%s: learned %s", place, got)
		}
	}
}

// TestNoThought: the same words in other meanings cost no reasoning.
// source: docs.aws.amazon.com/general/latest/gr/signature-v4-troubleshooting.html, docs.anthropic.com/en/api/errors, ai.google.dev/gemini-api/docs/troubleshooting
func TestNoThought(t *testing.T) {
	t.Parallel()
	signed := withoutParams(messagesSent(), EmptySignature)
	if got := learnedFrom(t, said("summaries of thoughts are not offered"), withoutParams(responsesSent(), "reasoning.effort")); strings.HasPrefix(got, "reasoning ") {
		t.Errorf("learned %s", got)
	}
	for _, words := range []string{
		"The request signature we calculated does not match the signature you provided", "Invalid request data", "Could not process the image data", "messages.0.content.1.image.source.base64.data: At least one of the image dimensions exceed max allowed size",
		"messages.0.content.1.source.data: nope", "thinking: nope", "thinking mode is not available", "The thinking budget is too high", "signature: Field required", "Your training data is not complete",
	} {
		if got := learnedFrom(t, said(words), signed); strings.HasPrefix(got, "reasoning ") {
			t.Errorf("%s: learned %s", words, got)
		}
	}
}

// TestMarksByTheirName: an endpoint that names the marks of what may be cached in any words, or by any place, costs the marks alone.
// source: platform.claude.com/docs/en/build-with-claude/prompt-caching (cache_control), earendil-works/pi#7938
func TestMarksByTheirName(t *testing.T) {
	t.Parallel()
	for _, words := range []string{"messages[0].content[1].cache_control: nope", "/messages/0/content/1/cache_control nope", "no cache_control please", "cache_control: nope", "system[0].cache_control: nope"} {
		if got := learnedFrom(t, said(words), messagesSent()); got != "parameter cache_control ephemeral" {
			t.Errorf("%s: learned %s", words, got)
		}
	}
}
