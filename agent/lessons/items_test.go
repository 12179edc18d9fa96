package lessons

import (
	"fmt"
	"testing"
)

// TestNoItemIsRead: an endpoint that refuses each item gets no reasoning at all after a bounded number of refusals, and keeps to it.
func TestNoItemIsRead(t *testing.T) {
	t.Parallel()
	b := NewBook(Config{})
	for round, most := range []int{maxItems + 2, 0} {
		c, refused := b.Call(at, ""), 0
		for {
			sent := Sent{Steps: true}
			for n := range 6 {
				if i := (Item{ID: fmt.Sprint("rs_", n)}); !c.OffItem(i) && c.Use(Reasoning) != OmitReasoning {
					sent.Items, sent.Reasoning = append(sent.Items, i), true
				}
			}
			if len(sent.Items) == 0 {
				break
			}
			err := refusal(400, `{"error":{"message":"The encrypted content for item `+sent.Items[0].ID+` could not be verified.","code":"invalid_encrypted_content"}}`)
			if refused++; !c.Refused(t.Context(), err, sent) || refused > 2*most {
				t.Fatalf("round %d: it gives up after %d", round, refused)
			}
		}
		if c.Worked(t.Context()); refused > most {
			t.Errorf("round %d: %d refused", round, refused)
		}
	}
}

// TestItemNames: ids that are too long for a lesson are hashed.
func TestItemNames(t *testing.T) {
	t.Parallel()
	long := Item{ID: fmt.Sprintf("rs_%0100d", 1)}
	if n := long.name(); len(n) > maxItemName || n == (Item{ID: long.ID + "0"}).name() {
		t.Errorf("%q", n)
	}
	c := NewBook(Config{}).Call(at, "")
	if c.OffItem(Item{}) || !c.ReasoningFrom().IsZero() {
		t.Error("nothing is known, and something is left out")
	}
}
