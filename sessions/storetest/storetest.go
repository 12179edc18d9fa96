package storetest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"parley/channels"
	"parley/policy"
	"parley/sessions"
)

// Run runs the suite. open gives an empty store that lives until the end of the test; every test gets its own.
func Run(t *testing.T, open func(t *testing.T) sessions.Store) {
	for _, test := range []struct {
		name string
		run  func(*testing.T, *fixture)
	}{
		{"Accept", accept}, {"AcceptSkip", acceptSkip}, {"AcceptCursor", acceptCursor}, {"Skipped", skipped}, {"Submit", submit}, {"ChangeOrder", changeOrder}, {"ChangeShuffled", changeShuffled},
		{"Upsert", upsert}, {"Stop", stop}, {"StopRecover", stopRecover}, {"StopBelow", stopBelow}, {"StopAside", stopAside}, {"StopTakesPart", stopTakesPart}, {"StopReachesClosed", stopReachesClosed}, {"StopTells", stopTells}, {"StopElsewhere", stopElsewhere}, {"OutdatedResult", outdatedResult}, {"AnsweredMeanwhile", answeredMeanwhile}, {"StopWithdraws", stopWithdraws}, {"StopKeepsRead", stopKeepsRead}, {"StopFirst", stopFirst},
		{"Absorb", absorb}, {"AbsorbNot", absorbNot}, {"Turns", turns}, {"Post", post}, {"FinishDeleteLater", finishDeleteLater}, {"ExpireLater", expireLater}, {"Above", above}, {"Known", known},
		{"Claim", claim}, {"ClaimConcurrent", claimConcurrent}, {"ClaimTranscript", claimTranscript}, {"ClaimAtOnce", claimAtOnce}, {"Deadline", deadline}, {"Record", record}, {"Finish", finish}, {"FinishBegin", finishBegin}, {"FinishNext", finishNext},
		{"FinishClear", finishClear}, {"FinishAfterReset", finishAfterReset}, {"Recover", recovered}, {"ListRuns", listRuns}, {"Trace", trace}, {"TraceReceipt", traceReceipt}, {"TraceChain", traceChain}, {"TraceWide", traceWide}, {"TraceDeleted", traceDeleted},
		{"BeginSend", beginSend}, {"BeginSendExpired", beginSendExpired}, {"BeginSendGranted", beginSendGranted}, {"BeginSendSession", beginSendSession}, {"BeginSendThread", beginSendThread}, {"Parts", parts}, {"Retry", retry}, {"EndDelivery", endDelivery},
		{"Requeue", requeue}, {"Readdress", readdress}, {"MovedReplies", movedReplies}, {"Due", due}, {"CountDeliveries", countDeliveries}, {"Marks", marks},
		{"List", list}, {"Patch", patch}, {"Labels", labels}, {"LabelsBelow", labelsBelow}, {"Reset", reset}, {"Heard", heard}, {"Archive", archive}, {"Delete", remove}, {"Expire", expire},
		{"Tail", tail}, {"Search", search}, {"SearchWords", searchWords}, {"SearchKeys", searchKeys}, {"SearchOld", searchOld}, {"Pairing", pairing}, {"Unpairing", unpairing}, {"Notes", notes}, {"NotesOf", notesOf}, {"NotFound", notFound}, {"Values", values}, {"Closed", closed},
		{"Ledger", ledger}, {"Spending", spending}, {"LedgerExpires", ledgerExpires}, {"Lifts", lifts}, {"Batch", batch}, {"BatchShort", batchShort}, {"Interrupt", interrupt}, {"Drop", drop},
		{"Overheard", overheard}, {"Compact", compact}, {"FinishSummary", finishSummary}, {"CompactRun", compactRun}, {"ResetOf", resetOf}, {"TailAfter", tailAfter}, {"Jobs", jobs}, {"Occurrences", occurrences}, {"Random", random},
		{"Positions", positions}, {"Writers", writers}, {"OwnMessage", ownMessage}, {"Asked", asked}, {"NewChats", newChats}, {"Previews", previews}, {"Files", files}, {"Amend", amend}, {"Revise", revise}, {"Said", said}, {"AmendHeard", amendHeard},
		{"OverheardEvents", overheardEvents}, {"ForeignDeletion", foreignDeletion}, {"Invite", invite}, {"Titles", titles}, {"MovedChat", movedChat},
		{"MovedPerson", movedPerson}, {"MovedToSession", movedToSession}, {"MovedAtWork", movedAtWork}, {"MovedAndRestarted", movedAndRestarted}, {"MovedBeside", movedBeside}, {"MovedToShared", movedToShared}, {"MovedPairing", movedPairing},
		{"RenamedAccount", renamedAccount}, {"RenamedTwice", renamedTwice}, {"RenamedAround", renamedAround}, {"RenamedToSession", renamedToSession}, {"RenamedPairing", renamedPairing}, {"RenamedCursor", renamedCursor},
		{"RunFields", runFields}, {"AloneStays", aloneStays}, {"StopRun", stopRun}, {"StoppedAsks", stoppedAsks}, {"UnclearEnd", unclearEnd}, {"Managed", managed}, {"Selected", selected}, {"TailBefore", tailBefore}, {"TailNumbers", tailNumbers}, {"OutOfRange", outOfRange}, {"LongIDs", longIDs},
		{"Opaque", opaque}, {"OpaqueBefore", opaqueBefore}, {"OpaqueBound", opaqueBound}, {"OpaqueResumed", opaqueResumed}, {"Lessons", lessons}, {"LessonsBound", lessonsBound},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.run(t, &fixture{t: t, Store: open(t), ctx: t.Context()})
		})
	}
}

// fixture is a store with shorthands that fail the test.
type fixture struct {
	sessions.Store
	t   *testing.T
	ctx context.Context
}

func id() string { return uuid.NewString() }

func addr(chat string) channels.Address {
	return channels.Address{Channel: "telegram", Account: "default", Chat: channels.ChatID(chat), Type: channels.Direct}
}

func key(chat string) sessions.Key { return sessions.Key("agent:main:telegram:direct:" + chat) }

func user(text string) sessions.Message {
	return sessions.Message{ID: id(), Role: sessions.User, Content: sessions.TextContent(text), Time: time.UnixMilli(1_700_000_000_123).UTC(), Provenance: &sessions.Provenance{Kind: sessions.ExternalUser, Sender: "7"}}
}

func assistant(text string) sessions.Message {
	return sessions.Message{ID: id(), Role: sessions.Assistant, Content: sessions.TextContent(text), Time: time.UnixMilli(1_700_000_001_000).UTC(), Model: "mock/m", Usage: &sessions.Usage{Input: 1, Output: 2}, Stop: "stop"}
}

func toolResult(call, text string) sessions.Message {
	return sessions.Message{ID: id(), Role: sessions.ToolResult, Content: sessions.TextContent(text), Time: time.UnixMilli(1_700_000_000_500).UTC(), ToolCallID: call, ToolName: "x"}
}

// newRun makes a run with an input.
func newRun(k sessions.Key, text string) *sessions.Run {
	return &sessions.Run{ID: sessions.RunID(id()), Kind: sessions.TurnRun, Key: k, Agent: "main", Reply: addr("1"), Input: user(text)}
}

func delivery(k sessions.Key, to channels.Address, text string) sessions.Delivery {
	return sessions.Delivery{ID: sessions.DeliveryID(id()), Kind: sessions.Reply, Session: k, To: to, Text: text}
}

// message is the arrival of a chat message that causes a run.
func message(chat, platformID, text string) sessions.Arrival {
	k := key(chat)
	return sessions.Arrival{
		In:     channels.Inbound{Event: channels.Message, Address: addr(chat), ID: channels.MessageID(platformID), Text: text},
		Change: &sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: k, Agent: "main", Last: addr(chat)}}, Run: &sessions.Enqueue{Run: *newRun(k, text)}},
	}
}

func (f *fixture) ok(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) is(err, want error) {
	f.t.Helper()
	if !errors.Is(err, want) {
		f.t.Fatalf("error %v, want one that wraps %v", err, want)
	}
}

// equal compares; times by instant, nil and empty alike.
func (f *fixture) equal(got, want any) {
	f.t.Helper()
	if d := cmp.Diff(want, got, cmp.Comparer(func(a, b time.Time) bool { return a.Equal(b) }), cmp.FilterPath(func(p cmp.Path) bool {
		return p.Last().Type().Kind().String() == "slice"
	}, cmp.FilterValues(func(a, b any) bool { return fmt.Sprint(a) == "[]" && fmt.Sprint(b) == "[]" }, cmp.Ignore()))); d != "" {
		f.t.Fatalf("differs (-want +got):\n%s", d)
	}
}

func (f *fixture) accept(a sessions.Arrival) sessions.Accepted {
	f.t.Helper()
	acc, err := f.Accept(f.ctx, a)
	f.ok(err)
	return acc
}

func (f *fixture) submit(e sessions.Change) sessions.Accepted {
	f.t.Helper()
	acc, err := f.Submit(f.ctx, e)
	f.ok(err)
	return acc
}

// session makes a session and gives it.
func (f *fixture) session(k sessions.Key) sessions.Session {
	f.t.Helper()
	return f.submit(sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: k, Agent: k.Agent()}}}).Session
}

func (f *fixture) get(k sessions.Key) sessions.Session {
	f.t.Helper()
	s, err := f.Get(f.ctx, k)
	f.ok(err)
	return s
}

func (f *fixture) claim(k sessions.Key) sessions.Run {
	f.t.Helper()
	r, ok, err := f.Claim(f.ctx, k)
	f.ok(err)
	if !ok {
		f.t.Fatalf("no run of %s to claim", k)
	}
	return r
}

func (f *fixture) nothingToClaim(k sessions.Key) {
	f.t.Helper()
	r, ok, err := f.Claim(f.ctx, k)
	f.ok(err)
	if ok {
		f.t.Fatalf("claimed %s of %s, want none", r.ID, k)
	}
}

func (f *fixture) finish(r sessions.RunID, o sessions.Outcome) sessions.Accepted {
	f.t.Helper()
	if o.Status == "" {
		o.Status = sessions.Done
	}
	acc, err := f.Finish(f.ctx, r, o)
	f.ok(err)
	return acc
}

func (f *fixture) run(r sessions.RunID) sessions.Run {
	f.t.Helper()
	run, err := f.GetRun(f.ctx, r)
	f.ok(err)
	return run
}

func (f *fixture) tail(s sessions.ID, q sessions.TailQuery) []sessions.Message {
	f.t.Helper()
	msgs, err := f.Tail(f.ctx, s, q)
	f.ok(err)
	return msgs
}

// texts gives what the messages say, one after the other.
func texts(msgs []sessions.Message) (out []string) {
	for _, m := range msgs {
		out = append(out, m.Text())
	}
	return out
}

func (f *fixture) delivery(d sessions.DeliveryID) sessions.Delivery {
	f.t.Helper()
	x, err := f.GetDelivery(f.ctx, d)
	f.ok(err)
	return x
}

// post makes one pending delivery.
func (f *fixture) post(d sessions.Delivery) sessions.Delivery {
	f.t.Helper()
	return f.submit(sessions.Change{Ops: []sessions.Op{sessions.EnqueueDelivery(d)}}).Deliveries[0]
}

var allowed = policy.Verdict{Action: policy.Allow, Rule: "default", Reason: "nothing denies it"}

func allow(sessions.Session) policy.Verdict { return allowed }

func (f *fixture) begin(d sessions.DeliveryID) sessions.Delivery {
	f.t.Helper()
	x, err := f.BeginSend(f.ctx, d, time.Now(), allow, sessions.FirstContactQuota{})
	f.ok(err)
	return x
}

// sent takes a delivery to its end.
func (f *fixture) sent(d sessions.DeliveryID) {
	f.t.Helper()
	f.begin(d)
	f.ok(f.PartSent(f.ctx, d, channels.Receipt{ID: "r", At: time.Now()}, true))
}

func keys(list []sessions.Session) (out []sessions.Key) {
	for _, s := range list {
		out = append(out, s.Key)
	}
	return out
}
