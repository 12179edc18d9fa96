package discord

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"parley/channels"
	"parley/channels/discord/discordtest"
)

func TestMembersComeAndGo(t *testing.T) {
	t.Parallel()
	names := newNames()
	names.learn(&event{kind: "GUILD_CREATE", data: json.RawMessage(`{"id":"` + town + `","name":"Town","system_channel_id":"` + general + `","channels":[{"id":"` + general + `","type":0,"name":"general"}]}`)})
	d := decoder{account: "a", me: identity{User: "1"}, names: names, recent: newRecent(), members: true}
	e := event{kind: "GUILD_MEMBER_ADD", data: json.RawMessage(`{"guild_id":"` + town + `","user":{"id":"` + bert + `","username":"bert"}}`), mark: "s.1", at: time.Now()}
	if names.chatOf(e) != general {
		t.Errorf("told in %q", names.chatOf(e))
	}
	for kind, want := range map[string]channels.Event{"GUILD_MEMBER_ADD": channels.Joined, "GUILD_MEMBER_REMOVE": channels.Left} {
		e.kind = kind
		list := d.decode(e)
		if len(list) != 1 || list[0].Event != want || len(list[0].People) != 1 || list[0].People[0].ID != bert || list[0].Self || list[0].Address.Chat != general {
			t.Errorf("%s: %+v", kind, list)
		}
	}
	e.kind, e.data = "MESSAGE_CREATE", json.RawMessage(`{"id":"9","type":7,"channel_id":"`+general+`","author":{"id":"`+bert+`"}}`)
	if list := d.decode(e); len(list) != 0 {
		t.Errorf("who joined is told twice: %+v", list)
	}
}

func TestMembersAskForTheIntent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		h.srv.Privileged(discordtest.IntentMessageContent)
		h.start()
		h.settle()
		if !h.srv.Ready() {
			t.Error("without members the intent is asked for")
		}
		h.stop()
		h.cfg.Members = true
		h.open()
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
		defer cancel()
		if err := h.ch.Run(ctx, h.inbox); err == nil || channels.Classify(err).Class != channels.Rejected {
			t.Errorf("Run: %v", err)
		}
	})
}

// A chat is not taken for a direct one because the platform cannot say what it is.
func TestKindIsNotGuessed(t *testing.T) {
	inBubble(t, func(h *host) {
		const trio = "700000000000000001"
		h.srv.AddGroupDM(trio, "three", anna, bert)
		remove := h.srv.Inject(discordtest.Fault{Method: http.MethodGet, Route: discordtest.RouteChannel, Status: 500, Times: -1})
		h.srv.Say(trio, bert, "hi all")
		h.after(time.Hour)
		if list := h.taken(); len(list) > 0 {
			t.Errorf("%+v", list)
		}
		remove()
		h.after(time.Minute)
		if list := h.taken(); len(list) != 1 || list[0].Address.Type != channels.Group {
			t.Errorf("%+v", list)
		}
	})
}

// A host that stops while it is not known what kind of chats events are from takes none of them: it would guess.
func TestNothingIsGuessedAtTheEnd(t *testing.T) {
	inBubble(t, func(h *host) {
		h.srv.Inject(discordtest.Fault{Method: http.MethodGet, Route: discordtest.RouteChannel, Status: 500, Times: -1})
		for i := range 20 {
			id := fmt.Sprint("7000000000000000", 10+i)
			h.srv.AddGroupDM(id, "three", anna, bert)
			h.srv.Say(id, bert, "hi all")
		}
		h.after(time.Minute)
		h.stop()
		if list := h.taken(); len(list) > 0 {
			t.Errorf("%d events, the first %+v", len(list), list[0])
		}
	})
}
