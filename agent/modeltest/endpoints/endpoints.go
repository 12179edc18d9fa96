// Package endpoints is the table of what endpoints of language models do: each row is one server, as strict and as odd as a public
// source describes it, and what a person in a chat sees when parley uses it. The test that plays the rows against a whole host is in
// cmd/internal/tables/endpointtest, the one that kills the program in cmd/parley.
package endpoints

import (
	"slices"
	"strings"
	"time"
)

// API is the value of models.providers.*.api with which a row is used.
type API string

// The APIs.
const (
	Chat        API = "openai"             // chat completions: every address that is not OpenAI's own
	Completions API = "openai-completions" // chat completions, forced
	Responses   API = "openai-responses"
	Messages    API = "anthropic"
)

// Row is one behaviour of an endpoint.
type Row struct {
	ID     string // words with hyphens, unique
	Family string // set by Table
	Faults []string
	API    API // empty = Chat
	Vendor string
	Source string // a URL or owner/repository#number
	Does   string // one sentence: what the server does
	Model  string // the provider's name of it; empty = model-1
	Path   string // of baseUrl; empty = /v1

	Config   string // more keys of models.providers.*, as YAML in one line
	Thinking string // agents.defaults.thinking
	Agents   string // more keys of agents.defaults, as YAML in one line
	Env      map[string]string
	Chosen   bool              // no provider is configured: the host finds the endpoint by Env, in which {url} stands for its address
	Tools    []ToolSpec        // of an MCP server that the host mounts
	Results  map[string]string // of those tools, by name, as JSON; without one it is the text nothing, and {arguments} stands for the call's
	Mount    Mount             // the way to those tools
	Gateway  string            // more keys of gateway, as YAML in one line
	Clients  []Client          // programs that use the host's own API, one after the other; those that only read come again after the restart
	Pages    []Page            // answers to GET and POST besides the API's own
	Checks   []Check           // after those that hold for every endpoint of the API; the first that objects answers
	Lax      bool              // without the checks of the API: the server reads anything
	Fails    []Failure         // of requests that passed the checks
	Wire     Wire              // how answers are written; nil = the API's usual way
	Mind     Mind              // what the model says; nil = Usual
	Unhidden bool              // reasoning and markup in a text for people are right here
	InDrafts bool              // a preview may show reasoning: nothing in front of it says what it is
	Kind     string            // the mechanism that a kill -9 between tool call and follow-up proves; one row of each runs in the short run
	Want     Expectation       // what people see
}

// Mechanisms that get a kill -9 in the short run.
const (
	KindReasoning  = "reasoning"
	KindSignature  = "signature"
	KindEncrypted  = "encrypted reasoning"
	KindThinking   = "signed thinking"
	KindLearned    = "learned refusal"
	KindCallID     = "call ids"
	KindWholeReply = "whole answers"
	KindMarkup     = "markup"
)

// ToolSpec is a tool of an MCP server.
type ToolSpec struct {
	Name   string
	Schema string // JSON
}

// Mount is the way to the MCP server of a row. The zero value is streamable HTTP.
type Mount struct {
	Config string        // more keys of tools.mcp.servers.*, as YAML in one line
	Waits  time.Duration // before each handshake
	Older  int           // it speaks HTTP with SSE (2024-11-05), and answers the newer transport with this status; 0 = it does not
	Banner string        // it is a command, and writes this in front of its first message; empty = it is not
	Ready  string        // regular expression: the log line behind which turns begin; empty = the server runs
}

// Client is one request of a program to the host's own API. The program repeats it as the AI SDK does.
type Client struct {
	Path string // {id} stands for the id in the answer before
	Tool string // of /mcp, in the place of Path
	Body string // JSON: the body or the tool's arguments; empty = GET
	Want string // regular expression: status and body, or the text of the tool's result
}

// Page is a fixed answer of the server.
type Page struct {
	Path    string
	Body    string
	ByModel map[string]string // instead: by the model that the request names
}

// Expectation says what people in the chat see: regular expressions for the answer of each turn. Empty = the turn works as the
// usual model answers it; None = the turn is not played.
type Expectation struct {
	Plain    string
	Tool     string
	Follow   string
	Image    string // empty = seen or said to be unseen, and None where neither Plain nor Tool is as Usual answers
	Killed   string // the end of the turn with the tool after a kill -9 between its result and the answer; empty = as Tool
	Restart  string // after the host was started again on the same state
	Fallback string // the answer of a second provider when this one cannot
	Back     string // the next turn at this endpoint, with the second provider's tool call in the history

	Interrupt bool // a person writes and stops while a tool is at work

	Refused int      // most requests that the server refuses in the life of the first host, because it has to learn
	Again   int      // most that it refuses after a restart
	Sends   []string // regular expressions, each in some request
	Lacks   []string // regular expressions, in no request that was answered
	Log     string   // regular expression in the host's log or on its first screen
}

// MostAnswered is how many requests the first life needs at most, with a picture: a second answer to what was answered would be paid twice.
const MostAnswered = 9

// Any is the number of refusals that is not looked at.
const Any = 1 << 20

// None is the expectation of a turn that is not played.
const None = "-"

// What people see in a turn that works, as Usual answers.
const (
	PlainText     = `^echo: hello$`
	ToolText      = `^The tool names a session\.$`
	FollowText    = `^echo: and now\?$`
	ImageText     = `^I see 1 picture\.$`
	SeenOrNotText = ImageText + `|` + BlindText
	BlindText     = `^I cannot see the picture\.$`
	BackText      = `^echo: are you there\?$`
	SpareText     = `^spare: The tool names a session\.$`
	ReturnText    = `^echo: and here\?$`
)

// Table gives all rows, in the order of their families.
func Table() []Row {
	var all []Row
	for _, f := range families() {
		for _, r := range f.rows {
			r.Family = f.name
			all = append(all, r.filled())
		}
	}
	return all
}

// family is a group of rows with a title.
type family struct {
	name string
	rows []Row
}

func (r Row) filled() Row {
	set := func(to *string, value string) {
		if *to == "" {
			*to = value
		}
	}
	if r.API == "" {
		r.API = Chat
	}
	set(&r.Model, "model-1")
	if r.API != Messages {
		set(&r.Path, "/v1")
	}
	set(&r.Want.Plain, PlainText)
	set(&r.Want.Tool, ToolText)
	if r.Want.Plain == PlainText || r.Want.Tool == ToolText {
		set(&r.Want.Image, SeenOrNotText)
	}
	set(&r.Want.Killed, r.Want.Tool)
	set(&r.Want.Follow, FollowText)
	set(&r.Want.Image, None)
	set(&r.Want.Restart, BackText)
	set(&r.Want.Fallback, SpareText)
	set(&r.Want.Back, ReturnText)
	return r
}

// Protocol gives the wire protocol: Chat, Responses or Messages.
func (r Row) Protocol() API {
	if r.API == Completions {
		return Chat
	}
	return r.API
}

// Markdown gives the table for people: a heading for each family, and a table of its rows.
func Markdown() string {
	var b strings.Builder
	name := map[API]string{Chat: "chat", Completions: "chat", Responses: "responses", Messages: "messages"}
	for _, r := range Table() {
		if !strings.Contains(b.String(), "### "+r.Family+"\n") {
			b.WriteString("\n### " + r.Family + "\n\n| behaviour | endpoint | API | the server | source |\n|---|---|---|---|---|\n")
		}
		cells := []string{r.ID, r.Vendor, name[r.API], r.Does, link(r.Source)}
		for i, c := range cells {
			cells[i] = strings.ReplaceAll(c, "|", `\|`)
		}
		b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
	}
	return strings.TrimPrefix(b.String(), "\n")
}

// link makes a link of a source.
func link(source string) string {
	if address, ok := strings.CutPrefix(source, "https://"); ok {
		host, _, _ := strings.Cut(address, "/")
		return "[" + host + "](" + source + ")"
	}
	repository, number, ok := strings.Cut(source, "#")
	if !ok {
		return source
	}
	return "[" + source + "](https://github.com/" + repository + "/issues/" + number + ")"
}

// Faults gives the ids of the rows of each fault.
func Faults() map[string][]string {
	out := map[string][]string{}
	for _, r := range Table() {
		for _, f := range r.Faults {
			if !slices.Contains(out[f], r.ID) {
				out[f] = append(out[f], r.ID)
			}
		}
	}
	return out
}
