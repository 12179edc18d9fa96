package router

import (
	"context"

	"parley/router/chain"
	"parley/router/event"
	"parley/router/filestore"
	"parley/router/rights"
	"parley/router/settings"
	"parley/sessions"
	"parley/tools"
)

// ErrWords is sessions.ErrBadRequest.
var ErrWords = sessions.ErrBadRequest

type AccountRef = settings.AccountRef

type AccountSettings = settings.Account

type DeliverySettings = settings.Delivery

type Event = event.Event

const EventAccount = event.KindAccount

const EventDelivery = event.KindDelivery

const EventJob = event.KindJob

const EventMessage = event.KindMessage

const EventPairing = event.KindPairing

const EventReload = event.KindReload

const EventRun = event.KindRun

const EventSession = event.KindSession

const EventText = event.KindText

const EventTool = event.KindTool

var ParseQueue = settings.ParseQueue

const PhaseArchived = event.PhaseArchived

const PhaseAsked = event.PhaseAsked

const PhaseBegin = event.PhaseBegin

const PhaseChanged = event.PhaseChanged

const PhaseDecided = event.PhaseDecided

const PhaseDeleted = event.PhaseDeleted

const PhaseEnd = event.PhaseEnd

const PhaseError = event.PhaseError

const PhaseFired = event.PhaseFired

const PhaseNew = event.PhaseNew

const PhasePatched = event.PhasePatched

const PhaseProgress = event.PhaseProgress

const PhaseReset = event.PhaseReset

const PhaseSkipped = event.PhaseSkipped

const PictureMost = filestore.MaxPicture

type Position = event.Position

var Ref = settings.Ref

type Settings = settings.Snapshot

const Unknown = event.Unknown

type Watching = event.Filter

var ErrQuery = rights.ErrQuery

func (r *Router) ExplainTools(ctx context.Context, q rights.ToolQuery) (rights.ToolTable, error) {
	return r.Rights.ExplainTools(ctx, q)
}

func (r *Router) Idle(ctx context.Context, c tools.Caller) error { return r.Committer.Idle(ctx, c) }

func (r *Router) Submit(ctx context.Context, e sessions.Effects) (sessions.Accepted, error) {
	return r.Committer.Submit(ctx, e)
}

func (r *Router) Wait(ctx context.Context, id sessions.RunID) (sessions.Run, error) {
	return r.Committer.Wait(ctx, id)
}

var Silence = chain.Silence

type ToolQuery = rights.ToolQuery

type ToolTable = rights.ToolTable

type ToolVerdict = rights.ToolVerdict
