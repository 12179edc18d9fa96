package router

import (
	"context"
	"strings"

	"parley/policy"
	"parley/sessions"
)

// cmdActivation says whether the agent answers everything in a group, or only what mentions it.
func cmdActivation(_ context.Context, _ *Router, c commandCall) (string, sessions.Effects, error) {
	word := strings.ToLower(c.arg)
	switch {
	case !c.in.Address.Type.Several():
		return "⚙️ Group activation only applies to group chats.", sessions.Effects{}, nil
	case word != policy.OnMention && word != policy.Always:
		return "⚙️ Usage: /activation mention|always", sessions.Effects{}, nil
	}
	return "⚙️ Group activation set to " + word + ".", sessions.Effects{Patch: &sessions.Patch{Activation: &word}}, nil
}
