package wire

import (
	"encoding/json"
	"slices"
	"strings"

	"parley/agent"
	"parley/agent/wire/markup"
	"parley/sessions"
)

// maxReasonedCalls bounds the calls that are read out of reasoning.
const maxReasonedCalls = 16

// CallsInReasoning adds the calls that a model wrote into its reasoning to an answer that has neither a text nor calls, or the text behind the end
// of its thoughts. Parsers of servers give
// all as reasoning that stands in front of the closing tag, also a call that takes its place. The reasoning stays as it is. tools gives the
// schema of a tool that is offered.
//
// source: vllm-project/vllm#39056 (Qwen 3.5), sgl-project/sglang#18199 and vybestack/llxprt-code#749 (Kimi K2), leehack/llamadart#402 (DeepSeek;
// llama.cpp takes the mark of a call for the end of reasoning), vllm-project/vllm-ascend#8042
func CallsInReasoning(a *agent.Answer, tools func(name string) (json.RawMessage, bool)) {
	speaks := func(b sessions.Block) bool {
		return b.Type == sessions.ToolCallBlock || b.Type == sessions.TextBlock && strings.TrimSpace(b.Text) != ""
	}
	if a.Stop != agent.StopEnd || slices.ContainsFunc(a.Content, speaks) {
		return
	}
	r := markup.Reader{Tools: tools}
	for _, b := range a.Content {
		if b.Type == sessions.ThinkingBlock {
			r.Add(b.Text)
		}
	}
	r.End()
	calls := r.Calls()
	if len(calls) == 0 {
		answerInReasoning(a)
	}
	for _, c := range calls[:min(len(calls), maxReasonedCalls)] {
		if c.ID == "" {
			c.ID = agent.NewCallID()
		}
		a.Content = append(a.Content, sessions.Block{Type: sessions.ToolCallBlock, ID: c.ID, Name: c.Name, Arguments: c.Arguments})
		a.Stop = agent.StopToolUse
	}
}

// thoughtEnd is in front of an answer that a server gives as reasoning.
const thoughtEnd = "</think>"

// answerInReasoning takes the text behind the end of the thoughts out of the reasoning of an answer that has nothing else.
//
// source: xorbitsai/inference#3673, ollama/ollama#10976
func answerInReasoning(a *agent.Answer) {
	for i, b := range a.Content {
		before, said, found := strings.Cut(b.Text, thoughtEnd)
		if said = strings.TrimSpace(said); b.Type != sessions.ThinkingBlock || !found || said == "" || strings.Contains(said, thoughtEnd) {
			continue
		}
		a.Content[i].Text = strings.TrimRight(before, " \n")
		a.Content = slices.Insert(a.Content, i+1, sessions.Block{Type: sessions.TextBlock, Text: said})
		return
	}
}
