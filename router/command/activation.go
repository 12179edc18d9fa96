package command

import (
	"context"
	"strings"

	"parley/policy"
	"parley/sessions"
)

// cmdActivation says whether the agent answers everything in a group, or only what mentions it.
func cmdActivation(_ context.Context, _ *Table, c Call) (string, sessions.Effects, error) {
	word := strings.ToLower(c.Arg)
	switch {
	case !c.In.Address.Type.Several():
		return "⚙️ Group activation only applies to group chats.", sessions.Effects{}, nil
	case word != policy.OnMention && word != policy.Always:
		return "⚙️ Usage: /activation mention|always", sessions.Effects{}, nil
	}
	return "⚙️ Group activation set to " + word + ".", sessions.Effects{Patch: &sessions.Patch{Activation: &word}}, nil
}
