package telegram

import "testing"

// An edit in which nothing but the votes of a poll or the numbers on buttons differ leaves a message as it was; another option, a closed poll
// and another label do not.
// source: tdlib/telegram-bot-api#388 (a reaction comes as an edited message, with the votes of that moment)
func TestCountersAreNoNews(t *testing.T) {
	t.Parallel()
	poll := func(rest string) string { return `"poll":{"question":"Lunch?",` + rest + `}` }
	buttons := func(label string) string {
		return `"text":"Vote","reply_markup":{"inline_keyboard":[[{"text":"` + label + `","callback_data":"y"}]]}`
	}
	for name, c := range map[string]struct {
		was, is string
		same    bool
	}{
		"votes":        {poll(`"options":[{"text":"soup","voter_count":2},{"text":"salad","voter_count":0}]`), poll(`"options":[{"text":"soup","voter_count":3},{"text":"salad","voter_count":1}]`), true},
		"an option":    {poll(`"options":[{"text":"soup","voter_count":2}]`), poll(`"options":[{"text":"soup","voter_count":2},{"text":"salad","voter_count":0}]`), false},
		"closed":       {poll(`"options":[]`), poll(`"options":[],"is_closed":true`), false},
		"presses":      {buttons("Yes 1"), buttons("Yes 2"), true},
		"first press":  {buttons("👍"), buttons("👍 (1)"), true},
		"many presses": {buttons("👍 · 999"), buttons("👍 · 1.2K"), true},
		"a label":      {buttons("Yes 1"), buttons("No 1"), false},
		"the text":     {buttons("Yes 1"), `"text":"Voted","reply_markup":{"inline_keyboard":[[{"text":"Yes 1","callback_data":"y"}]]}`, false},
	} {
		was, is := decodeMessage(t, c.was).in, decodeMessage(t, c.is).in
		if (was.Lasting == is.Lasting) != c.same || was.Lasting == "" || was.Text == "" {
			t.Errorf("%s: %q and %q", name, was.Lasting, is.Lasting)
		}
	}
	if in := decodeMessage(t, `"text":"room 12"`).in; in.Lasting != "" {
		t.Errorf("%q", in.Lasting)
	}
}
