package prooftest

import "time"

// Place is where something is said: one chat, or one thread or topic of it, as one account of a platform knows it. It is comparable.
type Place struct {
	Platform string // telegram, discord, whatsapp
	Account  string // which login; "" = the only one
	Chat     string // as the platform names it
	Thread   string // "" = none
}

// Kind is what is owed for a message.
type Kind string

// The kinds.
const (
	Answer   Kind = "answer"   // the reply to the message itself
	Announce Kind = "announce" // what the target of an exchange between two sessions tells its own chat
	Report   Kind = "report"   // what a sub-agent found, in the chat that it was spawned from
)

// Debt is one text that a message causes to be shown: exactly once, in one place.
type Debt struct {
	Token string // unique in the run: letters, digits and . _ : -
	Kind  Kind
	Place Place
	By    string // the token of the debt whose step begins it, as a sub-agent begins another; "" = the message itself does
	Ends  string // of a report: the word that a frame of the host's has to have for how the work ended; "" = not judged
}

// Said is what a person wrote, as the stand-in platform took it. Within a place the order of a History's Said is the order in which
// the platform delivers.
type Said struct {
	Token string // of a command too, to tell it from others: its answer does not show it
	ID    string // of the message on its platform; "" = not known
	At    time.Time
	Place Place
	Text  string // holds [Token], except in a command and where nothing is owed
	Owes  []Debt // the first is the answer, with the token of the message itself; none for a command
	// Command says that it is for the host itself, by somebody who may give it: it is owed one answer of the host's. What is neither a
	// command nor owes anything may have one text in its place, or none.
	Command bool
}

// Asked is one call of the model, as the scripted model took it.
type Asked struct {
	At      time.Time
	Session string   // key
	Step    string   // what the call is for: turn, ask, reply, announce, child, report
	Token   string   // of the newest message or task that it is about; "" = none
	Call    int      // how many tool results of this turn it was shown: the same step of a turn has the same number
	Life    int      // which process asked: 1 is the first
	Says    string   // what it answered in words; "" in all calls = the log does not have it, and the words that are shown are not judged
	Prompt  []Told   // what it was shown of the conversation, oldest first; none = the log does not have it
	System  []string // the tokens in its instructions, in their order
}

// Told is one message that a call of the model was shown.
type Told struct {
	Role string // user, assistant, tool
	Text string // "" of an answer that is nothing but calls of tools
}

// Shown is one thing that happened to a chat, as the stand-in platform took it, whether or not its answer reached the host.
type Shown struct {
	At    time.Time
	Place Place
	ID    string // of the message there; an edit has that of what it edits
	Verb  Verb
	Text  string // of Typing: the draft that people see meanwhile
	Key   string // what the caller named it by, on platforms where a repeated call has no second effect; "" = none
	About string // the ID of the message that it quotes; "" = none
}

// Verb is what was done.
type Verb string

// The verbs.
const (
	Post   Verb = "post"
	Edit   Verb = "edit"
	Remove Verb = "remove"
	Typing Verb = "typing"
	React  Verb = "react"
)

// Flip is a change of the send policy of one place.
type Flip struct {
	Place Place
	Deny  bool
	Asked time.Time // when the driver asked for it
	Acked time.Time // when the host had acknowledged it; zero = never (it was killed meanwhile): it may or may not hold
}

// Kill is one end of the process by SIGKILL.
type Kill struct {
	At     time.Time
	Life   int    // which process it was: 1 is the first
	Where  string // the fail-point, "FinishRun before-commit", or "random"
	InSend bool   // a call that shows something was with a platform, or its receipt was not yet stored
	// Sends counts such calls by platform, where the driver knows. Nil with InSend means one on each platform: the strict reading,
	// right when at most one call is under way at a time.
	Sends map[string]int
}

// Listed is one delivery as the host lists it when nothing moves any more.
type Listed struct {
	ID       string
	Place    Place
	Kind     string    // the host's word
	State    string    // sent, withheld, failed, expired, held, dropped; anything else is unfinished
	Ended    time.Time // when it came to that state, by the host's list
	Text     string
	Rule     string   // of the send policy: what decided in the end
	Reason   string   // why it is not sent
	Repeat   bool     // the host says that the chat may show it twice
	Unclear  bool     // the host says that it may be there although it is not sent
	Receipts []string // the ids that the platform gave
	Broken   int      // how many ends of the process broke off the turn that it is of, as the driver saw
	// For are the tokens of the messages, or of the other debts, that the host's own list says it is about, when its text has no token:
	// the command that it answers, those in whose stead it is a notice.
	For []string
}

// Notice is a text that the host says on its own instead of an answer.
type Notice struct {
	Text  string
	Tries int // how often its turn has to have been broken off before it is said (see Listed.Broken)
}

// Refusal is that a platform takes nothing for a place, from a time on.
type Refusal struct {
	Place Place
	Since time.Time
}

// Skipped is one message that the host lists as not read or not answered, with its reason.
type Skipped struct {
	Place  Place
	Text   string
	Reason string
}

// History is everything that was seen of one run, each part in the order of its own log.
type History struct {
	Said    []Said
	Asked   []Asked
	Shown   []Shown
	Flips   []Flip
	Kills   []Kill
	Listed  []Listed
	Skipped []Skipped
	// Notices are texts that the host says on its own instead of an answer (the model failed, a limit was reached): a message that one of
	// them is shown for, with no answer of its own, counts as noticed.
	Notices []Notice
	// Frames are regular expressions of how the host puts a report in words of its own: one of the groups is what the model said, the one that
	// is named status the host's word for how the work ended.
	Frames []string
	// Lasting are the sessions that are never begun again, by their keys, each with the only place that it is for.
	Lasting map[string]Place
	// Heads are regular expressions of what may stand right before a person's words where the model is shown them; none = not judged.
	Heads []string
	// Shortened is what the host says in a prompt that older messages are left out of.
	Shortened string
	// FramesAt says where they are listed: a sentence of the host's that is missing there is told as a fault.
	FramesAt string
	// Refused are the places in which a platform was made to refuse what is sent there, or a person dropped it: nothing fails and nothing is
	// dropped elsewhere, or before.
	Refused []Refusal
	// Lasts is how long a text waits at least, from its message on, until it may expire; 0 = none expires.
	Lasts time.Duration
	// Repeats are the platforms without a key for sends: a text there may be shown twice when its delivery is marked Repeat.
	Repeats map[string]bool
	// Cut counts by platform the calls whose answer never reached the host for another reason than a kill, a broken connection or a
	// timeout: each may be ambiguous as well.
	Cut map[string]int
	// Unfinished counts what the host still had to do at the end: runs queued or at work.
	Unfinished int
}
