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

const FetcherWait = delivery.FetcherWait

const GroupsOnly = groupsOnly

const HeardLine = settings.MaxContextLine

const HeardLines = settings.DefaultContextLines

const LineMost = lineMost

const MaxAbsent = delivery.MaxAbsent

const MediaFetching = filestore.MediaFetching

const MediaKept = filestore.MediaKept

const MostAside = mostAside

const MostBooked = delivery.MostBooked

const OutboxKept = filestore.OutboxKept

const OutboxLeast = filestore.OutboxLeast

const OwnerOnly = ownerOnly

const PastMost = event.PastMost

const PictureAgain = filestore.PictureAgain

const PictureWait = filestore.PictureTimeout

const PreviewDirect = delivery.PreviewDirect

const PreviewLeast = delivery.PreviewLeast

const PreviewSeveral = delivery.PreviewSeveral

const PreviewTimeout = delivery.PreviewTimeout

const RefusedFor = refusedFor

const RemoveTries = delivery.RemoveTries

const ResultFiles = filestore.ResultFiles

const SendGrace = delivery.SendGrace

const ShortLines = settings.ShortLines

const ViaHook = viaHook

const WatchMost = event.WatchMost

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

var MediaKind = filestore.KindOf

var NewFormer = settings.NewMovedChats

var NewMedia = filestore.NewCache

var NewOutbox = filestore.NewOutbox

var Overheard = overheard

var PassedOn = passedOn

var Today = clock.Day

func (of waitingLane) Who() string { return of.who }

// NewWatched makes a router that can be watched, and nothing else.
func NewWatched() *Router { return &Router{watchers: new(event.Bus)} }
