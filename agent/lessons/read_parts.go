package lessons

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"parley/channels/pattern"
	"parley/sessions"
)

// sentences splits what a provider said, without the lists of what it accepts.
func (r reading) sentences() []string {
	return strings.FieldsFunc(strings.ReplaceAll(withoutAccepted(r.text), ". ", "\n"), func(c rune) bool { return strings.ContainsRune("\n!。", c) })
}

// refusesPart reports whether a sentence refuses what one of its words names, or the parameter that the error names is that. A sentence with
// words of except speaks of something else.
func (r reading) refusesPart(noun, except *pattern.Pattern, fields ...string) bool {
	if name := r.f.Param[strings.LastIndex(r.f.Param, ".")+1:]; slices.Contains(fields, name) {
		return true
	}
	return slices.ContainsFunc(r.sentences(), func(s string) bool {
		return noun.MatchString(s) && !except.MatchString(s) && (no.MatchString(s) || r.f.Param != "")
	})
}

var (
	streamWord = pattern.New(`\bstream(ing|ed)?\b|流式|ストリーミング|스트리밍|стриминг|потоков`)
	// oneStream is in errors about one answer that was cut off.
	oneStream = pattern.New(`\b(?:pars|read|decod|open|process)(?:e|ed|ing)? (?:the )?(?:[a-z]+ )?stream\b|\bupstream stream\b|\bstream(?:ing)? (?:has |was |is )?(?:been )?(?:ended|closed|error|timed|timeout|failed|aborted|interrupted|reset|disconnected|terminated|idle)`)
)

func readStream(r reading) (sessions.Lesson, bool) {
	if !r.sent.Stream || !r.refusesPart(streamWord, oneStream, "stream") {
		return sessions.Lesson{}, false
	}
	return sessions.Lesson{Kind: Stream}, true
}

var (
	toolWord = pattern.New(`\btools?\b|function[- _]?call|function declarations?\b|functions|tool_choice|tool[-_ ]?us|tool-call|工具|函数调用|werkzeug|funktionsaufruf|\boutils?\b|appels? de fonction|herramient|llamadas? a funci|\bferramentas?\b|chamadas? (?:de|a) fun[cç]|\bstrument[oi]\b|chiamat[ae] (?:di|a) funzion|инструмент|вызов\S* функци|ツール|関数呼び出し|도구|함수 호출`)
	// oneToolCall is in errors about calls of the history or of one answer, not about tools.
	oneToolCall = pattern.New("\\bmessage header\\b|\\b(?:model|llm|assistant)'s (?:[a-z]+ )?(?:tool|function)|\\b(?:model|llm|assistant|generated)\\b[^\n]{0,30}\\b(?:generated|returned|produced|emitted|called|output|response)\\b|\\b(?:pars|extract|decod)(?:e|ed|ing)\\b|" +
		`\b(?:invalid|malformed|missing|duplicate|each|every|an?|single|multiple|parallel|previous|last) (?:tool|function)[-_ ]?(?:calls?|use)\b|(?:tool|function)[-_ ]calls? (?:is|are|was|were) (?:missing|invalid|malformed)|` +
		"found [`'\"]?tool_use|expected [`'\"]?(?:redacted_)?thinking|thought_?signature|`tool_use`|tool_calls?[\\[.'\"`]|at once|strument[oi] di pagamento|(?:tool|function)[^\n]{0,20} (?:arguments|turn)\\b|function_?call(?:ing)?_?parts?|functioncall parts")
)

// aCall is in errors about calls, which may be those of the history.
var aCall = pattern.New(`\b(?:tool|function)[ _-]calls?\b`)

func readTools(r reading) (sessions.Lesson, bool) {
	if len(r.sent.Tools) == 0 || !r.refusesPart(toolWord, oneToolCall, "tools", "functions", "tool_choice") || r.ofToolMessages() || r.ofToolField() || r.isInHistory() || r.missesInTool() {
		return sessions.Lesson{}, false
	}
	if name := r.namedTool(); name != "" {
		return r.without(name), true
	}
	isOfOne := toolIndex.MatchString(strings.ToLower(r.f.Param) + "\n" + r.text) // whichever it is
	if r.refusesTools() && !isOfOne && !(r.tookTools() && aCall.MatchString(r.text)) {
		return sessions.Lesson{Kind: Tools}, true
	}
	if r.tookTools() {
		return r.call.told(), true
	}
	return r.fewerTools(), true
}

var (
	toolField = pattern.New(`\b(?:tools|functions)(?:\[|\.|/)\d+\]?(?:[./](?:function|custom))?[./]([a-z_]+)`)
	// ownToolFields are the fields by which tools differ: an error about another one is about all tools.
	ownToolFields = []string{"function", "custom", "type", "name", "description", "parameters", "input_schema", "schema", "function_declarations", "functiondeclarations"}
)

// ofToolField reports whether an error names a field of a tool that all tools have alike.
func (r reading) ofToolField() bool {
	m := toolField.FindStringSubmatch(strings.ToLower(r.f.Param) + "\n" + r.text)
	return m != nil && !slices.Contains(ownToolFields, m[1])
}

// missesInTool reports whether an error wants a field that a definition has not: that is no word against tools.
func (r reading) missesInTool() bool {
	return required.MatchString(r.text) && missingInTool.MatchString(strings.ToLower(r.f.Param)+"\n"+r.text)
}

var (
	systemWord = pattern.New("(?:\\brôle|\\brol|\\bruolo|\\bpapel|\\bfun[cç][aã]o|\\brolle|роль)\\W{1,5}(?:(?:de|do|di|du|des) )?(?:system|sistema|système)\\b|\\bsystem\\W{0,4}(?:역할|ロール|рол|rolle)|(?:mensage[mn]s?|instruç\\S+|messaggi\\S*|istruzion\\S+) (?:de |do |di )(?:sistema|system)|系统(?:角色|消息|提示词?|指令)|(?:\\bsystem|system[`'\"“‘”’]?) ?(?:消息|角色|提示)|\\bsystem-?(?:rolle|nachricht|anweisung)|(?:rôle|message|invite) (?:de |du )?syst[eè]me|(?:rol|mensaje|instrucci[oó]n(?:es)?) (?:de |del )?sistema|системн\\S* (?:рол|сообщен|инструкц)|роль \\S{0,2}system|システム(?:ロール|メッセージ|プロンプト|の役割)|시스템 ?(?:역할|메시지|프롬프트)|system (role|message|prompt|instruction)|\\brole\\b.{0,40}\\b(system|developer)\\b|developer instruction|[`'\"]system[`'\"] (?:is|was) not|systeminstruction|system_instruction|only user(,| and) assistant|developer role|invalid value: .system|(?:[`'\"]|^)system[`'\"]?[^a-z]{1,3}(is )?(not|unsupported|invalid|unknown)")
	// systemState is in errors about the moment.
	systemState = pattern.New(`system (?:is|was) (?:not |un)(?:available|ready|responding|reachable)`)
)

func readSystem(r reading) (sessions.Lesson, bool) {
	if !r.sent.System || !r.refusesPart(systemWord, systemState, "system") {
		return sessions.Lesson{}, false
	}
	return sessions.Lesson{Kind: System}, true
}

var (
	roleList  = pattern.New("[`'\"‘“](?:user|assistant)[`'\"’”][^\n]{0,24}[`'\"‘“](?:user|assistant|tool|function|model)[`'\"’”][^\n]*")
	otherRole = pattern.New("[`'\"‘“](?:tool|function|developer)[`'\"’”][^\n]{0,60}[`'\"‘“]user[`'\"’”]")
	// bareRoles lists roles without quotation marks. source: ai.google.dev/api/caching#Content (Please use a valid role: user, model)
	bareRoles = pattern.New(`\broles?\b[^\n:]{0,24}: ?(?:[a-z]+(?:,| and| or)* ?){2,5}`)
	firstUser = pattern.New(`(?:first|initial) (?:message|turn|role|content)\b[^\n.]{0,40}\buser\b|(?:must|should|has to|have to|needs? to) (?:start|begin) with (?:an? |the )?[\x60'"]?user`)
	// firstMessage is where a request has its system message.
	firstMessage = pattern.New(`messages(?:\[|\.)0\b`)
	anyMessage   = pattern.New(`messages(?:\[|\.)\d+`)
)

// readRoleNames reads errors that list the roles of messages, without that of the system, or want a person's message first: its text goes into
// that one.
// source: aattaran/deepclaude#29 (unknown variant), docs.pydantic.dev/latest/errors/validation_errors (literal_error)
func readRoleNames(r reading) (sessions.Lesson, bool) {
	if !r.sent.System || r.call.Off(System, "") {
		return sessions.Lesson{}, false
	}
	place := strings.ToLower(r.f.Param) + "\n" + r.text
	list := cmp.Or(roleList.FindString(r.text), bareRoles.FindString(r.text))
	isList := word(list, "user") && (word(list, "assistant") || word(list, "model")) && !word(list, "system")
	switch {
	case anyMessage.MatchString(place) && !firstMessage.MatchString(place) && !(isList && r.isAllowedAt(place, list)):
	case isList && !otherRole.MatchString(r.text), firstUser.MatchString(r.text):
		return sessions.Lesson{Kind: System}, true
	}
	return sessions.Lesson{}, false
}

// isAllowedAt reports whether the message at a place has one of the roles that are listed: a server that counts otherwise means another message.
func (r reading) isAllowedAt(place, list string) bool {
	role := strings.TrimPrefix(anyMessage.FindString(place), "messages")
	i, err := strconv.Atoi(strings.Trim(role, "[."))
	return err == nil && i < len(r.sent.Roles) && word(list, r.sent.Roles[i]) && !slices.Contains(r.sent.Roles, "tool") // which may be meant as well
}

var together = pattern.New(`\b(?:single|one|1) (?:tool|function)[-_ ]?(?:calls?|use)\b|\b(?:parallel|multiple|several|simultaneous)\b[^\n.]{0,12} (?:tool|function)[-_ ]?(?:calls?|calling|uses?)\b|(?:tool|function)[-_ ]?calls? at once`)

// ParallelCalls is the parameter that forbids a model to make several calls in one answer.
const ParallelCalls = "parallel_tool_calls"

// readTogether reads errors of servers that take one call in a message: earlier ones are told one after the other, and the model is told to make
// no others.
// source: the chat template of Llama 3.1 at huggingface.co
func readTogether(r reading) (sessions.Lesson, bool) {
	if !together.MatchString(r.text) {
		return sessions.Lesson{}, false
	}
	several := func(m sessions.Message) bool { return len(m.ToolCalls()) > 1 }
	if r.sent.Steps && slices.ContainsFunc(r.sent.Messages, several) && !r.call.Off(OneCall, "") {
		return sessions.Lesson{Kind: OneCall}, true
	}
	for _, p := range r.sent.Params {
		if p.Name == ParallelCalls && p.Value == Unset && len(r.sent.Tools) > 0 {
			return sessions.Lesson{Kind: Parameter, Name: p.Name, Value: Unset, Use: "false"}, true
		}
	}
	return sessions.Lesson{}, false
}

var pictureCount = pattern.New(`too many (?:images|pictures)[^\n]*|(?:at most|maximum(?: of)?|up to|only|limit(?:ed)?(?: of| to| is)?|more than|exceeds?[^\n]{0,24}) \d+ (?:images?|pictures?)\b|\b(?:number|count) of (?:images|pictures)[^\n]*|\bmax(?:imum)?[_ ](?:number of )?(?:images|pictures)[^\n]*`)

// readManyPictures reads errors about the number of pictures: only the newest ones are sent.
// source: docs.vllm.ai (At most 1 image(s) may be provided), docs.anthropic.com/en/docs/build-with-claude/vision (many-image requests)
func readManyPictures(r reading) (sessions.Lesson, bool) {
	n := len(r.sent.Pictures)
	said := pictureCount.FindString(strings.ReplaceAll(r.text, "(s)", "s"))
	if n < 2 || said == "" {
		return sessions.Lesson{}, false
	}
	most := n - 1
	if named, ok := nearestNumber(said, float64(n)); ok && named >= 1 && named < float64(n) {
		most = int(named)
	}
	return sessions.Lesson{Kind: MaxImages, Use: strconv.Itoa(most)}, true
}
