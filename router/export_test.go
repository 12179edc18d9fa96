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
const FetcherWait = delivery.FetcherWait
const GroupsOnly = groupsOnly
const HeardLine = settings.MaxContextLine
const HeardLines = settings.DefaultContextLines
const JobTextMost = jobTextMost
const JobsMost = jobsMost
const LineMost = lineMost
const LookAgainEvery = lookAgainEvery
const MaxAbsent = delivery.MaxAbsent
const MaxAttempts = maxAttempts
const MaxQuote = maxQuote
const MaxRefusedParts = maxRefusedParts
const MediaFetching = filestore.MediaFetching
const MediaKept = filestore.MediaKept
const MediaMost = mediaMost
const MostAside = mostAside
const MostBooked = delivery.MostBooked
const OutboxKept = filestore.OutboxKept
const OutboxLeast = filestore.OutboxLeast
const OwnerOnly = ownerOnly
const PartWait = partWait
const PastMost = event.PastMost
const PersonJobsMost = personJobsMost
const PictureAgain = filestore.PictureAgain
const PictureWait = filestore.PictureTimeout
const PicturesStep = picturesStep
const PostedByAPI = postedByAPI
const PreviewDirect = delivery.PreviewDirect
const PreviewLeast = delivery.PreviewLeast
const PreviewSeveral = delivery.PreviewSeveral
const PreviewTimeout = delivery.PreviewTimeout
const RefusedFor = refusedFor
const RemoveTries = delivery.RemoveTries
const ResultFiles = filestore.ResultFiles
const SendGrace = delivery.SendGrace
const ShortLines = settings.ShortLines
const UnansweredEvery = unansweredEvery
const UsualAnswer = usualAnswer
const ViaHook = viaHook
const WatchMost = event.WatchMost

func (of *Router) Ages() *clock.Steady { return of.ages }
func (of *Router) Answers(ctx context.Context, s sessions.Session, run sessions.Run) (whom, error) {
	return of.answers(ctx, s, run)
}
func (of *Router) Arrival(ctx context.Context, in channels.Inbound) (sessions.Arrival, error) {
	return of.arrival(ctx, in)
}
func (of *Router) Budgets() *budgets        { return of.budgets }
func (of *Router) CommandTable() *[]command { return &of.commands }
func (of *Router) Compacts(set *settings.Snapshot, s sessions.Session, run sessions.Run, t *agent.Turn) *compaction {
	return of.compacts(set, s, run, t)
}
func (of *Router) Crowded(ctx context.Context, set *settings.Snapshot, c tools.Caller, most int) (string, error) {
	return of.crowded(ctx, set, c, most)
}
func (of *Router) DeleteLate(ctx context.Context, set *settings.Snapshot, run sessions.Run, c sessions.Chain, o *sessions.Outcome) bool {
	return of.deleteLate(ctx, set, run, c, o)
}
func (of *Router) Deps() *Deps         { return &of.deps }
func (of *Router) Doubt() *atomic.Bool { return &of.doubt }
func (of *Router) Fallbacks(e agent.Entry, first string) []agent.Candidate {
	return of.fallbacks(e, first)
}
func (of *Router) Finish(ctx context.Context, run sessions.Run, out sessions.Outcome, booking *delivery.Reservation) (sessions.Accepted, bool) {
	return of.finish(ctx, run, out, booking)
}
func (of *Router) Follow(ctx context.Context, acc sessions.Accepted) { of.follow(ctx, acc) }
func (of *Router) FollowUp(ctx context.Context, q tools.SteerRequest) (sessions.Effects, error) {
	return of.followUp(ctx, q)
}
func (of *Router) Gate() *delivery.Dispatcher                       { return of.gate }
func (of *Router) KeepResult(res *tools.Result)                     { of.media.PutResult(res) }
func (of *Router) Kit() *tools.Deps                                 { return &of.kit }
func (of *Router) Lanes() *lane.Set                                 { return of.lanes }
func (of *Router) Log() **slog.Logger                               { return &of.log }
func (of *Router) Media() *filestore.Cache                          { return of.media }
func (of *Router) Meter(s sessions.Session, run sessions.Run) meter { return of.meter(s, run) }
func (of *Router) Metrics() **Metrics                               { return &of.metrics }
func (of *Router) Open(ctx context.Context, q sessions.RunQuery) ([]sessions.Run, error) {
	return sessions.OpenRuns(ctx, of.store, q)
}
func (of *Router) Queued(ctx context.Context, key sessions.Key) ([]sessions.Run, error) {
	return sessions.QueuedRuns(ctx, of.store, key)
}
func (of *Router) Reported(ctx context.Context, child sessions.Run) (string, error) {
	return of.reported(ctx, child)
}
func (of *Router) RightsOf(ctx context.Context, set *settings.Snapshot, s sessions.Session, run sessions.Run, msgs []sessions.Message) (*rights, error) {
	return of.rightsOf(ctx, set, s, run, msgs)
}
func (of *Router) Started() time.Time  { return of.started }
func (of *Router) Tools() []tools.Tool { return of.tools }
func (of *Router) ToolsFor(ctx context.Context, run sessions.Run, may *rights) []tools.Tool {
	return of.toolsFor(ctx, run, may)
}
func (of *Router) TranscriptOf(ctx context.Context, id sessions.ID, size int, most int) ([]sessions.Message, bool, error) {
	return of.transcriptOf(ctx, id, size, most)
}
func (of *Router) WaitingLanes(ctx context.Context, keys []sessions.Key) (map[sessions.Key]waitingLane, error) {
	return of.waitingLanes(ctx, keys)
}
func (of *Router) Watchers() *event.Bus       { return of.watchers }
func (of *amount) Cost() int64                { return of.cost }
func (of *budgets) Purses() map[string]*purse { return of.purses }
func (of *command) About() string             { return of.about }
func (of *command) Aliases() []string         { return of.aliases }
func (of *command) Name() string              { return of.name }
func (of *command) Native() bool              { return of.native }
func (of *command) Run() func(ctx context.Context, r *Router, c commandCall) (answer string, e sessions.Effects, err error) {
	return of.run
}
func (of *command) Where() where                                  { return of.where }
func (of *command) Who() who                                      { return of.who }
func (of *compaction) Writer(room agent.Room) (agent.Turn, error) { return of.writer(room) }
func (of *purse) Held() *amount                                   { return &of.held }
func (of *rights) Add(msgs ...sessions.Message)                   { of.add(msgs...) }
func (of *whom) Owner() bool                                      { return of.owner }
func (of *whom) People() []sessions.Person                        { return of.people }
func (of meter) Reserve(t *agent.Turn)                            { of.reserve(t) }

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
var MediaKind = filestore.KindOf
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
