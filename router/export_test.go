package router

import (
	"context"
	"time"

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
const LineMost = lineMost
const MaxAbsent = 50 // of delivery
const MediaKept = 30 * 24 * time.Hour
const MostAside = mostAside
const MostBooked = 16 // of delivery
const OutboxKept = filestore.OutboxKept

const OutboxLeast = filestore.OutboxLeast

const OwnerOnly = ownerOnly
const PictureWait = filestore.PictureTimeout
const PreviewDirect = time.Second       // of delivery
const PreviewLeast = 40                 // of delivery
const PreviewSeveral = 3 * time.Second  // of delivery
const PreviewTimeout = 10 * time.Second // of delivery
const RefusedFor = refusedFor
const RemoveTries = 5             // of delivery
const SendGrace = 6 * time.Second // of delivery
const ShortLines = settings.ShortLines

const ViaHook = viaHook

func (r *Router) Ages() *clock.Steady { return r.ages }

func (r *Router) Arrival(ctx context.Context, in channels.Inbound) (sessions.Arrival, error) {
	return r.arrival(ctx, in)
}

func (r *Router) CommandTable() *[]command { return &r.commands }

func (r *Router) Gate() *delivery.Dispatcher { return r.gate }

func (r *Router) KeepResult(res *tools.Result) { r.media.PutResult(res) }

func (r *Router) Lanes() *lane.Set { return r.lanes }

func (r *Router) Media() *filestore.Cache { return r.media }

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

func (r *Router) Started() time.Time { return r.started }

func (r *Router) TranscriptOf(ctx context.Context, id sessions.ID, size int, most int) ([]sessions.Message, bool, error) {
	return r.transcriptOf(ctx, id, size, most)
}

func (r *Router) WaitingLanes(ctx context.Context, keys []sessions.Key) (map[sessions.Key]waitingLane, error) {
	return r.waitingLanes(ctx, keys)
}

func (r *Router) Watchers() *event.Bus { return r.watchers }

func (c *command) About() string { return c.about }

func (c *command) Aliases() []string { return c.aliases }

func (c *command) Name() string { return c.name }

func (c *command) Native() bool { return c.native }

func (c *command) Run() func(ctx context.Context, r *Router, c commandCall) (answer string, e sessions.Effects, err error) {
	return c.run
}

func (c *command) Where() where { return c.where }

func (c *command) Who() who { return c.who }

type Command = command

type CommandCall = commandCall

// NewCommand makes a command of a name.
func NewCommand(name string, who who, run func(context.Context, *Router, commandCall) (string, sessions.Effects, error)) command {
	return command{name: name, who: who, run: run}
}

type Who = who

var ErrInterrupted = lane.ErrInterrupted

var ErrNoAccount = errNoAccount

var IsName = isName

var Markdown = markdown
var NewFormer = settings.NewMovedChats

var NewMedia = filestore.NewCache

var NewOutbox = filestore.NewOutbox

var Overheard = overheard

var PassedOn = passedOn

var Today = clock.Day

func (of waitingLane) Who() string { return of.who }

// NewWatched makes a router that can be watched, and nothing else.
func NewWatched() *Router { return &Router{watchers: new(event.Bus)} }
