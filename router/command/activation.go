package command

import (
	"context"
	"strings"

	"parley/policy"
	"parley/sessions"
)

// cmdActivation says whether the agent answers everything in a group, or only what mentions it.
func cmdActivation(_ context.Context, _ *Table, c Call) (Result, error) {
	word := strings.ToLower(c.Arg)
	switch {
	case !c.In.Address.Type.Several():
		return Result{Text: "⚙️ Group activation only applies to group chats."}, nil
	case word != policy.OnMention && word != policy.Always:
		return Result{Text: "⚙️ Usage: /activation mention|always"}, nil
	}
	return Result{Text: "⚙️ Group activation set to " + word + ".", Change: onSession(sessions.PatchSession{Activation: &word})}, nil
}
