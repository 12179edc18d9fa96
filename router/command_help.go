package router

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"parley/sessions"
)

func cmdHelp(_ context.Context, r *Router, c commandCall) (string, sessions.Effects, error) {
	return "Write to me as you would to a person. `/new` starts over with an empty memory, `/stop` stops what I am doing, `/status` says how things are. " +
		"`/commands` lists all that I understand.", sessions.Effects{}, nil
}

// cmdCommands shows the whole table.
func cmdCommands(_ context.Context, r *Router, c commandCall) (string, sessions.Effects, error) {
	var b strings.Builder
	b.WriteString("**Commands**, and who may use them:\n\n")
	for _, x := range r.commands {
		fmt.Fprintf(&b, "- `/%s`", strings.TrimSpace(x.name+" "+x.args))
		for _, a := range x.aliases {
			fmt.Fprintf(&b, ", `/%s`", a)
		}
		fmt.Fprintf(&b, ": %s (%s)\n", x.about, x.scope())
	}
	return b.String(), sessions.Effects{}, nil
}

// scope says who may use a command and where.
func (c command) scope() string {
	s := map[who]string{ownerOnly: "owners", allowed: "people on my allow list", anyone: "everybody"}[c.who]
	if c.where != anywhere {
		s += ", in " + string(c.where)
	}
	return s
}

func cmdWhoami(_ context.Context, _ *Router, c commandCall) (string, sessions.Effects, error) {
	role := "allowed to talk to me"
	if c.owner {
		role = "one of my owners"
	}
	name := cmp.Or(c.in.Sender.Name, c.in.Sender.Username, string(c.in.Sender.ID))
	if c.inside {
		return fmt.Sprintf("You are %s, %s, and wrote to the host itself.\n\nThis session is `%s`.", name, role, c.session.Key), sessions.Effects{}, nil
	}
	return fmt.Sprintf("You are %s, `%s:%s`, %s.\n\nThis chat is `%s`.", name, c.in.Address.Channel, c.in.Sender.ID, role, c.in.Address), sessions.Effects{}, nil
}
