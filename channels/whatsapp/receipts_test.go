package whatsapp_test

import (
	"testing"

	"parley/channels"
)

// Receipts come in any order, twice, for messages that nobody knows, and from the account's own other devices: they are no events, and
// nothing is sent twice for them.
//
// source: tulir/whatsmeow types.ReceiptType; adiwajshing/Baileys#2313 (the delivery receipt is missing, the read receipt late)
func TestReceiptsOutOfOrder(t *testing.T) {
	t.Parallel()
	h, anna := answered(t)
	r, err := h.ch.Send(t.Context(), channels.Outbound{Key: "a1", To: h.direct(anna.Phone), Text: "an answer"})
	if err != nil {
		t.Fatal(err)
	}
	anna.WaitHeard(h.phone, "an answer")
	id := string(r.ID)
	for _, kind := range []string{"read", "", "played", "read", "inactive", "server-error", "a-kind-of-tomorrow"} {
		anna.Receipt(h.phone, kind, id, "3EB0UNKNOWN", id)
		anna.Receipt(h.phone, kind, "3EB0UNKNOWN")
	}
	anna.Receipt(h.phone, "retry", "3EB0UNKNOWN")
	for _, kind := range []string{"read-self", "sender", "played-self", ""} {
		h.phone.OwnReceipt(anna.Phone, kind, id, "3EB0UNKNOWN")
	}
	anna.Say(h.phone, "are you still there?")
	h.texts("are you still there?")
	if _, err := h.ch.Send(t.Context(), channels.Outbound{Key: "a2", To: h.direct(anna.Phone), Text: "I am"}); err != nil {
		t.Fatal(err)
	}
	anna.WaitHeard(h.phone, "I am")
	if n := anna.Repeats(); n != 0 {
		t.Errorf("%d messages came twice", n)
	}
	if got := h.ch.Health().State; got != channels.Connected {
		t.Errorf("state %s", got)
	}
	h.none()
}

// Somebody who could not read an answer asks for it after the host was started again, and gets it once more under its id.
//
// source: tulir/whatsmeow#252, #235
func TestRetryReceiptAfterARestart(t *testing.T) {
	t.Parallel()
	h, anna := answered(t)
	r, err := h.ch.Send(t.Context(), channels.Outbound{Key: "a1", To: h.direct(anna.Phone), Text: "an answer"})
	if err != nil {
		t.Fatal(err)
	}
	anna.WaitHeard(h.phone, "an answer")
	if err := h.end(); err != nil {
		t.Fatal(err)
	}
	h.reopen()
	anna.Receipt(h.phone, "read", string(r.ID)) // late, and before the request
	anna.Receipt(h.phone, "retry", string(r.ID))
	waitFor(t, "the answer once more", func() bool { return anna.Repeats() == 1 })
	if got := h.phone.Sent(anna.Phone); len(got) == 0 || got[len(got)-1].Text != "an answer" {
		t.Errorf("seen: %+v", got)
	}
}
