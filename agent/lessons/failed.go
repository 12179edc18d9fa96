package lessons

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"parley/agent"
	"parley/agent/wire"
	"parley/channels/pattern"
	"parley/sessions"
)

// failure is what a server says that failed.
type failure struct {
	text, all string

	lost bool // the connection was closed, which networks do as well: it happens twice in each call that is to learn of it
	any  bool // any part of the request may be the reason: it is not about what the model wrote
}

// failedAgain changes a request with which the server failed twice in the same words: pictures are left out, or the history is told as text.
// Servers fail so with what a template cannot write down. One that quotes its template may be unable to write down the tools. An endpoint that was taken with those changes in an earlier call is not asked twice.
//
// source: mudler/LocalAI#10256, ggml-org/llama.cpp (common/minja), vllm-project/vllm (500 to pictures), QwenLM/qwen-code#48, OpenRouterTeam/openrouter-examples#67 (a word for a failure at the end of an empty answer)
func (x unexplained) failedAgain(err error) bool {
	c, sent := x.call, x.sent
	f, ok := failureOf(err)
	if !ok || c.changed.count >= maxChanges {
		return false
	}
	words := wordsWithoutCounts(f.text)
	if c.failed == nil {
		c.failed = make(map[string]int)
	}
	c.failed[words]++
	isKnown := !f.lost && words == c.suspects.words && len(c.spared) > 0
	if c.failed[words] < 2 && !isKnown {
		return false
	}
	c.changed.judge(f.text, sessions.Lesson{}, false)
	switch {
	case isKnown && c.restoreSuspects():
	case len(sent.Pictures) > 0 && !c.images:
		x.leavePictures()
	case sent.Steps && emptyWord.MatchString(f.all) && otherContent(c) != "":
		x.guess(sessions.Lesson{Kind: Content, Use: otherContent(c)})
	case sent.Steps && !c.changed.hasChanged(History):
		x.guess(c.told())
	case x.failedWithTools(f):
	default:
		return false
	}
	c.changed.count++
	return true
}

// failedWithTools leaves out what tools have besides the plainest, then the tools: where the server quotes its template, or fails in words of one and was
// never seen to take tools.
// source: sgl-project/sglang#9166, sgl-project/sglang#9891 (500 to each request with tools)
func (x unexplained) failedWithTools(f failure) bool {
	c, sent := x.call, x.sent
	quotes, isOfTemplate := templateCode.MatchString(f.all), templateFault.MatchString(f.all)
	switch {
	case len(sent.Tools) == 0 || !quotes && (!f.any || !isOfTemplate || c.taken.tools || c.changed.hasChanged(History) || c.changed.hasChanged(Images)):
		return false
	case sent.Loose && !c.Off(Schema, ""):
		x.guess(sessions.Lesson{Kind: Schema})
	case !c.Off(Tools, ""):
		x.guess(sessions.Lesson{Kind: Tools})
	default:
		return false
	}
	return true
}

// failureOf gives what a server says that failed with a request, or died of it; ok is false for one that has no time, and for a refusal.
func failureOf(err error) (_ failure, ok bool) {
	e, isModel := errors.AsType[*agent.ModelError](err)
	if !isModel {
		return failure{}, false
	}
	f, isFault := errors.AsType[*wire.Fault](err)
	switch {
	case e.Class == agent.Unreachable && e.Err != nil && cutOff.MatchString(e.Err.Error()):
		return failure{text: e.Err.Error(), lost: true}, true
	case !isFault || e.Class != agent.Overloaded && (e.Class != agent.Broken || e.Status != http.StatusOK) || busyNow.MatchString(strings.ToLower(f.Text)):
		return failure{}, false
	}
	gone := e.Status == http.StatusBadGateway || e.Status == http.StatusGatewayTimeout
	return failure{text: f.Text, all: f.All, any: !gone && e.Status >= http.StatusInternalServerError && !f.IsPassing()}, gone || slices.Contains(failingStatuses, e.Status)
}

var (
	// cutOff is in errors about a connection that a server took and closed without an answer. source: ollama/ollama#10443 (EOF to a picture)
	cutOff = pattern.New(`(?i)\bEOF\b|\bconnection reset\b|\bbroken pipe\b|\bserver closed\b`)
	// templateFault is in errors of templates about what they cannot read, without a quotation.
	templateFault = pattern.New(`has no attribute|has no element|\bundefined\b|\btemplate\b|not iterable|not subscriptable|cannot subscript|\bunknown (?:method|filter|test)\b|\bkeyerror\b|\btypeerror\b|\bcan only get item pairs\b`)
)

// failingStatuses are those of servers that failed with a request, not of ones that cannot be reached.
var failingStatuses = []int{http.StatusOK, http.StatusBadRequest, http.StatusUnprocessableEntity, http.StatusInternalServerError, http.StatusNotImplemented}

// busyNow is in errors of servers that have no time for any request.
var busyNow = pattern.New(`overload|\bbusy\b|capacity|out of memory|timed? ?out|too many|rate.?limit|loading|upstream|connection`)
