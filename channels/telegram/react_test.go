package telegram_test

import (
	"regexp"
	"slices"
	"strconv"
	"testing"
	"time"

	"parley/channels"
	"parley/channels/telegram"
	"parley/channels/telegram/telegramtest"
)

var inTeam = channels.Address{Channel: telegram.Kind, Account: channels.DefaultAccount, Chat: channels.ChatID(strconv.FormatInt(team, 10)), Type: channels.Group}

var inTopic = channels.Address{Channel: telegram.Kind, Account: channels.DefaultAccount, Chat: channels.ChatID(strconv.FormatInt(forum, 10)), Thread: "7", Type: channels.Group}

func TestReact(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		said := r.srv.Say(team, anna, "hello")
		id := channels.MessageID(strconv.FormatInt(said.MessageID, 10))
		to := inTeam
		for _, emoji := range []string{"👀", "❤️", ""} {
			if err := r.ch.React(t.Context(), to, id, emoji); err != nil {
				t.Errorf("%q: %v", emoji, err)
			}
		}
		want := []telegramtest.Reaction{{Chat: team, MessageID: said.MessageID, Emoji: "👀"}, {Chat: team, MessageID: said.MessageID, Emoji: "❤"}, {Chat: team, MessageID: said.MessageID}}
		if got := r.srv.Reactions(); !slices.Equal(got, want) {
			t.Errorf("%+v, want %+v", got, want)
		}
		if err := r.ch.React(t.Context(), to, id, "🦖"); class(err) != channels.Unsupported {
			t.Errorf("an emoji that Telegram has not got: %v", err)
		}
		if err := r.ch.React(t.Context(), to, "424242", "👀"); class(err) != channels.Rejected {
			t.Errorf("a message that is not there: %v", err)
		}
		r.srv.Inject(telegramtest.TooManyRequests("setMessageReaction", 30))
		if err := r.ch.React(t.Context(), to, id, "👀"); class(err) != channels.Limited || channels.Classify(err).RetryAfter != 30*time.Second {
			t.Errorf("asked to wait: %v", err)
		}
		calls := len(r.srv.Calls("setMessageReaction"))
		if err := r.ch.React(t.Context(), to, id, "👀"); class(err) != channels.Limited || len(r.srv.Calls("setMessageReaction")) != calls {
			t.Errorf("called all the same: %v", err)
		}
	})
}

// The stand-in takes the emoji that the description of the Bot API names, and no others.
func TestAllowedReactions(t *testing.T) {
	spec, err := telegramtest.FindSpec()
	if err != nil {
		t.Skip(err)
	}
	bubble(t, func(t *testing.T, r *rig) {
		said := r.srv.Say(team, anna, "hello")
		named := 0
		for _, f := range spec.Types["ReactionTypeEmoji"].Fields {
			for _, m := range regexp.MustCompile(`"([^"\w]+)"`).FindAllStringSubmatch(f.Description, -1) {
				named++
				if err := r.ch.React(t.Context(), inTeam, channels.MessageID(strconv.FormatInt(said.MessageID, 10)), m[1]); err != nil {
					t.Errorf("%s: %v", m[1], err)
				}
			}
		}
		if named < 70 || len(r.srv.Reactions()) != named {
			t.Errorf("%d of %d emoji", len(r.srv.Reactions()), named)
		}
	})
}
