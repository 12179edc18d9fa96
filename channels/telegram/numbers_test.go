package telegram

import "testing"

// Numbers out of range are not said: nobody wins -3 times, and no price is below nothing.
// source: https://core.telegram.org/bots/api#giveaway, #invoice, #gift, #polloption, #dice
func TestNumbersOutOfRangeAreNotSaid(t *testing.T) {
	t.Parallel()
	for fields, want := range map[string]string{
		`"giveaway":{"chats":[{"id":-5,"type":"channel","title":"News"}],"winners_selection_date":1764352800,"winner_count":-3,"prize_star_count":-5}`:       "[giveaway in News: on 2025-11-28 18:00 UTC]",
		`"giveaway":{"chats":[{"id":-5,"type":"channel","title":"News"}],"winners_selection_date":-4,"winner_count":1,"premium_subscription_month_count":1}`: "[giveaway in News: 1 winner; prize: Telegram Premium for 1 month]",
		`"giveaway":{"chats":[{"id":-5,"type":"channel","title":"News"}],"winners_selection_date":9223372036854775807,"winner_count":9223372036854775807}`:   "[giveaway in News]",
		`"invoice":{"title":"Cup","description":"Of tea","currency":"EUR","total_amount":-145}`:                                                              "[invoice: Cup: Of tea]",
		`"invoice":{"title":"Cup","description":"Of tea","currency":"EUR","total_amount":9223372036854775807}`:                                               "[invoice: Cup: Of tea]",
		`"successful_payment":{"currency":"XTR","total_amount":-5}`:                                                                                          "[payment]",
		`"refunded_payment":{"currency":"XTR","total_amount":1}`:                                                                                             "[refund: 1 star]",
		`"gift":{"gift":{"id":"g","star_count":-9},"text":"for you"}`:                                                                                        "[gift: for you]",
		`"unique_gift":{"gift":{"base_name":"Cat","number":-2}}`:                                                                                             "[unique gift: Cat]",
		`"paid_media":{"star_count":-1,"paid_media":[{"type":"preview"}]}`:                                                                                   "[paid media: 1]",
		`"dice":{"emoji":"🎲","value":-6}`:                                                                                                                    "[dice: 🎲]",
		`"dice":{"emoji":"🎲","value":"six"}`:                                                                                                                 "[dice: 🎲]",
		`"poll":{"id":"p","question":"Q","options":[{"text":"a","voter_count":-1},{"text":"b","voter_count":2}]}`:                                            "[poll: Q: a / b (2)]",
		`"text":"then","entities":[{"type":"date_time","offset":0,"length":4,"unix_time":9223372036854775807}]`:                                              "then",
	} {
		if in := decodeMessage(t, fields).in; in.Text != want {
			t.Errorf("%s\ngives %q, want %q", fields, in.Text, want)
		}
	}
}
