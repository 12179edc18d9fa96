package models

import (
	"cmp"
	"strconv"

	"parley/agent"
	"parley/agent/lessons"
	"parley/gateway/models/catalogue"
	"parley/sessions"
)

// Origin says where a fact about a model is from.
type Origin string

// The origins, in the order in which they count: a setting, then what the endpoint was seen to refuse, then what the server says, then
// the catalogue, then a default.
const (
	Configured Origin = "configuration"
	Learned    Origin = "learned"
	Asked      Origin = "asked"
	Catalogued Origin = "catalogue"
	Guessed    Origin = "guess"
	BuiltIn    Origin = "built in"
)

// Facts describe a model, and say where each figure comes from. ContextWindow is always set; Tools is "off" where it takes none.
type Facts struct {
	agent.ModelFacts
	From Origins

	MaxTokens int    // longest answer that is usually asked for; 0 = not known
	Effort    string // the effort that it has unless told; "" = not known
	Program   string // that serves it; "" = not known
	Trained   int    // tokens that it could take, where its server gives it fewer or says not how many; 0 = not known
	NoChat    bool   // it answers in no chat: it is for embeddings and the like

	numCtx bool // of Ollama: the model's Modelfile sets the window
}

// Origins says where each fact is from; "" = the fact is not known.
type Origins struct {
	Window Origin `json:"window"`
	Price  Origin `json:"price,omitempty"`
	Images Origin `json:"images"`
	Tools  Origin `json:"tools"`
	Levels Origin `json:"levels,omitempty"`
}

// FactsOf puts together what is known about a provider's model: its settings, then what its server said, then the catalogue, then a
// default.
func FactsOf(name string, p agent.Provider, model string, said Answer) Facts {
	f := Facts{ModelFacts: p.Facts(model), Program: said.Program, Trained: said.Model.Trained}
	chats := said.Model
	chats.Name = model
	f.NoChat = !chats.CanChat()
	f.ModelSettings = p.Settings(model)
	if p.API == agent.OfflineAPI {
		f.ContextWindow = cmp.Or(f.ContextWindow, agent.DefaultContextWindow)
		f.From = Origins{Window: BuiltIn, Price: BuiltIn, Images: BuiltIn, Tools: BuiltIn}
		return f
	}
	known, _ := catalogue.Find(name, p, model)
	f.MaxTokens, f.Effort = known.MaxTokens, known.Effort
	f.window(said.Model, known)
	f.numCtx = said.Model.numCtx
	f.price(said.Model, known)
	f.images(said.Model, known)
	f.levels(said.Model, known)
	f.From.Tools = Guessed
	switch {
	case f.Tools != "":
		f.From.Tools = Configured
	case said.Model.Tools != nil:
		f.From.Tools = Asked
		if !*said.Model.Tools {
			f.Tools = "off"
		}
	}
	return f
}

func (f *Facts) window(said Served, known catalogue.Entry) {
	switch {
	case f.ContextWindow > 0:
		f.From.Window = Configured
	case said.Window > 0:
		f.ContextWindow, f.From.Window = said.Window, Asked
	case known.Window > 0:
		f.ContextWindow, f.From.Window = known.Window, Catalogued
	default:
		f.ContextWindow, f.From.Window, f.Guessed = agent.DefaultContextWindow, Guessed, true
		if said.Trained > 0 {
			f.ContextWindow = min(f.ContextWindow, said.Trained)
		}
	}
}

func (f *Facts) price(said Served, known catalogue.Entry) {
	switch {
	case f.Priced():
		f.From.Price = Configured
	case said.Input > 0 || said.Output > 0:
		f.Input, f.Output, f.CacheRead, f.CacheWrite, f.From.Price = said.Input, said.Output, said.CacheRead, said.CacheWrite, Asked
	case known.Input > 0 || known.Output > 0:
		f.Input, f.Output, f.CacheRead, f.CacheWrite, f.From.Price = known.Input, known.Output, known.CacheRead, known.CacheWrite, Catalogued
	case said.Free: // of one that the catalogue has a price for, a proxy may say 0 because it knows none
		f.NoCost, f.From.Price = true, Asked
	}
}

func (f *Facts) images(said Served, known catalogue.Entry) {
	switch {
	case f.Images == "on":
		f.NoImages, f.From.Images = false, Configured
	case f.Images == "off" || f.NoImages:
		f.NoImages, f.From.Images = true, Configured
	case said.Images != nil:
		f.NoImages, f.From.Images = !*said.Images, Asked
	case known.ID != "":
		f.NoImages, f.From.Images = !known.Images, Catalogued
	default:
		f.From.Images = Guessed
	}
}

func (f *Facts) levels(said Served, known catalogue.Entry) {
	switch {
	case f.Reasoning.Levels != nil:
		f.Levels, f.From.Levels = f.Reasoning.Levels, Configured
	case said.Levels != nil:
		f.Levels, f.From.Levels = said.Levels, Asked
	case known.Levels != nil:
		f.Levels, f.From.Levels = known.Levels, Catalogued
	}
}

// Learn notes what the endpoint of the model was seen to refuse, where no setting says otherwise. A lesson about one picture or one tool
// says nothing about the others.
func (f *Facts) Learn(provider, model string, known []sessions.Lesson) {
	for _, l := range known {
		if l.Provider != provider || l.Model != model || l.Name != "" {
			continue
		}
		switch {
		case l.Kind == lessons.Images && f.From.Images != Configured:
			f.NoImages, f.From.Images = true, Learned
		case l.Kind == lessons.Window:
			if n, err := strconv.Atoi(l.Use); err == nil {
				f.learnWindow(n)
			}
		case l.Kind == lessons.Tools && f.From.Tools != Configured:
			f.Tools, f.From.Tools = "off", Learned
		}
	}
}

// learnWindow takes the window that an error of the model named, unless one is configured or a smaller one is known. 0 = none did.
func (f *Facts) learnWindow(n int) {
	if n > 0 && f.From.Window != Configured && (f.Guessed || n < f.ContextWindow) {
		f.ContextWindow, f.From.Window, f.Guessed = n, Learned, false
	}
}
