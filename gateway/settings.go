package gateway

import (
	"slices"
	"time"

	"parley/channels/webchat"
	"parley/gateway/config"
	"parley/gateway/server"
	"parley/policy"
	"parley/router/settings"
	"parley/sessions"
)

// routerSettings is what the router obeys of a configuration.
func routerSettings(c *config.Config, model string) *settings.Snapshot {
	s := &settings.Snapshot{
		Session: c.Session, Bindings: c.Bindings, Agents: c.Agents, Model: model, Tools: c.Tools, Messages: c.Messages, Models: c.Models,
		Owners:   append(policy.Owners{string(webchat.Kind) + ":" + server.PageUser}, c.Commands.OwnerAllowFrom...),
		Unowned:  unowned(c),
		Accounts: make(map[settings.AccountRef]settings.Account),
		Delivery: settings.Delivery{Hold: c.Delivery.Ambiguous == config.Hold,
			ReplyTTL: c.Delivery.TTL.For(sessions.Reply), AnnounceTTL: c.Delivery.TTL.For(sessions.Announce), CronTTL: c.Delivery.TTL.Cron()},
	}
	for _, a := range c.Channels {
		s.Accounts[settings.AccountRef{Channel: a.Kind, Account: a.ID}] = accountSettings(a)
	}
	return s
}

// unowned reports whether a configuration names no owner, and nobody else who may write to a bot directly: then the first person who is approved
// becomes the owner.
func unowned(c *config.Config) bool {
	return len(c.Commands.OwnerAllowFrom) == 0 && !slices.ContainsFunc(c.Channels, func(a config.Account) bool {
		return a.Kind != webchat.Kind && (a.Access.DMPolicy == policy.DMOpen || len(a.Access.AllowFrom) > 0)
	})
}

func accountSettings(a config.Account) settings.Account {
	return settings.Account{Access: a.Access, Pacing: a.Pacing, Streaming: a.Streaming, Chunk: a.TextChunkLimit}
}

// settings is what the router obeys from a reload on. Accounts that the configuration has no more are running until they are stopped, and obey what
// is in force for them: that may have changed since they were opened.
func (h *Host) settings(c *config.Config) *settings.Snapshot {
	s := routerSettings(c, h.models.Chosen().Model)
	inForce := h.router.Settings().Accounts
	for _, ref := range h.accounts.Refs() {
		if _, there := s.Accounts[ref]; there {
			continue
		}
		if had, known := inForce[ref]; known {
			s.Accounts[ref] = had
		}
	}
	return s
}

// stopTimeout is how long a graceful stop takes at most.
const stopTimeout = 9 * time.Second
