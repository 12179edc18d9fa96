package lessons

import (
	"slices"
	"strings"

	"parley/channels/pattern"
	"parley/sessions"
)

var roleErr = pattern.New(`unexpected role|roles? must|role .{0,40}after|must alternate|should alternate|alternat|expected last role|only user(?:,| and) assistant|not the same number of function calls|consecutive`)

func readRoles(r reading) (sessions.Lesson, bool) {
	if !roleErr.MatchString(r.text) || r.has("only user") && r.sent.System {
		return sessions.Lesson{}, false
	}
	switch was := r.call.Use(Roles); {
	case was == "" && r.sent.Steps && r.has("tool"):
		return sessions.Lesson{Kind: Roles, Use: AfterTool}, true
	case was != Alternate && r.sent.Steps:
		return sessions.Lesson{Kind: Roles, Use: Alternate}, true
	case r.sent.System && !r.call.Off(System, ""): // some templates count the system message as the user's
		return sessions.Lesson{Kind: System}, true
	}
	return sessions.Lesson{}, false
}

var (
	// assistantRole matches words for the role of the model's messages.
	assistantRole = pattern.New(`\brole\b[^.\n]{0,20}\bassistant\b|\bassistant\b[^.\n]{0,30}\brole\b|\bassistant messages?\b`)
	roleRefused   = pattern.New(`\b(?:not|isn't|aren't|cannot be|can't be)\b[^.\n]{0,16}\b(?:allowed|supported|permitted|accepted|valid|recogni[sz]ed|expected|known)\b|\b(?:invalid|unsupported|unknown|unexpected|unrecogni[sz]ed|disallowed|forbidden)\b`)
	// otherThanRole matches words of errors about the place of a message, or about a part of it.
	otherThanRole = pattern.New(`\b(?:after|before|last|first|final|end|follow\w*|consecutive|alternat\w*|prefill\w*|tools?|tool_calls?|functions?|function_call|content|null|reasoning|thinking|images?|pictures?|name)\b`)
	// rolePlace matches the place of the role of a message, allowedRoles a list of roles.
	rolePlace    = pattern.New(`\b(?:messages|input)(?:\[|\.|/|\n)\d+\]?[./\n](?:\w+[./\n])?role\b`)
	allowedRoles = pattern.New("(?:should be|must be|expected|one of|supported values|allowed values|options?)[^\n]{0,60}['\"`]user['\"`][^\n]*")
)

// readUserOnly reads errors of servers that take no messages of the model, by words or by a list of the roles that they take.
// source: openai/openai-python#3722 (role of an input message: user, system or developer)
func readUserOnly(r reading) (sessions.Lesson, bool) {
	if !slices.Contains(r.sent.Roles, "assistant") || r.call.Use(Roles) == UserOnly {
		return sessions.Lesson{}, false
	}
	text := strings.ToLower(r.f.Param) + "\n" + r.text
	list := allowedRoles.FindString(r.text)
	isListed := list != "" && !strings.Contains(list, "assistant") && rolePlace.MatchString(text)
	isNamed := slices.ContainsFunc(r.sentences(), func(s string) bool {
		return assistantRole.MatchString(s) && roleRefused.MatchString(s) && !otherThanRole.MatchString(s)
	})
	if role, ok := placeInHistory(r.f, r.sent); !isListed && !isNamed || ok && role != "" && role != "assistant" {
		return sessions.Lesson{}, false
	}
	return sessions.Lesson{Kind: Roles, Use: UserOnly}, true
}
