package lessons

import (
	"context"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"

	"parley/agent"
	"parley/agent/wire/pattern"
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

// againstSetting tells which setting of the model an error refuses, as kind: value; "" = none.
func (x refusedRequest) againstSetting() string {
	c, sent := x.call, x.sent
	if !x.found && !sent.Stream && c.settings[Stream] == "off" && wantsStream.MatchString(reasons(x.fault.All)) {
		return Stream + ": off"
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
	hint := "The setting `" + setting + "` of " + c.at.Label() + " is the reason: my requests follow it, and the provider refuses that. " + c.placeOf(setting)
	if setting == Images+": on" && !c.images {
		c.book.conf.Logger.LogAttrs(ctx, slog.LevelWarn, "pictures are left out of a model call", slog.String("model", c.at.Label()),
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

// placeOf says where a setting, as kind: value, is to be changed.
func (c *Call) placeOf(setting string) string {
	key, _, _ := strings.Cut(setting, ":")
	return "Change `" + key + "` at `models.providers." + c.at.Provider + "`, or there at `models." + c.at.Model + "`."
}

// suspectSettings names the settings that may be the reason of a refusal which gives none, where no change helped against it.
func (x refusedRequest) suspectSettings() {
	for _, kind := range slices.Sorted(maps.Keys(x.call.settings)) {
		if x.call.settings[kind] != "on" || kind == Images && len(x.sent.Pictures) == 0 || kind == Tools && len(x.sent.Tools) == 0 {
			continue
		}
		setting := kind + ": on"
		x.err.Hint = strings.TrimSpace(x.err.Hint + " The setting `" + setting + "` of " + x.call.at.Label() + " may be the reason. " + x.call.placeOf(setting))
	}
}
