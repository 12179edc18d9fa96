package tools

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"io"
	"strings"
	"time"

	"parley/channels"
	"parley/policy"
	"parley/sessions"
)

// Spec is what a model is told about a tool.
type Spec struct {
	Name        string
	Description string          // from the tool's .md file
	Schema      json.RawMessage // JSON Schema of the arguments: an object, closed
	Timeout     time.Duration   // longest call; 0 = no limit of its own, it waits as its arguments say. The call that ran out of it is a result that says so
	MaxResult   int             // bytes of a result that are kept; 0 = the loop's limit
	Server      string          // the MCP server that it is of; empty = the host's own
}

// Caller is on whose behalf a tool is called: the session whose agent is at work.
type Caller struct {
	Session   sessions.Session
	Run       sessions.Run
	Sandboxed bool
	Owner     bool   // the turn answers nobody but owners, as far as it is now
	Asker     string // the person whose share of the host the turn uses; empty = owners'
	// May says whether the turn may use another tool: some calls do what that one does. nil = every one.
	May func(tool string) bool
}

func (c Caller) may(tool string) bool { return c.May == nil || c.May(tool) }

// Call is one tool call of a model.
type Call struct {
	ID     string          // the model's tool call id, unique inside the run; effects are keyed by (run, ID), so a repeated call has no second effect (contract S14)
	Args   json.RawMessage // valid against Schema: the loop has checked it
	Caller Caller
	// Progress tells people how far the call is, in a few words; never nil, never blocks.
	Progress func(text string)
}

// Source is the dedupe key of the call's effects.
func (c Call) Source() string { return "tool:" + string(c.Caller.Run.ID) + ":" + c.ID }

// Result is what the model gets to see.
type Result struct {
	Text    string // usually JSON
	IsError bool
	Yield   bool // the turn ends here: no further model call
	// Blocks are the pictures (image) and other files (file) of the result, each with an ID of NewFileID. A tool gives the bytes in Data,
	// base64; the host keeps them and leaves Media in their place, before the result is recorded.
	Blocks []sessions.Block
}

// NewFileID returns a new name of a file in a session, short enough for a model to repeat.
func NewFileID() string { return strings.ToLower(rand.Text()[:8]) }

// Tool is one thing that a model can do. Call may block for as long as its ctx allows. An error is a fault of the host (the store
// failed): the run fails and is tried again. What the model did wrong, or may not do, is a Result that tells it what to do next.
type Tool interface {
	Spec() Spec
	Call(ctx context.Context, c Call) (Result, error)
}

// Host is what the session tools need from the router. Its methods are durable when they return.
type Host interface {
	// Ask queues message as a run in the target session and gives the run's id. A repeated source gives the same run.
	Ask(ctx context.Context, q AskRequest) (sessions.Run, error)
	// Spawn makes a child session with a queued run. A repeated source gives the same child.
	Spawn(ctx context.Context, q SpawnRequest) (sessions.Run, error)
	// Steer gives a sub-agent a further message: the turn at work takes it up at its next step, otherwise a follow-up begins, whose
	// result is reported like the first. A repeated source gives the same run.
	Steer(ctx context.Context, q SteerRequest) (sessions.Run, error)
	// Cancel ends what a sub-agent and those below it are at, and returns the runs. Canceled children report nothing.
	Cancel(ctx context.Context, source string, child sessions.Key) ([]sessions.StoppedRun, error)
	// Post sends a text, and files, into a session's chat, or to another address that has written to that session, under its send policy, and
	// puts it into its transcript. A repeated source posts once. Where another session that has the chat denies it, nothing leaves; of one
	// that the caller does not see the verdict tells neither name nor rule.
	Post(ctx context.Context, q PostRequest) (PostResult, error)
	// Attachment gives the bytes of a file that came with a message, or with the result of a tool. More than most of them are an error, and so is whatever else is in
	// the way; it says so in words for the model.
	Attachment(ctx context.Context, with sessions.Message, m channels.Media, most int64) ([]byte, error)
	// Idle blocks until something waits for the caller's own turn, no child of it is at work any more, or ctx ends (then ctx's
	// error). While it waits the calling run holds no slot.
	Idle(ctx context.Context, c Caller) error
	// Wait blocks until the run is final or ctx ends (then ctx's error). While it waits the calling run holds no slot.
	Wait(ctx context.Context, id sessions.RunID) (Ended, error)
	// Jobs lists the scheduled jobs of an agent, next first.
	Jobs(ctx context.Context, agent sessions.AgentID) ([]sessions.Job, error)
	// AddJob keeps a scheduled job; its Next is set. A repeated source changes nothing. A host that has no room for more is a *Refused,
	// which tells of nobody's jobs.
	AddJob(ctx context.Context, source string, j sessions.Job) error
	// DropJob removes a scheduled job.
	DropJob(ctx context.Context, source, id string) error
	// Agents lists the configured agents.
	Agents() []AgentInfo
	// ModelKnown reports whether provider/model can be used; the error says which names can.
	ModelKnown(name string) error
}

// AskRequest is sessions_send.
type AskRequest struct {
	Source  string
	From    Caller
	To      sessions.Key
	Message string
	Waits   bool // the call waits for the reply, and has it as its result when that comes in time
}

// SpawnRequest is sessions_spawn.
type SpawnRequest struct {
	Source  string
	From    Caller
	Agent   sessions.AgentID
	Task    string
	Label   string
	Model   string
	Timeout int // seconds, 0 = none
	Cleanup string
}

// SteerRequest is `subagents` with action steer, and /subagents send.
type SteerRequest struct {
	Source  string
	From    sessions.Session // who says it
	Run     sessions.Run     // in which turn; zero = a person did
	Child   sessions.Key
	Message string
}

// PostRequest is the tool message.
type PostRequest struct {
	Source  string
	From    Caller
	Session sessions.Key     // whose chat it is: its send policy decides
	To      channels.Address // the chat
	Text    string
	Files   []PostFile
}

// PostFile is a file that is posted. It is opened once, and only when the policy lets it out; an error of Open ends the call with it.
type PostFile struct {
	Name string
	Open func() (io.ReadCloser, error)
}

// PostResult says what becomes of a post.
type PostResult struct {
	Delivery sessions.DeliveryID // "" when the policy of the caller's own session forbids it: nothing was made
	Verdict  policy.Verdict      // how the policy stands now; the gate decides when it is sent
}

// Ended is a run that is final, and what its agent said.
type Ended struct {
	Run    sessions.Run
	Reply  string // what Run.Result says, without control words
	Silent string // the control word that stands for an empty Reply
}

// AgentInfo is one configured agent.
type AgentInfo struct {
	ID    sessions.AgentID
	Name  string
	Model string // provider/model that its sessions use; "" = unknown
}
