package openclaw

import (
	"cmp"

	"parley/channels"
	"parley/gateway/config"
	"parley/policy"
	"parley/sessions"
)

// mainOwner returns the question whether a direct chat is an owner's, where the converted configuration gives the main conversation to the
// owners alone; nil where everybody shares it, or without a configuration. unset has values of variables.
func mainOwner(text []byte, table config.Table, unset map[string]string) func(channels.Address) bool {
	if text == nil {
		return nil
	}
	conf, _, err := config.Parse("config.yaml", text, table, func(name string) string { return cmp.Or(unset[name], "0:unset") }) // values of secrets do not matter here
	if err != nil || conf.Session.DMScope != "" && conf.Session.DMScope != sessions.OwnerMain {
		return nil
	}
	owners := policy.Owners(conf.Commands.OwnerAllowFrom)
	return func(a channels.Address) bool {
		return owners.Is(a.Channel, channels.Sender{ID: channels.UserID(a.Chat)})
	}
}
