package wire

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"parley/channels/pattern"
)

var (
	// delayField is google.rpc.RetryInfo. source: https://ai.google.dev/gemini-api/docs/rate-limits, google/rpc/error_details.proto
	delayField = pattern.New(`"retry_?delay\\*"\s*:\s*\\*"([0-9.]+)s`)
	// waitSentence says how long to wait. source: console.groq.com/docs/rate-limits, platform.openai.com/docs/guides/rate-limits
	waitSentence = pattern.New(`\b(?:try again|retry|retrying|resets?|wait)\b[^.\n\d]{0,24}?((?:\d+(?:\.\d+)? ?(?:milliseconds?|ms|days?|d|hours?|hrs?|h|minutes?|mins?|m|seconds?|secs?|s)[ ,]*(?:and )?)*\d+(?:\.\d+)? ?(?:milliseconds?|ms|days?|d|hours?|hrs?|h|minutes?|mins?|m|seconds?|secs?|s)\b)`)
	waitPart     = pattern.New(`(\d+(?:\.\d+)?) ?(milliseconds?|ms|days?|d|hours?|hrs?|h|minutes?|mins?|m|seconds?|secs?|s)`)
	// resetSentence says at what time to come again. source: platform.minimax.io/docs/api-reference/errorcode, docs.z.ai/api-reference/api-code (1308)
	resetSentence = pattern.New(`(?:\b(?:resets?|try again|available again|retry|renews?|refresh(?:es)?|until|after|before)\b|resets?_?at|reset_?time)[^.\n\d]{0,24}` + resetTime)
	// resetBehind is the same in languages that say so behind the time. source: docs.bigmodel.cn/cn/faq/api-code (1308)
	resetBehind = pattern.New(resetTime + `\s*(?:后|に|부터|에)?\s*(?:重置|恢复|刷新|重試|重试|リセット|초기화|재설정)`)
	// resetClock is a time of the day in UTC.
	resetClock = pattern.New(`\b(?:resets?|try again|available again|retry|until|after|at)\b[^.\n\d]{0,24}\b(\d\d:\d\d)(?::\d\d)? ?(?:utc|gmt)\b`)
	// resetField is when a limit ends, in seconds or milliseconds since 1970. source: https://openrouter.ai/docs/api/reference/limits, openai/codex (usage_limit_reached)
	resetField = pattern.New(`"(?:x-ratelimit-reset|resets?_?at|reset_?time)\\*"\s*:\s*\\*"?(\d{10}|\d{13})\b`)
	// resetSeconds is how many seconds a limit lasts.
	resetSeconds = pattern.New(`"(?:resets?_?in(?:_?seconds)?|retry_?after(?:_?seconds)?)\\*"\s*:\s*\\*"?(\d{1,7}(?:\.\d+)?)\b`)
	// perDay matches quotas of a day. source: ai.google.dev/gemini-api/docs/rate-limits (requests per day reset at midnight Pacific time)
	perDay = pattern.New(`"quotaid\\*"\s*:\s*\\*"[^"]{0,120}perday`)
	// ofChina matches the codes of Zhipu, and texts in Chinese: their times are those of Beijing.
	ofChina = pattern.New(`"code\\*"\s*:\s*\\*"?13\d\d\b|\p{Han}`)
)

// resetTime matches a time with its zone as a group, or without: UTC, or Beijing of providers there.
const resetTime = `(\d{4}-\d\d-\d\d[t ]\d\d:\d\d:\d\d(?:\.\d+)?(?: ?(?:z|utc|gmt|[+-]\d\d:?\d\d)\b)?)`

var beijing = time.FixedZone("CST", 8*60*60)

// waitIn reads from the body of an error how long to wait; 0 = it does not say, negative = not at all.
func waitIn(body string, now time.Time) time.Duration {
	body = strings.ToLower(body)
	if perDay.MatchString(body) { // the delay that is named is too short
		at := now.UTC().Truncate(24 * time.Hour).Add(8 * time.Hour) // midnight in California
		if !at.After(now) {
			at = at.Add(24 * time.Hour)
		}
		return at.Sub(now)
	}
	if m := delayField.FindStringSubmatch(body); m != nil {
		return seconds(m[1])
	}
	if m := waitSentence.FindStringSubmatch(body); m != nil {
		return waitOf(m[1])
	}
	if m := resetField.FindStringSubmatch(body); m != nil {
		return resetOf(m[1], now)
	}
	if m := resetSeconds.FindStringSubmatch(body); m != nil {
		return seconds(m[1])
	}
	if d := foreignWaitIn(body); d > 0 {
		return d
	}
	at := resetTimeIn(body, now)
	switch {
	case at.IsZero():
		return 0
	case !at.After(now):
		return atOnce
	}
	return min(at.Sub(now), maxWait)
}

// resetTimeIn reads the time at which a limit ends; zero = the text does not say.
func resetTimeIn(body string, now time.Time) time.Time {
	zone := time.UTC
	if ofChina.MatchString(body) {
		zone = beijing
	}
	for _, p := range []*pattern.Pattern{resetSentence, resetBehind} {
		m := p.FindStringSubmatch(body)
		if m == nil {
			continue
		}
		text := strings.NewReplacer("UTC", "Z", "GMT", "Z", "T", " ").Replace(strings.ToUpper(m[1]))
		for _, layout := range []string{"2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05 Z07:00", "2006-01-02 15:04:05Z0700", "2006-01-02 15:04:05 Z0700", time.DateTime} {
			if at, err := time.ParseInLocation(layout, text, zone); err == nil {
				return at
			}
		}
	}
	m := resetClock.FindStringSubmatch(body)
	if m == nil {
		return time.Time{}
	}
	clock, err := time.Parse("15:04", m[1])
	if err != nil {
		return time.Time{}
	}
	y, month, d := now.UTC().Date()
	at := time.Date(y, month, d, clock.Hour(), clock.Minute(), 0, 0, time.UTC)
	if !at.After(now) {
		at = at.AddDate(0, 0, 1)
	}
	return at
}

// maxWait bounds a wait that is believed.
const maxWait = 365 * 24 * time.Hour

func seconds(s string) time.Duration {
	d, _ := number(s, time.Second) // 0 for what is no number
	return d
}

// waitOf adds up 22m24.1s, 3h 12min, 86400 seconds.
func waitOf(text string) (sum time.Duration) {
	for _, m := range waitPart.FindAllStringSubmatch(text, -1) {
		unit := time.Second
		switch {
		case strings.HasPrefix(m[2], "mil"), m[2] == "ms":
			unit = time.Millisecond
		case m[2][0] == 'd':
			unit = 24 * time.Hour
		case m[2][0] == 'h':
			unit = time.Hour
		case m[2][0] == 'm':
			unit = time.Minute
		}
		if d, ok := number(m[1], unit); ok && d > 0 {
			sum = min(sum+d, maxWait)
		}
	}
	return sum
}

// resetHeaders are the headers that say when a limit ends, with those that say how much of it is left.
// source: platform.openai.com/docs/guides/rate-limits, console.groq.com/docs/rate-limits, docs.anthropic.com/en/api/rate-limits,
// docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api, datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers
var resetHeaders = []struct{ reset, left string }{
	{"X-Ratelimit-Reset-Requests", "X-Ratelimit-Remaining-Requests"},
	{"X-Ratelimit-Reset-Tokens", "X-Ratelimit-Remaining-Tokens"},
	{"Anthropic-Ratelimit-Requests-Reset", "Anthropic-Ratelimit-Requests-Remaining"},
	{"Anthropic-Ratelimit-Tokens-Reset", "Anthropic-Ratelimit-Tokens-Remaining"},
	{"Anthropic-Ratelimit-Input-Tokens-Reset", "Anthropic-Ratelimit-Input-Tokens-Remaining"},
	{"Anthropic-Ratelimit-Output-Tokens-Reset", "Anthropic-Ratelimit-Output-Tokens-Remaining"},
	{"X-Ratelimit-Reset", "X-Ratelimit-Remaining"},
	{"Ratelimit-Reset", "Ratelimit-Remaining"},
}

// resetAfter reads how long to wait from the headers of limits: until the one that is used up ends, or the only one that is named; 0 = they
// do not say, negative = not at all.
func resetAfter(h http.Header, now time.Time) (wait time.Duration) {
	if d := resetOf(h.Get("Anthropic-Ratelimit-Unified-Reset"), now); d != 0 { // of a subscription. source: anthropics/claude-code#2087
		return d
	}
	named := 0
	for _, x := range resetHeaders {
		d, left := resetOf(h.Get(x.reset), now), strings.TrimSpace(h.Get(x.left))
		switch {
		case d == 0:
		case left == "0":
			return d
		case left == "":
			wait = d
			named++
		}
	}
	if named != 1 {
		return 0
	}
	return wait
}

// resetOf reads 2s, 6m0s, 120ms, a number of seconds, a time in seconds or milliseconds since 1970, and a time of RFC 3339.
func resetOf(value string, now time.Time) time.Duration {
	value = strings.ToLower(strings.TrimSpace(value))
	var at time.Time
	if n, err := strconv.ParseFloat(value, 64); err == nil {
		switch {
		case n >= 1e12:
			at = time.UnixMilli(int64(min(n, 1e14)))
		case n >= 1e9:
			at = time.Unix(int64(n), 0)
		default:
			return seconds(value)
		}
	} else if at, err = time.Parse(time.RFC3339, strings.ToUpper(value)); err != nil {
		return waitOf(value)
	}
	if !at.After(now) {
		return atOnce
	}
	return min(at.Sub(now), maxWait)
}
