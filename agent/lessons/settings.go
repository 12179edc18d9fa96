package lessons

import (
	"context"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"

	"parley/agent"
	"parley/agent/wire"
	"parley/channels/pattern"
)

// insists notes a setting of a kind: "on" or "off".
func (c *Call) insists(kind, setting string) {
	if c.settings == nil {
		c.settings = make(map[string]string)
	}
	c.settings[kind] = setting
}

// wantsStream is in errors of endpoints that answer in pieces only. source: help.aliyun.com/zh/model-studio/error-code
var wantsStream = pattern.New(`\bonly supports? stream|\bstream(?:ing)?(?: mode)? (?:is )?(?:required|only)\b|\bnon-?stream|\benable (?:the )?stream|\bmust (?:be |use )?stream|\bstream must be\b|[仅只]支持流式`)

// wantsSystem is in errors of endpoints that want a system message. source: BerriAI/litellm (supports_system_message)
var wantsSystem = pattern.New(`\bsystem (?:message|prompt|role|instruction)s? (?:is |are )?(?:required|missing|needed|expected|must)|\b(?:missing|requires?|needs?|without) (?:an? |the )?system (?:message|prompt|role|instruction)`)

// namedExtra gives the header or the part of the query that a refusal names and that no change of a request reaches; "" = none.
// source: platform.claude.com/docs/en/api/beta-headers (Unexpected value(s) … for the anthropic-beta header)
func (x refusedRequest) namedExtra() string {
	if x.found || x.known || x.err.Class != agent.BadRequest && x.err.Class != agent.NoSuchModel {
		return ""
	}
	text := strings.ToLower(x.fault.All)
	for _, setting := range x.sent.Extras {
		kind, name, _ := strings.Cut(setting, ".")
		name = strings.ToLower(name)
		if len(name) >= minExtraName && word(text, name) && (kind == "query" || strings.Contains(name, "-") || headerWord.MatchString(text)) {
			return setting
		}
	}
	return ""
}

// minExtraName is how long the name of a header or of a part of the query is at least that a refusal is believed to name, in bytes.
const minExtraName = 4

// againstSetting tells which setting of the model an error refuses, as kind: value; "" = none.
func (x refusedRequest) againstSetting() string {
	c, sent := x.call, x.sent
	if !x.found && !sent.Stream && c.settings[Stream] == "off" && wantsStream.MatchString(reasons(x.fault.All)) {
		return Stream + ": off"
	}
	if !x.found && !sent.System && c.settings[System] == "off" && wantsSystem.MatchString(reasons(x.fault.All)) {
		return System + ": off"
	}
	if kind := x.lesson.Kind; (x.found || x.known) && c.settings[kind] == "on" && (kind != Images || x.lesson.Name == "") {
		return kind + ": on"
	}
	return ""
}

// obey ends a call whose refusal a setting of the user is the reason of: it wins, and the error names it. Pictures alone are left out of this
// call, so that the person gets an answer. It reports whether the request is worth making again.
func (x refusedRequest) obey(ctx context.Context, setting string) bool {
	c := x.call
	hint := "The setting `" + setting + "` of " + c.at.Label() + " is the reason: the provider refuses requests that follow it. " + c.at.placeOf(setting)
	if setting == Images+": on" && !c.images {
		c.book.conf.Logger.LogAttrs(ctx, slog.LevelWarn, "left pictures out of a model call", slog.String("model", c.at.Label()),
			slog.String("said", x.err.Said), slog.String("hint", hint))
		c.images = true
		c.changed.count++
		return true
	}
	isOwn := x.err.Class == agent.Overloaded && x.err.Status <= http.StatusNotImplemented && !x.named && !x.isPassing() // a 500 for what it does not take
	if x.err.Class == agent.BadRequest || x.err.Class == agent.NoSuchModel || isOwn {
		x.err.Class = agent.BadForm
	}
	x.err.Hint = hint
	return false
}

// blame ends a call whose refusal names a header or a part of the query that the user set.
func (x refusedRequest) blame(setting string) {
	x.err.Class = agent.BadForm
	x.err.Hint = "The setting `" + setting + "` of " + x.call.at.Label() + " is the reason: the provider's error names it. " + x.call.at.placeOf(setting)
}

// placeOf says where a setting, as kind: value, is to be changed: as the paths of the configuration.
func (e Endpoint) placeOf(setting string) string {
	key, _, _ := strings.Cut(setting, ": ")
	provider := "models.providers." + e.Provider
	return "Change `" + provider + "." + key + "`, or `" + provider + ".models." + e.Model + "." + key + "` if you set it there."
}

// commonWords matches errors that give no reason: all their words are those of any refusal. source: zai-org/feedback#81, openrouter.ai/docs/api-reference/errors
var commonWords = pattern.New(`^(?:[^\pL]|\b(?:an?|the|in|of|is|was|has|been|to|from|with|by|your|this|be|or|and|at|it|https?|status|codes?|api|server|client|provider|upstream|returned|` +
	`errors?|badrequesterror|badrequest|bad|requests?|invalid|illegal|malformed|failed|failure|fails?|rejected|refused|denied|arguments?|parameters?|params?|inputs?|body|data|payloads?|valid|validation|contains?|specified|unknown|unprocessable|entity|unexpected|something|went|wrong|` +
	`occurred|exception|could|can|not|cannot|processed?|no|reason|given|response|web|page|answer|json|please|check)\b|请求|参数|错误|无效|失败|有误)*$`)

// givesNoReason reports whether a refusal says nothing but that the request is wrong. text: the provider's sentences.
func givesNoReason(f *wire.Fault, text string) bool {
	isCommon := func(words string) bool {
		return commonWords.MatchString(strings.ReplaceAll(strings.ToLower(words), "_", " "))
	}
	return f.Param == "" && (isCommon(text) || f.All == "") && !slices.ContainsFunc(f.Codes, func(code string) bool { return !isCommon(code) })
}

// suspectSettings names the settings that may be the reason of a refusal which gives none, where no change helped against it: each that the
// request follows.
func (x refusedRequest) suspectSettings() {
	if !givesNoReason(x.fault, x.text) {
		return
	}
	sent := x.sent
	follows := map[string]bool{Images + ": on": len(sent.Pictures) > 0, Tools + ": on": len(sent.Tools) > 0, System + ": on": sent.System, Stream + ": on": sent.Stream, Stream + ": off": !sent.Stream}
	for _, kind := range slices.Sorted(maps.Keys(x.call.settings)) {
		if setting := kind + ": " + x.call.settings[kind]; follows[setting] {
			x.err.Hint = strings.TrimSpace(x.err.Hint + " The setting `" + setting + "` of " + x.call.at.Label() + " may be the reason. " + x.call.at.placeOf(setting))
		}
	}
	x.err.Hint = strings.TrimSpace(x.err.Hint + x.suspectOwn())
}
