package wire

import (
	"net/http"

	"parley/channels/pattern"
)

// statusRetryWith is the status by which some of Microsoft's services ask for the same request again.
// source: learn.microsoft.com/openspecs/windows_protocols/ms-wdv (449 Retry With)
const statusRetryWith = 449

// statusCalm is the status of servers that have too much to do, or ask for a pause. source: yandex.ru/dev/market/partner-api/doc (420 Method Failure: a limit is exceeded)
const statusCalm = 420

// passingStatuses are those of refusals that the same request mostly does not meet again.
// source: github.com/openai/openai-python (_should_retry: 408, 409), rfc-editor.org/rfc/rfc8470 (425), rfc-editor.org/rfc/rfc4918#section-11.3 (423)
var passingStatuses = []int{http.StatusRequestTimeout, http.StatusConflict, http.StatusLocked, http.StatusTooEarly, statusCalm, statusRetryWith}

// badSample matches errors about one answer of the model: it made a call that cannot be read or that names no tool. The next answer is
// mostly another.
// source: github.com/vllm-project/vllm (Error in extracting tool call from response), ggml-org/llama.cpp#27025, console.groq.com/docs/tool-use
var badSample = pattern.New(`\b(?:model|llm|assistant)(?:'s)?\b[^.\n]{0,20}\b(?:generated|returned|produced|emitted|made|called|attempted)(?: to (?:call|use))? (?:an?|the|some)? ?(?:[a-z]+ )?(?:tool|function)\b|` +
	`\b(?:model|llm|assistant)'s (?:[a-z]+ )?(?:tool|function)[ _-]?calls?\b|` +
	`\bunexpected tokens remaining in message header\b|\bharmonyerror\b|` + // gpt-oss. source: vllm-project/vllm#22519
	`\b(?:model|generated|llm) (?:output|response|answer|text)\b[^.\n]{0,30}\b(?:parsed?|parsing|decoded?)\b|` +
	`\b(?:extract|pars|decod)(?:e|ed|ing)\b[^.\n]{0,30}\b(?:tool|function)[ _-]?calls?\b[^.\n]{0,30}\b(?:from|in|of) (?:the )?(?:model|response|output|answer|generat)`)

// spoiledCall matches errors about the call that a model made in its answer: its arguments are not those of the schema, or it names a tool that was
// not offered. They name that tool, which is right; earlierCall is the place of a call in the history, which will be refused again.
// source: mastra-ai/mastra#9688, HunorLaczko/ha-groq-cloud-api#20, BerriAI/litellm#11001 (Groq), vercel/ai#1922, anthropics/claude-code#95212, anomalyco/opencode#48620, strands-agents/harness-sdk#649 (Bedrock)
var (
	spoiledCall = pattern.New(`\b(?:attempted|tried) to call (?:an? |the )?(?:[a-z-]+ )?(?:tool|function)\b|\b(?:parameters|arguments|input) (?:for|of|to) (?:the )?(?:tool|function) \S+ (?:did|do|does) not match\b|\brequested (?:tool|function) (?:does not exist|was not found|is not available)|` +
		`\binvalid (?:arguments|input) (?:for|to) (?:the )?(?:tool|function)\b|\bno tool named \S+ is (?:currently )?available|\bunexpected (?:tool|function) call:? ['"\x60]|\bmodel produced (?:an )?invalid [a-z ]{1,30}\btool ?use\b`)
	earlierCall = pattern.New(`\b(?:messages?|input|contents?|history|tool_calls)(?:\[|\.|/| )\d|\btool_calls\[|\b(?:assistant|previous|earlier) messages?\b|\bin (?:the )?(?:history|conversation|messages)\b`)
)

// isBadSample reports whether an error is about one answer of the model.
func (f *Fault) isBadSample() bool {
	return badSample.MatchString(f.All) || spoiledCall.MatchString(f.All) && !earlierCall.MatchString(f.All)
}

// SaysItFailed reports whether an error says that the server failed, by its words, its codes or a status in its body, and not what of the request
// it refuses. What it names besides is where the server was when it failed.
func (f *Fault) SaysItFailed() bool {
	return inAnswer.MatchString(f.All) || (f.Status < 500 && f.has(serverCodes) || serverFailed.MatchString(f.All)) && !statedRefusal.MatchString(f.All)
}

// serverCodes are given by servers that failed. source: platform.openai.com/docs/guides/error-codes (server_error), docs.aws.amazon.com (InternalFailure)
var serverCodes = []string{"server_error", "internal_error", "internal_server_error", "internalservererror", "internalfailure", "internalserverexception", "internal", "timeout", "timeout_error", "upstream_error", "overloaded_error",
	"service_unavailable", "service_unavailable_error", "unavailable", "unknown_error", "500", "502", "503", "504", "520", "522", "524", "529"}

var (
	// serverFailed is in the sentences of servers that failed. source: platform.openai.com/docs/guides/error-codes, rfc-editor.org/rfc/rfc9110#section-15.6
	serverFailed = pattern.New(`\binternal[ _](?:serv(?:er|ice)[ _])?(?:error|failure)\b|\b(?:server|unexpected|unknown) error\b|\berror occurred\b|\bserver had an error\b|\bsomething went wrong\b|\bbad gateway\b|\bgateway time-?out\b|\btimed? ?out\b|\bdeadline exceeded\b|\boverloaded\b|\bservice unavailable\b|` +
		`\bcrashed\b|\bpanic\b|\bcuda error\b|\bsegmentation fault\b|\bconnection (?:reset|closed|refused|aborted)\b|\bstream (?:error|disconnected|closed)\b|内部错误|系统错误|服务(?:器)?(?:异常|错误|超时)`)
	// inAnswer is in errors about what a router got from a server, not about what it sent there.
	inAnswer = pattern.New(`\b(?:in|of|from|decod(?:e|ing)|pars(?:e|ing)|read(?:ing)?) (?:the |an? )?(?:upstream|provider|backend)(?:['’]s)?(?: [a-z]+)? (?:response|answer|reply|output)\b`)
	// statedRefusal is in errors that say what is refused.
	statedRefusal = pattern.New(`\b(?:not|un)[ -]?(?:be |currently |yet )?(?:support|allow|permit|accept|enabl|implement|recogni[sz])|\b(?:does ?n['’]?o?t|do not|don['’]t|cannot|can['’]t) (?:support|accept|allow|take|handle|process|have|use)|\bmust\b|\bshould (?:be|have|match)\b|\bextra inputs?\b|\b(?:field|is|are) required\b|\bat (?:most|least)\b|` +
		`\b(?:unknown|unexpected|invalid|illegal) (?:parameter|field|argument|value|key|property|type|role|name|schema)|不支持|不允许|必须`)
)

// ofParameters matches errors of routers that have the model, but none of its servers takes all parameters of the request.
// source: block/buzz#3018, openstory-so/openstory#1302
var ofParameters = pattern.New(`\b(?:requested|given|provided|specified|all) parameters\b`)
