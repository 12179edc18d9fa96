package router

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"parley/agent"
	"parley/channels"
	"parley/router/clock"
	"parley/router/delivery"
	"parley/router/event"
	"parley/router/filestore"
	"parley/router/lane"
	"parley/router/settings"
	"parley/sessions"
	"parley/tools"
)

// What the tests of package router_test open: each name is here until the package that it goes to has its own.

const Allowed = allowed
const Anyone = anyone
const Anywhere = anywhere
const DeleteWithin = deleteWithin
const FetcherWait = 10 * time.Second // of delivery
const GroupsOnly = groupsOnly
const HeardLine = settings.MaxContextLine
const HeardLines = 50
const JobTextMost = jobTextMost
const JobsMost = jobsMost
const LineMost = lineMost
const LookAgainEvery = lookAgainEvery
const MaxAbsent = 50 // of delivery
const MaxAttempts = maxAttempts
const MaxQuote = maxQuote
const MaxRefusedParts = maxRefusedParts
const MediaKept = 30 * 24 * time.Hour
const MediaMost = mediaMost
const MostAside = mostAside
const MostBooked = 16 // of delivery
const OutboxKept = filestore.OutboxKept
const OutboxLeast = filestore.OutboxLeast
const OwnerOnly = ownerOnly
const PartWait = partWait
const PersonJobsMost = personJobsMost
const PictureWait = filestore.PictureTimeout
const PicturesStep = picturesStep
const PostedByAPI = postedByAPI
const PreviewDirect = time.Second       // of delivery
const PreviewLeast = 40                 // of delivery
const PreviewSeveral = 3 * time.Second  // of delivery
const PreviewTimeout = 10 * time.Second // of delivery
const RefusedFor = refusedFor
const RemoveTries = 5             // of delivery
const SendGrace = 6 * time.Second // of delivery
const ShortLines = settings.ShortLines
const UnansweredEvery = unansweredEvery
const UsualAnswer = usualAnswer
const ViaHook = viaHook

func (r *Router) Ages() *clock.Steady { return r.ages }
func (r *Router) Answers(ctx context.Context, s sessions.Session, run sessions.Run) (whom, error) {
	return r.answers(ctx, s, run)
}
func (r *Router) Arrival(ctx context.Context, in channels.Inbound) (sessions.Arrival, error) {
	return r.arrival(ctx, in)
}
func (r *Router) Budgets() *budgets        { return r.budgets }
func (r *Router) CommandTable() *[]command { return &r.commands }
func (r *Router) Compacts(set *settings.Snapshot, s sessions.Session, run sessions.Run, t *agent.Turn) *compaction {
	return r.compacts(set, s, run, t)
}
func (r *Router) Crowded(ctx context.Context, set *settings.Snapshot, c tools.Caller, most int) (string, error) {
	return r.crowded(ctx, set, c, most)
}
func (r *Router) DeleteLate(ctx context.Context, set *settings.Snapshot, run sessions.Run, c sessions.Chain, o *sessions.Outcome) bool {
	return r.deleteLate(ctx, set, run, c, o)
}
func (r *Router) Deps() *Deps         { return &r.deps }
func (r *Router) Doubt() *atomic.Bool { return &r.doubt }
func (r *Router) Fallbacks(e agent.Entry, first string) []agent.Candidate {
	return r.fallbacks(e, first)
}
func (r *Router) Finish(ctx context.Context, run sessions.Run, out sessions.Outcome, booking *delivery.Reservation) (sessions.Accepted, bool) {
	return r.finish(ctx, run, out, booking)
}
func (r *Router) Follow(ctx context.Context, acc sessions.Accepted) { r.follow(ctx, acc) }
func (r *Router) FollowUp(ctx context.Context, q tools.SteerRequest) (sessions.Effects, error) {
	return r.followUp(ctx, q)
}
func (r *Router) Gate() *delivery.Dispatcher                       { return r.gate }
func (r *Router) KeepResult(res *tools.Result)                     { r.media.PutResult(res) }
func (r *Router) Kit() *tools.Deps                                 { return &r.kit }
func (r *Router) Lanes() *lane.Set                                 { return r.lanes }
func (r *Router) Log() **slog.Logger                               { return &r.log }
func (r *Router) Media() *filestore.Cache                          { return r.media }
func (r *Router) Meter(s sessions.Session, run sessions.Run) meter { return r.meter(s, run) }
func (r *Router) Metrics() **Metrics                               { return &r.metrics }
func (r *Router) Open(ctx context.Context, q sessions.RunQuery) ([]sessions.Run, error) {
	return sessions.OpenRuns(ctx, r.store, q)
}
func (r *Router) Outbox() *filestore.Outbox { return r.outbox }
func (r *Router) Queued(ctx context.Context, key sessions.Key) ([]sessions.Run, error) {
	return sessions.QueuedRuns(ctx, r.store, key)
}
func (r *Router) Reported(ctx context.Context, child sessions.Run) (string, error) {
	return r.reported(ctx, child)
}
func (r *Router) RightsOf(ctx context.Context, set *settings.Snapshot, s sessions.Session, run sessions.Run, msgs []sessions.Message) (*rights, error) {
	return r.rightsOf(ctx, set, s, run, msgs)
}
func (r *Router) Started() time.Time  { return r.started }
func (r *Router) Tools() []tools.Tool { return r.tools }
func (r *Router) ToolsFor(ctx context.Context, run sessions.Run, may *rights) []tools.Tool {
	return r.toolsFor(ctx, run, may)
}
func (r *Router) TranscriptOf(ctx context.Context, id sessions.ID, size int, most int) ([]sessions.Message, bool, error) {
	return r.transcriptOf(ctx, id, size, most)
}
func (r *Router) WaitingLanes(ctx context.Context, keys []sessions.Key) (map[sessions.Key]waitingLane, error) {
	return r.waitingLanes(ctx, keys)
}
func (r *Router) Watchers() *event.Bus       { return r.watchers }
func (a *amount) Cost() int64                { return a.cost }
func (b *budgets) Purses() map[string]*purse { return b.purses }
func (c *command) About() string             { return c.about }
func (c *command) Aliases() []string         { return c.aliases }
func (c *command) Name() string              { return c.name }
func (c *command) Native() bool              { return c.native }
func (c *command) Run() func(ctx context.Context, r *Router, c commandCall) (answer string, e sessions.Effects, err error) {
	return c.run
}
func (c *command) Where() where                                  { return c.where }
func (c *command) Who() who                                      { return c.who }
func (c *compaction) Writer(room agent.Room) (agent.Turn, error) { return c.writer(room) }
func (of *purse) Held() *amount                                  { return &of.held }
func (x *rights) Add(msgs ...sessions.Message)                   { x.add(msgs...) }
func (a *whom) Owner() bool                                      { return a.owner }
func (a *whom) People() []sessions.Person                        { return a.people }
func (m meter) Reserve(t *agent.Turn)                            { m.reserve(t) }

type Command = command
type CommandCall = commandCall
type Guarded = guarded

// NewGuarded gives a tool as a turn with rights has it.
func NewGuarded(t tools.Tool, r *rights) Guarded { return guarded{t, r} }

// NewCommand makes a command of a name.
func NewCommand(name string, who who, run func(context.Context, *Router, commandCall) (string, sessions.Effects, error)) command {
	return command{name: name, who: who, run: run}
}

type Who = who

var ErrInterrupted = lane.ErrInterrupted
var ErrNoAccount = errNoAccount
var IsName = isName
var JobKey = jobKey
var Markdown = markdown
var MediaBlocks = mediaBlocks
var NewFormer = settings.NewMovedChats
var NewMedia = filestore.NewCache
var NewOutbox = filestore.NewOutbox
var OutsideTools = outsideTools
var Overheard = overheard
var PassedOn = passedOn
var Shorten = shorten
var Spoken = spoken
var StatusWord = statusWord
var Today = clock.Day

func (of waitingLane) Who() string { return of.who }

// OutsideKey is the session that an agent outside calls from.
var OutsideKey = outsideKey

// NewWatched makes a router that can be watched, and nothing else.
func NewWatched() *Router { return &Router{watchers: new(event.Bus)} }
