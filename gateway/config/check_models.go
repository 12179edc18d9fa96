package config

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"parley/agent"
)

// minWindow is the smallest window that a prompt could fit into.
const minWindow = 1000

// hopHeaders are the headers that the connection itself needs: another value breaks the request.
var hopHeaders = []string{"Connection", "Content-Length", "Content-Type", "Host", "Keep-Alive", "Proxy-Connection", "Te", "Trailer", "Transfer-Encoding", "Upgrade"}

// ownFields are the fields of a request that parley fills in, and what to write instead.
var ownFields = map[string]string{
	"model":        "set the model as provider/model, for example in agents.defaults.model",
	"messages":     "parley builds messages from the transcript; put instructions into agents.defaults.instructions",
	"input":        "parley builds the input from the transcript; put instructions into agents.defaults.instructions",
	"instructions": "set agents.defaults.instructions",
	"system":       "set agents.defaults.instructions",
	"stream":       "set stream: off beside body",
	"tools":        "set tools: off beside body, or use the section tools",
	"functions":    "set tools: off beside body, or use the section tools",
}

// provider checks how a provider and its models are spoken to.
func (k *checker) provider(at, name string, p agent.Provider) {
	if strings.ContainsFunc(p.APIKey.Reveal(), func(r rune) bool { return r <= ' ' || r == 0x7f || r > 0xff }) {
		k.wrong(at+".apiKey", "contains a space, a line break or another character that API keys never have", "copy the key again, on one line")
	}
	if p.ContextWindow != 0 && p.ContextWindow < minWindow {
		k.wrong(at+".contextWindow", fmt.Sprintf("must be at least %d, or 0", minWindow), "0 takes the value of the server or the catalogue")
	}
	k.modelSettings(at, p.ModelSettings)
	for _, model := range sortedKeys(p.Models) {
		if bare, ok := strings.CutPrefix(model, name+"/"); ok && name != "openrouter" { // which has models of its own, as openrouter/auto
			k.report(Warning, at+".models."+model, "begins with the name of the provider, so it does not apply to model "+quoted(bare), "write "+bare+", as the provider names it")
		}
		if n := p.Models[model].ContextWindow; n != 0 && n < minWindow {
			k.wrong(at+".models."+model+".contextWindow", fmt.Sprintf("must be at least %d, or 0", minWindow), "0 takes the value of the server or the catalogue")
		}
		k.modelSettings(at+".models."+model, p.Models[model].ModelSettings)
	}
}

func (k *checker) modelSettings(at string, s agent.ModelSettings) {
	for _, name := range sortedKeys(s.Headers) {
		value := s.Headers[name].Reveal()
		switch {
		case !headerName.MatchString(name), strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }):
			k.wrong(at+".headers", "contains an invalid header", "write Name: value, on one line")
		case slices.Contains(hopHeaders, http.CanonicalHeaderKey(name)):
			k.wrong(at+".headers."+name, "cannot be set: the connection sets this header", "remove it")
		}
	}
	for _, name := range sortedKeys(s.Query) {
		if name == "" {
			k.wrong(at+".query", "contains a parameter without a name", "write name: value")
		}
	}
	for _, name := range sortedKeys(s.Body) {
		if hint, own := ownFields[name]; own {
			k.wrong(at+".body."+name, "cannot be set: parley sends "+name+" itself", hint)
		}
	}
	for i, level := range s.Reasoning.Levels {
		path := fmt.Sprintf("%s.reasoning.levels[%d]", at, i)
		switch {
		case !slices.Contains(agent.Efforts, level):
			k.wrong(path, quoted(level)+" is not an effort", choices("efforts", level, agent.Efforts))
		case slices.Contains(s.Reasoning.Levels[:i], level):
			k.wrong(path, "is listed twice", "list each effort once")
		}
	}
}
