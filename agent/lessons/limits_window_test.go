package lessons

import (
	"testing"

	"parley/agent"
)

// TestWindow: a window that an error names is remembered with the provider's words, until the settings change or it is too old.
// source: platform.openai.com/docs/guides/error-codes
func TestWindow(t *testing.T) {
	t.Parallel()
	now := newClock()
	b := NewBook(Config{Now: now.Now})
	said := "This model's maximum context length is 4096 tokens."
	err := refusal(400, `{"error":{"message":"`+said+`"}}`)
	err.(*agent.ModelError).Window = 4096 //nolint:errorlint,forcetypeassert // refusal makes no other
	for range 2 {
		if b.Call(at, "one").Refused(t.Context(), err, Sent{}) {
			t.Error("it is sent again")
		}
	}
	if all := b.Known(); len(all) != 1 || all[0].Kind != Window || all[0].Evidence != said || b.Limit(Window, at.Provider, at.Model, "one") != 4096 {
		t.Errorf("known %+v", all)
	}
	if b.Limit(Window, at.Provider, "other", "one") != 0 || b.Limit(Window, at.Provider, at.Model, "two") != 0 {
		t.Error("it holds elsewhere")
	}
	if now.pass(MaxAge + 1); b.Limit(Window, at.Provider, at.Model, "one") != 0 {
		t.Error("it does not end")
	}
}
