package sessions

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"parley/channels"
	"parley/policy"
)

// AgentID names a configured agent.
type AgentID string

// JoinIDs lists names for people.
func JoinIDs[T ~string](ids []T) string {
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = string(id)
	}
	return strings.Join(out, ", ")
}

// ID is a session's own id, a UUID. A reset gives the session a new one; the key stays.
type ID string

// Session is one model context: who it is, how it is set, where its chat is. The transcript hangs on ID.
type Session struct {
	Key       Key
	ID        ID
	Agent     AgentID
	Title     string           // display name of a group chat
	Label     string           // given by a spawn or a person; unique among live sessions that were not spawned
	Last      channels.Address // the chat that last wrote to it, whole; zero for sessions without a chat
	SpawnedBy Key              // the parent of a sub-agent; set once
	Top       Key              // of a sub-agent: the session above all, which was not spawned and whose budget it uses; set once
	Above     []AgentID        // the agents of the sessions above a sub-agent, its parent's first; set once. Its length is the depth
	Settings  Settings
	ChatDeny  bool  // of a thread: the session of its whole chat has the override deny. The store fills it in
	Usage     Usage // sum over all runs since the last reset
	Turns     int   // turns that ended since the last reset, posts left out
	ByAgents  int   // those of them that other agents caused (contract S12)
	Context   int   // tokens of the last model call: how full the window is
	Aborted   bool  // the last turn was stopped by a person, or what a sub-agent's session waits for; steps that stop spares leave it as it is
	Archived  bool
	ArchiveAt time.Time // when it is archived: a sub-agent's session, a finished job's, a request's; zero = never
	Created   time.Time
	Updated   time.Time // last message in or out; never decreases
	LastInput time.Time // when a person last wrote what a turn answers, or the chat started over; zero = never. The store keeps it
}

// Settings are a session's overrides. They survive /new, resets and restarts (contract P3). The zero value inherits everything.
type Settings struct {
	SendPolicy policy.Override `json:"sendPolicy,omitempty"`
	Model      string          `json:"model,omitempty"` // provider/model
	Thinking   string          `json:"thinking,omitempty"`
	Verbose    string          `json:"verbose,omitempty"`
	Activation string          `json:"activation,omitempty"` // mention | always, groups only
	Queue      Queue           `json:"queue,omitzero"`       // what happens to messages while a turn is running
	Footer     string          `json:"footer,omitempty"`     // tokens | full: what a reply cost stands below it
}

// Patch changes settings; a nil field leaves as is, a pointer to the zero value clears.
type Patch struct {
	SendPolicy *policy.Override `json:"sendPolicy,omitempty"`
	Model      *string          `json:"model,omitempty"`
	Thinking   *string          `json:"thinking,omitempty"`
	Verbose    *string          `json:"verbose,omitempty"`
	Activation *string          `json:"activation,omitempty"`
	Queue      *Queue           `json:"queue,omitempty"`
	Footer     *string          `json:"footer,omitempty"`
	Label      *string          `json:"label,omitempty"`
}

// Usage counts tokens, and what they cost. Input is the whole prompt, what was cached included.
type Usage struct {
	Input      int   `json:"input"`
	Output     int   `json:"output"`
	CacheRead  int   `json:"cacheRead,omitempty"`
	CacheWrite int   `json:"cacheWrite,omitempty"`
	Cost       int64 `json:"cost,omitempty"` // millionths of a dollar; 0 where no prices are configured
}

// Add gives the sum.
func (u Usage) Add(v Usage) Usage {
	return Usage{u.Input + v.Input, u.Output + v.Output, u.CacheRead + v.CacheRead, u.CacheWrite + v.CacheWrite, u.Cost + v.Cost}
}

// Total is input plus output.
func (u Usage) Total() int { return u.Input + u.Output }

// Role says who speaks in a message.
type Role string

// The roles of the transcript (contract T2).
const (
	User       Role = "user"
	Assistant  Role = "assistant"
	ToolResult Role = "toolResult"
)

// Message is one line of a transcript, in the raw transcript format (contract H3).
type Message struct {
	ID             string      `json:"id"`            // UUID, given by the code that makes the message; recording it twice stores it once
	Seq            int64       `json:"seq,omitempty"` // order among all messages of the host; tools do not show it (contract V4)
	Role           Role        `json:"role"`
	Content        []Block     `json:"content"`
	Time           time.Time   `json:"timestamp"`
	Run            RunID       `json:"runId,omitempty"`
	Provenance     *Provenance `json:"provenance,omitempty"` // user messages
	Model          string      `json:"model,omitempty"`      // assistant messages, provider/model
	Usage          *Usage      `json:"usage,omitempty"`      // assistant messages
	Stop           string      `json:"stopReason,omitempty"` // assistant messages: stop, length, toolUse, error, aborted
	Error          string      `json:"errorMessage,omitempty"`
	ToolCallID     string      `json:"toolCallId,omitempty"` // tool results
	ToolName       string      `json:"toolName,omitempty"`   // tool results
	IsError        bool        `json:"isError,omitempty"`    // tool results
	Number         int32       `json:"number,omitempty"`     // place in its transcript, from 1; filled by Tail, never stored
	*MessageExtras             // the fields that few messages have; nil = none. They are read by methods, which take nil
}

// Block is a piece of a message. Type says which fields count.
type Block struct {
	Type      string          `json:"type"` // text, thinking, image, file, toolCall, context
	Text      string          `json:"text,omitempty"`
	Signature *string         `json:"signature,omitempty"` // thinking of older versions, where the provider wants it back; nil = none
	MIME      string          `json:"mimeType,omitempty"`  // image
	Data      string          `json:"data,omitempty"`      // image, base64
	Media     *channels.Media `json:"media,omitempty"`     // image, file: where its bytes are fetched when Data is empty; the message's Provenance.Address has the account
	ID        string          `json:"id,omitempty"`        // toolCall; image, file: what the tool attachments calls it
	Name      string          `json:"name,omitempty"`      // toolCall
	Arguments json.RawMessage `json:"arguments,omitempty"` // toolCall, a JSON object
	Opaque    *Opaque         `json:"-"`                   // assistant messages; nil = the provider wants nothing back
}

// Opaque is data that a provider wants back with a block of its own: a signature, encrypted reasoning, the name of a field. It is stored
// beside the message, never in it, and only prompts show it, to where it came from.
type Opaque struct {
	From string          `json:"from"`           // provider, address and model, as lessons.Endpoint writes them
	Data json.RawMessage `json:"data,omitempty"` // the provider's own; empty = only From is known
}

// MaxOpaque bounds the Data of one message, in bytes. A message with more keeps none of it: half of a signature is worse than none.
const MaxOpaque = 1 << 20

// The block types.
const (
	TextBlock     = "text"
	ThinkingBlock = "thinking"
	ImageBlock    = "image"
	FileBlock     = "file" // came with a user message
	ToolCallBlock = "toolCall"
	ContextBlock  = "context" // context lines before the message: shown to the model, no part of what its sender wrote
)

// Text gives the message's text blocks, concatenated.
func (m Message) Text() string {
	var s strings.Builder
	for _, b := range m.Content {
		if b.Type == TextBlock {
			s.WriteString(b.Text)
		}
	}
	return s.String()
}

// LastText gives the place in Content of what the sender of the message wrote itself: the last text, since the texts before it came with other
// messages; -1 = it has none.
func (m Message) LastText() int {
	for i, b := range slices.Backward(m.Content) {
		if b.Type == TextBlock {
			return i
		}
	}
	return -1
}

// ToolCalls gives the message's tool call blocks.
func (m Message) ToolCalls() []Block {
	var out []Block
	for _, b := range m.Content {
		if b.Type == ToolCallBlock {
			out = append(out, b)
		}
	}
	return out
}

// HasToolCalls reports whether there is one.
func (m *Message) HasToolCalls() bool {
	return slices.ContainsFunc(m.Content, func(b Block) bool { return b.Type == ToolCallBlock })
}

// TextContent makes the content of a message that is only text.
func TextContent(s string) []Block { return []Block{{Type: TextBlock, Text: s}} }

// Provenance says where the text of a user message comes from (contract S8, T2). It is structure, never prose for the model.
type Provenance struct {
	Kind      string           `json:"kind"` // external_user, inter_session, internal_system
	Sender    string           `json:"sender,omitempty"`
	Name      string           `json:"name,omitempty"`
	User      string           `json:"username,omitempty"` // the sender's, without @, where the platform has such names
	Bot       bool             `json:"bot,omitempty"`      // the sender is a bot
	Owner     bool             `json:"owner,omitempty"`    // the sender is an owner; of what another session says: the turn that said it answered only owners
	Address   channels.Address `json:"address,omitzero"`
	Title     string           `json:"title,omitempty"`     // of the chat, in a session that is not the chat's own
	Forwarded bool             `json:"forwarded,omitempty"` // the sender passed on what another person wrote
	Origin    string           `json:"origin,omitempty"`    // Forwarded: who wrote it, as the platform shows it; empty = the platform hides it
	Cut       bool             `json:"cut,omitempty"`       // the text is as long as the platform takes in one message: the rest may come in another
	More      bool             `json:"more,omitempty"`      // what its sender sent with it follows at once, or may
	Album     string           `json:"album,omitempty"`     // the album that it is a part of, where each part is a message of its own
	Addressed bool             `json:"addressed,omitempty"` // in a chat of several people: it was meant for the agent, by a mention, a reply or a command
	Untrusted bool             `json:"untrusted,omitempty"` // a program outside sent it: data, whatever it says
	Message   string           `json:"message,omitempty"`   // the platform's message id
	Source    Key              `json:"sourceSessionKey,omitempty"`
	Channel   channels.Kind    `json:"sourceChannel,omitempty"`
	Tool      string           `json:"sourceTool,omitempty"`
	People    []Person         `json:"people,omitempty"` // of what another session says: whose messages the turn that said it answered
}

// AwaitsRest reports whether the turn to a message waits a moment for what its sender sent with it. It takes nil.
func (p *Provenance) AwaitsRest() bool { return p != nil && (p.Cut || p.More || p.Forwarded) }

// WantsAnswer reports whether the one that wrote a message waits for an answer: not a program outside, nor people of a group who talk to
// one another. It takes nil.
func (p *Provenance) WantsAnswer() bool {
	return p == nil || !p.Untrusted && (p.Addressed || !p.Address.Type.Several())
}

// The provenance kinds.
const (
	ExternalUser   = "external_user"
	InterSession   = "inter_session"
	InternalSystem = "internal_system"
)

// Mark says what became of a message that was to leave (contract T2).
type Mark struct {
	Delivery DeliveryID    `json:"delivery"`
	State    DeliveryState `json:"state"`
	To       string        `json:"to"`
	Rule     string        `json:"rule,omitempty"`
	Error    string        `json:"error,omitempty"` // why it did not arrive; of failed, expired, held, dropped and stopped
}

// WithError returns the mark with the reason of its state: why it did not arrive. An error of a try that is made again is none.
func (m Mark) WithError(why string) Mark {
	switch m.State {
	case DeliveryFail, Expired, Held, Dropped, DeliveryStopped:
		m.Error = why
	}
	return m
}
