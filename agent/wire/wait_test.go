package wire

import (
	"net/http"
	"testing"
	"time"
)

// TestWaitIn: providers say in the body of an error when to come again.
func TestWaitIn(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	for body, want := range map[string]time.Duration{
		// source: https://ai.google.dev/gemini-api/docs/rate-limits (RetryInfo)
		`[{"error":{"code":429,"details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"46924s"}]}}]`: 46924 * time.Second,
		`{"error":{"message":"{\n  \"error\": {\"details\": [{\"retryDelay\": \"23s\"}]}}"}}`:                             23 * time.Second,
		`{"error":{"message":"You exceeded your current quota. Please retry in 23.4s."}}`:                                 23400 * time.Millisecond,
		// source: https://console.groq.com/docs/rate-limits, https://platform.openai.com/docs/guides/rate-limits
		`{"error":{"message":"Rate limit reached for model m in organization o on tokens per day (TPD): Limit 100000, Used 99336, Requested 2222. Please try again in 22m24.1s. Need more tokens?"}}`: 22*time.Minute + 24100*time.Millisecond,
		`{"error":{"message":"Rate limit reached. Please try again in 1.2s. Visit https://platform.openai.com"}}`:                                                                                     1200 * time.Millisecond,
		`{"error":{"message":"Rate limit reached. Please try again in 150ms."}}`:                                                                                                                      150 * time.Millisecond,
		`{"error":"Please wait 86400 seconds before retrying."}`:                                                                                                                                      24 * time.Hour,
		`{"error":{"message":"Your limit will reset in 3h 12min."}}`:                                                                                                                                  3*time.Hour + 12*time.Minute,
		`{"error":{"message":"Please try again in 1 minute and 5 seconds."}}`:                                                                                                                         65 * time.Second,
		// source: https://openrouter.ai/docs/api/reference/limits
		`{"error":{"message":"Rate limit exceeded: free-models-per-day","code":429,"metadata":{"headers":{"X-RateLimit-Limit":"50","X-RateLimit-Remaining":"0","X-RateLimit-Reset":"1795737600000"}}}}`: 12 * time.Hour,
		`{"error":{"message":"usage limit exceeded, resets at 2026-11-26T17:00:00Z"}}`:                                                                                                                  5 * time.Hour,
		`{"error":{"code":"1308","message":"Usage limit reached for 5 hour. Your limit will reset at 2026-11-26 21:00:00"}}`:                                                                            time.Hour, // source: dirge-code/dirge#818
		`{"error":{"code":"1308","message":"已达到 5 小时的使用上限。您的限额将在 2026-11-26 21:00:00 重置。"}}`:                                                                                                            time.Hour, // Beijing. source: docs.bigmodel.cn/cn/faq/api-code
		// source: docs.z.ai/api-reference/api-code (1308), dirge-code/dirge#818: the time is that of Beijing
		`{"error":{"message":"limit reached, available again 2026-11-26 13:00:00 UTC"}}`: time.Hour,
		`{"error":{"message":"try again after 2026-11-26 15:00:00+02:00"}}`:              time.Hour,
		`{"error":{"message":"The allocation resets at 00:00 UTC"}}`:                     12 * time.Hour,
		`{"error":"Come back tomorrow at 00:00 UTC"}`:                                    12 * time.Hour,
		`[{"error":{"code":429,"message":"Please retry in 27s.","status":"RESOURCE_EXHAUSTED","details":[{"violations":[{"quotaId":"GenerateRequestsPerDayPerProjectPerModel-FreeTier","quotaValue":"20"}]},{"retryDelay":"27s"}]}}]`: 20 * time.Hour,
		`[{"error":{"code":429,"details":[{"violations":[{"quotaId":"GenerateRequestsPerMinutePerProjectPerModel-FreeTier"}]},{"retryDelay":"27s"}]}}]`:                                                                               27 * time.Second,
		// source: openai/codex (usage_limit_reached)
		`{"error":{"type":"usage_limit_reached","resets_at":1795694430}}`:                            30 * time.Second,
		`{"error":{"type":"usage_limit_reached","resets_in_seconds":42}}`:                            42 * time.Second,
		`{"error":{"message":"limit","resetAt":"2026-11-26T13:00:00.000Z"}}`:                         time.Hour,
		`{"error":{"message":"usage limit exceeded, reset at 2026-11-26T11:00:00Z"}}`:                atOnce,
		`{"error":{"message":"Rate limit reached: Limit 3, Used 3, Requested 1. Try again later."}}`: 0,
		`{"error":{"message":"Please retry. Model m 5 started"}}`:                                    0,
		``: 0,
	} {
		if got := waitIn(body, now); got != want {
			t.Errorf("%s: %s, want %s", body, got, want)
		}
	}
}

// TestResetAfter: where neither Retry-After nor the body says it, the headers of limits tell when to come again.
func TestResetAfter(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		headers []string
		want    time.Duration
	}{
		// source: https://platform.openai.com/docs/guides/rate-limits, https://console.groq.com/docs/rate-limits
		"requests":        {[]string{"x-ratelimit-remaining-requests", "0", "x-ratelimit-reset-requests", "2m59.56s", "x-ratelimit-remaining-tokens", "17997", "x-ratelimit-reset-tokens", "7.66s"}, 179560 * time.Millisecond},
		"tokens":          {[]string{"x-ratelimit-remaining-requests", "3", "x-ratelimit-reset-requests", "1s", "x-ratelimit-remaining-tokens", "0", "x-ratelimit-reset-tokens", "6m0s"}, 6 * time.Minute},
		"nothing used up": {[]string{"x-ratelimit-remaining-requests", "3", "x-ratelimit-reset-requests", "1s", "x-ratelimit-remaining-tokens", "4", "x-ratelimit-reset-tokens", "6m0s"}, 0},
		"one alone":       {[]string{"x-ratelimit-reset-requests", "2s"}, 2 * time.Second},
		"short":           {[]string{"x-ratelimit-reset-requests", "120ms"}, 120 * time.Millisecond},
		// source: https://docs.anthropic.com/en/api/rate-limits
		"anthropic": {[]string{"anthropic-ratelimit-requests-remaining", "0", "anthropic-ratelimit-requests-reset", "2026-11-26T12:00:12Z"}, 12 * time.Second},
		// source: https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api, https://openrouter.ai/docs/api/reference/limits
		"since 1970":           {[]string{"x-ratelimit-remaining", "0", "x-ratelimit-reset", "1795694430"}, 30 * time.Second},
		"milliseconds":         {[]string{"x-ratelimit-remaining", "0", "x-ratelimit-reset", "1795694430000"}, 30 * time.Second},
		"a subscription":       {[]string{"anthropic-ratelimit-unified-reset", "1795694430", "anthropic-ratelimit-requests-reset", "2026-11-26T12:00:12Z"}, 30 * time.Second},
		"long ago":             {[]string{"x-ratelimit-remaining", "0", "x-ratelimit-reset", "1795694300"}, atOnce},
		"seconds":              {[]string{"ratelimit-reset", "45"}, 45 * time.Second}, // source: draft-ietf-httpapi-ratelimit-headers
		"words":                {[]string{"x-ratelimit-reset", "tomorrow"}, 0},
		"no header of a limit": {nil, 0},
	} {
		h := http.Header{}
		for i := 0; i < len(c.headers); i += 2 {
			h.Set(c.headers[i], c.headers[i+1])
		}
		if got := resetAfter(h, now); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
