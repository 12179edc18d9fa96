package sessions

import (
	"context"
	"errors"
	"fmt"
	"time"

	"parley/channels"
	"parley/policy"
)

// The errors that callers act on; a store wraps them with the request.
var (
	ErrNotFound = errors.New("not found")
	ErrConflict = errors.New("conflict") // a label in use, a run that is not running, a delivery that is not in the state asked for
	ErrBusy     = fmt.Errorf("%w: a run of the session has not ended", ErrConflict)
	ErrStopped  = fmt.Errorf("%w: the run that asks was stopped", ErrConflict)
	ErrRevised  = fmt.Errorf("%w: the message was changed while it was answered", ErrConflict)
	ErrOutdated = fmt.Errorf("%w: the run that a call waited for has ended", ErrConflict)
	ErrInvalid  = errors.New("invalid data for the store") // the data or the store's code is at fault, not the disk or a connection: a repeat fails again
	// ErrUncertain is wrapped when the answer to a commit was lost and the database does not say whether it was made. It is not made twice.
	ErrUncertain  = errors.New("the outcome of the commit is unknown")
	ErrCorruptRow = errors.New("a row of the store is corrupt")
	ErrDamaged    = errors.New("the store is damaged")
	ErrInUse      = errors.New("another process owns the store")
)

// Store keeps everything. Each method is one transaction, named after the fact that it commits: when it returns nil the fact is
// on disk, when it returns an error nothing of it is. Methods may be called from any goroutine, block until the commit, and are
// safe to repeat with the same ids: a repeated call changes nothing and succeeds.
type Store interface {
	Inbox
	Runs
	Deliveries
	Sessions
	Chats
	Ledger
	Jobs
	Lessons
	// Close waits for commits under way and closes. Later calls fail.
	Close() error
}

// Inbox commits what comes in: events of platforms, and changes of the host.
type Inbox interface {
	// Accept commits one platform event and everything that it causes. When the event was accepted before, nothing changes and
	// Duplicate is true. The session is created when it is new, otherwise Last, Title and Updated are refreshed.
	Accept(ctx context.Context, a Arrival) (Accepted, error)
	// Submit commits a change that does not come from a platform: API, cron, session tools. The dedupe key is its IdempotencyKey when that is not
	// empty: a repeat changes nothing and gives back the first run.
	Submit(ctx context.Context, c Change) (Accepted, error)
	// Said gives the digest of what a message of a chat said when it was accepted, or last changed as far as the agent is told of it (Arrival.Digest);
	// "" when that is not known. The chat's thread does not matter.
	Said(ctx context.Context, chat channels.Address, id channels.MessageID) (digest string, err error)
	// Cursor gives the newest committed cursor of an account; "" when there is none.
	Cursor(ctx context.Context, kind channels.Kind, account channels.AccountID) (string, error)
	// Skipped lists the newest unreadable or refused events, for people. Expire forgets them after 30 days.
	Skipped(ctx context.Context, limit int) ([]SkippedEvent, error)
	// CountQuarantined counts those of them, since a time, whose Reason begins with QuarantineReason.
	CountQuarantined(ctx context.Context, since time.Time) (int, error)
}

// Accepted is the result of a commit.
type Accepted struct {
	Duplicate  bool
	Session    Session // as it stands now; zero when the change had none
	Run        Run     // as it was queued; zero when the change had none; for a duplicate Submit: the run of the first
	Revised    bool    // by AmendRun: the run By has other words to answer now
	Claimed    *Run    // by Enqueue.Claim; nil = there was none to claim, one of the session is running
	Stopped    []StoppedRun
	FollowUps  []Run      // that StopSessions or StopRun queued, in the sessions that asked
	Withdrawn  []Delivery // that StopSessions or StopRun ended
	Deliveries []Delivery // with Seq and Created filled
	Decided    *Decided   // nil = the change decided about no person
	Adopted    bool       // Target.From: the session has its conversation now
}

// StoppedRun is a run that StopSessions, StopRun, Enqueue.Interrupt or DropOldest, or AmendRun ended or marked.
type StoppedRun struct {
	Key  Key
	ID   RunID
	Home Key // as of the run
}

// QuarantineReason begins the Reason of an event that was refused again and again, and is kept for people with its words.
const QuarantineReason = "set aside"

// SkippedEvent is an event that caused nothing.
type SkippedEvent struct {
	Time    time.Time          `json:"time,omitzero"`
	Address channels.Address   `json:"address,omitzero"`
	ID      channels.MessageID `json:"id"`
	Reason  string             `json:"reason,omitzero"`
	Raw     string             `json:"raw,omitzero"`
}

// Runs is the life of a run after it is queued.
type Runs interface {
	// Claim takes the next queued run of a session, in order of acceptance, and marks it running with one more attempt. ok is
	// false when there is none. The first claim fixes Deadline = now + Timeout (when Timeout > 0).
	Claim(ctx context.Context, key Key) (r Run, ok bool, err error)
	// Record appends messages to the transcript of the run's session as they happen. A message id that is there already is
	// left alone, so a resumed run may record again. ErrOutdated: the result of a sessions_send call says that the run goes on (timeout),
	// and that has ended, or has been stopped, meanwhile; the call is to be made again.
	Record(ctx context.Context, run RunID, msgs ...Message) error
	// Steps gives the messages that a run has recorded, oldest first, with Block.Opaque: where a resumed run goes on.
	Steps(ctx context.Context, run RunID) ([]Message, error)
	// MergeQueued lets the running run take up the user messages that wait in its session: those queued runs that q selects end as
	// Done with no turn of their own and with the running one as their MergedInto, their inputs go into the transcript as steps of the
	// running one, and are returned, oldest first. Called again before a further step is recorded, it gives the same once more. A
	// run that was interrupted stays in the queue, and one that was stopped takes nothing up. ErrConflict when the run is not running.
	MergeQueued(ctx context.Context, run RunID, q MergeQuery) ([]Message, error)
	// Finish ends a run: last messages, status, usage, deliveries and the next run of its chain, all at once. ErrConflict when
	// the run is final already, ErrRevised when it was Revised behind the try that ends: then nothing changes.
	Finish(ctx context.Context, run RunID, o Outcome) (Accepted, error)
	// Recover puts every running run back in the queue, and brings every sending delivery to what is known of its try (Calling, Answered): called once,
	// before adapters start. It returns the keys that have queued runs, oldest run first, and the deliveries that were found sending as they are now.
	Recover(ctx context.Context) (keys []Key, sending []Delivery, err error)
	GetRun(ctx context.Context, id RunID) (Run, error)
	// Totals counts what there is.
	Totals(ctx context.Context) (Totals, error)
	// ListRuns gives runs, newest first.
	ListRuns(ctx context.Context, q RunQuery) ([]Run, error)
	// CountOpen counts the runs of a session that wait or are running, without reading them.
	CountOpen(ctx context.Context, key Key) (int, error)
	// Stoppable gives what StopSessions of these sessions would end now.
	Stoppable(ctx context.Context, keys ...Key) (Stoppable, error)
	// CountByAgents counts the runs of a session that other agents caused (RunKind.ByAgent) and that were queued after since,
	// however they ended, up to most.
	CountByAgents(ctx context.Context, key Key, since time.Time, most int) (int, error)
	// Trace finds all that belongs to a message id, run id or delivery id: the path from update to receipt. For a run of a chain it
	// gives the paths of all runs of the chain, oldest first (the newest hundred when there are more), whichever was asked for.
	Trace(ctx context.Context, id string) ([]Trace, error)
}

// Outcome is the end of a run, and everything that is committed with it.
type Outcome struct {
	Status     RunStatus
	Revised    bool      // as the try that ends has read it of its run
	Messages   []Message // not recorded yet
	Result     string
	Error      string
	Usage      Usage
	Context    int        // tokens of the last call; 0 = unknown
	Summary    *Summary   // what the turn was shown begins behind it; nil = nothing new. One that reaches no further than the newest, or whose session is gone, changes nothing
	Deliveries []Delivery // replies and notices
	Begin      *BeginSend // one of Deliveries begins to leave in the same commit; nil = none does
	Next       *Change    // the successor in the chain, with whatever session it needs
	IfAnswered *Change    // of an exchange: in the place of Next, when the call that began it has its result by now, and not the reply or the failure in that
	Archive    *Key       // this session is archived in the same commit (cleanup)
	Delete     *Key       // this session is deleted in the same commit, unless another run of it is queued or at work: then it stays, until a later end asks again
}

// BeginSend has a delivery begin to leave in the commit that makes it. What Finish gives back of it is as BeginSend would have it: State says what
// it came to. It stays Pending when another one that is not final was made for the same chat before it.
type BeginSend struct {
	Delivery DeliveryID
	Check    func(Session) policy.Verdict
	Quota    FirstContactQuota
}

// MergeQuery selects what a running run merges: the queued runs of its session id and of a kind, oldest first. Runs of other
// kinds between them are passed over.
type MergeQuery struct {
	Kind RunKind
	Only []RunID // only these; nil = any
	Full int     // how many of the newest are taken as they are; 0 = all
	// Short words each of the older ones, in place of its input's content, when there are more than Full; the message keeps its id.
	Short func(Message) []Block
}

// Totals are counts for people and monitors.
type Totals struct {
	Sessions map[AgentID]int // that live
	Oldest   time.Time       // when the run was queued that waits longest; zero = none waits
}

// RunQuery selects runs.
type RunQuery struct {
	Key        Key
	Parent     Key   // runs of sub-agents spawned by this session
	Root       RunID // runs of the chain that began with this one
	MergedInto RunID // runs whose messages this one took up or came in the place of
	Status     RunStatus
	Kind       RunKind
	Since      time.Time // only those queued then or later
	Oldest     bool      // the oldest first
	Limit      int       // default 50
}

// Trace is one path through the host.
type Trace struct {
	Accepted   time.Time        `json:"accepted,omitzero"`
	Source     string           `json:"source,omitzero"` // platform message id or other source
	Address    channels.Address `json:"address,omitzero"`
	Skip       string           `json:"skip,omitzero"`
	Run        *Run             `json:"run,omitzero"`
	Steps      []Message        `json:"steps,omitzero"` // assistant messages and tool results of the run
	Deliveries []Delivery       `json:"deliveries,omitzero"`
}

// Deliveries is the life of an outbound message. The gate is its only caller, besides people through the API.
type Deliveries interface {
	// Due lists pending deliveries, oldest first, NotBefore ignored: the gate keeps order per chat.
	Due(ctx context.Context, limit int, afterSeq int64) ([]Delivery, error)
	// BeginSend decides and claims in one transaction, so that a policy flip that was committed before it is always obeyed
	// (contract P7). check gets the session as it stands (zero when the delivery has none). Allowed: the state is Sending and
	// Attempt one higher. Denied: the state is Withheld with the verdict; one that was Sending, whose end is unknown, is Ambiguous then. Allowed, not asked for, and to a direct chat in which the
	// account has never written, while o has no room: it is Pending and waits until o.Until, Error says why; called earlier it is
	// looked at again. A delivery that is past Expires
	// becomes Expired. One that is final already (dropped by a person) is returned as it is. The caller looks at State.
	BeginSend(ctx context.Context, id DeliveryID, now time.Time, check func(Session) policy.Verdict, o FirstContactQuota) (Delivery, error)
	// Calling notes that the platform is about to be called for a delivery as BeginSend, or Finish, gave it back. It waits for no disk: what it notes outlives
	// the process alone. On an error the platform must not be called. Answered notes that the call has ended, and PartSent is about to come.
	// Recover goes by them: what was not called is Pending again, what was answered has its receipt.
	Calling(d Delivery) error
	Answered(d Delivery, r channels.Receipt, last bool)
	// PartSent stores the receipt of one part, which OwnMessage finds from then on. last ends the delivery as Sent, otherwise it stays
	// Sending for the next part.
	PartSent(ctx context.Context, id DeliveryID, r channels.Receipt, last bool) error
	// Retry puts a sending delivery back to Pending, not before at. end is what is known of the try that ends.
	Retry(ctx context.Context, id DeliveryID, at time.Time, reason string, end TryEnd) error
	// EndDelivery makes a delivery final (or Held) with a reason. The words of an Invite are gone when it is final, however it ended.
	EndDelivery(ctx context.Context, id DeliveryID, state DeliveryState, reason string) error
	// Readdress changes the chat of every delivery that is not final or made later, of jobs, of the session's Last and of what is Known:
	// a group became a supergroup, a hidden number became known. Get finds the session of the old chat by the key of the new one from
	// then on. A session that has that key already takes over the chat, with what waits in the old one; both have the stricter send
	// policy of the two then. A person who was let in, or turned down, is so by the new id.
	Readdress(ctx context.Context, from, to channels.Address) error
	GetDelivery(ctx context.Context, id DeliveryID) (Delivery, error)
	ListDeliveries(ctx context.Context, q DeliveryQuery) ([]Delivery, error)
	// Requeue makes a failed, expired, held or dropped delivery pending again, with a new time to live: a person asked for it. One that
	// is pending waits no more. ErrConflict: an Invite that is final.
	Requeue(ctx context.Context, id DeliveryID, expires time.Time) (Delivery, error)
	// CountDeliveries gives the number of deliveries in each state, of those of q's session and run; the rest of q counts for nothing.
	CountDeliveries(ctx context.Context, q DeliveryQuery) (map[DeliveryState]int, error)
}

// DeliveryQuery selects deliveries, newest first.
type DeliveryQuery struct {
	State   DeliveryState
	Session Key
	Run     RunID
	Of      []Run // those that these runs made, and those that carry what they put into a transcript; empty = all
	Limit   int   // default 50
	Before  int64
}

// Sessions reads and changes sessions and their transcripts.
type Sessions interface {
	// Known gives the sessions that a chat has written to, archived ones too, newest first: an address without messages
	// gives none, and so does one whose sessions are deleted.
	Known(ctx context.Context, from channels.Address) ([]Key, error)
	// Get finds a session by key. The key of a chat that another one became finds the session of that one (Readdress): its Key says so.
	Get(ctx context.Context, key Key) (Session, error)
	// GetByID finds a live session by its UUID.
	GetByID(ctx context.Context, id ID) (Session, error)
	// List gives sessions, newest first.
	List(ctx context.Context, q Query) ([]Session, error)
	// Patch changes settings of a session that exists. ErrConflict when a label is in use.
	Patch(ctx context.Context, key Key, p Patch) (Session, error)
	// Tail gives the newest messages of a session's current transcript, oldest first, delivery marks filled in.
	Tail(ctx context.Context, id ID, q TailQuery) ([]Message, error)
	// Transcripts gives the conversations of a session that have messages, newest first: the current one and those that resets
	// ended. A limit of 0 is 50.
	Transcripts(ctx context.Context, key Key, limit int) ([]Transcript, error)
	// Search finds messages by their words, newest first.
	Search(ctx context.Context, q SearchQuery) ([]Hit, error)
	// Reset gives the session a new ID and an empty transcript; settings stay; the old transcript stays readable by its ID.
	Reset(ctx context.Context, key Key) (Session, error)
	// ContextLines gives the group talk that the session's next turn must be shown, oldest first.
	ContextLines(ctx context.Context, key Key) ([]ContextLine, error)
	// Compact keeps a summary of the older part of a transcript. The messages stay. Session.Context becomes s.Context. A summary
	// that reaches no further than the newest one is ErrConflict; the same one again changes nothing. Old transcripts have
	// summaries, too; they go when the transcript is deleted.
	Compact(ctx context.Context, s Summary) error
	// Summary gives a transcript's newest summary; ok is false when there is none.
	Summary(ctx context.Context, id ID) (s Summary, ok bool, err error)
	Archive(ctx context.Context, key Key) error
	// Delete removes the session, its transcript and its runs. Deliveries stay.
	Delete(ctx context.Context, key Key) error
	// Expire archives every session whose ArchiveAt has passed and which has no open run (a later call finds it when they have
	// ended), and deletes dedupe rows older than keep, rows of the ledger older than 400 days, the history of jobs older than 90 and lifts that are over; it returns
	// the keys archived.
	Expire(ctx context.Context, now time.Time, keep time.Duration) ([]Key, error)

	// Pairing: codes are hashed by the caller; the store sees no code.
	PutPairing(ctx context.Context, p Pairing, max int) (created bool, err error) // false: there is one already, waiting or rejected, or max are waiting
	Pairings(ctx context.Context, now time.Time) ([]Pairing, error)               // unexpired, those that were rejected too
	// Paired reports whether a person was let in.
	Paired(ctx context.Context, kind channels.Kind, account channels.AccountID, user channels.UserID) (bool, error)
	// EverAdmitted reports whether anybody was let in by a code, also when that was taken back since.
	EverAdmitted(ctx context.Context) (bool, error)
	// Admitted gives everybody who was let in, who came first first.
	Admitted(ctx context.Context) ([]Admitted, error)

	// Notes returns what an agent was asked to remember, newest first: the notes that have all words of q.Text, each as the
	// beginning of a word; no query syntax leaks through. A text without words returns none, an empty one all.
	Notes(ctx context.Context, q NoteQuery) ([]Note, error)
}

// Query selects sessions.
type Query struct {
	Agent     AgentID   // empty = all
	Agents    []AgentID // only sessions of these; nil = all, empty = none
	SpawnedBy Key
	Keys      []Key  // only these; nil = all, empty = none
	Search    string // part of key, title or label
	Label     string
	Archived  bool // only archived ones; default only live ones
	Since     time.Time
	Limit     int // default 50
	Offset    int
}

// TailQuery selects messages.
type TailQuery struct {
	Limit        int   // default 200
	Offset       int   // newest messages to leave out
	After        int64 // only messages with a higher Seq
	Before       int64 // only messages with a smaller Seq; 0 = all
	BeforeNumber int64 // only messages with a smaller Number; 0 = all
	Of           Key   // only when it is a transcript of this session, else ErrNotFound; "" = of any session
	IncludeTool  bool  // tool results too
	Opaque       bool  // with Block.Opaque and what older versions kept of it in blocks, and without Number: for prompts only
}

// Transcript is one conversation of a session: from its beginning, or a reset, to the next reset.
type Transcript struct {
	ID    ID        `json:"sessionId"`
	Began time.Time `json:"began"`
}

// SearchQuery selects messages by words. Words are joined by AND; no query syntax leaks through.
type SearchQuery struct {
	Text   string
	Agents []AgentID // only sessions of these; nil = all, empty = none
	Also   []Key     // with Agents: these sessions as well, of any agent, the first ones of many
	Keys   []Key     // only these sessions; nil = all, empty = none
	Offset int       // newest hits to leave out
	Limit  int       // default 10
}

// Hit is a message that was found.
type Hit struct {
	Key     Key
	Session ID
	Message string
	Role    Role
	Time    time.Time
	Snippet string // at most 300 characters
}

// Pairing is a stranger's request to be let in.
type Pairing struct {
	Channel  channels.Kind      `json:"channel,omitzero"`
	Account  channels.AccountID `json:"account,omitzero"`
	User     channels.UserID    `json:"user,omitzero"`
	Name     string             `json:"name,omitzero"`
	Address  channels.Address   `json:"address,omitzero"` // the chat that they wrote from
	Hash     string             `json:"hash,omitzero"`
	Created  time.Time          `json:"created,omitzero"`
	Expires  time.Time          `json:"expires,omitzero"`
	Rejected bool               `json:"rejected,omitzero"` // no code works any more, and no new one is given before Expires
	Delivery *Delivery          `json:"delivery,omitzero"` // the notice with the code, in the same commit
	Source   channels.MessageID `json:"-"`                 // of what they wrote, for trace; not given back
}

// NoteQuery selects notes.
type NoteQuery struct {
	Agent    AgentID
	Text     string
	Of       Key  // only notes that this session made; "" = all of Agent
	Children bool // with Of: also those of the sessions of Agent that it spawned
	Limit    int  // default 50
}

// Note is something remembered.
type Note struct {
	ID   int64
	Text string
	Key  Key
	Time time.Time
}

// ContextLine is something that was not meant for the bot: context for the next turn. What an event says about a message whose line is
// still there changes that line: an edit of the same sender its Text, a deletion takes it away; so does a reaction to the one before.
type ContextLine struct {
	Seq     int64 // given by the store
	Key     Key
	Event   channels.Event // empty = Message; ByHand, Unsent, PostedElsewhere, ExchangeStopped, Edited, Deleted, Reacted, Joined, Left; Moved: the chat was another one, with the session Text
	Sender  string         // the platform's id
	Name    string
	Text    string             // what was said; of a reaction the emoji, empty = taken away
	About   string             // the words of the message that an event is about, as far as they are known
	Message channels.MessageID // of what was said, or the one that an event is about
	Time    time.Time
	Keep    int // the newest lines of Key that stay, this one included; older ones go. Not stored
}

// Summary stands for the messages of a transcript up to one of them, where a model is shown them.
type Summary struct {
	ID       string // a repeated id is the same summary
	Session  ID
	Upto     int64 // Seq of the last message that it covers
	Text     string
	Messages int // how many it covers, those of the summaries before it included
	Number   int // 1 for the first of a transcript; the store counts
	Before   int // tokens of the context before, estimated
	Context  int // and after
	Run      RunID
	Time     time.Time
	Judged   []Judgement // of messages behind Upto, by model
}

// Judgement is what was known, when a summary was made, of the messages behind it: which of them a model's provider refused. A turn
// is named by the id of its first message.
type Judgement struct {
	Model    string   `json:"model"`              // provider/model
	Out      []string `json:"out,omitempty"`      // found to be the reason
	Suspects []string `json:"suspects,omitempty"` // the reason is among them
}
