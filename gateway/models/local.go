package models

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"parley/agent"
	"parley/channels"
)

// Local is a model server that answers on this machine.
type Local struct {
	Name     string // of the provider
	Provider agent.Provider
	Program  string
	Model    Served // the model to take; Name is empty when none of them answers in chats
	Why      string // why no model of it can be taken; empty = it has one, or there is no server
}

// How long a server of this machine may take to list its models, and again to describe them, and how many of them are looked at. Where there is no
// server, the connection is refused at once; a busy or small machine may take seconds to answer.
const (
	localTimeout = 3 * time.Second
	maxLooked    = 8
)

// localServers are the programs that serve models on this machine, at their usual ports, in the order in which they are taken.
var localServers = []struct{ name, program, address, key string }{
	{"ollama", Ollama, "", "ollama"},
	{"lmstudio", LMStudio, "http://127.0.0.1:1234/v1", ""},
	{"llamacpp", LlamaCPP, "http://127.0.0.1:8080/v1", ""},
	{"vllm", VLLM, "http://127.0.0.1:8000/v1", ""},
}

// FindLocal looks for a model server on this machine: the Ollama that OLLAMA_HOST names, then LM Studio, llama.cpp and vLLM at their
// usual ports. Model is the first of its models that answers in chats, one that takes tools before others. The bool is false when there is none;
// why says what was found instead, "" = nothing.
func (a Asker) FindLocal(ctx context.Context, getenv func(string) string) (found Local, why string, ok bool) {
	results := make([]Local, len(localServers))
	done := make(chan int, len(localServers))
	for i := range localServers {
		go func() {
			results[i] = a.local(ctx, i, getenv)
			done <- i
		}()
	}
	for range localServers {
		<-done
	}
	for _, l := range results {
		switch {
		case l.Model.Name != "":
			return l, "", true
		case why == "":
			why = l.Why
		}
	}
	return Local{}, why, false
}

// local looks at one kind of server.
func (a Asker) local(ctx context.Context, i int, getenv func(string) string) Local {
	s := localServers[i]
	l := Local{Name: s.name, Program: s.program, Provider: agent.Provider{API: "openai", BaseURL: s.address, APIKey: channels.NewSecret(s.key)}}
	if s.program == Ollama {
		l.Provider.BaseURL = OllamaAddress(getenv("OLLAMA_HOST"))
	}
	x, err := a.within(ctx, l, "")
	if errors.Is(err, context.DeadlineExceeded) && s.program == Ollama {
		return Local{Why: fmt.Sprintf("the server at %s did not answer within %s", strings.TrimSuffix(Place(l.Provider), "/v1"), localTimeout)}
	}
	if odd, ok := errors.AsType[OddAnswer](err); ok && s.program == Ollama {
		return Local{Why: fmt.Sprintf("the server at %s lists no models (%s)", strings.TrimSuffix(Place(l.Provider), "/v1"), odd.Text)}
	}
	if err != nil || s.program != Ollama && !strings.EqualFold(x.Program, s.program) {
		return Local{}
	}
	if s.program == LMStudio { // its own list says which models are for chats
		if more, err := a.within(ctx, l, "-"); err == nil {
			x.List = more.List
		}
	}
	if len(x.List) == 0 {
		l.Why = fmt.Sprintf("the %s on this machine has no model", l.Program)
	}
	ctx, cancel := context.WithTimeout(ctx, localTimeout) // for all of its models
	defer cancel()
	for n, m := range x.List {
		if s.program == Ollama && m.CanChat() && n < maxLooked {
			if more, err := a.within(ctx, l, m.Name); err == nil {
				m = more.Model
			}
		}
		switch {
		case !m.CanChat():
			l.Why = fmt.Sprintf("the %s on this machine has no chat model", l.Program)
		case l.Model.Name == "":
			l.Model = m
		case l.Model.Tools != nil && !*l.Model.Tools && m.Tools != nil && *m.Tools:
			l.Model = m
		}
		if l.Model.Name != "" && (l.Model.Tools == nil || *l.Model.Tools) {
			break
		}
	}
	return l
}

// within asks a server of this machine, and waits no longer than localTimeout.
func (a Asker) within(ctx context.Context, l Local, model string) (Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, localTimeout)
	defer cancel()
	return a.Ask(ctx, l.Name, l.Provider, model)
}

// Load has Ollama load a model into memory, after which it knows the window that the model has. It can take a minute; nothing is
// generated. Other servers are not asked.
func (a Asker) Load(ctx context.Context, p agent.Provider, model string) error {
	client := a.Client
	if client == nil {
		client = plainClient
	}
	c := call{client, p, true}
	_, err := c.do(ctx, http.MethodPost, strings.TrimSuffix(p.Address(), "/v1")+"/api/generate", map[string]any{"model": model, "stream": false})
	return err
}
