package lessons

import (
	"errors"
	"slices"
	"testing"

	"parley/agent"
	"parley/agent/wire"
	"parley/sessions"
)

// spoiledCalls are errors about a call that the model made in its answer, not about a tool that was offered.
// source: mastra-ai/mastra#9688, HunorLaczko/ha-groq-cloud-api#20, BerriAI/litellm#11001 (Groq), vercel/ai#1922, anthropics/claude-code#95212, ai-sdk.dev/docs/reference/ai-sdk-errors, anomalyco/opencode#48620, strands-agents/harness-sdk#649 (Bedrock)
var spoiledCalls = []string{
	`{"error":{"message":"Tool call validation failed: tool call validation failed: attempted to call tool 'look' which was not in request.tools","type":"invalid_request_error"}}`,
	`{"error":{"message":"attempted to call tool 'look' which was not in request.tools","type":"invalid_request_error"}}`,
	`{"error":{"message":"tool call validation failed: parameters for tool look did not match schema: errors: [` + "`/domain`: expected array, but got string" + `]","type":"invalid_request_error","param":"","code":"tool_use_failed"}}`,
	`{"error":{"message":"parameters for tool look did not match schema: errors: [missing properties: 'q', additionalProperties 'p' not allowed]","type":"invalid_request_error"}}`,
	`{"error":{"message":"requested tool does not exist","type":"invalid_request_error"}}`,
	`{"error":{"message":"Model tried to call unavailable tool 'look'. Available tools: list, send."}}`,
	`{"error":{"message":"Model tried to call unavailable tool 'search'. No tools are available."}}`,
	`{"error":{"message":"Invalid arguments for tool look: [{\"code\":\"invalid_type\",\"expected\":\"nonoptional\",\"path\":[\"q\"],\"message\":\"Invalid input: expected nonoptional, received undefined\"}]"}}`,
	`{"error":{"message":"Invalid input for tool look: Type validation failed: Value: {}."}}`,
	`{"error":{"message":"Invalid arguments for function 'look'"}}`,
	`{"error":{"message":"No tool named \"look\" is currently available. Please use a tool from the available tool list."}}`,
	`{"message":"Model produced invalid sequence as part of ToolUse. Please refer to the model tool use troubleshooting guide."}`,
	`{"error":{"message":"unexpected tool call 'look'"}}`,
}

// earlierCalls are errors about a call in the history.
// source: agno-agi/agno#10231, can1357/oh-my-pi#181 (invalid function arguments json string, tool_call_id)
var earlierCalls = []string{
	`{"error":{"message":"messages[2].tool_calls[0]: attempted to call tool 'look' which was not in request.tools"}}`,
	`{"error":{"message":"Invalid arguments for function 'look' in messages[2]"}}`,
	`{"error":{"message":"invalid params, invalid function arguments json string, tool_call_id: call_1 (2013)"}}`,
}

// TestSpoiledCall: an error about a call that the model made has the same request be made again, and one about an earlier call changes the history.
// Neither costs a tool, how often it comes.
func TestSpoiledCall(t *testing.T) {
	t.Parallel()
	refuse := func(body string, steps bool) (e *agent.ModelError, again []bool, c *Call) {
		sent := chatSent("reasoning_content")
		sent.Steps, sent.Reasoning, sent.Tools = steps, false, []string{"look", "list", "send"}
		c = NewBook(Config{}).Call(at, "")
		c.Offer(specs(sent.Tools...))
		err := refusal(400, body)
		e, _ = errors.AsType[*agent.ModelError](err)
		f, _ := errors.AsType[*wire.Fault](err)
		e.Class = f.Class()
		for range 3 {
			again = append(again, c.Refused(t.Context(), err, sent))
		}
		return e, again, c
	}
	costsTools := func(c *Call) bool {
		return slices.ContainsFunc(c.changed.applied, func(l sessions.Lesson) bool { return slices.Contains([]string{Tool, Tools, MaxTools, Schema}, l.Kind) })
	}
	for _, body := range spoiledCalls {
		for _, steps := range []bool{false, true} {
			if e, again, c := refuse(body, steps); e.Class != agent.Overloaded || again[0] || costsTools(c) {
				t.Errorf("%v %s: %s, %v, %+v", steps, body, e.Class, again, c.changed.applied)
			}
		}
	}
	for _, body := range earlierCalls {
		if e, again, c := refuse(body, true); e.Class != agent.BadRequest || !again[0] || !c.changed.hasChanged(History) || costsTools(c) {
			t.Errorf("%s: %s, %v, %+v", body, e.Class, again, c.changed.applied)
		}
	}
}
