package routertest

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"iter"
	"strconv"
	"strings"
	"sync"
	"time"

	"parley/agent"
	"parley/channels"
	"parley/sessions"
)

// Slowly echoes after a while.
func Slowly(d time.Duration) func(context.Context, agent.Prompt) (agent.Answer, error) {
	return func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
		if !channels.Sleep(ctx, d) {
			return agent.Answer{}, ctx.Err()
		}
		return Text("echo: " + LastUser(p)), nil
	}
}

// Call makes an answer that calls one tool.
func Call(id, name string, args any) agent.Answer {
	raw, err := json.Marshal(args)
	if err != nil {
		panic(err)
	}
	return agent.Answer{Content: []sessions.Block{{Type: sessions.ToolCallBlock, ID: id, Name: name, Arguments: raw}}, Stop: "toolUse", Usage: sessions.Usage{Input: 10, Output: 5}}
}

// Last is the newest message of a prompt.
func Last(p agent.Prompt) sessions.Message { return p.Messages[len(p.Messages)-1] }

// IsSummary reports whether a prompt asks for a summary.
func IsSummary(p agent.Prompt) bool { return strings.HasPrefix(p.System, "You keep the memory") }

// ByKind gives the prompts so far, those of summaries left out.
func (s *Script) ByKind() (turns, summaries []agent.Prompt) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	for _, p := range s.Asked {
		if IsSummary(p) {
			summaries = append(summaries, p)
		} else {
			turns = append(turns, p)
		}
	}
	return turns, summaries
}

// Told gives the lines that came with a message, as the agent reads them.
func Told(m sessions.Message) (out []string) {
	for _, b := range m.Content {
		for _, l := range b.ContextLines() {
			out = append(out, l.Sentence(strconv.Quote))
		}
	}
	return out
}

// Steps plays answers one after the other, by how many answers the prompt shows already; the last one again and again.
func Steps(list ...agent.Answer) func(context.Context, agent.Prompt) (agent.Answer, error) {
	return func(_ context.Context, p agent.Prompt) (agent.Answer, error) {
		n := 0
		for _, m := range p.Messages {
			if m.Role == sessions.Assistant {
				n++
			}
		}
		return list[min(n, len(list)-1)], nil
	}
}

// Heard gives the lines of group talk that came with a message.
func Heard(m sessions.Message) (out []string) {
	for _, b := range m.Content {
		for _, l := range b.ContextLines() {
			out = append(out, l.Name+": "+l.Text)
		}
	}
	return out
}

// Seen gives what the newest prompt shows of pictures: their refs, or the lines that stand for them.
func Seen(p agent.Prompt) (out []string) {
	for _, m := range p.Messages {
		for _, b := range m.Content {
			switch {
			case b.Type == sessions.ImageBlock:
				data, _ := base64.StdEncoding.DecodeString(b.Data)
				_, ref, _ := strings.Cut(string(data), "\x1a\x0a")
				out = append(out, ref+" "+b.MIME)
			case strings.HasPrefix(b.Text, "[a picture"):
				out = append(out, b.Text)
			}
		}
	}
	return out
}

// Repeating is a model that takes its time and repeats what nobody has answered yet.
func Repeating(d time.Duration) func(context.Context, agent.Prompt) (agent.Answer, error) {
	return func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
		if !channels.Sleep(ctx, d) {
			return agent.Answer{}, ctx.Err()
		}
		return Text(strings.Join(Unanswered(p), "|")), nil
	}
}

// Unanswered are the words of the messages behind the last answer of a prompt, without their senders' names.
func Unanswered(p agent.Prompt) (out []string) {
	for _, m := range p.Messages {
		switch {
		case m.Role == sessions.Assistant && len(m.ToolCalls()) == 0:
			out = nil
		case m.Role == sessions.User:
			_, words, named := strings.Cut(m.Text(), ": ")
			if !named {
				words = m.Text()
			}
			out = append(out, words)
		}
	}
	return out
}

// Script is a model that says what answer says; "" echoes.
type Script struct {
	Mu     sync.Mutex
	Answer func(ctx context.Context, p agent.Prompt) (agent.Answer, error)
	Asked  []agent.Prompt
}

// Stream implements agent.Model.
func (s *Script) Stream(ctx context.Context, p agent.Prompt) iter.Seq2[agent.Delta, error] {
	return func(yield func(agent.Delta, error) bool) {
		s.Mu.Lock()
		s.Asked = append(s.Asked, p)
		answer := s.Answer
		s.Mu.Unlock()
		a, err := Text("echo: "+LastUser(p)), error(nil)
		if answer != nil {
			a, err = answer(ctx, p)
		}
		if err != nil {
			yield(agent.Delta{}, err)
			return
		}
		for _, b := range a.Content {
			if b.Type == sessions.TextBlock && !yield(agent.Delta{Text: b.Text}, nil) {
				return
			}
		}
		yield(agent.Delta{Final: &a}, nil)
	}
}

// Set has a func answer from now on.
func (s *Script) Set(f func(context.Context, agent.Prompt) (agent.Answer, error)) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.Answer = f
}

// Count is how often the model was asked.
func (s *Script) Count() int {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	return len(s.Asked)
}

// Text is an answer of plain text.
func Text(s string) agent.Answer {
	return agent.Answer{Content: sessions.TextContent(s), Stop: "stop", Usage: sessions.Usage{Input: 10, Output: 5}}
}

// LastUser is the text of a prompt's newest user message.
func LastUser(p agent.Prompt) string {
	for i := len(p.Messages) - 1; i >= 0; i-- {
		if p.Messages[i].Role == sessions.User {
			return p.Messages[i].Text()
		}
	}
	return ""
}

// WordsOf gives a prompt's messages as role:text.
func WordsOf(p agent.Prompt) (out []string) {
	for _, m := range p.Messages {
		out = append(out, string(m.Role)+":"+m.Text())
	}
	return out
}
