package openclaw

import (
	"cmp"

	"parley/channels"
	"parley/gateway/config"
	"parley/policy"
	"parley/sessions"
)

// parse reads the new configuration with the values that the conversion checked it with: those that the folder and its environment have, and made-up
// ones for the others. What parley refuses all the same is a line of the report, and Parsed stays nil.
func (x *reader) parse(table config.Table, getenv func(string) string) {
	c, _, err := config.Parse("config.yaml", x.Config, table, func(name string) string { return cmp.Or(getenv(name), x.Unset[name]) })
	if err != nil {
		x.Report.Need("the configuration", "parley refuses it: correct it, and run parley check. "+err.Error())
		return
	}
	x.Parsed = c
}

// mainOwner returns the question whether a direct chat is an owner's, where the new configuration gives the main conversation to the owners alone; nil
// where everybody shares it, or without a configuration. In a configuration that cannot be read nobody is an owner.
func (r *Result) mainOwner() func(channels.Address) bool {
	switch {
	case r.Config == nil:
		return nil
	case r.Parsed == nil:
		return func(channels.Address) bool { return false }
	case r.Parsed.Session.DMScope != "" && r.Parsed.Session.DMScope != sessions.OwnerMain:
		return nil
	}
	owners := policy.Owners(r.Parsed.Commands.OwnerAllowFrom)
	return func(a channels.Address) bool {
		return owners.Is(a.Channel, channels.Sender{ID: channels.UserID(a.Chat)})
	}
}
