package wire

import (
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
		`{"error":{"code":"1308","message":"已达到 5 小时的使用上限。您的限额将在 2026-11-26 21:00:00 重置。"}}`:                                                                                                            time.Hour, // Beijing. source: docs.bigmodel.cn/cn/faq/api-code
		`{"error":{"message":"usage limit exceeded, reset at 2026-11-26T11:00:00Z"}}`:                                                                                                                   atOnce,
		`{"error":{"message":"Rate limit reached: Limit 3, Used 3, Requested 1. Try again later."}}`:                                                                                                    0,
		`{"error":{"message":"Please retry. Model m 5 started"}}`:                                                                                                                                       0,
		``: 0,
	} {
		if got := waitIn(body, now); got != want {
			t.Errorf("%s: %s, want %s", body, got, want)
		}
	}
}
