package sessions

import (
	"errors"
	"slices"

	"parley/channels"
)

// Arrival is a platform event and what it causes.
type Arrival struct {
	In        channels.Inbound // dedupe key: (channel, account, chat, event, id); an empty ID is never a duplicate
	Digest    string           // of a message: what it says, as a hash, for Said; of an edit that the agent is told of: what its Target says now; "" = not kept
	Skip      string           // why nothing happens: not admitted, not mentioned, unreadable. Recorded; Effects may have Deliveries only: what people are told of it
	Listed    bool             // Skip is shown to people (unreadable), not only remembered for dedupe
	Overheard *Overheard       // with Skip: what the session's next turn is shown; kept in the same commit
	Amend     *Amend           // with Skip: a run that was never begun changes, or ends and is named in Accepted.Stopped; Overheard is kept only when it was begun
	Title     *Session         // with Skip: the Title of this Key, if there is such a session
	Moved     channels.Address // with Skip: In.Address is this now, as by Readdress. Of a direct chat In.Sender is the person by the id that they have now; the old id is In.Address.Chat
	Route     Key              // with Moved: the session that messages from there belong to by the configuration; "" = not known
	Effects   Effects
}

// Effects are what one commit does besides being remembered. Order: session, patch, reset, stop, interrupt, drop, run, deliveries,
// and the rest. Patch, Reset, Heard, Interrupt, Drop, Archive and Delete need Session.
type Effects struct {
	Source     string     // dedupe for Submit, e.g. "tool:<run>:<call id>" (contract S14)
	By         RunID      // the run that asks for this: nothing is done when it has been stopped or interrupted meanwhile, which is ErrStopped. What it made before, by the same Source, is given back all the same
	Existing   bool       // Session must be there: ErrNotFound otherwise, and as the next run of a chain the chain ends there. What was deleted does not come back
	Session    *Session   // upsert by Key; ID, Created and Settings of an existing row win
	Quiet      bool       // with Existing: Session is only named. It is not refreshed, and an archived one stays archived
	Patch      *Patch     // on Session.Key
	Reset      bool       // Session.Key gets a new ID; settings stay
	ResetOf    ID         // with Reset: only while this is its ID still; "" = whatever it is
	Stop       []Key      // what these sessions and the sub-agents below them are at ends as Stopped: the queued runs at once, the running ones are marked; Accepted.Stopped names both, oldest first. Reply, result, announce and post steps are spared. Their sessions are Aborted, and so are sub-agents above them, up to the one named
	StopRun    RunID      // this run ends in the same way, and, if it is at work, what the sub-agents below its session are at. ErrNotFound, and ErrConflict for a step that Stop spares; nothing happens when it has ended
	Run        *Run       // queued on its Key. Session, Status and Created are the store's to fill
	Claim      bool       // with Run: when all of this is done, the next queued run of its Key is claimed, as by Claim: Accepted.Claimed. Not when the event is a duplicate, nor when another chat's session goes by this Key now
	Deliveries []Delivery // State is Pending; Seq and Created are the store's to fill
	Note       *NewNote   // something an agent asked to remember
	Overheard  *Overheard // what the next turn of its Key is told
	Heard      int64      // the overheard lines of Session.Key up to this Seq are part of Run's input now, and go
	Interrupt  bool       // the turn (TurnRun) of Session.Key that is at work is marked as stopped, if its answer goes where Run's goes, with Run as its Batch, which it keeps unless it ends as Done after all; Accepted.Stopped names it. Nothing else ends, and one that is stopped already or Alone stays as it is
	Drop       int        // this many of the oldest queued turns of Session.Key that were never begun, are not Alone, and whose answers go where Run's goes end as Stopped, named in Accepted.Stopped: the queue is full and its rule is to drop old ones
	Lift       *Lift      // a budget does not count until then; a time that has passed puts it into force again
	Job        *Job       // a scheduled job is added or replaced, by ID
	DropJob    string     // a scheduled job is removed
	Pairing    *Answer    // a stranger's request ends; ErrNotFound when none waits for this code
	Archive    bool       // Session.Key is archived
	Delete     bool       // Session.Key is deleted as by Delete; ErrConflict while a run of it is queued or at work
	Unpair     *Unpair    // letting somebody in, or turning them down, is taken back; ErrNotFound when neither was done
}

// Answer is the old name of DecidePairing.
type Answer = DecidePairing

// Unpair is the old name of RevokePairing.
type Unpair = RevokePairing

// NewNote is the old name of AddNote.
type NewNote = AddNote

// Amend is the old name of AmendRun.
type Amend = AmendRun

// Change gives what effects do as a change.
func (e Effects) Change() (c Change, err error) {
	if e.Session == nil && (e.Patch != nil || e.Reset || e.Heard > 0 || e.Interrupt || e.Drop > 0 || e.Archive || e.Delete) {
		return c, errors.New("what is done to a session needs the session")
	}
	if e.Quiet && !e.Existing {
		return c, errors.New("a session that is only named must be there")
	}
	if e.Run == nil && (e.Interrupt || e.Drop > 0) {
		return c, errors.New("turns give way to a run, not to nothing")
	}
	if e.Run == nil && e.Claim {
		return c, errors.New("nothing is queued that could be claimed")
	}
	c.IdempotencyKey, c.RequestedBy = e.Source, e.By
	if e.Run != nil {
		c.Run = &Enqueue{Run: *e.Run, Interrupt: e.Interrupt, DropOldest: e.Drop, Claim: e.Claim}
	}
	if e.Session != nil {
		c.Session = &Target{Session: *e.Session, Ops: e.sessionOps()}
		switch {
		case e.Quiet:
			c.Session.Mode = Reference
		case e.Existing:
			c.Session.Mode = Require
		}
	}
	if len(e.Stop) > 0 {
		c.Ops = append(c.Ops, StopSessions{e.Stop})
	}
	if e.StopRun != "" {
		c.Ops = append(c.Ops, StopRun{e.StopRun})
	}
	for _, d := range e.Deliveries {
		c.Ops = append(c.Ops, EnqueueDelivery(d))
	}
	if e.Note != nil {
		c.Ops = append(c.Ops, *e.Note)
	}
	if e.Overheard != nil {
		c.Ops = append(c.Ops, AppendContext(*e.Overheard))
	}
	if e.Lift != nil {
		c.Ops = append(c.Ops, SuspendBudget(*e.Lift))
	}
	if e.Job != nil {
		c.Ops = append(c.Ops, PutJob(*e.Job))
	}
	if e.DropJob != "" {
		c.Ops = append(c.Ops, DeleteJob{e.DropJob})
	}
	if e.Pairing != nil {
		c.Ops = append(c.Ops, *e.Pairing)
	}
	if e.Unpair != nil {
		c.Ops = append(c.Ops, *e.Unpair)
	}
	return c, nil
}

func (e Effects) sessionOps() (ops []SessionOp) {
	if e.Patch != nil {
		ops = append(ops, PatchSession(*e.Patch))
	}
	if e.Reset {
		ops = append(ops, ResetSession{e.ResetOf})
	}
	if e.Heard > 0 {
		ops = append(ops, ConsumeContext{e.Heard})
	}
	if e.Archive {
		ops = append(ops, ArchiveSession{})
	}
	if e.Delete {
		ops = append(ops, DeleteSession{})
	}
	return ops
}

// Skipped gives why an arrival causes nothing, and what is kept of it; nil when it causes something.
func (a Arrival) Skipped() *Skip {
	if a.Skip == "" {
		return nil
	}
	k := &Skip{Reason: a.Skip, Listed: a.Listed, Notices: slices.Clone(a.Effects.Deliveries)}
	if a.Amend != nil {
		k.Events = append(k.Events, *a.Amend)
	}
	if a.Overheard != nil {
		k.Events = append(k.Events, AppendContext(*a.Overheard))
	}
	if a.Title != nil {
		k.Events = append(k.Events, RenameSession{a.Title.Key, a.Title.Title})
	}
	if !a.Moved.IsZero() {
		k.Events = append(k.Events, MoveChat{a.Moved, a.Route})
	}
	return k
}
