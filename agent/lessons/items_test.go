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

// TestIDsOfItems: a refused id of an item is left out; reasoning goes back without it.
// source: openai/openai-agents-python (Expected an ID that begins with 'fc'), maximhq/bifrost#6488
func TestIDsOfItems(t *testing.T) {
	t.Parallel()
	for _, said := range []string{
		"Invalid 'input[3].id': 'call_1'. Expected an ID that begins with 'fc'.",
		"Invalid 'input[2].id': 'thinking_1'. Expected an ID that begins with 'rs'.",
		"Invalid 'input[2].id': 'item_1'. Expected an ID that begins with 'msg'.",
		"Item with id 'fc_1' not found. Items are not persisted when `store` is set to false. Try again with `store` set to true, or remove this item from your input.",
	} {
		call := NewBook(Config{}).Call(at, "")
		sent := Sent{Params: []Param{{Name: ItemField + "id", Value: Taken, Fixed: true}, {Name: ItemField + "summary", Value: Taken, Fixed: true}}, Steps: true, Reasoning: true, Items: []Item{{ID: "rs_1"}}}
		call.Refused(t.Context(), refusal(400, `{"error":{"message":"`+said+`","type":"invalid_request_error"}}`), sent)
		if len(call.changed.applied) != 1 || call.changed.applied[0].Name != ItemField+"id" {
			t.Errorf("%s: %+v", said, call.changed.applied)
		}
	}
}
