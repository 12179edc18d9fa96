package lessons

import (
	"net/http"
	"slices"
	"strings"

	"parley/agent"
	"parley/agent/wire"
	"parley/channels/pattern"
)

var (
	// failing is in the errors of servers that failed: what the request consists of was mostly not the reason.
	failing = pattern.New(`internal (server )?error|error while|error occurred|timed? ?out|temporar|try again|overloaded|\bunavailable|capacity|connection|unexpectedly|crashed|out of memory`)
	// passing is in errors about the moment: the same request mostly works later.
	passing = pattern.New(`right now|at (?:the|this) moment|temporar|please try again|try again (?:later|in|soon|shortly)|(?:please|,) retry(?:$|[.,;!\n])|retry (?:later|the request|your request)|sorry about that|\bnot ready\b|\bstarting\b|overloaded|\bbusy\b|timed? ?out|too early|in progress|` +
		`[,.;:] try again(?:$|[.,;!\n])|\bunreachable\b|\bnot (?:currently )?(?:reachable|responding)\b|\b(?:engine|server|service|backend|worker|node|cluster) (?:is |was )?(?:currently )?(?:unavailable|not (?:currently )?available)\b|` +
		`\bunexpected (?:end of|eof)\b|\bvalue at this time\b`)
	// closing is in errors about what is behind a server. They say nothing of the moment when they give another reason.
	closing = pattern.New(`upstream|connection|\bclosed\b|\breset\b|\bconflict\b|internal (?:server )?error|error occurred|aborted|interrupted`)
	// denied is in errors that forbid a part of a request whatever its amount.
	denied = pattern.New(`\b(?:limited to|at most|maximum of|up to|limit of|limit is|max(?:imum)?:?) 0\b|\bnot (?:be )?(?:support|allow|permit|accept)|unsupported|does ?n[o']t|not enabled`)
)

// isPassing reports whether a refusal looks like one that passes.
func (x refusedRequest) isPassing() bool {
	text := strings.ToLower(x.text)
	return passing.MatchString(text) || x.fault.SaysItFailed() || x.err.Status > http.StatusNotImplemented || x.named && x.err.Class == agent.Overloaded || !x.found && !x.known && closing.MatchString(text)
}

// waits reports whether a request is made again as it was, before its refusal teaches anything: when that looks like one that passes, or is of
// something that was taken before, and did not come before. Words that an earlier call was refused in did.
func (x refusedRequest) waits() bool {
	c := x.call
	words := wordsWithoutCounts(x.text)
	if x.err.Class == agent.TooLong || c.seen[words] || words == c.suspects.words || c.changed.count >= maxChanges || !x.isPassing() && !(x.found && c.wasTaken(x.lesson)) {
		return false
	}
	if c.seen == nil {
		c.seen = make(map[string]bool)
	}
	c.seen[words] = true
	return true
}

// keyWord is in errors about keys and rights.
var keyWord = pattern.New(`\b(?:api[ -]?)?keys?\b|\btokens?\b|permission|authori[sz]|authenti|credential|forbidden|access|account|region|country|verif|billing|blocked`)

// mayTeach reports whether an error may be about a part of the request; named, whether it is so only if it names that part.
func mayTeach(e *agent.ModelError, f *wire.Fault) (teaches, named bool) {
	if e.Status >= 300 && e.Status < 400 || f.IsPassing() && e.Class != agent.BadRequest {
		return false, false
	}
	text := strings.ToLower(f.Text)
	switch e.Class {
	case agent.BadKey: // some gateways answer 403 to what a model does not take
		return e.Status == http.StatusForbidden, keyWord.MatchString(text)
	case agent.BadRequest, agent.NoSuchModel: // a router may say of a refusal that the model's server is down
		return true, e.Status > http.StatusNotImplemented && !f.QuotesRefusal()
	case agent.TooLong: // too long may be the answer that was asked for
		return true, false
	case agent.RateLimited:
		return e.Status == http.StatusTooManyRequests && denied.MatchString(text), true
	case agent.Overloaded: // some servers answer 500 and 501 to what they do not know
		ordinary := e.Status <= http.StatusNotImplemented
		return true, !ordinary || failing.MatchString(text)
	case agent.Broken:
		return (e.Status == 0 || e.Status == http.StatusOK) && !failing.MatchString(text), false
	}
	return false, false
}

// isNamed reports whether an error that may be about anything is believed to be about the part of the request that a lesson names. An endpoint that
// failed is so when the same request meets the same words.
// source: BerriAI/litellm#11267 (APIConnectionError, 500, with Ollama's refusal in it)
func (x refusedRequest) isNamed() bool {
	l := x.lesson
	if (x.err.Class == agent.Overloaded || x.err.Class == agent.BadRequest) && !passing.MatchString(strings.ToLower(x.text)) {
		return true
	}
	return slices.Contains([]string{Images, ToolImages, MaxImages, Stream}, l.Kind) || l.Kind == Parameter && strings.ContainsAny(l.Name, "._")
}
