package offline

import (
	"regexp"
	"slices"
	"strings"
)

// intent is one thing that the model understands. The table intents is the whole grammar, and the help text is made from it.
type intent struct {
	name    string
	example string // what a person types; empty = not listed in the help
	about   string // what happens then
	forms   []string
	do      func(c *conversation, r request) answer

	match []*regexp.Regexp
}

// request is a message that was understood: the intent and the words that its form captured.
type request struct {
	intent *intent
	who    string // a session or agent, as the person called it
	what   string // a message, task, text or topic
	tools  bool   // with tools
}

// Pieces of forms. Spaces in a form match any white space; forms are matched without regard to case, against the whole message.
const (
	chats        = `(?:sessions?|chats?|conversations?)`
	here         = `(?:this|our|the current|the present|my) ` + chats + `|here|this`
	showMe       = `(?:(?:show|list|give|get|read|display|print|tell|see|open|view)(?: me)? )`
	whatIs       = `(?:what(?: is|'s|’s| was| are|'re|’re) )`
	past         = `(?:history|transcript|messages|log)`
	whoRE        = `(?P<who>"[^"]+"|“[^”]+”|'[^']+'|\S+)`
	namedSession = `(?P<who>[^:\n]{1,200}?)`
	keyRE        = `(?P<who>(?:agent|cron|hook):\S+?|node-\S+?):?` // a key has colons of its own
	whatRE       = `(?P<what>.+)`
)

// grammar is tried from top to bottom; the first form that fits wins.
func grammar() []intent { return slices.Concat(aboutMe(), work(), notes(), smallTalk()) }

// aboutMe is what needs no tool.
func aboutMe() []intent {
	return []intent{
		{
			name: "help", example: "what can you do?", about: "this list",
			forms: []string{
				`(?:/?help|\?|commands|usage|menu|options)(?: me)?`, `what (?:can|could|do) you (?:do|know|understand|offer)(?: for me)?`,
				`what (?:can|should|could) i (?:do|say|ask|type|try)(?: here| now)?`, `how (?:does this|do you|does it) work`, `what now`,
				`(?:show|list|give)(?: me)? (?:the |your |all )?(?:commands|help|options|features)`, `i need help`,
			},
			do: func(c *conversation, _ request) answer {
				return say("I understand these, in these or similar words:\n\n%s\n\nI am the offline model, not a language model. %s", c.help(), connect)
			},
		},
		{
			name: "time", example: "what time is it?", about: "the host's clock",
			forms: []string{
				`(?:tell me |do you know )?(?:what|the) (?:time|date|day)(?: is it| is today| it is)?(?: now| today| right now)?`, `what day is (?:it|today)(?: today)?`,
				whatIs + `(?:the )?(?:current )?(?:time|date)(?: now| today)?`, `(?:the )?(?:current )?(?:time|date|clock)`, `how late is it`,
			},
			do: func(c *conversation, _ request) answer {
				return say("It is %s by the clock of this host.", c.now.Format("15:04 on Monday, 2 January 2006 (MST)"))
			},
		},
		{
			name: "who", example: "who are you?", about: "what I am, and how to connect a real model",
			forms: []string{
				`(?:who|what) (?:are|r) (?:you|u)(?: exactly)?`, `introduce yourself`, `what is your name`, `what'?s your name`,
				`are you (?:an? )?(?:ai|bot|robot|human|person|real|llm|(?:large )?language model|gpt|chatgpt|claude|alive)\b.*`,
				`(?:what|which) (?:ai |language )?model (?:are you|is this|do you use)`,
			},
			do: func(*conversation, request) answer {
				return say("I am **parley's built-in offline model**. I am not a language model: I know a few plain phrases, turn them into real tool calls, and tell you the result. Nothing you type leaves this machine because of me.\n\n%s", connect)
			},
		},
		{
			name: "connect",
			forms: []string{
				`how (?:do|can|could|would) i (?:connect|use|set up|setup|add|configure|get|switch to|plug in)\b.*(?:model|openai|anthropic|claude|gpt|ollama|llm|ai)\b.*`,
				`(?:connect|set up|setup|configure|add|use) (?:an? |the )?(?:real |other |better |language )*(?:model|openai|anthropic|claude|gpt|ollama|llm)`,
			},
			do: func(*conversation, request) answer { return say(connect) },
		},
	}
}

// work is what the session tools do.
func work() []intent {
	return []intent{
		{
			name: "agents", example: "what agents are there?", about: "the agents that I can give work to",
			forms: []string{
				`(?:what|which) agents (?:are there|are available|do (?:you|we|i) have|can (?:you|i) (?:use|ask|spawn)|exist)(?: here)?`,
				showMe + `?(?:all |the |my |your |available )*agents`, `who else is (?:there|here)`, `are there (?:any )?other agents`,
			},
			do: agents,
		},
		{
			name: "background", example: "in the background, what time is it?", about: "a sub-agent does it and reports here",
			forms: []string{
				`(?:do (?:this |that )?)?in (?:the )?background[,:;]? (?:please )?` + whatRE, `background: ?` + whatRE,
				`(?:do|run|start) ` + whatRE + ` in (?:the )?background`, whatRE + ` in (?:the )?background`,
				`(?:spawn|start|launch|create|use) (?:a |an |another )?(?:sub-?agent|task|background task|helper)(?: to| for| that| which|:|,) ?` + whatRE,
				`(?:spawn|delegate):? ` + whatRE,
			},
			do: background,
		},
		{
			name: "history", example: "show the history of this chat", about: "what was said here, or in any session that I can see",
			forms: []string{
				showMe + `?(?:the |my |our )*(?:chat )?(?:history|transcript)(?P<tools> (?:with|including|and) (?:the )?tools?(?: calls)?)?`,
				showMe + `?(?:the )?(?:full |whole |recent |last |latest )*` + past + ` (?:of|in|from|for|with) (?P<who>.+?)(?P<tools> (?:with|including|and) (?:the )?tools?(?: calls)?)?`,
				whatIs + `the ` + past + ` (?:of|in|from|for) (?P<who>.+)`,
				`what (?:was|has been|did (?:they|we|i|people)) (?:said|say|written|write|discussed|discuss|talk(?:ed)? about)(?: (?:in|at|on) (?P<who>.+))?`,
				showMe + `(?P<who>\S+?)(?:'s|’s) ` + past,
			},
			do: history,
		},
		{
			name: "sessions", example: "list my sessions", about: "the sessions that I can see",
			forms: []string{
				showMe + `?(?:all |the |my |our |your |active |open |recent )*` + chats, `(?:what|which) ` + chats + ` (?:are there|are open|are active|do (?:i|you|we) have|can you see|exist)(?: here)?`,
				whatIs + `(?:my |the |our |all )*` + chats, `sessions_list`, `how many ` + chats + `(?: are there| do i have)?`,
			},
			do: listSessions,
		},
		{
			name: "ask", example: "ask the family group: who cooks tonight?", about: "asks the agent of another session (by its name or key) and waits for the answer",
			forms: []string{`ask ` + keyRE + ` ` + whatRE, `ask ` + namedSession + ` ?: ?` + whatRE, `ask (?:the )?(?:agent )?` + whoRE + `(?: to| about| if| whether|,)? ` + whatRE, `what (?:does|would|will) ` + whoRE + ` (?:say|think) about ` + whatRE},
			do:    func(c *conversation, r request) answer { return tell(c, r, true) },
		},
		{
			name: "tell", example: "tell the family group: dinner is at eight", about: "sends a message to another session",
			forms: []string{
				`(?:tell|send(?: a message)?(?: to)?|message|write(?: to)?|notify|inform|text|say to) ` + keyRE + ` ` + whatRE,
				`(?:tell|send(?: a message)?(?: to)?|message|write(?: to)?|notify|inform|text|say to) ` + namedSession + ` ?: ?` + whatRE,
				`(?:send|say|write) (?P<what>"[^"]+"|“[^”]+”|'[^']+'|.+?) to (?:the )?(?P<who>"[^"]+"|“[^”]+”|'[^']+'|\S+|[^:\n]{1,80}? (?:group|chat|session|channel))`,
				`(?:tell|message|notify|inform|text|write to|send(?: a message)? to|say to) (?:the )?(?:agent )?` + whoRE + `(?: that|,)? ` + whatRE,
			},
			do: func(c *conversation, r request) answer { return tell(c, r, false) },
		},
	}
}

// notes is what the agent keeps.
func notes() []intent {
	return []intent{
		{
			name: "recall", example: "what do you remember?", about: "my notes; *about tea* narrows them down",
			forms: []string{
				`(?:tell me |show me )?what (?:do you|you|can you|did you|did i (?:ask|tell) you to) (?:remember|recall|know|note(?:d)?)(?: (?:about|of|on|regarding) ` + whatRE + `)?`,
				`what do you know (?:about|of) ` + whatRE, `do you (?:still )?(?:remember|recall) ` + whatRE,
				showMe + `?(?:all |the |my |your )*(?:notes|memor(?:y|ies)|reminders)(?: (?:about|of|on) ` + whatRE + `)?`,
				`recall(?: ` + whatRE + `)?`, `what have you (?:remembered|noted)(?: about ` + whatRE + `)?`,
			},
			do: recall,
		},
		{
			name: "remember", example: "remember that I like tea", about: "keeps a note",
			forms: []string{
				`(?:remember|memori[sz]e|note|keep in mind|don'?t forget|do not forget|write down|take a note|make a note)(?: this| down)?(?: that|,|:| of) ?` + whatRE,
				`(?:remember|memori[sz]e|keep in mind|don'?t forget|do not forget|write down|note)(?: to)? ` + whatRE,
			},
			do: remember,
		},
	}
}

// smallTalk comes last: its forms are loose.
func smallTalk() []intent {
	return []intent{
		{
			name: "echo", example: "echo hello", about: "says it back",
			forms: []string{`(?:echo|repeat(?: after me)?|parrot)(?: this)?[:,]? ` + whatRE, `say[:,]? (?P<what>"[^"]+"|“[^”]+”|[^:]+?)`},
			do:    func(_ *conversation, r request) answer { return say("%s", clip(unquote(r.what), 4000)) },
		},
		{
			name: "greeting",
			forms: []string{
				`(?:hi|hello|hey|hiya|howdy|yo|greetings|good (?:morning|afternoon|evening|day)|moin|hallo|servus|salut|hola|ciao|/start)(?: there| again| parley| bot| you| everyone| all)*`,
				`how are you(?: doing)?(?: today)?`, `what'?s up`, `test(?:ing)?(?: test)*`, `ping`, `anybody (?:there|home)`, `are you there`,
			},
			do: func(*conversation, request) answer { return say(hello) },
		},
		{
			name:  "thanks",
			forms: []string{`(?:many )?(?:thanks|thank you|thx|ty|cheers|great|nice|cool|ok|okay|perfect|good|well done|awesome|wow)(?: (?:a lot|so much|very much|you|parley|bot|that helps|job|work))*`},
			do: func(*conversation, request) answer {
				return say("You are welcome! *What can you do?* shows what else I understand.")
			},
		},
		{
			name:  "bye",
			forms: []string{`(?:good ?)?bye(?: bye)?`, `see you(?: later| soon| tomorrow)?`, `good ?night`, `ciao`, `quit`, `exit`},
			do:    func(*conversation, request) answer { return say("Goodbye! I will be right here.") },
		},
	}
}

// unknown is what everything else is.
var unknown = intent{name: "unknown", do: func(*conversation, request) answer { return say(sorry) }}

// polite is what people say around a request, without a meaning to us.
var (
	polite     = regexp.MustCompile(`(?is)^(?:\[[^\]\n]{0,200}\]\s*|@\S+[\s,:]+|(?:please|pls|ok|okay|so|now|and|well|hey|hi|hello|parley|bot|kindly)[\s,!]+|(?:can|could|would|will) you(?: please)?\s+|i (?:want|would like|need|'d like) (?:you )?to\s+|i'd like (?:you )?to\s+|let'?s\s+)`)
	politeTail = regexp.MustCompile(`(?is)(?:[\s,]+(?:please|pls|thanks|thank you|for me))?[\s.!?…]*$`)
)

// understand finds the intent of a message: first without the polite words around it, then with them.
func understand(table []intent, text string) request {
	tries := []string{strings.TrimSpace(text)}
	for range 5 {
		rest := strings.TrimSpace(polite.ReplaceAllString(tries[0], ""))
		if rest == tries[0] || rest == "" {
			break
		}
		tries = slices.Insert(tries, 0, rest)
	}
	for _, text := range tries {
		if r, ok := parse(table, text); ok {
			return r
		}
	}
	return request{intent: &unknown}
}

func parse(table []intent, text string) (request, bool) {
	short := politeTail.ReplaceAllString(text, "")
	if text == "?" {
		short = text
	}
	for i := range table {
		in := &table[i]
		for _, re := range in.match {
			m := re.FindStringSubmatchIndex(short)
			if m == nil {
				continue
			}
			r := request{intent: in}
			for j, name := range re.SubexpNames() {
				if name == "" || m[2*j] < 0 {
					continue
				}
				from, to := m[2*j], m[2*j+1]
				if to == len(short) && name == "what" { // words to pass on keep their ending
					to = len(strings.TrimRight(text, " \t\r\n"))
				}
				switch v := strings.TrimSpace(text[from:to]); name {
				case "who":
					r.who = unquote(v)
				case "what":
					r.what = v
				case "tools":
					r.tools = true
				}
			}
			if (in.name == "tell" || in.name == "ask") && pronoun.MatchString(r.who) {
				continue // "tell me a joke" is no message to a session
			}
			return r, true
		}
	}
	return request{}, false
}

// pronoun is whom no session is called.
var pronoun = regexp.MustCompile(`(?i)^(?:me|us|you|him|her|them|it|everyone|everybody|anyone|someone|yourself|myself)\b`)

// compile gives the grammar with its forms compiled.
func compile() []intent {
	table := grammar()
	for i := range table {
		for _, f := range table[i].forms {
			f = strings.ReplaceAll(f, " ", `\s+`)
			f = strings.ReplaceAll(f, `\s+?`, `\s*`) // an optional space
			table[i].match = append(table[i].match, regexp.MustCompile(`(?is)^(?:`+f+`)$`))
		}
	}
	return table
}

// unquote takes quotation marks off a text that stands in them whole.
func unquote(s string) string {
	s = strings.TrimSpace(s)
	for _, q := range []struct{ open, close string }{{`"`, `"`}, {"“", "”"}, {"'", "'"}, {"`", "`"}} {
		if len(s) > len(q.open)+len(q.close) && strings.HasPrefix(s, q.open) && strings.HasSuffix(s, q.close) {
			return s[len(q.open) : len(s)-len(q.close)]
		}
	}
	return s
}
