package sessions_test

import (
	"fmt"
	"slices"
	"testing"

	"parley/sessions"
)

// every lists one operation of each type, in the order in which a store carries them out.
func every() []any {
	return []any{
		sessions.PatchSession{}, sessions.ResetSession{}, sessions.StopSessions{}, sessions.StopRun{},
		sessions.EnqueueDelivery{}, sessions.AddNote{}, sessions.AppendContext{}, sessions.ConsumeContext{}, sessions.SuspendBudget{}, sessions.PutJob{},
		sessions.DeleteJob{}, sessions.DecidePairing{}, sessions.RevokePairing{}, sessions.ArchiveSession{}, sessions.DeleteSession{},
	}
}

// changeOf makes a change of operations of both kinds. Those on a session need one.
func changeOf(ops []any) (c sessions.Change) {
	for _, op := range ops {
		switch op := op.(type) {
		case sessions.SessionOp:
			if c.Session == nil {
				c.Session = &sessions.Target{Session: sessions.Session{Key: "k"}}
			}
			c.Session.Ops = append(c.Session.Ops, op)
		case sessions.Op:
			c.Ops = append(c.Ops, op)
		}
	}
	return c
}

func typesOf(ops []any) (names []string) {
	for _, op := range ops {
		names = append(names, fmt.Sprintf("%T", op))
	}
	return names
}

// The order of operations is the store's, not the caller's.
func TestChangeOrdered(t *testing.T) {
	t.Parallel()
	back := every()
	slices.Reverse(back)
	before, after := changeOf(back).Ordered()
	if got, want := typesOf(slices.Concat(before, after)), typesOf(every()); !slices.Equal(got, want) {
		t.Errorf("ordered %v, want %v", got, want)
	}
	if want := typesOf(every()[:4]); !slices.Equal(typesOf(before), want) {
		t.Errorf("before the run comes %v, want %v", typesOf(before), want)
	}
	if before, after := (sessions.Change{Ops: []sessions.Op{nil}, Session: &sessions.Target{Ops: []sessions.SessionOp{nil}}}).Ordered(); len(before)+len(after) > 0 {
		t.Errorf("operations that are none are ordered: %v %v", before, after)
	}
}

func TestChangeOrderedKeepsDeliveries(t *testing.T) {
	t.Parallel()
	post := func(id string) sessions.Op { return sessions.EnqueueDelivery{ID: sessions.DeliveryID(id)} }
	c := sessions.Change{Ops: []sessions.Op{sessions.DeleteJob{ID: "j"}, post("b"), sessions.StopRun{ID: "r"}, post("a"), post("c")}}
	before, after := c.Ordered()
	if got, want := fmt.Sprint(before), fmt.Sprint([]any{sessions.StopRun{ID: "r"}}); got != want {
		t.Errorf("before: %s, want %s", got, want)
	}
	var ids []sessions.DeliveryID
	for _, op := range after {
		if d, ok := op.(sessions.EnqueueDelivery); ok {
			ids = append(ids, d.ID)
		}
	}
	if want := []sessions.DeliveryID{"b", "a", "c"}; !slices.Equal(ids, want) {
		t.Errorf("deliveries %v, want %v", ids, want)
	}
}

func TestChangeValidate(t *testing.T) {
	t.Parallel()
	at := &sessions.Target{Session: sessions.Session{Key: "k"}}
	for _, x := range []struct {
		name string
		c    sessions.Change
		ok   bool
	}{
		{"nothing", sessions.Change{}, true},
		{"a run without a session", sessions.Change{Run: &sessions.Enqueue{Claim: true}}, true},
		{"a session without its key", sessions.Change{Session: &sessions.Target{}}, false},
		{"an interruption without a session", sessions.Change{Run: &sessions.Enqueue{Interrupt: true}}, false},
		{"a dropped turn without a session", sessions.Change{Run: &sessions.Enqueue{DropOldest: 1}}, false},
		{"both with a session", sessions.Change{Session: at, Run: &sessions.Enqueue{Interrupt: true, DropOldest: 1}}, true},
	} {
		if err := x.c.Validate(); (err == nil) != x.ok {
			t.Errorf("%s: %v", x.name, err)
		}
	}
}

func TestFindOp(t *testing.T) {
	t.Parallel()
	c := changeOf([]any{sessions.ResetSession{IfID: "1"}, sessions.DeleteJob{ID: "a"}, sessions.DeleteJob{ID: "b"}})
	if op, ok := sessions.FindOp[sessions.ResetSession](c); !ok || op.IfID != "1" {
		t.Errorf("found %v %v", op, ok)
	}
	if op, ok := sessions.FindOp[sessions.DeleteJob](c); !ok || op.ID != "a" {
		t.Errorf("found %v %v, want the first", op, ok)
	}
	if op, ok := sessions.FindOp[sessions.PatchSession](c); ok {
		t.Errorf("found %v, which is not there", op)
	}
}

func TestSkipOrdered(t *testing.T) {
	t.Parallel()
	k := sessions.Skip{Events: []sessions.SkipEvent{sessions.MoveChat{}, nil, sessions.AppendContext{Text: "b"}, sessions.RenameSession{}, sessions.AppendContext{Text: "a"}, sessions.AmendRun{}}}
	want := []any{sessions.AmendRun{}, sessions.AppendContext{}, sessions.AppendContext{}, sessions.RenameSession{}, sessions.MoveChat{}}
	var got []any
	for _, e := range k.Ordered() {
		got = append(got, e)
	}
	if !slices.Equal(typesOf(got), typesOf(want)) {
		t.Errorf("ordered %v, want %v", typesOf(got), typesOf(want))
	}
	if len(k.Events) != 6 || k.Events[1] != nil {
		t.Error("the list itself has changed")
	}
	if a, ok := sessions.FindEvent[sessions.AppendContext](&k); !ok || a.Text != "b" {
		t.Errorf("found %v %v", a, ok)
	}
	if _, ok := sessions.FindEvent[sessions.AmendRun](nil); ok {
		t.Error("found an event of nothing")
	}
}

// FuzzChangeValidate makes changes of any operations in any order. Validate refuses what it says, and nothing else; Ordered gives each operation
// once, and whatever the order, the same.
func FuzzChangeValidate(f *testing.F) {
	f.Add([]byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14}, uint8(0))
	f.Add([]byte{4, 0, 4, 15, 1}, uint8(7))
	f.Add([]byte{}, uint8(15))
	f.Add([]byte{14, 13, 12, 3, 2, 1, 0}, uint8(25))
	f.Fuzz(func(t *testing.T, picks []byte, bits uint8) {
		all := every()
		ops := make([]any, 0, len(picks))
		for i, p := range picks {
			switch op := all[int(p)%len(all)].(type) {
			case sessions.EnqueueDelivery:
				op.ID = sessions.DeliveryID(fmt.Sprint(i))
				ops = append(ops, op)
			default:
				ops = append(ops, op)
			}
		}
		c := changeOf(ops)
		if bits&1 != 0 {
			c.Session = nil
		}
		if bits&2 != 0 && c.Session != nil {
			c.Session.Key = ""
		}
		if bits&4 != 0 {
			c.Run = &sessions.Enqueue{Interrupt: bits&8 != 0, DropOldest: int(bits >> 4)}
		}
		bad := c.Session != nil && c.Session.Key == "" || c.Session == nil && c.Run != nil && (c.Run.Interrupt || c.Run.DropOldest > 0)
		if err := c.Validate(); (err != nil) != bad {
			t.Fatalf("%+v: %v", c, err)
		}
		before, after := c.Ordered()
		got := slices.Concat(before, after)
		n := len(c.Ops)
		if c.Session != nil {
			n += len(c.Session.Ops)
		}
		if len(got) != n {
			t.Fatalf("%d operations became %d", n, len(got))
		}
		if !slices.IsSortedFunc(got, func(a, b any) int { return position(a) - position(b) }) {
			t.Fatalf("out of order: %v", typesOf(got))
		}
		back := c
		back.Ops = slices.Clone(c.Ops)
		slices.Reverse(back.Ops)
		before, after = back.Ordered()
		if !slices.Equal(typesOf(slices.Concat(before, after)), typesOf(got)) {
			t.Fatalf("the caller's order counts: %v, %v", typesOf(before), typesOf(after))
		}
	})
}

// position is where every lists an operation's type.
func position(op any) int {
	return slices.Index(typesOf(every()), fmt.Sprintf("%T", op))
}
