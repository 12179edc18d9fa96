package router

import (
	"cmp"
	"context"

	"parley/channels"
	"parley/router/clock"
	"parley/router/delivery"
	"parley/router/event"
	"parley/router/filestore"
	"parley/router/lane"
	"parley/router/settings"
	"parley/sessions"
)

// Names that moved, until the tests that use them do.
var sleep = channels.Sleep

func firstOf(names ...string) string { return cmp.Or(names...) }

func (r *Router) open(ctx context.Context, q sessions.RunQuery) ([]sessions.Run, error) {
	return sessions.OpenRuns(ctx, r.store, q)
}

func (r *Router) queued(ctx context.Context, key sessions.Key) ([]sessions.Run, error) {
	return sessions.QueuedRuns(ctx, r.store, key)
}

var isSubagent = sessions.IsSubagent

var originOf = sessions.OriginOf

const heardLine = settings.MaxContextLine

const heardLines = settings.DefaultContextLines

const leastLeap = clock.LeastLeap

const mediaFetching = filestore.MediaFetching

const mediaKept = filestore.MediaKept

var mediaKind = filestore.KindOf

var newClock = clock.New

var newFormer = settings.NewMovedChats

var newMedia = filestore.NewCache

var newOutbox = filestore.NewOutbox

const ofOwners = settings.OfOwners

var orDefault = settings.OrDefault

const outboxKept = filestore.OutboxKept

const outboxLeast = filestore.OutboxLeast

const pastMost = event.PastMost

const pictureAgain = filestore.PictureAgain

const pictureWait = filestore.PictureTimeout

const resultFiles = filestore.ResultFiles

const shortLines = settings.ShortLines

var today = clock.Day

const watchMost = event.WatchMost

type acks = delivery.Acks

var errInterrupted = lane.ErrInterrupted

var errStopped = lane.ErrStopped

const fetcherWait = delivery.FetcherWait

type lanes = lane.Set

const maxAbsent = delivery.MaxAbsent

const maxAcks = delivery.MaxAcks

const maxRefusals = delivery.MaxRefusals

const mostBooked = delivery.MaxReservations

var newLanes = lane.New

var newPacer = delivery.NewPacer

const previewDirect = delivery.PreviewDirect

const previewLeast = delivery.PreviewLeast

const previewSeveral = delivery.PreviewSeveral

const previewTimeout = delivery.PreviewTimeout

type refusals = delivery.Refusals

const removeTries = delivery.RemoveTries

const sendGrace = delivery.SendGrace

type slotShare = lane.SlotShare

type slots = lane.Slots
