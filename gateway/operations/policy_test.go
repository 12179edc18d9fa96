package operations

import (
	"reflect"
	"testing"

	"parley/gateway/api"
	"parley/policy"
)

// The rules carry the names that verdicts have, and a default that is not set is allow.
func TestSendRules(t *testing.T) {
	t.Parallel()
	got := listRules(policy.SendPolicy{Rules: []policy.SendRule{
		{Match: policy.SendMatch{Channel: "telegram", ChatType: "group"}, Action: policy.Deny}, {Action: policy.Allow},
	}})
	want := api.SendRules{Default: policy.Allow, Rules: []api.SendRule{
		{Rule: "session.sendPolicy.rules[0]", Action: policy.Deny, Match: policy.SendMatch{Channel: "telegram", ChatType: "group"}, Applies: "channel telegram, chatType group"},
		{Rule: "session.sendPolicy.rules[1]", Action: policy.Allow, Applies: "everything"},
	}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := listRules(policy.SendPolicy{Default: policy.Deny}); !got.Set || got.Default != policy.Deny || got.Rules == nil {
		t.Errorf("a default that is set: %+v", got)
	}
}
