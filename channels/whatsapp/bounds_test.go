package whatsapp

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unsafe"

	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"
	"google.golang.org/protobuf/proto"

	"parley/channels"
)

// Of a group whose notification was used nothing stays, however many groups this account comes into on one connection.
func TestArrivalsAreForgotten(t *testing.T) {
	t.Parallel()
	var a arrivals
	for n := range 3 * mostArrivals {
		id := fmt.Sprint(n)
		a.note(&waBinary.Node{Tag: "notification", Attrs: waBinary.Attrs{"type": "w:gp2", "id": "N" + id, "t": fmt.Sprint(time.Now().Unix())}, Content: []waBinary.Node{
			{Tag: "create", Content: []waBinary.Node{{Tag: "group", Attrs: waBinary.Attrs{"id": id}}}},
		}})
		if got := a.next(types.NewJID(id, types.GroupServer)); got.id != "N"+id {
			t.Fatalf("group %s: %+v", id, got)
		}
	}
	if len(a.known) != 0 || a.count != 0 {
		t.Errorf("%d groups, %d notifications are still known", len(a.known), a.count)
	}
}

// What is remembered of a message has its bounds, and holds on to no longer text that it is a part of.
func TestRecentIsBounded(t *testing.T) {
	t.Parallel()
	whole := strings.Repeat("a long answer that is sent in parts. ", 2000)
	for _, part := range []string{whole[len(whole)-20:], whole[:longestText], whole} {
		if s := short(part); unsafe.StringData(s) == unsafe.StringData(part) {
			t.Errorf("a part of %d bytes keeps the whole text", len(part))
		}
	}
	r, names := newRecent(), newGroups(nil)
	for n := range 3 * mostRecent {
		r.note(fmt.Sprint(n), past{text: short(whole)})
		names.set(types.NewJID(fmt.Sprint(n), types.GroupServer), "a group")
	}
	if len(r.known) != mostRecent || len(r.order) != mostRecent || len(names.known) > mostGroups {
		t.Errorf("%d messages in an order of %d, %d titles", len(r.known), len(r.order), len(names.known))
	}
}

// Numbers out of range are left out: no price is negative, and no timer that WhatsApp does not have is sent back.
// source: https://faq.whatsapp.com/673193694148537 (24 hours, 7 days or 90 days)
func TestNumbersOutOfRangeAreLeftOut(t *testing.T) {
	t.Parallel()
	for value, want := range map[int64]string{-1 << 63: "", -1: "", 0: "", 1<<63 - 1: "", 25000: "25.00 EUR"} {
		if got := amount(value, "EUR"); got != want {
			t.Errorf("%d: %q, want %q", value, got, want)
		}
	}
	for votes, want := range map[int64]string{-2: "[result of the poll: Lunch? — Pizza]", 1<<63 - 1: "[result of the poll: Lunch? — Pizza]", 0: "[result of the poll: Lunch? — Pizza: 0]", 3: "[result of the poll: Lunch? — Pizza: 3]"} {
		vote := &waE2E.PollResultSnapshotMessage_PollVote{OptionName: proto.String("Pizza"), OptionVoteCount: proto.Int64(votes)}
		m := &waE2E.Message{PollResultSnapshotMessage: &waE2E.PollResultSnapshotMessage{Name: proto.String("Lunch?"), PollVotes: []*waE2E.PollResultSnapshotMessage_PollVote{vote}}}
		if got := read(m).text; got != want {
			t.Errorf("%d votes: %q, want %q", votes, got, want)
		}
	}
	known := &timers{known: map[channels.ChatID]timer{}}
	known.learn("a", timer{seconds: 7 * 24 * 3600, since: 1 << 62})
	known.learn("a", timer{seconds: 4294967295, since: 1})
	if got, _ := known.of("a"); got != (timer{seconds: 7 * 24 * 3600}) {
		t.Errorf("%+v", got)
	}
}
