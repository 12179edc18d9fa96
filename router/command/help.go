package command

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"parley/policy"
)

// cmdHelp also answers the /start that Telegram sends first, alone or with the word of a link. A code of parley init may arrive here after init took
// it, from its owner, or while init still waits for it.
func cmdHelp(_ context.Context, r *Table, c Call) (Result, error) {
	owner := ""
	if policy.IsCode(c.Arg) {
		if !c.Owner {
			return Result{Text: "`parley init` takes its code only while it waits for one. You are not my owner." + c.howToOwn()}, nil
		}
		owner = "You are one of my owners. "
	}
	return Result{Text: owner + "Write to me as you would to a person. `/new` starts over with an empty memory, `/stop` stops what I am doing, `/status` says how things are. " +
		"`/commands` lists all that I understand."}, nil
}

// cmdCommands shows the whole table.
func cmdCommands(_ context.Context, r *Table, c Call) (Result, error) {
	var b strings.Builder
	b.WriteString("**Commands**, and who may use them:\n\n")
	for _, x := range r.All {
		fmt.Fprintf(&b, "- `/%s`", strings.TrimSpace(x.Name+" "+x.args))
		for _, a := range x.Aliases {
			fmt.Fprintf(&b, ", `/%s`", a)
		}
		fmt.Fprintf(&b, ": %s (%s)\n", x.About, x.scope())
	}
	return Result{Text: b.String()}, nil
}

// scope says who may use a command and where.
func (c Command) scope() string {
	s := map[Who]string{OwnerOnly: "owners", Allowed: "people on my allow list", Anyone: "everybody"}[c.Who]
	if c.Where != Anywhere {
		s += ", in " + string(c.Where)
	}
	return s
}

func cmdWhoami(_ context.Context, _ *Table, c Call) (Result, error) {
	role, how := "allowed to talk to me", ""
	if c.named() {
		role = "on my allow list"
	} else if !c.Inside && !c.Owner {
		how = "\n\nYou are not on my allow list." + c.howToBeListed()
	}
	if c.Owner {
		role = "one of my owners"
	} else if !c.Inside && !c.In.Address.Type.Several() {
		how = "\n\nTo become an owner, " + c.wayToOwn()
	}
	name := cmp.Or(c.In.Sender.Name, c.In.Sender.Username, string(c.In.Sender.ID))
	if c.Inside {
		return Result{Text: fmt.Sprintf("You are %s, %s, and wrote to the host itself.\n\nThis session is `%s`.", name, role, c.Session.Key)}, nil
	}
	return Result{Text: fmt.Sprintf("You are %s, `%s:%s`, %s.\n\nThis chat is `%s`.%s", name, c.In.Address.Channel, c.In.Sender.ID, role, c.In.Address, how)}, nil
}
