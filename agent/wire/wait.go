package wire

import (
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

var (
	// delayField is google.rpc.RetryInfo. source: https://ai.google.dev/gemini-api/docs/rate-limits, google/rpc/error_details.proto
	delayField = regexp.MustCompile(`"retry_?delay\\*"\s*:\s*\\*"([0-9.]+)s`)
	// resetField is the time in milliseconds that OpenRouter gives. source: https://openrouter.ai/docs/api/reference/limits
	resetField = regexp.MustCompile(`"x-ratelimit-reset\\*"\s*:\s*\\*"?(\d{13})\b`)
	// waitSentence says how long to wait. source: console.groq.com/docs/rate-limits, platform.openai.com/docs/guides/rate-limits
	waitSentence = regexp.MustCompile(`\b(?:try again|retry|retrying|resets?|wait)\b[^.\n\d]{0,24}?((?:\d+(?:\.\d+)? ?(?:milliseconds?|ms|days?|d|hours?|hrs?|h|minutes?|mins?|m|seconds?|secs?|s)[ ,]*(?:and )?)*\d+(?:\.\d+)? ?(?:milliseconds?|ms|days?|d|hours?|hrs?|h|minutes?|mins?|m|seconds?|secs?|s)\b)`)
	waitPart     = regexp.MustCompile(`(\d+(?:\.\d+)?) ?(milliseconds?|ms|days?|d|hours?|hrs?|h|minutes?|mins?|m|seconds?|secs?|s)`)
	// resetSentence says at what time to come again. source: platform.minimax.io/docs/api-reference/errorcode
	resetSentence = regexp.MustCompile(`\b(?:resets?|try again|available again|until)\b[^.\n\d]{0,24}(\d{4}-\d\d-\d\dt\d\d:\d\d:\d\d(?:\.\d+)?(?:z|[+-]\d\d:\d\d))`)
	// resetChinese has the time of Beijing, also in English. source: docs.bigmodel.cn/cn/faq/api-code (1308), dirge-code/dirge#818
	resetChinese = regexp.MustCompile(`(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\s*(?:后)?\s*重置|\breset(?:s)? (?:at|on) (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)`)
)

var beijing = time.FixedZone("CST", 8*60*60)

// waitIn reads from the body of an error how long to wait; 0 = it does not say, negative = not at all.
func waitIn(body string, now time.Time) time.Duration {
	body = strings.ToLower(body)
	if m := delayField.FindStringSubmatch(body); m != nil {
		return seconds(m[1])
	}
	var at time.Time
	if m := waitSentence.FindStringSubmatch(body); m != nil {
		return waitOf(m[1])
	} else if m := resetField.FindStringSubmatch(body); m != nil {
		ms, _ := strconv.ParseInt(m[1], 10, 64) // thirteen digits
		at = time.UnixMilli(ms)
	} else if m := resetSentence.FindStringSubmatch(body); m != nil {
		at, _ = time.Parse(time.RFC3339, strings.ToUpper(m[1])) // zero for what is no time
	} else if m := resetChinese.FindStringSubmatch(body); m != nil {
		at, _ = time.ParseInLocation(time.DateTime, m[1]+m[2], beijing) // zero for what is no time
	}
	switch {
	case at.IsZero():
		return 0
	case !at.After(now):
		return atOnce
	}
	return min(at.Sub(now), maxWait)
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
