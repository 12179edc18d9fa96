package agent

import (
	"maps"
	"net/textproto"
	"time"

	"parley/channels"
	"parley/sessions"
	"parley/tools"
)

// Config is the section `agents`.
type Config struct {
	Defaults Defaults `yaml:"defaults" doc:"Settings of every agent; an agent's own entry overrides them."`
	List     []Entry  `yaml:"list" doc:"The agents. Without a list there is one agent, main."`
}

// Defaults is agents.defaults.
type Defaults struct {
	Model          string     `yaml:"model" doc:"provider/model; empty = the best model that the host found at its start."`
	Fallbacks      []string   `yaml:"fallbacks" doc:"provider/model, tried in this order when the model fails."`
	Thinking       string     `yaml:"thinking" enum:"off,minimal,low,medium,high" doc:"Reasoning effort, for models that accept one; empty = the model's default."`
	Instructions   string     `yaml:"instructions" doc:"System instructions for the agents."`
	TimeoutSeconds int        `yaml:"timeoutSeconds" default:"600" min:"1" max:"86400" doc:"Maximum duration of a turn, in seconds."`
	MaxConcurrent  int        `yaml:"maxConcurrent" default:"32" min:"1" max:"10000" doc:"Maximum number of turns that run at the same time, over all sessions."`
	MaxSteps       int        `yaml:"maxSteps" default:"32" min:"1" max:"1000" doc:"Maximum number of model calls in one turn."`
	HistoryLimit   int        `yaml:"historyLimit" default:"400" min:"2" max:"10000" doc:"Maximum number of transcript messages in a prompt; older messages are summarized."`
	Compaction     Compaction `yaml:"compaction" doc:"Summarizes the older part of a long session before the model's context window is full."`
	Budget         Budget     `yaml:"budget" doc:"Daily budget of each agent; an agent's own entry overrides it."`
	Workspace      string     `yaml:"workspace" doc:"Parent folder of the workspaces. Each agent has a folder there, named by its id, with instructions, persona and files. Empty = workspace in the state folder."`
	Timezone       string     `yaml:"timezone" doc:"Time zone of the times that agents see, as an IANA name; empty = the host's time zone."`
	Subagents      Subagents  `yaml:"subagents" doc:"Sub-agents."`
	Sandbox        Sandbox    `yaml:"sandbox" doc:"Sandboxed sessions."`
}

// Subagents is agents.defaults.subagents.
type Subagents struct {
	ArchiveAfterMinutes int    `yaml:"archiveAfterMinutes" default:"60" min:"0" max:"525600" doc:"Minutes after which a sub-agent's session is archived; 0 = never."`
	MaxConcurrent       int    `yaml:"maxConcurrent" default:"8" min:"1" max:"10000" doc:"Maximum number of sub-agents that run at the same time."`
	MaxChildrenPerAgent int    `yaml:"maxChildrenPerAgent" default:"5" min:"1" max:"10000" doc:"Maximum number of unfinished sub-agents of one session."`
	MaxSpawnDepth       int    `yaml:"maxSpawnDepth" default:"1" min:"1" max:"5" doc:"1: sub-agents cannot spawn sub-agents. Larger: sub-agents above this depth can, and receive the results."`
	Announce            string `yaml:"announce" enum:"direct,requester" default:"direct" doc:"direct: the host posts a sub-agent's result into the chat that asked for it. requester: the session that asked receives the result, and its agent writes the update."`
	Model               string `yaml:"model" doc:"provider/model of sub-agents; empty = the agent's model."`
}

// Sandbox is agents.defaults.sandbox.
type Sandbox struct {
	Mode                   string `yaml:"mode" enum:"off,non-main,all" default:"off" doc:"Sandboxed sessions. off: none. non-main: all except main sessions. all: all."`
	SessionToolsVisibility string `yaml:"sessionToolsVisibility" enum:"spawned,all" default:"spawned" doc:"spawned: a sandboxed session sees only itself and the sessions that it spawned. all: tools.sessions.visibility decides."`
}

// Entry is one agent.
type Entry struct {
	ID           sessions.AgentID `yaml:"id" required:"true" pattern:"^[a-z0-9][a-z0-9_-]{0,63}$" doc:"Identifier: lower-case letters, digits, - and _."`
	Default      bool             `yaml:"default" doc:"true: this agent answers where no binding matches."`
	Name         string           `yaml:"name" doc:"Display name; people in groups can call it by this name."`
	Model        string           `yaml:"model" doc:"provider/model; empty = agents.defaults.model."`
	Fallbacks    []string         `yaml:"fallbacks" doc:"provider/model, tried in this order when the model fails; empty = agents.defaults.fallbacks."`
	Thinking     string           `yaml:"thinking" enum:"off,minimal,low,medium,high" doc:"Reasoning effort; empty = agents.defaults.thinking."`
	Budget       *Budget          `yaml:"budget" doc:"Daily budget; replaces agents.defaults.budget."`
	Workspace    string           `yaml:"workspace" doc:"Folder of this agent; empty = its folder below agents.defaults.workspace."`
	Instructions string           `yaml:"instructions" doc:"System instructions; empty = agents.defaults.instructions."`
	Subagents    EntrySubagents   `yaml:"subagents" doc:"Agents that this agent may spawn."`
	Tools        tools.Rights     `yaml:"tools" doc:"Tools of this agent, within the limits of the section tools."`
	GroupChat    GroupChat        `yaml:"groupChat" doc:"Behaviour in groups."`
}

// EntrySubagents is agents.list[].subagents.
type EntrySubagents struct {
	AllowAgents []string `yaml:"allowAgents" doc:"Agents that this agent may spawn, besides itself; \"*\" = any."`
}

// GroupChat is agents.list[].groupChat.
type GroupChat struct {
	MentionPatterns []string `yaml:"mentionPatterns" doc:"Regular expressions that count as a mention; without them the agent's name counts."`
}

// Compaction is agents.defaults.compaction.
type Compaction struct {
	Off   bool    `yaml:"off" default:"false" doc:"true: never summarize automatically; older messages are left out of the prompt instead."`
	At    float64 `yaml:"at" default:"0.8" min:"0.1" max:"0.95" doc:"Fill level of the context window at which the host summarizes: 0.8 = 80 %."`
	Model string  `yaml:"model" doc:"provider/model that writes summaries; empty = the session's model."`
}

// Budget says what may be spent in a day, the host's time zone; 0 = any amount.
type Budget struct {
	SessionTokens int     `yaml:"sessionTokens" min:"0" max:"1000000000000" doc:"Daily limit of one session and its sub-agents, in input and output tokens; 0 = no limit."`
	SessionCost   float64 `yaml:"sessionCost" min:"0" max:"1000000" doc:"Daily limit of one session and its sub-agents, in dollars; 0 = no limit. With a limit in dollars, the host refuses models without a price."`
	AgentTokens   int     `yaml:"agentTokens" min:"0" max:"1000000000000" doc:"Daily limit of one agent, in input and output tokens; 0 = no limit."`
	AgentCost     float64 `yaml:"agentCost" min:"0" max:"1000000" doc:"Daily limit of one agent, in dollars; 0 = no limit."`
}

// Models is the section `models`.
type Models struct {
	Providers map[string]Provider `yaml:"providers" doc:"Model providers by name; a model is named provider/model."`
	DayTokens int                 `yaml:"dayTokens" min:"0" max:"1000000000000" doc:"Daily limit of the whole host, in input and output tokens; 0 = no limit."`
	DayCost   float64             `yaml:"dayCost" min:"0" max:"1000000" doc:"Daily limit of the whole host, in dollars; 0 = no limit."`
}

// ModelFacts is models.providers.*.models.*: what parley should know about a model.
type ModelFacts struct {
	ContextWindow int     `yaml:"contextWindow" min:"0" max:"100000000" doc:"Context window in tokens, prompt and answer together; 0 = the provider's contextWindow, else the server's or the catalogue's figure."`
	Input         float64 `yaml:"input" min:"0" max:"100000" doc:"Dollars per million prompt tokens. Without input and output, the server's or the catalogue's prices apply."`
	Output        float64 `yaml:"output" min:"0" max:"100000" doc:"Dollars per million answer tokens."`
	CacheRead     float64 `yaml:"cacheRead" min:"0" max:"100000" doc:"Dollars per million prompt tokens read from the cache; 0 = same as input."`
	CacheWrite    float64 `yaml:"cacheWrite" min:"0" max:"100000" doc:"Dollars per million prompt tokens written to the cache; 0 = same as input."`
	NoImages      bool    `yaml:"noImages" default:"false" doc:"true: the model does not accept images."`

	ModelSettings `yaml:",inline"`

	Levels  []string `yaml:"-"` // the efforts that it takes, as the provider names them; nil = not known
	Guessed bool     `yaml:"-"` // ContextWindow is a guess
	// MaxAnswer is how many tokens an answer has at most, by the provider's settings; 0 = they do not say.
	MaxAnswer int `yaml:"-"`
	// OffRefused says that its endpoint refused to be told that it is not to think.
	OffRefused bool `yaml:"-"`
	// MaxTools is how many tools a request may have; 0 = not known.
	MaxTools int `yaml:"-"`
	// MaxMessages is how many messages of a transcript a request may have; 0 = not known.
	MaxMessages int  `yaml:"-"`
	NoCost      bool `yaml:"-"` // its server says that it costs nothing
	free        bool // built in: it costs nothing
}

// ModelSettings is how a model is spoken to: the same keys stand at a provider, for all its models, and at one model, where they win.
type ModelSettings struct {
	Headers     map[string]channels.Secret `yaml:"headers" doc:"HTTP headers of each request; they replace headers of the same name."`
	Query       map[string]string          `yaml:"query" doc:"Query parameters of each request, for example api-version."`
	Body        map[string]any             `yaml:"body" doc:"Extra fields of each request, sent unchanged: chat_template_kwargs, provider, thinking, …"`
	Temperature *float64                   `yaml:"temperature" min:"0" max:"2" doc:"Sampling temperature; without it the provider's default."`
	TopP        *float64                   `yaml:"topP" min:"0" max:"1" doc:"Nucleus sampling (top_p); without it the provider's default."`
	Tools       string                     `yaml:"tools" enum:"on,off" doc:"off: requests have no tools. on: requests have tools, even if the host learned that the model refuses them."`
	Images      string                     `yaml:"images" enum:"on,off" doc:"off: a line of text replaces each image, as with noImages. on: requests have images, even if the host learned that the model refuses them."`
	Stream      string                     `yaml:"stream" enum:"on,off" doc:"off: answers arrive in one piece. on: answers are streamed, even if the host learned that the server cannot stream."`
	System      string                     `yaml:"system" enum:"on,off" doc:"off: the host puts instructions before the first message instead of in a system message. on: instructions are a system message, even if the host learned that the model refuses one."`
	Reasoning   Reasoning                  `yaml:"reasoning" doc:"Reasoning of the model."`
}

// Reasoning is models.providers.*.reasoning and models.providers.*.models.*.reasoning.
type Reasoning struct {
	Levels   []string `yaml:"levels" doc:"Reasoning efforts that the model accepts, in the provider's names, lowest first: none, low, high. Thinking levels map to the nearest effort, off only to none or minimal; [] = the model accepts none."`
	SendBack string   `yaml:"sendBack" enum:"on,off" doc:"on: the host always sends the reasoning of earlier steps back. off: never. Empty: as the provider requires."`
}

// Priced reports whether it is known what a call costs. Without a price a bound in dollars would never be reached.
func (f ModelFacts) Priced() bool {
	return f.free || f.NoCost || f.Input > 0 || f.Output > 0 || f.CacheRead > 0 || f.CacheWrite > 0
}

// Provider is one model provider.
type Provider struct {
	API            string                `yaml:"api" enum:"openai,openai-completions,openai-responses,anthropic,offline" required:"true" doc:"Protocol: openai (and compatible servers), openai-completions, openai-responses, anthropic, or offline (built in)."`
	BaseURL        string                `yaml:"baseUrl" doc:"Base URL; empty = the provider's own. A query such as ?api-version=… is sent with each request."`
	APIKey         channels.Secret       `yaml:"apiKey" doc:"API key; write ${NAME} to read it from the environment."`
	MaxTokens      int                   `yaml:"maxTokens" min:"0" max:"10000000" doc:"Maximum length of an answer, in tokens; 0 = the provider's default."`
	ContextWindow  int                   `yaml:"contextWindow" min:"0" max:"100000000" doc:"Context window of its models in tokens, prompt and answer together; 0 = the server's figure, else the catalogue's, else 128000."`
	Models         map[string]ModelFacts `yaml:"models" doc:"Settings of single models: context window, prices, parameters."`
	ConnectTimeout Seconds               `yaml:"connectTimeoutSeconds" default:"10" doc:"Timeout to connect, in seconds."`
	FirstByte      Seconds               `yaml:"firstByteTimeoutSeconds" default:"120" doc:"Timeout until the first byte of an answer, in seconds."`
	Idle           Seconds               `yaml:"idleTimeoutSeconds" default:"60" doc:"Timeout between two pieces of an answer, in seconds."`
	Total          Seconds               `yaml:"totalTimeoutSeconds" default:"600" doc:"Timeout of one request, in seconds."`

	ModelSettings `yaml:",inline"`
}

// Settings gives how one of the provider's models is spoken to: its own settings over the provider's. Headers, query and body are
// merged by name; the query of baseUrl comes below both.
func (p Provider) Settings(model string) ModelSettings {
	s, own := p.ModelSettings, p.Models[model].ModelSettings
	s.Headers, s.Query, s.Body = canonical(s.Headers, own.Headers), merged(merged(p.addressQuery(), s.Query), own.Query), mergedBody(s.Body, own.Body)
	if own.Temperature != nil {
		s.Temperature = own.Temperature
	}
	if own.TopP != nil {
		s.TopP = own.TopP
	}
	if own.Reasoning.Levels != nil {
		s.Reasoning.Levels = own.Reasoning.Levels
	}
	for _, f := range []struct {
		set *string
		own string
	}{{&s.Tools, own.Tools}, {&s.Images, own.Images}, {&s.Stream, own.Stream}, {&s.System, own.System}, {&s.Reasoning.SendBack, own.Reasoning.SendBack}} {
		if f.own != "" {
			*f.set = f.own
		}
	}
	return s
}

// canonical is merged for headers, whose names are compared without regard to case.
func canonical(base, over map[string]channels.Secret) map[string]channels.Secret {
	if len(base)+len(over) == 0 {
		return nil
	}
	out := make(map[string]channels.Secret, len(base)+len(over))
	for _, m := range []map[string]channels.Secret{base, over} {
		for name, v := range m {
			out[textproto.CanonicalMIMEHeaderKey(name)] = v
		}
	}
	return out
}

// mergedBody is merged for bodies: objects that both have are merged, too.
func mergedBody(base, over map[string]any) map[string]any {
	out := merged(base, over)
	for name, v := range over {
		below, isObject := base[name].(map[string]any)
		above, too := v.(map[string]any)
		if isObject && too {
			out[name] = mergedBody(below, above)
		}
	}
	return out
}

// merged gives both maps' entries; those of over win. Neither map is changed.
func merged[V any](base, over map[string]V) map[string]V {
	if len(over) == 0 {
		return base
	}
	out := make(map[string]V, len(base)+len(over))
	maps.Copy(out, base)
	maps.Copy(out, over)
	return out
}

// DefaultContextWindow is taken where nothing is known: it is a guess.
const DefaultContextWindow = 128_000

// Facts gives what the configuration says about one of the provider's models. A window of 0 is not set.
func (p Provider) Facts(model string) ModelFacts {
	f := p.Models[model]
	f.free = p.API == OfflineAPI
	if f.ContextWindow <= 0 {
		f.ContextWindow = p.ContextWindow
	}
	f.MaxAnswer = p.MaxTokens
	for _, body := range []map[string]any{p.Body, f.Body} { // the last one wins
		for _, name := range []string{"max_tokens", "max_completion_tokens", "max_output_tokens"} {
			if n, isNumber := body[name].(int); isNumber {
				f.MaxAnswer = n
			}
		}
	}
	return f
}

// Seconds is a time in seconds, fractions allowed.
type Seconds float64

// Duration gives the time.
func (s Seconds) Duration() time.Duration { return time.Duration(float64(s) * float64(time.Second)) }

// Deadlines gives the provider's deadlines, defaults filled in.
func (p Provider) Deadlines() Deadlines {
	d := DefaultDeadlines
	for _, f := range []struct {
		s Seconds
		d *time.Duration
	}{{p.ConnectTimeout, &d.Connect}, {p.FirstByte, &d.FirstByte}, {p.Idle, &d.Idle}, {p.Total, &d.Total}} {
		if f.s > 0 {
			*f.d = f.s.Duration()
		}
	}
	return d
}

// IDs lists the configured agents and the default one: the first that is marked as such, else the first, else "main".
func (c Config) IDs() (ids []sessions.AgentID, def sessions.AgentID) {
	for _, e := range c.List {
		ids = append(ids, e.ID)
		if e.Default && def == "" {
			def = e.ID
		}
	}
	if len(ids) == 0 {
		ids = []sessions.AgentID{"main"}
	}
	if def == "" {
		def = ids[0]
	}
	return ids, def
}
