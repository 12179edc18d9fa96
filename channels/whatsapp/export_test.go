package whatsapp

import (
	"context"
	"database/sql"
	"log/slog"
	"os"
	"time"

	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"
	waLog "go.mau.fi/whatsmeow/util/log"

	"parley/channels"
)

// SetPace shortens what a test would wait for: before the first reconnect, before what was refused is fetched again, and for the
// server's answer to a message. Zero leaves one as it is.
func SetPace(c *Channel, first, refused, ack time.Duration) {
	for _, p := range []struct {
		to   *time.Duration
		from time.Duration
	}{{&c.pace.first, first}, {&c.pace.refused, refused}, {&c.pace.ack, ack}} {
		if p.from != 0 {
			*p.to = p.from
		}
	}
}

// People answers what a decoder asks.
type People struct {
	Numbers       map[types.JID]types.JID
	Names, Groups map[types.JID]string
	Panic         bool
}

func (p People) number(lid types.JID) types.JID { return p.Numbers[lid] }
func (p People) group(jid types.JID) string     { return p.Groups[jid] }
func (p People) person(jid types.JID) string {
	if p.Panic {
		panic("somebody without a name")
	}
	return p.Names[jid]
}

// Decode reads a message as the account pn/lid, device 7, which sent the message "OURS" before.
func Decode(evt *events.Message, pn, lid types.JID, p People) (channels.Inbound, bool) {
	return testDecoder(pn, lid, p).message(evt)
}

// DecodeGroup reads a change of a group.
func DecodeGroup(evt *events.GroupInfo, pn, lid types.JID, p People) []channels.Inbound {
	return testDecoder(pn, lid, p).membership(evt)
}

// DecodeJoined reads that the account came into a group, from a notification with this id and time.
func DecodeJoined(evt *events.JoinedGroup, id string, at time.Time, pn, lid types.JID, p People) channels.Inbound {
	return testDecoder(pn, lid, p).joined(evt, arrival{id: id, at: at})
}

// DecodeFenced reads a message as a Run does it.
func DecodeFenced(c *Channel, evt *events.Message, pn, lid types.JID, p People) (channels.Inbound, bool) {
	l := &link{c: c}
	return l.decode(testDecoder(pn, lid, p), evt)
}

func testDecoder(pn, lid types.JID, p People) *decoder {
	return &decoder{account: "default", me: identity{pn: pn, lid: lid, device: 7}, names: p, ours: func(id types.MessageID) bool { return id == "OURS" }}
}

// Hurry shortens all of them.
func Hurry(c *Channel) {
	SetPace(c, 50*time.Millisecond, 50*time.Millisecond, 3*time.Second)
	SetVerdict(c, 100*time.Millisecond)
}

// SetGrace shortens what the event under way has when Run is told to end.
func SetGrace(c *Channel, d time.Duration) { c.pace.grace = d }

// AtOnce lets the account connect again without a wait, however often the connection breaks.
func AtOnce(c *Channel) { c.pace.first = 0 }

// Verdict reads what WhatsApp says about the account.
func Verdict(c *Channel, evt any) (detail string, ok bool) {
	end, ok := c.verdict(evt)
	return end.detail, ok
}

// Restrict gives how long an account rests that is refused a message after WhatsApp has said when its restriction ends.
func Restrict(ctx context.Context, ends time.Time) (detail string, wait time.Duration) {
	c := &Channel{log: slog.New(slog.DiscardHandler)}
	e := &events.NotifyAccountReachoutTimelock{IsActive: true}
	e.TimeEnforcementEnds.Time = ends
	c.timelock(ctx, e)
	wait = c.hold(ctx)
	return c.Health().Detail, wait
}

// Banned gives how long an account rests that is banned for so long.
func Banned(expire time.Duration) (detail string, wait time.Duration) {
	end := banned(&events.TemporaryBan{Code: events.TempBanSentToTooManyPeople, Expire: expire})
	return end.detail, channels.Classify(end.err).RetryAfter
}

// Strangers are the chats whose numbers are not known, kept in a folder.
type Strangers struct{ *strangers }

// LoadStrangers reads them.
func LoadStrangers(dir string) (Strangers, error) {
	s, err := loadStrangers(dir)
	return Strangers{s}, err
}

// Add notes one.
func (s Strangers) Add(lid string) error { return s.add(lid) }

// Remove forgets one.
func (s Strangers) Remove(lid string) error { return s.remove(lid) }

// Has reports whether one is noted.
func (s Strangers) Has(lid string) bool { return s.has(lid) }

// Lines is how long the file is.
func (s Strangers) Lines() int { return s.lines }

// MostUnknown bounds them.
const MostUnknown = mostUnknown

// LibraryLog is what the library logs to.
func LibraryLog(ctx context.Context, log *slog.Logger) waLog.Logger {
	return &libraryLog{ctx: ctx, log: log}
}

// Promises reports whether a stanza waits for its keys to be on disk.
func Promises(tag, typ string) bool {
	return promises(&waBinary.Node{Tag: tag, Attrs: waBinary.Attrs{"type": typ}})
}

// OnSync has f called in place of the sync of the log of the key file of a channel that is connected.
func OnSync(c *Channel, f func(*os.File) error) {
	ahead := c.live.Load().keys.ahead
	ahead.turn <- struct{}{}
	ahead.fsync = f
	<-ahead.turn
}

// KeysOnDisk gives what syncs the log of a key file.
func KeysOnDisk(keys string, fsync func(*os.File) error) (sync func() error, end func()) {
	w := newWriteAhead(keys)
	w.fsync = fsync
	return w.sync, w.close
}

// OpenKeys opens a key file, with a connection that somebody uses.
func OpenKeys(ctx context.Context, path string) (used *sql.Conn, end func(), err error) {
	k, err := openKeys(ctx, path, aheadOfStanzas, &libraryLog{ctx: ctx, log: slog.New(slog.DiscardHandler), dials: &dials{}})
	if err != nil {
		return nil, nil, err
	}
	used, err = k.db.Conn(ctx)
	return used, k.close, err
}

// SetVerdict shortens how long WhatsApp has to repeat that the account has ended.
func SetVerdict(c *Channel, d time.Duration) { c.pace.verdict = d }

// SetGather shortens what is waited for further parts of an album.
func SetGather(c *Channel, d time.Duration) { c.pace.gather = d }

// NameOf gives what a channel that is connected knows somebody as. The library notes names beside its work.
func NameOf(c *Channel, who types.JID) string {
	l := c.live.Load()
	return keyFileNames{ctx: l.offering, device: l.keys.device, groups: l.groups}.person(who)
}
