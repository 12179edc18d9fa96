package channels

import (
	"encoding/json"
	"io"
	"time"
)

// Event says what kind of thing an Inbound is.
type Event string

// The events. Every kind passes the same admission; only Message starts runs. Unreadable is an update that the adapter could
// not decode: it is recorded with its reason and listed, so that nothing is dropped without a trace.
const (
	Message    Event = "message"
	Edited     Event = "edited"  // Target has Text now
	Deleted    Event = "deleted" // Target is gone
	Reacted    Event = "reacted" // Sender has Emoji below Target now
	Joined     Event = "joined"  // People are in the chat now
	Left       Event = "left"    // People are not in the chat any more
	Renamed    Event = "renamed" // the chat, or the thread that Address names, is called Title now
	Moved      Event = "moved"   // the chat has the id MovedTo now
	Unreadable Event = "unreadable"
)

// Inbound is one thing that happened on a platform. The adapter fills it completely and never touches it again.
type Inbound struct {
	Event   Event
	Address Address   // whole: thread included
	ID      MessageID // unique inside (channel, account, chat, event); the dedupe key together with these
	Sender  Sender
	Text    string // valid UTF-8 without NUL; as Typed gives what was typed; a command keeps its leading slash, a mention of the bot is kept
	Time    time.Time

	Mentioned       bool   // the platform says that this bot was mentioned, or the message replies to one of its messages
	Private         bool   // in a chat of several people: the message is to this bot alone
	MentionsOthers  bool   // the platform says that somebody else was mentioned
	Forwarded       bool   // the sender passed on what somebody else wrote: text, never a command
	More            bool   // the sender's next message of the same gesture follows at once, or may: the next of a batch (see InGesture), a part of an album
	SameFiles       bool   // Edited: the files are as they were, whatever Media says
	Addressed       string // the text without the bot's own mention, for command parsing and the model; empty = same as Text
	Preview         string // the end of Text that the platform added, such as a link preview; an edit that only adds or removes it is no change
	Quote           *Quote // the message that this one replies to
	Album           string // the album that this message is a part of, where each part is a message of its own; empty = none
	Origin          string // Forwarded: who wrote it, as shown to people: a person, a chat, "Ann in News"; empty = the platform hides it
	Title           string // display name of the chat; empty for direct chats
	Parent          ChatID // the chat that a thread belongs to, where the platform gives threads their own chat id
	Guild, Team     string // routing facts (contract K10); empty where the platform has none
	Roles           []string
	Media           []Media
	Lasting         string          // Text without what counts votes and presses, where it has such; an edit that leaves it as it was is none
	Cursor          string          // platform position that this event completes; stored in the same commit, returned by Cursors
	Reason          string          // Unreadable: what was wrong
	Raw             json.RawMessage // Unreadable: the update as received, cut to 4 KiB
	SentByThisLogin bool            // the platform echoes our own account's message; never starts a run
	ByHand          bool            // SentByThisLogin: a person wrote it on another device of this account. The agent is told; it starts no run
	Late            bool            // it waited on the platform, or was read again, because nobody was connected: it is answered, but no stranger is written to because of it

	Target  MessageID // Edited, Deleted, Reacted: the message that it is about
	Emoji   string    // Reacted; empty = taken away
	People  []Sender  // Joined, Left; ByHand in a direct chat: the person on its other side
	Self    bool      // Joined, Left: this account is among People
	MovedTo ChatID    // Moved
}

// gestureWithin is how far the messages of one gesture are apart by the platform's clock, which often counts seconds.
const gestureWithin = time.Second

// InGesture reports whether a person sent two messages at once: what is forwarded, and the comment on it or what was forwarded with it.
func InGesture(a, b *Inbound) bool {
	return a.Event == Message && b.Event == Message && a.Address == b.Address && a.Sender.ID != "" && a.Sender.ID == b.Sender.ID &&
		!a.Sender.Bot && (a.Forwarded || b.Forwarded) && b.Time.Sub(a.Time).Abs() <= gestureWithin
}

// Sender is who caused an event.
type Sender struct {
	ID       UserID
	Username string // without @; for display and allow lists that name people, where the platform has such names
	Name     string // display name
	Bot      bool
	Also     UserID // another id of the same person, as the platform has told: lists that name it mean them. The host fills it in, no adapter
}

// Quote is the message that another one replies to.
type Quote struct {
	ID      MessageID
	Sender  string  // display name
	By      UserID  // who wrote it, where the platform tells
	Text    string  // what it says, or the part of it that was quoted; empty when it is files alone: the host names those
	Origin  string  // who wrote it, when the quoted message was itself forwarded; as Inbound.Origin
	Media   []Media // its files, which become files of the turn; those without a Ref are named only
	FromBot bool    // it was one of ours
}

// MediaKind says what a file is for.
type MediaKind string

// The media kinds.
const (
	Image    MediaKind = "image"
	Video    MediaKind = "video"
	Audio    MediaKind = "audio"
	Document MediaKind = "document"
	Sticker  MediaKind = "sticker"
)

// Media describes a file that came with a message. It is fetched lazily, by Ref.
type Media struct {
	Kind MediaKind `json:"kind"`
	Ref  string    `json:"ref"` // what the adapter needs to fetch it
	Name string    `json:"name,omitempty"`
	MIME string    `json:"mime,omitempty"`
	Size int64     `json:"size,omitempty"` // bytes, 0 = unknown
	ID   string    `json:"id,omitempty"`   // the same for the same bytes, where the platform has such a name: Ref may change

	Voice   bool   `json:"voice,omitempty"`   // Audio that was recorded in the chat
	Seconds int    `json:"seconds,omitempty"` // how long Audio or Video plays, 0 = unknown
	Other   bool   `json:"other,omitempty"`   // it came with another message, which this one quotes or was sent with. The host fills it in
	From    string `json:"from,omitempty"`    // the sender of that other message, empty = unknown. The host fills it in
}

// Outbound is one message to one address, already rendered in the channel's dialect and short enough for its Limits.
type Outbound struct {
	Key     string // stable over retries of the same part; adapters turn it into the platform's idempotency key where there is one
	To      Address
	Text    string    // in the dialect that Limits names
	Plain   string    // the same without markup, for platforms that reject the rendered form
	ReplyTo MessageID // answer to this message; empty = none
	Files   []File    // at most Limits.Files, all of a kind that go together; Text is their caption then and may be empty
	Since   time.Time // it was not sent before this; zero = not known. For who looks whether it arrived
}

// File is something that is sent along. Open gives its bytes, each time from the start.
type File struct {
	Kind  MediaKind
	Name  string // for people, no path
	Words string // describes it for the agent and the ledger: its name, type and size; empty = Name
	MIME  string
	Size  int64 // bytes
	Open  func() (io.ReadCloser, error)
}

// Position is the newest message of a chat that is on disk.
type Position struct {
	Address Address
	ID      MessageID
	Time    time.Time
}

// Receipt is the platform's word that it took a message.
type Receipt struct {
	ID MessageID `json:"id"`
	At time.Time `json:"at"`

	// LeftOut says in plain words what the platform refused, so that the message was sent without it: "the reply reference, the file
	// q3.pdf". People read it in the list of deliveries.
	LeftOut string `json:"leftOut,omitempty"`

	// Unsent names the files among that, as their Words do. The message itself names them, and the agent is told with its next turn.
	Unsent string `json:"unsent,omitempty"`
}

// Dialect is the markup that a channel understands.
type Dialect string

// The dialects.
const (
	PlainText    Dialect = "plain"
	TelegramHTML Dialect = "telegram-html"
	DiscordMD    Dialect = "discord-markdown"
	WhatsAppText Dialect = "whatsapp"
	Markdown     Dialect = "markdown" // passed on as written: the receiver renders it
)

// Unit is what a platform counts when it limits the length of a text.
type Unit string

// The units.
const (
	Runes Unit = "runes"
	UTF16 Unit = "utf16"
	Bytes Unit = "bytes"
)

// Limits are facts about an address, known without I/O.
type Limits struct {
	Text       int     // longest message in Unit; 0 = unlimited
	Received   int     // longest message that a person's app sends, in Unit: it cuts what is longer; 0 = Text
	Unit       Unit    // what Text counts, after markup is parsed
	Dialect    Dialect // the markup that Send expects
	Lines      int     // most lines in a message; 0 = unlimited
	Marks      int     // most marked stretches (bold, links, code, addresses) in a message; 0 = unlimited
	Idempotent bool    // a repeated Send with the same Key shows one message
	Files      int     // most files in one message; 0 = files cannot be sent there
	FileBytes  int64   // largest file
	FilesBytes int64   // most of all files of one message together; 0 = no bound
	Caption    int     // longest text that goes with files, in Unit; 0 = the text is a message of its own
	Inside     bool    // the chat is on a page of this host: people see it when they look there, and are not told
}

// Pacing is how fast an account may send. Zero = not paced.
type Pacing struct {
	PerSecond         float64 `yaml:"perSecond" json:"perSecond" doc:"Maximum number of messages per second of the whole account; 0 = no limit."`
	PerChatPerSecond  float64 `yaml:"perChatPerSecond" json:"perChatPerSecond" doc:"Maximum number of messages per second in one chat; 0 = no limit."`
	PerGroupPerMinute float64 `yaml:"perGroupPerMinute" json:"perGroupPerMinute" doc:"Maximum number of messages per minute in one group or room; 0 = no limit."`
	NewChatsPerDay    int     `yaml:"newChatsPerDay" json:"newChatsPerDay" min:"0" max:"100000" doc:"Maximum number of direct chats per day in which the account writes first (pairing codes for strangers, reports, messages of tools); further messages wait for the next day. Answers to admitted people never wait. 0 = no limit."`
}

// Stream is how an answer is shown while it is being written.
type Stream string

// The ways. Draft needs a Drafter, Edit an Editor; where the platform has not got it nothing is shown.
const (
	StreamOff   Stream = "off"
	StreamDraft Stream = "draft" // a preview that the platform itself replaces
	StreamEdit  Stream = "edit"  // the message is sent as soon as there is something, and edited until it is whole
)

// Streaming is Stream by chat type.
type Streaming struct {
	Direct Stream `yaml:"direct" json:"direct" enum:"off,draft,edit" default:"draft" doc:"Preview in direct chats. draft: a draft that the platform replaces with the answer. edit: a message that the host edits until the answer is complete. off: none."`
	Group  Stream `yaml:"group" json:"group" enum:"off,edit" default:"off" doc:"Preview in groups and rooms. edit: a message that the host edits until the answer is complete. off: none."`
}
