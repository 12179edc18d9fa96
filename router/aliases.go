package router

import (
	"context"

	"parley/channels"
	"parley/router/chain"
	"parley/router/cron"
	"parley/router/event"
	"parley/router/filestore"
	"parley/router/inbound"
	"parley/router/rights"
	"parley/router/settings"
	"parley/router/toolhost"
	"parley/router/turn"
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

const PicturesMost = turn.PicturesMost

func (r *Router) MarkLeftOut(ctx context.Context, s sessions.Session, msgs []sessions.Message) error {
	return r.Worker.MarkLeftOut(ctx, s, msgs)
}

const LastChat = cron.LastChat

type OutsideCall = toolhost.OutsideCall

type Outsider = toolhost.Outsider

func (r *Router) AddJob(ctx context.Context, source string, j sessions.Job) error {
	return r.Scheduler.AddJob(ctx, source, j)
}

func (r *Router) Agents() []tools.AgentInfo { return r.ToolHost.Agents() }

func (r *Router) Ask(ctx context.Context, q tools.AskRequest) (sessions.Run, error) {
	return r.ToolHost.Ask(ctx, q)
}

func (r *Router) Attachment(ctx context.Context, with sessions.Message, m channels.Media, most int64) ([]byte, error) {
	return r.ToolHost.Attachment(ctx, with, m, most)
}

func (r *Router) Cancel(ctx context.Context, source string, child sessions.Key) ([]sessions.StoppedRun, error) {
	return r.ToolHost.Cancel(ctx, source, child)
}

func (r *Router) ChangeJob(ctx context.Context, source string, id string, change func(*sessions.Job) error) (sessions.Job, error) {
	return r.Scheduler.ChangeJob(ctx, source, id, change)
}

func (r *Router) ChatOf(ctx context.Context, agentID sessions.AgentID, text string) (channels.Address, error) {
	return r.Scheduler.ChatOf(ctx, agentID, text)
}

func (r *Router) DropJob(ctx context.Context, source string, id string) error {
	return r.Scheduler.DropJob(ctx, source, id)
}

func (r *Router) Jobs(ctx context.Context, id sessions.AgentID) ([]sessions.Job, error) {
	return r.Scheduler.Jobs(ctx, id)
}

func (r *Router) LetIn(ctx context.Context, kind channels.Kind, code string) (sessions.Pairing, error) {
	return r.Admission.LetIn(ctx, kind, code)
}

func (r *Router) MakeJob(ctx context.Context, source string, j sessions.Job, to string) (sessions.Job, error) {
	return r.Scheduler.MakeJob(ctx, source, j, to)
}

func (r *Router) ModelKnown(name string) error { return r.ToolHost.ModelKnown(name) }

func (r *Router) Outside(ctx context.Context, c toolhost.OutsideCall) (tools.Result, error) {
	return r.ToolHost.Outside(ctx, c)
}

func (r *Router) OutsideTools(ctx context.Context, by toolhost.Outsider) ([]tools.Spec, error) {
	return r.ToolHost.OutsideTools(ctx, by)
}

func (r *Router) Post(ctx context.Context, q tools.PostRequest) (tools.PostResult, error) {
	return r.ToolHost.Post(ctx, q)
}

func (r *Router) RemoveJob(ctx context.Context, source string, id string) error {
	return r.Scheduler.RemoveJob(ctx, source, id)
}

func (r *Router) RunJob(ctx context.Context, source string, id string) (sessions.Run, error) {
	return r.Scheduler.RunJob(ctx, source, id)
}

func (r *Router) Send(ctx context.Context, q toolhost.SendRequest) (toolhost.Sent, error) {
	return r.ToolHost.Send(ctx, q)
}

func (r *Router) Spawn(ctx context.Context, q tools.SpawnRequest) (sessions.Run, error) {
	return r.ToolHost.Spawn(ctx, q)
}

func (r *Router) Steer(ctx context.Context, q tools.SteerRequest) (sessions.Run, error) {
	return r.ToolHost.Steer(ctx, q)
}

func (r *Router) TurnDown(ctx context.Context, kind channels.Kind, code string) error {
	return r.Admission.TurnDown(ctx, kind, code)
}

func (r *Router) Unpair(ctx context.Context, kind channels.Kind, account channels.AccountID, user channels.UserID) (sessions.Admitted, error) {
	return r.Admission.Unpair(ctx, kind, account, user)
}

type SendRequest = toolhost.SendRequest

type Sent = toolhost.Sent

var ErrBusy = inbound.ErrBusy

type Heard = inbound.Heard

var HookKey = inbound.HookKey

type Report = inbound.Report

func (r *Router) Accept(ctx context.Context, in channels.Inbound) error {
	return r.Receiver.Accept(ctx, in)
}

func (r *Router) Commands() []channels.Command { return r.CommandTable.Commands() }

func (r *Router) Hooked(ctx context.Context, x inbound.Report) (inbound.Heard, error) {
	return r.Receiver.Hooked(ctx, x)
}

func (r *Router) ModelMeant(word string) (string, error) { return r.CommandTable.ModelMeant(word) }

func (r *Router) Say(ctx context.Context, w inbound.Words) (inbound.Heard, error) {
	return r.Receiver.Say(ctx, w)
}

func (r *Router) Woken(ctx context.Context, x inbound.Report, now bool) (inbound.Heard, error) {
	return r.Receiver.Woken(ctx, x, now)
}

type Words = inbound.Words
