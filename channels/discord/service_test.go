package discord

import (
	"encoding/json"
	"testing"
)

// A number of votes that is none is not said.
// source: https://docs.discord.com/developers/resources/message#embed-fields-by-embed-type-poll-result-embed-fields
func TestVotesOutOfRangeAreNotSaid(t *testing.T) {
	t.Parallel()
	for votes, want := range map[[2]string]string{
		{"2", "3"}:                    "[the poll Lunch? has ended: Pizza, 2 of 3 votes]",
		{"-2", "3"}:                   "[the poll Lunch? has ended: Pizza]",
		{"2", "many"}:                 "[the poll Lunch? has ended: Pizza]",
		{"2", "99999999999999999999"}: "[the poll Lunch? has ended: Pizza]",
	} {
		var m wireMessage
		if err := json.Unmarshal([]byte(`{"embeds":[{"type":"poll_result","fields":[{"name":"poll_question_text","value":"Lunch?"},{"name":"victor_answer_text","value":"Pizza"},`+
			`{"name":"victor_answer_votes","value":"`+votes[0]+`"},{"name":"total_votes","value":"`+votes[1]+`"}]}]}`), &m); err != nil {
			t.Fatal(err)
		}
		if got := pollResult(&m, func(s string) string { return s }); got != want {
			t.Errorf("%v gives %q, want %q", votes, got, want)
		}
	}
}
