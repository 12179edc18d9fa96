package whatsapp_test

import (
	"fmt"
	"testing"

	"parley/channels"
	"parley/channels/whatsapp/whatsapptest"
)

// A group that WhatsApp does not describe stays a group: what is said there is heard under its own id and in nobody's direct chat, and nothing
// is sent there, after a restart as well, until WhatsApp says who is in it.
// source: go.mau.fi/whatsmeow, group.go (getGroupInfo: 403 is ErrNotInGroup, 404 ErrGroupNotFound; an answer without a group is an error)
func TestGroupThatWhatsAppDoesNotDescribe(t *testing.T) {
	t.Parallel()
	for _, code := range []int{200, 403, 404, 500} {
		t.Run(fmt.Sprint(code), func(t *testing.T) {
			t.Parallel()
			s := whatsapptest.New(t)
			anna := s.NewPerson("Anna")
			h := linked(t, s, s.NewPhone("Bot"))
			g := s.NewGroup("crew", anna.Phone, h.phone)
			g.Hide(h.phone, code)
			for i := range 2 {
				anna.Say(g, fmt.Sprint("hello ", i))
				if in := h.next(); in.Address != h.group(g) || in.Text != fmt.Sprint("hello ", i) || in.Title != "" || in.Mentioned || in.Sender.ID != channels.UserID(anna.Number()) {
					t.Errorf("came as %+v", in)
				}
				if _, err := h.ch.Send(t.Context(), channels.Outbound{Key: fmt.Sprint("a", i), To: h.group(g), Text: "x"}); err == nil || channels.Classify(err).Class == channels.Ambiguous {
					t.Errorf("sent: %v", err)
				}
				if got := append(h.phone.Sent(g), h.phone.Sent(anna)...); len(got) != 0 {
					t.Errorf("the platform has %+v", got)
				}
				h.reopen()
			}
			g.Hide(nil, 0)
			h.send(channels.Outbound{Key: "b", To: h.group(g), Text: "hello all"})
			if got := h.phone.Sent(g); len(got) != 1 || got[0].Text != "hello all" {
				t.Errorf("the group sees %+v", got)
			}
		})
	}
}
