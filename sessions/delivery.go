package sessions

import (
	"time"

	"github.com/google/uuid"

	"parley/channels"
	"parley/policy"
)

// DeliveryID names a delivery, a UUID.
type DeliveryID string

// DeliveryState is the state of an outbound message: pending → sending → sent | withheld | failed | expired | stopped.
type DeliveryState string

// The states. A delivery found in Sending when the host starts is ambiguous: it may or may not have arrived.
const (
	Pending      DeliveryState = "pending"
	Sending      DeliveryState = "sending"
	Sent         DeliveryState = "sent"
	Withheld     DeliveryState = "withheld" // by the send policy; Verdict says which rule
	DeliveryFail DeliveryState = "failed"   // Error says why
	Expired      DeliveryState = "expired"  // not sent before Expires
	Dropped      DeliveryState = "dropped"  // by a person

	// DeliveryStopped ended with the work of its session. Parts that have arrived stay; one that arrives later is added, and the last one makes it Sent.
	DeliveryStopped DeliveryState = "stopped"
	Held            DeliveryState = "held" // ambiguous, and the account is set to hold: a person decides
)

// Final reports whether nothing more will happen automatically.
func (s DeliveryState) Final() bool { return s != Pending && s != Sending }

// DeliveryKind says what is being delivered; the time to live goes by it.
type DeliveryKind string

// The kinds.
const (
	Reply    DeliveryKind = "reply"
	Announce DeliveryKind = "announce"
	Notice   DeliveryKind = "notice"  // the host's own words: answers to commands, error notices
	Invite   DeliveryKind = "pairing" // the notice with a pairing code: its words are kept until it is final, no longer
	Posted   DeliveryKind = "message" // by the tool message
)

// Asked reports whether a person who is let in has written before: it waits for no other day (FirstContactQuota).
func (k DeliveryKind) Asked() bool { return k == Reply || k == Notice }

// Delivery is one outbound message to one address. It may be sent in several parts; Part counts those that have arrived.
type Delivery struct {
	ID             DeliveryID         `json:"id"`
	Seq            int64              `json:"seq,omitzero"` // order of creation; per chat, deliveries leave in this order
	Kind           DeliveryKind       `json:"kind,omitzero"`
	Session        Key                `json:"session,omitzero"` // whose policy applies; empty = no session (pairing notices)
	Run            RunID              `json:"run,omitzero"`     // empty = a command's answer
	Message        string             `json:"message,omitzero"` // the transcript message that it carries, which may be the input of a PostRun that is queued; empty = none
	To             channels.Address   `json:"to,omitzero"`
	ReplyTo        channels.MessageID `json:"replyTo,omitzero"`
	Text           string             `json:"text,omitzero"` // Markdown, whole
	Files          []File             `json:"files,omitempty"`
	State          DeliveryState      `json:"state"`
	Part           int                `json:"part,omitzero"`      // parts that have arrived
	Attempt        int                `json:"attempt,omitzero"`   // sends tried for the current part
	Repeat         bool               `json:"repeat,omitzero"`    // a part was sent again after an ambiguous end: the chat may show it twice
	Ambiguous      bool               `json:"unclear,omitzero"`   // a try of the current part may have arrived; with a final state other than sent: the chat may show what the list says was not sent
	AmbiguousTries int32              `json:"-"`                  // tries of the current part that may each be there, since a person last asked for it
	NotBefore      time.Time          `json:"notBefore,omitzero"` // zero = now
	Expires        time.Time          `json:"expires,omitzero"`
	PreAuthorized  *policy.Verdict    `json:"granted,omitzero"`  // decided when it was made: an answer to /send, allowed by the policy before the flip
	Verdict        *policy.Verdict    `json:"verdict,omitzero"`  // what decided in the end
	Receipts       []channels.Receipt `json:"receipts,omitzero"` // one for each part that arrived
	Tries          []Try              `json:"tries,omitempty"`   // the newest that did not work, oldest first
	Error          string             `json:"error,omitzero"`
	Created        time.Time          `json:"created,omitzero"`
	Updated        time.Time          `json:"updated,omitzero"`
}

// Try is one send of a part that did not work.
type Try struct {
	At    time.Time `json:"at"`    // when it ended
	Part  int       `json:"part"`  // parts that had arrived before it
	Error string    `json:"error"` // why it did not work

	ConfirmedAbsent bool `json:"absent,omitempty"` // it ended ambiguous, and the platform said later that it does not have it
}

// NewDelivery returns a delivery of a session's text to an address, under a random id. A delivery that a repeated call must not make twice gets
// an id of its own.
func NewDelivery(kind DeliveryKind, session Key, to channels.Address, text string, expires time.Time) Delivery {
	return Delivery{ID: DeliveryID(uuid.NewString()), Kind: kind, Session: session, To: to, Text: text, Expires: expires}
}

// NewNotice makes the notice that answers a message: where several people write, it refers to the message.
func NewNotice(session Key, in channels.Inbound, text string, expires time.Time) Delivery {
	d := NewDelivery(Notice, session, in.Address, text, expires)
	if in.Address.Type.Several() {
		d.ReplyTo = in.ID
	}
	return d
}

// MoveTo gives a delivery the address that its chat has now.
func (d *Delivery) MoveTo(to channels.Address) {
	d.To, d.ReplyTo = to, d.ReplyTo.Moved(d.To, to)
}

// AbsentTries counts the listed tries of the part under way that did not arrive.
func (d *Delivery) AbsentTries() (n int) {
	for _, t := range d.Tries {
		if t.ConfirmedAbsent && t.Part == d.Part {
			n++
		}
	}
	return n
}

// maxTries bounds the tries that a delivery lists.
const maxTries = 50

// Failed adds a try that ended with an error to the list. The oldest goes when the list is full.
func (d *Delivery) Failed(at time.Time, why string, absent bool) {
	d.Tries = append(d.Tries, Try{At: at, Part: d.Part, Error: why, ConfirmedAbsent: absent})
	d.Tries = d.Tries[max(0, len(d.Tries)-maxTries):]
}

// TryEnd is the end of a try whose part is sent again.
type TryEnd int

// The ends.
const (
	NotArrived        TryEnd = iota // this one did not
	UnknownIdempotent               // it may have arrived, and is not shown twice: the platform knows the next try by its key
	UnknownMayRepeat                // it may have arrived, and may be shown twice
	ConfirmedAbsent                 // none has: the platform was asked
)

// Tried notes the end of a try.
func (d *Delivery) Tried(end TryEnd) {
	switch end {
	case UnknownIdempotent:
		d.Ambiguous = true
	case UnknownMayRepeat:
		d.Ambiguous = true
		d.AmbiguousTries++
	case ConfirmedAbsent:
		d.Ambiguous, d.AmbiguousTries = false, 0
	}
	d.Repeat = d.Repeat || end == UnknownMayRepeat
}

// MayHaveArrived is the note for people on a delivery that ended Ambiguous.
const MayHaveArrived = "an earlier try may have arrived"

// File is a file that a delivery carries. Its bytes are kept by the host under their hash.
type File struct {
	Kind channels.MediaKind `json:"kind"`
	Name string             `json:"name"` // for people, no path
	MIME string             `json:"mimeType,omitempty"`
	Size int64              `json:"size"`
	Hash string             `json:"sha256"` // of the bytes, hex
}
