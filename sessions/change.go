package sessions

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"parley/channels"
)

// Change is the effect of one commit, besides the record of its cause. The zero value does nothing. A store carries it out in one order,
// whatever the order of Ops: the session is found or made, PatchSession, ResetSession, StopSessions, StopRun, what gives way to the run, the
// run is queued, EnqueueDelivery, AddNote, AppendContext, ConsumeContext, SuspendBudget, PutJob, DeleteJob, DecidePairing, GrantOwner, RevokePairing,
// ArchiveSession, DeleteSession, the next run is claimed. Several operations of one kind keep their own order.
type Change struct {
	IdempotencyKey string   // of Submit and Fire, e.g. "tool:<run>:<call id>" (contract S14); "" = never a repeat
	RequestedBy    RunID    // ErrStopped when that run was stopped or interrupted meanwhile; a repeat gives the first result all the same
	Session        *Target  // nil = no session
	Run            *Enqueue // nil = no run
	Ops            []Op
}

// Target is the session of a change.
type Target struct {
	Session // found by Key; ID, Created and Settings of an existing row win
	Mode    TargetMode
	From    Key // a conversation that the session gets as Handover says; "" = none
	Ops     []SessionOp
}

// TargetMode says how a change finds its session.
type TargetMode int

// The modes.
const (
	Upsert    TargetMode = iota // made when it is new, otherwise Last, Title and Updated are refreshed and an archived one lives again
	Require                     // ErrNotFound when it is not there; as the next run of a chain the chain ends. Otherwise refreshed, as by Upsert
	Reference                   // ErrNotFound when it is not there; otherwise left as it is: an archived one stays archived
)

// Enqueue queues a run.
type Enqueue struct {
	Run // Key defaults to the session's. Session, Status and Created are the store's to fill

	// Interrupt has the turn (TurnRun) of the session that is running give way, if its answer goes where Run's goes: it is marked as stopped, with
	// Run as its MergedInto, which it keeps unless it ends as Done after all. Accepted.Stopped names it. One that is stopped already or Exclusive stays.
	Interrupt bool
	// DropOldest has so many of the oldest queued turns of the session give way, of those that were never begun, are not Exclusive, and whose answers
	// go where Run's goes: they end as Stopped, named in Accepted.Stopped.
	DropOldest int
	// Claim claims the next queued run of Run's Key, as Runs.Claim does, when all else is done: Accepted.Claimed. Not for a repeat, nor when
	// another chat's session goes by this Key now.
	Claim bool
}

// Op is an operation of a Change. The set is closed: EnqueueDelivery, AddNote, AppendContext, SuspendBudget, StopSessions, StopRun, PutJob,
// DeleteJob, DecidePairing, GrantOwner, RevokePairing.
type Op interface{ op() order }

// SessionOp is an operation on the session of a change. The set is closed: PatchSession, ResetSession, ConsumeContext, ArchiveSession,
// DeleteSession.
type SessionOp interface{ sessionOp() order }

// EnqueueDelivery posts a delivery. State is Pending; Seq and Created are the store's to fill.
type EnqueueDelivery Delivery

// AddNote stores a note that an agent was asked to remember.
type AddNote struct {
	Agent AgentID
	Key   Key
	Text  string
}

// AppendContext stores a context line for the next turn of its session.
type AppendContext ContextLine

// SuspendBudget takes a budget out of force until a time; one that has passed puts it into force again.
type SuspendBudget BudgetSuspension

// StopSessions ends as Stopped what sessions and the sub-agents below them take part in (contract X1): their own runs, and the runs of every
// exchange, report and result with them on either side, in whatever session. Queued runs end at once, running ones are marked;
// Accepted.Stopped names both, oldest first. What those runs have made and what has not left ends as DeliveryStopped. The session on the other
// side of an exchange gets a context line unless it learns of the stop otherwise: one that asked, whose call has answered without a reply, and
// whose Chain.Back names a chat gets a follow-up instead (Accepted.FollowUps, contract S15). The sessions are Aborted, and so are sub-agents above them,
// up to the one named.
type StopSessions struct {
	Keys []Key
	By   Stopper
}

// StopRun ends one run of any kind in the same way, with what it has made, and, if it is running, what the sub-agents below its session are at.
// ErrNotFound. A run that has ended stays as it is, and what it has made and has not left ends.
type StopRun struct {
	ID RunID
	By Stopper
}

// PutJob adds a scheduled job, or replaces the one with its ID.
type PutJob Job

// DeleteJob removes a scheduled job. Removing what is not there succeeds.
type DeleteJob struct{ ID string }

// DecidePairing ends a stranger's request: it lets them in, or keeps them as rejected for RejectedFor. ErrNotFound when no request waits for this
// code.
type DecidePairing struct {
	Channel  channels.Kind
	Hash     string
	Approve  bool
	Owner    Ownership // with Approve
	Handover           // with Approve, where the person becomes an owner
	Time     time.Time // requests that have expired by then no longer wait
}

// Ownership says whether a person who is let in becomes an owner.
type Ownership int

// The values.
const (
	NoOwner    Ownership = iota
	FirstOwner           // if the store has let nobody in so far, also nobody who was removed since
	AnyOwner
)

// Handover names the sessions of a person who becomes an owner. In the same commit To gets the conversation of From, unless To has messages
// or queued runs, or something of From is queued or running.
type Handover struct {
	From Key `json:"from,omitzero"`
	To   Key `json:"to,omitzero"` // the same as From = nothing is moved
}

// GrantOwner makes an owner of a person who was let in. ErrNotFound when the person was not.
type GrantOwner struct {
	Channel channels.Kind
	Account channels.AccountID
	User    channels.UserID
	Handover
}

// RevokePairing takes a decision back: a person who was let in is a stranger again, one who was turned down may ask again. ErrNotFound when
// neither was done.
type RevokePairing struct {
	Channel channels.Kind
	Account channels.AccountID
	User    channels.UserID
}

// PatchSession changes settings. ErrConflict when a label is in use.
type PatchSession Patch

// ResetSession gives the session a new ID and an empty transcript; settings stay.
type ResetSession struct{ IfID ID } // only while this is its ID; "" = always

// ConsumeContext removes the context lines up to a Seq: they are part of the run's input now.
type ConsumeContext struct{ UpTo int64 }

// ArchiveSession takes the session out of the lists until a person writes to it again.
type ArchiveSession struct{}

// DeleteSession removes the session, its transcripts and its runs, as Sessions.Delete does. ErrConflict while a run of it is queued or at work.
type DeleteSession struct{}

// order is the position of an operation in the order that Change names.
type order int

const (
	patchOrder order = iota
	resetOrder
	stopOrder
	stopRunOrder
	runOrder // of the run itself: no operation has it
	deliveryOrder
	noteOrder
	contextOrder
	consumeOrder
	budgetOrder
	putJobOrder
	deleteJobOrder
	decideOrder
	grantOrder
	revokeOrder
	archiveOrder
	deleteOrder
)

func (EnqueueDelivery) op() order { return deliveryOrder }
func (AddNote) op() order         { return noteOrder }
func (AppendContext) op() order   { return contextOrder }
func (SuspendBudget) op() order   { return budgetOrder }
func (StopSessions) op() order    { return stopOrder }
func (StopRun) op() order         { return stopRunOrder }
func (PutJob) op() order          { return putJobOrder }
func (DeleteJob) op() order       { return deleteJobOrder }
func (DecidePairing) op() order   { return decideOrder }
func (GrantOwner) op() order      { return grantOrder }
func (RevokePairing) op() order   { return revokeOrder }

func (PatchSession) sessionOp() order   { return patchOrder }
func (ResetSession) sessionOp() order   { return resetOrder }
func (ConsumeContext) sessionOp() order { return consumeOrder }
func (ArchiveSession) sessionOp() order { return archiveOrder }
func (DeleteSession) sessionOp() order  { return deleteOrder }

// Validate refuses the two combinations that the types allow and no store can carry out.
func (c Change) Validate() error {
	if c.Session != nil && c.Session.Key == "" {
		return errors.New("a session needs its key")
	}
	if c.Session == nil && c.Run != nil && (c.Run.Interrupt || c.Run.DropOldest > 0) {
		return errors.New("turns of a session give way to a run: the change needs the session")
	}
	return nil
}

// Ordered returns the operations of a change, those on its session included, in the order of Change: the ones that come before its run is
// queued, and the ones that come after. The elements are of the types that Op and SessionOp list.
func (c Change) Ordered() (before, after []any) {
	n := len(c.Ops)
	if c.Session != nil {
		n += len(c.Session.Ops)
	}
	if n == 0 {
		return nil, nil
	}
	all := make([]any, 0, n)
	if c.Session != nil {
		for _, op := range c.Session.Ops {
			all = append(all, op)
		}
	}
	for _, op := range c.Ops {
		all = append(all, op)
	}
	all = slices.DeleteFunc(all, func(op any) bool { return op == nil })
	slices.SortStableFunc(all, func(a, b any) int { return cmp.Compare(orderOf(a), orderOf(b)) })
	cut := len(all)
	if i := slices.IndexFunc(all, func(op any) bool { return orderOf(op) > runOrder }); i >= 0 {
		cut = i
	}
	return all[:cut:cut], all[cut:]
}

func orderOf(op any) order {
	if op, ok := op.(Op); ok {
		return op.op()
	}
	return op.(SessionOp).sessionOp()
}

// EnqueueDeliveries returns the operations that post deliveries, in their order.
func EnqueueDeliveries(deliveries ...Delivery) []Op {
	ops := make([]Op, len(deliveries))
	for i, d := range deliveries {
		ops[i] = EnqueueDelivery(d)
	}
	return ops
}

// FindOp returns the first operation of one type that a change has, on its session or otherwise.
func FindOp[T any](c Change) (op T, ok bool) {
	if c.Session != nil {
		for _, o := range c.Session.Ops {
			if op, ok = any(o).(T); ok {
				return op, true
			}
		}
	}
	for _, o := range c.Ops {
		if op, ok = any(o).(T); ok {
			return op, true
		}
	}
	return op, false
}
