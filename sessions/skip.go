package sessions

import (
	"cmp"
	"slices"

	"parley/channels"
)

// Arrival is a platform event and what it causes: exactly one of Change and Skip is set.
type Arrival struct {
	In     channels.Inbound // dedupe key: (channel, account, chat, event, id); an empty ID is never a duplicate
	Digest string           // of a message: what it says, as a hash, for Said; of an edit that the agent is told of: what its Target says now; "" = not kept
	Change *Change          // a run, a command
	Skip   *Skip            // why it causes neither
}

// Skip says that an event causes neither a run nor a command, and what is kept of it all the same.
type Skip struct {
	Reason  string      // not admitted, not mentioned, unreadable; recorded
	Listed  bool        // shown to people (unreadable), not only remembered for dedupe
	Notices []Delivery  // tell the chat about it
	Events  []SkipEvent // changes besides
}

// SkipEvent is a change that a skipped event makes. The set is closed: AmendRun, AppendContext, RenameSession, MoveChat. A store carries them
// out in this order, whatever the order of Skip.Events.
type SkipEvent interface{ skipEvent() order }

// AmendRun changes or withdraws a message whose sender changed or deleted it. While its turn has not begun, AppendContext of the same Skip does
// nothing, and a run that ends is named in Accepted.Stopped.
type AmendRun struct {
	Run  RunID  // caused by the message
	Key  Key    // of its session
	Text string // the words of its input now: the last TextBlock. Those before came with other messages, and stay
	Gone bool   // the run ends as Stopped instead; its context lines stay

	// Files are those that the message has now, as blocks; nil = they are as they were. Those of other messages (Media.Other) stay.
	Files []Block

	// By is the current run that answers the message, which its lane holds meanwhile: the words change in the transcript as well, and the
	// run is Revised, as long as it has recorded nothing, shown nothing, and was neither stopped nor Revised before. "" = no such run.
	By RunID
}

// RenameSession gives a session a title, if there is such a session.
type RenameSession struct {
	Key   Key
	Title string
}

// MoveChat says that the event's chat has another address now, as Deliveries.Readdress does. Of a direct chat the event's Sender is the person by
// the id that they have now; the old id is the chat of its Address.
type MoveChat struct {
	To    channels.Address
	Route Key // the session that messages from there belong to by the configuration; "" = not known
}

func (AmendRun) skipEvent() order      { return 0 }
func (AppendContext) skipEvent() order { return 1 }
func (RenameSession) skipEvent() order { return 2 }
func (MoveChat) skipEvent() order      { return 3 }

// Ordered returns the events in the order of SkipEvent.
func (k Skip) Ordered() []SkipEvent {
	all := slices.DeleteFunc(slices.Clone(k.Events), func(e SkipEvent) bool { return e == nil })
	slices.SortStableFunc(all, func(a, b SkipEvent) int { return cmp.Compare(a.skipEvent(), b.skipEvent()) })
	return all
}

// FindEvent returns the first event of one type; k may be nil.
func FindEvent[T SkipEvent](k *Skip) (event T, ok bool) {
	if k == nil {
		return event, false
	}
	for _, e := range k.Events {
		if event, ok = e.(T); ok {
			return event, true
		}
	}
	return event, false
}
