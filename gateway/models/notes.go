package models

import (
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"strings"

	"parley/agent"
	"parley/gateway/models/catalogue"
)

// Note is something about a model that a person should know; Fix is the command or setting that changes it, "" = there is none.
type Note struct {
	Text string `json:"text"`
	Fix  string `json:"fix,omitempty"`

	Minor bool `json:"minor,omitempty"` // good to know, nothing to worry about
}

func (n Note) String() string {
	if n.Fix == "" {
		return n.Text
	}
	return n.Text + ": " + n.Fix
}

// reserve is what a window should have beside the prompt: a little conversation and the answer. usefulWindow is the window that is proposed.
const (
	reserve      = 2048
	usefulWindow = 32768
)

// Notes says of a model, named provider/model, what may surprise: a window that is only guessed or smaller than a prompt of so many tokens,
// and missing tools.
func (f Facts) Notes(name string, p agent.Provider, prompt int) (out []Note) {
	provider := providerOf(name)
	set := "set models.providers." + provider + ".contextWindow"
	if f.NoChat {
		return []Note{{Text: name + " is not a chat model (embeddings or similar)", Fix: "choose a chat model"}}
	}
	small := f.ContextWindow < prompt+reserve
	switch {
	case f.From.Window == Guessed && f.Program == Ollama:
		out = append(out, Note{Text: fmt.Sprintf("the context window of %s is unknown until Ollama loads the model; parley assumes %d tokens. Below 24 GB of video memory, Ollama gives a model 4096 tokens and cuts longer prompts silently; prompt and tools take about %d", name, f.ContextWindow, prompt), Fix: OllamaWindow(usefulWindow)})
	case f.From.Window == Guessed:
		out = append(out, Note{Text: fmt.Sprintf("the context window of %s is unknown; parley assumes %d tokens", name, f.ContextWindow), Fix: set, Minor: true})
	case small && f.Program == Ollama && f.From.Window != Configured:
		out = append(out, Note{Text: fmt.Sprintf("the context window of %s is %d tokens, and prompt and tools take about %d of them; Ollama cuts longer prompts silently", name, f.ContextWindow, prompt), Fix: f.ollamaFix(name)})
	case small && f.From.Window == Configured:
		out = append(out, Note{Text: fmt.Sprintf("the context window of %s is set to %d tokens, and prompt and tools take about %d of them", name, f.ContextWindow, prompt), Fix: set + " to the model's real window, or use another model"})
	case small:
		out = append(out, Note{Text: fmt.Sprintf("the context window of %s is %d tokens, and prompt and tools take about %d of them", name, f.ContextWindow, prompt), Fix: fix(f.Program)})
	}
	if f.Tools == "off" {
		n := Note{Text: fmt.Sprintf("%s accepts no tools (%s), so the agent can only talk", name, f.From.Tools), Fix: "choose a model with tools"}
		switch f.From.Tools {
		case Learned:
			n.Fix = "run parley models forget " + name + " to try tools again, or choose a model with tools"
		case Configured:
			n.Minor = true
			n.Fix = "remove tools: off from models.providers." + provider + " to use tools"
		}
		out = append(out, n)
	}
	return out
}

// ollamaFix says how Ollama gives a model a larger window.
func (f Facts) ollamaFix(name string) string {
	if !f.numCtx {
		return OllamaWindow(usefulWindow)
	}
	_, model, _ := strings.Cut(name, "/")
	return fmt.Sprintf("write FROM %[1]s and PARAMETER num_ctx %[2]d into a Modelfile, then ollama create %[1]s -f Modelfile", model, usefulWindow)
}

// fix says how a server is given a larger window.
func fix(program string) string {
	switch program {
	case LlamaCPP:
		return fmt.Sprintf("llama-server --ctx-size %d …", usefulWindow)
	case VLLM:
		return fmt.Sprintf("vllm serve … --max-model-len %d", usefulWindow)
	case LMStudio:
		return fmt.Sprintf("lms load … --context-length %d", usefulWindow)
	}
	return "use a model with a larger window"
}

func providerOf(name string) string {
	for i, c := range name {
		if c == '/' {
			return name[:i]
		}
	}
	return name
}

// Near reports whether a provider's server is on this machine or in its network.
func Near(p agent.Provider) bool {
	u, err := url.Parse(p.BaseURL)
	return err == nil && u.Host != "" && catalogue.Local(u.Hostname())
}

// Place returns the address of a provider's server without user, password and query, for people; "" = its own address.
func Place(p agent.Provider) string {
	u, err := url.Parse(p.Address())
	if err != nil || p.BaseURL == "" {
		return ""
	}
	u.User = nil
	return u.String()
}

// NotesOn says what may surprise about a model, named provider/model. Its server is asked now; nothing is said where it does not answer.
func NotesOn(ctx context.Context, name string, p agent.Provider) []Note {
	provider, model, _ := strings.Cut(name, "/")
	f, err := NewFactCache(Asker{}, slog.New(slog.DiscardHandler)).AskNow(ctx, provider, p, model)
	if err != nil || p.API == offline {
		return nil
	}
	return f.Notes(name, p, PromptSize(nil))
}
