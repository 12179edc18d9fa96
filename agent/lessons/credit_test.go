package lessons

import (
	"strconv"
	"testing"
	"time"

	"parley/agent"
)

// TestCredit: while the credit is short, one request in a quarter of an hour is refused for it, although each answer uses some of it up.
// source: openrouter.ai/docs/api-reference/errors (402), can1357/oh-my-pi#9569
func TestCredit(t *testing.T) {
	t.Parallel()
	now := newClock()
	b := NewBook(Config{Now: now.Now})
	left := 4000 // tokens that the credit is enough for
	ask := func(config string) (refused int) {
		call := b.Call(at, config)
		for {
			value, send := call.Param("max_tokens", "8192")
			n, _ := strconv.Atoi(value)
			if !send || n > left {
				err := refusal(402, `{"error":{"message":"This request requires more credits, or fewer max_tokens. You requested up to 8192 tokens, but can only afford `+strconv.Itoa(left)+`."}}`)
				err.(*agent.ModelError).Class = agent.NoCredit //nolint:errorlint,forcetypeassert // refusal makes no other
				if refused++; refused > 3 || !call.Refused(t.Context(), err, Sent{Params: []Param{{Name: "max_tokens", Value: value}}}) {
					t.Fatalf("dead after %d", refused)
				}
				continue
			}
			call.Worked(t.Context())
			left -= 50
			return refused
		}
	}
	for i, want := range []int{1, 0, 0, 0} {
		if got := ask(""); got != want {
			t.Errorf("call %d: %d refused, not %d", i, got, want)
		}
	}
	if got := ask("other settings"); got != 1 {
		t.Errorf("under other settings: %d refused", got)
	}
	now.pass(creditTime + time.Second)
	if got := ask("other settings"); got != 1 {
		t.Errorf("after its time: %d refused", got)
	}
	left = 100_000
	now.pass(creditTime + time.Second)
	if got := ask("other settings"); got != 0 {
		t.Errorf("with credit: %d refused", got)
	}
	if value, _ := b.Call(at, "other settings").Param("max_tokens", "8192"); value != "8192" {
		t.Errorf("asks for %s", value)
	}
	left = 2000
	if ask("other settings"); b.Forget(at.Provider, "") != 0 || ask("other settings") != 1 {
		t.Error("forgotten on command")
	}
}
