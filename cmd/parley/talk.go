package main

import (
	"os"
	"time"

	"golang.org/x/term"

	"parley/gateway/api"
	"parley/gateway/chatclient"
)

type chatCmd struct {
	Session string `arg:"" optional:"" help:"Key, id, main, or a unique part of the title or label. Default: the web chat."`
	Chat    string `help:"Name of a conversation of the web chat." default:"main"`
}

// Help shows examples.
func (chatCmd) Help() string {
	return "On a terminal the command opens a chat window. Otherwise it reads one message a line and prints one answer for each.\n\nExamples:\n\n  parley chat\n  parley chat garden\n  echo \"what can you do?\" | parley chat"
}

// Run chats with an agent of the running host.
func (c chatCmd) Run(e *env) error {
	h, err := e.reach()
	if err != nil {
		return err
	}
	o := chatclient.Options{BaseURL: h.base, Token: h.token, Client: h.client, Chat: c.Chat, In: os.Stdin, Out: os.Stdout, NoColour: os.Getenv("NO_COLOR") != "",
		Interactive: term.IsTerminal(int(os.Stdin.Fd())) && term.IsTerminal(int(os.Stdout.Fd())), Ended: func(w api.Waited) error {
			if w.Outcome == api.Silent {
				sayOfSilence(w)
			}
			return endOfRun(w)
		}}
	if c.Session != "" {
		if o.Session, err = pick(e, c.Session, true); err != nil {
			return err
		}
	}
	return chatclient.Run(e.ctx, o)
}

// waiting is what commands have that begin a run.
type waiting struct {
	Wait    bool          `short:"w" help:"Wait for the answer and print it."`
	Timeout time.Duration `default:"10m" help:"Maximum wait with --wait; the run continues after it." placeholder:"TIME"`
	Once    string        `help:"Idempotency key: a second call with the same key has no effect." placeholder:"KEY"`
}

// ended prints what became of something that was said.
func (w waiting) ended(e *env, s api.Said, j asJSON) error {
	if w.Wait && s.Run != "" {
		return waitAndTell(e, s.Run, w.Timeout, j)
	}
	return tell(e, j, s, func(p *page, s api.Said) {
		switch {
		case s.Answer != "":
			p.answer(s.Answer)
		case p.quiet:
			p.printf("%s\n", s.Run)
		default:
			p.printf("run %s in %s\n", s.Run, s.Key)
		}
	})
}

type sayCmd struct {
	Session  string `arg:"" help:"Key, id, main, or a unique part of the title or label. The host makes a session for a new key, such as hook:backup."`
	Message  string `arg:"" help:"Message to the agent; - reads standard input. Chat commands work as in a chat."`
	Deliver  bool   `help:"Send the answer to the session's chat, too. Default: the answer is only in the transcript."`
	Thinking string `enum:"off,minimal,low,medium,high," default:"" help:"Thinking level of this turn: off, minimal, low, medium or high." placeholder:"LEVEL"`
	waiting
	asJSON
}

// Help shows examples.
func (sayCmd) Help() string {
	return "Examples:\n\n  parley say main \"what is on today?\" --wait\n  git log -5 | parley say main - --wait\n  parley say garden /status"
}

func (c sayCmd) Run(e *env) error {
	text, err := input(c.Message)
	if err != nil {
		return err
	}
	key, err := pick(e, c.Session, true)
	if err != nil {
		return err
	}
	s, err := requestOnce[api.Said](e, "POST /api/sessions/{session}/messages", api.SayCall{Session: key, Message: text, Deliver: c.Deliver, Thinking: c.Thinking}, c.Once, callLimit)
	if err != nil {
		return err
	}
	return c.ended(e, s, c.asJSON)
}

type agentCmd struct {
	Message  string `arg:"" help:"Task for the agent; - reads standard input."`
	Agent    string `help:"Agent. Default: the session's agent, or the default agent." placeholder:"AGENT"`
	Session  string `help:"Session. Default: a new session." placeholder:"SESSION"`
	To       string `help:"Address of the chat that gets the answer. last means the chat that wrote last to the agent's main session, except the page." placeholder:"ADDRESS"`
	Deliver  *bool  `negatable:"" help:"Send the answer to --to (the default with --to)."`
	Label    string `help:"Label of the run." placeholder:"TEXT"`
	Model    string `help:"Model of this run, as provider/model." placeholder:"MODEL"`
	Thinking string `enum:"off,minimal,low,medium,high," default:"" help:"Thinking level of this run: off, minimal, low, medium or high." placeholder:"LEVEL"`
	System   string `help:"Text to add to the system prompt of this run." placeholder:"TEXT"`
	Limit    int    `name:"run-timeout" help:"Time limit of the run in seconds." placeholder:"SECONDS"`
	waiting
	asJSON
}

// Help shows examples.
func (agentCmd) Help() string {
	return "Examples:\n\n  parley agent \"sum up the news\" --wait\n  parley agent \"good morning\" --to last\n  parley agent - --session garden --json < task.txt"
}

func (c agentCmd) Run(e *env) error {
	text, err := input(c.Message)
	if err != nil {
		return err
	}
	q := api.AgentCall{Message: text, Agent: c.Agent, To: c.To, Deliver: c.Deliver, Label: c.Label, Model: c.Model, Thinking: c.Thinking, System: c.System, Timeout: c.Limit}
	if c.Session != "" {
		if q.Session, err = pick(e, c.Session, true); err != nil {
			return err
		}
	}
	s, err := requestOnce[api.Said](e, "POST /api/agent", q, c.Once, callLimit)
	if err != nil {
		return err
	}
	return c.ended(e, s, c.asJSON)
}

type sendCmd struct {
	To      string `arg:"" help:"Address of a chat that wrote before: channel/account/direct|group|channel/chat[/thread]."`
	Message string `arg:"" help:"Text; - reads standard input."`
	Session string `help:"Session whose send policy decides and whose transcript gets the text. Default: the session that the chat last wrote to." placeholder:"SESSION"`
	Once    string `help:"Idempotency key: the same again has no second effect." placeholder:"KEY"`
	asJSON
}

// Help shows examples.
func (sendCmd) Help() string {
	return "parley sends the text itself, without an agent. The send policy decides, and the transcript gets the text. Exit code 5: the send policy withheld the text.\n\nExamples:\n\n  parley send telegram/default/direct/1001 \"the backup is done\"\n  df -h | parley send telegram/default/group/-100500 -"
}

func (c sendCmd) Run(e *env) error {
	text, err := input(c.Message)
	if err != nil {
		return err
	}
	key, err := optionalSession(e, c.Session)
	if err != nil {
		return err
	}
	a, err := requestOnce[api.SendAnswer](e, "POST /api/send", api.SendCall{To: c.To, Message: text, Session: key}, c.Once, callLimit)
	if err != nil {
		return err
	}
	if err := tell(e, c.asJSON, a, func(p *page, a api.SendAnswer) {
		p.note("delivery %s to %s: %s (parley deliveries show %s)\n", a.Delivery, a.To, a.State, a.Delivery)
	}); err != nil {
		return err
	}
	return endOfSend(a)
}
