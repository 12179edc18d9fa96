package wire

import (
	"net/http"

	"parley/channels/pattern"
)

// statusRetryWith is the status by which some of Microsoft's services ask for the same request again.
// source: learn.microsoft.com/openspecs/windows_protocols/ms-wdv (449 Retry With)
const statusRetryWith = 449

// passingStatuses are those of refusals that the same request mostly does not meet again.
// source: github.com/openai/openai-python (_should_retry: 408, 409), rfc-editor.org/rfc/rfc8470 (425)
var passingStatuses = []int{http.StatusRequestTimeout, http.StatusConflict, http.StatusTooEarly, statusRetryWith}

// badSample matches errors about one answer of the model: it made a call that cannot be read or that names no tool. The next answer is
// mostly another.
// source: github.com/vllm-project/vllm (Error in extracting tool call from response), ggml-org/llama.cpp#27025, console.groq.com/docs/tool-use
var badSample = pattern.New(`\b(?:model|llm|assistant)(?:'s)?\b[^.\n]{0,20}\b(?:generated|returned|produced|emitted|made|called|attempted)(?: to (?:call|use))? (?:an?|the|some)? ?(?:[a-z]+ )?(?:tool|function)\b|` +
	`\b(?:model|llm|assistant)'s (?:[a-z]+ )?(?:tool|function)[ _-]?calls?\b|` +
	`\bunexpected tokens remaining in message header\b|\bharmonyerror\b|` + // gpt-oss. source: vllm-project/vllm#22519
	`\b(?:model|generated|llm) (?:output|response|answer|text)\b[^.\n]{0,30}\b(?:parsed?|parsing|decoded?)\b|` +
	`\b(?:extract|pars|decod)(?:e|ed|ing)\b[^.\n]{0,30}\b(?:tool|function)[ _-]?calls?\b[^.\n]{0,30}\b(?:from|in|of) (?:the )?(?:model|response|output|answer|generat)`)

// ofParameters matches errors of routers that have the model, but none of its servers takes all parameters of the request.
// source: block/buzz#3018, openstory-so/openstory#1302
var ofParameters = pattern.New(`\b(?:requested|given|provided|specified|all) parameters\b`)
