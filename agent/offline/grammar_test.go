package offline

import "testing"

func TestUnderstand(t *testing.T) {
	t.Parallel()
	table := compile()
	for _, c := range []struct{ text, intent, who, what string }{
		{"What can you do?", "help", "", ""},
		{"help", "help", "", ""},
		{"/help", "help", "", ""},
		{"?", "help", "", ""},
		{"Hey, can you please show me the commands", "help", "", ""},
		{"hi", "greeting", "", ""},
		{"Hello there!", "greeting", "", ""},
		{"/start", "greeting", "", ""},
		{"Good morning", "greeting", "", ""},
		{"thanks a lot!", "thanks", "", ""},
		{"ok", "thanks", "", ""},
		{"bye bye", "bye", "", ""},
		{"What time is it?", "time", "", ""},
		{"tell me the time", "time", "", ""},
		{"what's the date today", "time", "", ""},
		{"Who are you?", "who", "", ""},
		{"are you an AI?", "who", "", ""},
		{"how do I connect a real model?", "connect", "", ""},
		{"How can I use Ollama with this", "connect", "", ""},

		{"list my sessions", "sessions", "", ""},
		{"List all sessions, please.", "sessions", "", ""},
		{"sessions", "sessions", "", ""},
		{"could you show me my chats?", "sessions", "", ""},
		{"hello, what sessions are there?", "sessions", "", ""},
		{"@parley_bot list   my\nsessions", "sessions", "", ""},
		{"[Telegram Ann] list sessions", "sessions", "", ""},
		{"which conversations can you see", "sessions", "", ""},

		{"show the history of main", "history", "main", ""},
		{"Show me the history of the Family group", "history", "the Family group", ""},
		{"history of agent:main:telegram:group:-1001:topic:7", "history", "agent:main:telegram:group:-1001:topic:7", ""},
		{"show the history of this chat with tools", "history", "this chat", ""},
		{"show history", "history", "", ""},
		{"what was said in main?", "history", "main", ""},
		{"read the last messages from cron:daily", "history", "cron:daily", ""},
		{"what did we talk about?", "history", "", ""},

		{"tell main dinner is at eight", "tell", "main", "dinner is at eight"},
		{"tell main that dinner is at eight!", "tell", "main", "dinner is at eight!"},
		{"please tell the family group: dinner?", "tell", "the family group", "dinner?"},
		{"send to agent:main:main: hi", "tell", "agent:main:main", "hi"},
		{"tell agent:main:telegram:group:-1001:topic:7 hello: you", "tell", "agent:main:telegram:group:-1001:topic:7", "hello: you"},
		{"ask cron:daily: what now?", "ask", "cron:daily", "what now?"},
		{"send main: hi there", "tell", "main", "hi there"},
		{`say "good night" to main`, "tell", "main", `"good night"`},
		{"send hello to the family group", "tell", "family group", "hello"},
		{"message 'Ann and Bob' see you", "tell", "Ann and Bob", "see you"},
		{"tell main: line one\nline two", "tell", "main", "line one\nline two"},
		{"ask main what time it is?", "ask", "main", "what time it is?"},
		{"ask the family group: who cooks?", "ask", "the family group", "who cooks?"},
		{"tell me a joke", "unknown", "", ""},
		{"ask me something", "unknown", "", ""},

		{"in the background, list the files", "background", "", "list the files"},
		{"Do count the sheep in the background", "background", "", "count the sheep"},
		{"please echo done in background", "background", "", "echo done"},
		{"spawn a sub-agent to echo hello", "background", "", "echo hello"},
		{"background: what time is it?", "background", "", "what time is it?"},

		{"what agents are there?", "agents", "", ""},
		{"list agents", "agents", "", ""},
		{"who else is there?", "agents", "", ""},

		{"remember that I like tea", "remember", "", "I like tea"},
		{"Remember to buy milk.", "remember", "", "buy milk."},
		{"remember: the door code is 12", "remember", "", "the door code is 12"},
		{"don't forget the keys", "remember", "", "the keys"},
		{"what do you remember?", "recall", "", ""},
		{"what do you remember about tea?", "recall", "", "tea?"},
		{"do you remember my birthday?", "recall", "", "my birthday?"},
		{"show me your notes", "recall", "", ""},

		{"echo hello  world", "echo", "", "hello  world"},
		{"Repeat after me: I am here.", "echo", "", "I am here."},
		{"say cheese", "echo", "", "cheese"},

		{"", "unknown", "", ""},
		{"write a poem about the sea", "unknown", "", ""},
		{"\x00\xff", "unknown", "", ""},
	} {
		r := understand(table, c.text)
		if r.intent.name != c.intent || r.who != c.who || r.what != c.what {
			t.Errorf("understand(%q) = %s who=%q what=%q, want %s who=%q what=%q", c.text, r.intent.name, r.who, r.what, c.intent, c.who, c.what)
		}
	}
}

// The help must not promise what the grammar does not keep.
func TestExamplesAreUnderstood(t *testing.T) {
	t.Parallel()
	table := compile()
	for _, in := range table {
		if in.example == "" {
			continue
		}
		if got := understand(table, in.example).intent.name; got != in.name {
			t.Errorf("example %q of %s is understood as %s", in.example, in.name, got)
		}
	}
}
